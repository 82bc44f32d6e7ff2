"""Calibrates the support threshold below which a workspace abstains."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from agentic_rag.documents.document import Chunk, DocumentFilter
from agentic_rag.jobs.job import Job, JobKind, Lease, NewJob
from agentic_rag.jobs.leases import require_lease
from agentic_rag.kernel.database import Database, Transaction
from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.models.embedding.calibration import (
    NEVER_AGAIN,
    CalibrationDraft,
    CalibrationRecord,
    CalibrationSource,
    SupportCalibration,
)
from agentic_rag.models.embedding.space import EmbeddingSpace, RegisteredSpace
from agentic_rag.tenancy.audit import SYSTEM_ACTOR, AuditAction
from agentic_rag.tenancy.principals import DEFAULT_ACCESS_ID, WorkspaceRef
from agentic_rag.tenancy.record_audit import audit, audit_read

KEY = "support"
"""Of the one unfinished job that a workspace has at most."""
DEFAULT_ERROR = 0.05
ERRORS = (0.001, 0.5)
MOST_PASSAGES = 1000
"""Handed to a caller who makes questions from them."""
GROWTH = 2
"""How many times the passages of the last calibration make a corpus another one."""


@dataclass(frozen=True, slots=True)
class CalibrationWish:
    """What a calibration is asked for: the share of answerable questions that may be abstained on; with `is_trial` it
    only measures. One that nobody asked for may find that it is too early.
    """

    error: float = DEFAULT_ERROR
    is_trial: bool = False
    is_asked: bool = True


@dataclass(frozen=True, slots=True)
class Calibrated:
    """The calibrations of the space that answers."""

    space: EmbeddingSpace
    record: CalibrationRecord


@dataclass(frozen=True, slots=True)
class CalibrationPassages:
    """Passages to make questions from."""

    corpus_version: int
    chunks: int
    """Passages of the workspace, those of readable older versions included."""
    sampled: list[Chunk]


class CalibrateSupport:
    """Samples passages to generate questions from, and stores what they measure."""

    def __init__(self, database: Database, telemetry: Telemetry) -> None:
        self._database = database
        self._telemetry = telemetry

    async def passages(self, workspace: WorkspaceRef, most: int, seed: int) -> CalibrationPassages:
        """At most `most` readable passages, sampled uniformly; the same corpus and seed give the same passages.

        Errors: `NotFound`.
        """
        access = (DEFAULT_ACCESS_ID,)
        async with self._database.snapshot(workspace) as snapshot:
            ordinals = sorted(await snapshot.documents.ordinals_matching(DocumentFilter(), access))
            drawn = random.Random(seed).sample(ordinals, min(most, len(ordinals)))
            found = await snapshot.documents.chunks(drawn, access)
        async with self._database.transaction(workspace.org_id) as transaction:
            spaces = await transaction.spaces.all(workspace)
        return CalibrationPassages(snapshot.version, max((one.total for one in spaces), default=0), found)

    async def hand_out(self, workspace: WorkspaceRef, most: int, seed: int, actor: str) -> CalibrationPassages:
        """The same for a caller, at most `MOST_PASSAGES`; who took them is in the audit log. Errors: `InvalidInput`
        code OPTION_OUT_OF_RANGE, `NotFound`.
        """
        if not 1 <= most <= MOST_PASSAGES:
            raise InvalidInput(f"`most` must be 1 to {MOST_PASSAGES}.", code="OPTION_OUT_OF_RANGE", path=("most",))
        found = await self.passages(workspace, most, seed)
        act, key, count = AuditAction.READ_TEXT, workspace.workspace_id, len(found.sampled)
        await audit_read(self._database, self._telemetry, act, workspace, key, actor, passages=count)
        return found

    async def start(self, workspace: WorkspaceRef, wish: CalibrationWish, actor: str) -> Job:
        """Queue a calibration on questions made from the corpus, or return the unfinished one.

        Errors: `InvalidInput` code OPTION_OUT_OF_RANGE, `NotFound` (code WORKSPACE_NOT_FOUND where it is unknown).
        """
        low, high = ERRORS
        if not low <= wish.error <= high:
            raise InvalidInput(
                f"error is {wish.error:g}; it must be between {low:g} and {high:g}.",
                code="OPTION_OUT_OF_RANGE",
                path=("error",),
            )
        arguments = {"error": repr(wish.error), "dryRun": str(wish.is_trial).lower()}
        job = NewJob(workspace, JobKind.CALIBRATE, KEY, arguments, trace_carrier=self._telemetry.carrier())
        async with self._database.transaction(workspace.org_id) as transaction:
            active = await _active(transaction, workspace)
            ref, is_new = await transaction.jobs.enqueue(job)
            if is_new:
                await self._audit(transaction, workspace, active.space, actor, "asked")
            found = await transaction.jobs.get(workspace, ref.job_id)
        if found is None:
            raise NotFound("The job was removed at this moment: start it again.", code="JOB_NOT_FOUND")
        return found

    async def find(self, workspace: WorkspaceRef) -> Calibrated | None:
        """The calibrations of the space that answers; None while nothing is embedded."""
        async with self._database.transaction(workspace.org_id) as transaction:
            active = await transaction.workspaces.active_space(workspace)
            if active is None:
                return None
            return Calibrated(active.space, await transaction.spaces.calibration(workspace, active.space_id))

    async def note(self, lease: Lease, draft: CalibrationDraft) -> None:
        """Store how far a calibration has come. Errors: `LeaseLost`, `NotFound`."""
        await self._change(lease, lambda record: replace(record, draft=draft))

    async def postpone(self, lease: Lease, chunks: int) -> None:
        """Leave the threshold as it is until the corpus has grown. Errors: `LeaseLost`, `NotFound`."""
        again_at = GROWTH * max(1, chunks)
        await self._change(lease, lambda record: replace(record, draft=None, again_at=again_at))

    async def _change(self, lease: Lease, change: Callable[[CalibrationRecord], CalibrationRecord]) -> None:
        workspace = lease.job.workspace
        async with self._database.transaction(workspace.org_id) as transaction:
            await require_lease(transaction.jobs, lease)
            active = await _active(transaction, workspace)
            record = await transaction.spaces.calibration(workspace, active.space_id)
            await transaction.spaces.set_calibration(workspace, active.space_id, change(record))

    async def keep(
        self,
        workspace: WorkspaceRef,
        found: SupportCalibration,
        wish: CalibrationWish,
        actor: str = SYSTEM_ACTOR,
        lease: Lease | None = None,
    ) -> EmbeddingSpace:
        """From the next question on, abstain as calibrated; a trial is stored and changes nothing, and so does one that
        nobody asked for after a reset. Returns the embedding space that it applies to.

        Errors: `LeaseLost`, `NotFound` if nothing is embedded.
        """
        async with self._database.transaction(workspace.org_id) as transaction:
            if lease is not None:
                await require_lease(transaction.jobs, lease)
            active = await _active(transaction, workspace)
            before = await transaction.spaces.calibration(workspace, active.space_id)
            is_trial = wish.is_trial or (before.again_at == NEVER_AGAIN and not wish.is_asked)
            if is_trial:
                record = replace(before, trial=found, draft=None)
            else:
                own = found.source is CalibrationSource.GIVEN
                again_at = NEVER_AGAIN if own else GROWTH * max(1, found.chunks)
                record = CalibrationRecord(found, again_at=again_at, similarity=before.similarity)
            await transaction.spaces.set_calibration(workspace, active.space_id, record)
            if not is_trial:
                await self._audit(transaction, workspace, active.space, actor, f"{found.pooled.threshold:.6f}")
        return active.space

    async def reset(self, workspace: WorkspaceRef, actor: str) -> EmbeddingSpace:
        """Go back to the process's default; from then on the workspace is calibrated when somebody asks for it only.
        Errors: `NotFound` if nothing is embedded.
        """
        async with self._database.transaction(workspace.org_id) as transaction:
            active = await _active(transaction, workspace)
            before = await transaction.spaces.calibration(workspace, active.space_id)
            record = CalibrationRecord(again_at=NEVER_AGAIN, similarity=before.similarity)
            await transaction.spaces.set_calibration(workspace, active.space_id, record)
            await self._audit(transaction, workspace, active.space, actor, None)
        return active.space

    async def _audit(
        self, transaction: Transaction, workspace: WorkspaceRef, space: EmbeddingSpace, actor: str, what: str | None
    ) -> None:
        await audit(
            transaction,
            self._telemetry,
            AuditAction.CALIBRATE_SUPPORT,
            workspace,
            space.name,
            actor,
            threshold=what,
        )


def wish_of(job: Job) -> CalibrationWish:
    """What a job was queued for."""
    if "error" not in job.arguments:
        return CalibrationWish(is_asked=False)
    return CalibrationWish(float(job.arguments["error"]), job.arguments.get("dryRun") == "true")


async def _active(transaction: Transaction, workspace: WorkspaceRef) -> RegisteredSpace:
    active = await transaction.workspaces.active_space(workspace)
    if active is None:
        raise NotFound("The workspace has no documents to calibrate on.")
    return active

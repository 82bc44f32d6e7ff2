"""Switches a workspace to another embedding space: fills it next to the active one, judges it, switches atomically."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import timedelta

from agentic_rag.ingestion.analysis.analyse import embed_texts
from agentic_rag.jobs.job import JobKind, JobRef, Lease, NewJob
from agentic_rag.jobs.leases import require_lease
from agentic_rag.jobs.ports import JobProgress
from agentic_rag.kernel.concurrency import untold
from agentic_rag.kernel.database import Database, Transaction
from agentic_rag.kernel.errors import InvalidInput, NotFound, Permanent, SpaceMismatch, no_such_workspace
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.models.billing.embedding_cost import EmbeddingCost, compute_embedding_cost
from agentic_rag.models.billing.prices import PriceTable
from agentic_rag.models.embedding.ports import Embedder, EmbedderSource
from agentic_rag.models.embedding.recall_gate import RecallComparison, RecallGate
from agentic_rag.models.embedding.space import EmbeddingSpace, SpaceRecord, SpaceState, must_start_fill, parse_choice
from agentic_rag.operations.measure_switch import MeasureSwitch
from agentic_rag.tenancy.audit import SYSTEM_ACTOR, AuditAction
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.tenancy.record_audit import audit

SPACE_ARGUMENT = "space"
"""The job argument that names the space to fill."""

_NO_SPACE = -1
"""No vector is in it."""
_ESTIMATED_AT_ONCE = 500
"""Passages whose tokens are counted in one step: 0.1 s beside the event loop."""


@dataclass(frozen=True, slots=True)
class SwitchStart:
    """The started switch: `job` fills the space, or the space is active already since `version`."""

    record: SpaceRecord
    job: JobRef | None
    version: int | None


@dataclass(frozen=True, slots=True)
class SwitchEmbedding:
    """Begins, cancels and carries out switches. `grace` is how long a retired space is kept."""

    database: Database
    embedders: EmbedderSource
    measurement: MeasureSwitch
    telemetry: Telemetry
    grace: timedelta
    prices: PriceTable = PriceTable()
    reading: Callable[[WorkspaceRef], AbstractContextManager[None]] = untold
    """Told while texts of a batch are held."""

    async def spaces(self, workspace: WorkspaceRef) -> Sequence[SpaceRecord]:
        """The workspace's spaces, oldest first. Errors: `NotFound` code WORKSPACE_NOT_FOUND."""
        async with self.database.transaction(workspace.org_id) as transaction:
            await _require_workspace(transaction, workspace)
            return await transaction.spaces.all(workspace)

    async def begin(
        self, workspace: WorkspaceRef, to: str, gate: RecallGate | None, actor: str = SYSTEM_ACTOR
    ) -> SwitchStart:
        """Begin a switch to a space in the syntax of `parse_choice`, or resume an interrupted one.
        A retired space with all its vectors becomes active at once unless a gate must judge it first; so does the first
        space of a workspace. Errors: `InvalidInput` (SPACE_UNKNOWN, SPACE_ALREADY_ACTIVE, SWITCH_UNDER_WAY),
        `NotFound`.
        """
        await self.embedders.admit(workspace)
        space = await self._resolve(workspace, to)
        async with self.database.transaction(workspace.org_id) as transaction:
            await _require_workspace(transaction, workspace)
            if await transaction.workspaces.active_space(workspace) is None:
                await transaction.workspaces.register_space(workspace, space)
                await self._audit(transaction, AuditAction.SWITCH_EMBEDDINGS, workspace, space, actor)
                [first] = await transaction.spaces.all(workspace)
                return SwitchStart(first, None, 0)
            known = await transaction.spaces.all(workspace)
            before = next((one for one in known if one.registered.space == space), None)
            must_start_fill(before, [one for one in known if one.state is SpaceState.FILLING])
            if gate is None and before is not None and before.state is SpaceState.RETIRED:
                version = await transaction.spaces.activate(workspace, before.registered.space_id, self.grace)
                if version is not None:
                    await self._audit(transaction, AuditAction.SWITCH_EMBEDDINGS, workspace, space, actor)
                    after = {one.registered: one for one in await transaction.spaces.all(workspace)}
                    self._tell(before, version)
                    return SwitchStart(after[before.registered], None, version)
            # Lock order everywhere: the job before the workspace.
            job, is_new = await transaction.jobs.enqueue(
                NewJob(
                    workspace,
                    JobKind.REEMBED,
                    f"switch:{space.name}",
                    {SPACE_ARGUMENT: space.name},
                    trace_carrier=self.telemetry.carrier(),
                )
            )
            begun = SwitchStart(await transaction.spaces.begin(workspace, space, gate), job, None)
            if is_new:
                await self._audit(transaction, AuditAction.SWITCH_EMBEDDINGS, workspace, space, actor)
            return begun

    async def estimate(self, workspace: WorkspaceRef, to: str) -> EmbeddingCost:
        """What a switch to a space would cost: each passage without a vector in it is embedded once, those of readable
        older versions too. Changes nothing. Errors: `InvalidInput` code SPACE_UNKNOWN, `NotFound`.
        """
        space = await self._resolve(workspace, to)
        async with self.database.transaction(workspace.org_id) as transaction:
            await _require_workspace(transaction, workspace)
            known = await transaction.spaces.all(workspace)
        space_id = next((one.registered.space_id for one in known if one.registered.space == space), _NO_SPACE)
        tokens: list[int] = []
        last = -1
        while True:
            async with self.database.transaction(workspace.org_id) as transaction:
                page = await transaction.spaces.missing(workspace, space_id, last, _ESTIMATED_AT_ONCE)
            if not page:
                return compute_embedding_cost(tokens, (), space, self.prices.of_space(space))
            tokens += await asyncio.to_thread(_count_tokens, [one.text for one in page])
            last = page[-1].ordinal

    async def _resolve(self, workspace: WorkspaceRef, to: str) -> EmbeddingSpace:
        """The space that a caller named. Errors: `InvalidInput` code SPACE_UNKNOWN."""
        embedders = await self.embedders.of(workspace)
        space = embedders.resolve_space(parse_choice(to))
        try:
            embedders.for_space(space)
        except SpaceMismatch as error:
            raise InvalidInput(error.message, code="SPACE_UNKNOWN", path=("to",)) from error
        return space

    async def cancel(self, workspace: WorkspaceRef, actor: str = SYSTEM_ACTOR) -> SpaceRecord:
        """Cancel the switch in progress; its job then ends on its own. Errors: `NotFound` code SWITCH_NOT_FOUND."""
        async with self.database.transaction(workspace.org_id) as transaction:
            await _require_workspace(transaction, workspace)
            for record in await transaction.spaces.all(workspace):
                if await transaction.spaces.abandon(workspace, record.registered.space_id, self.grace):
                    space = record.registered.space
                    await self._audit(transaction, AuditAction.CANCEL_SWITCH, workspace, space, actor)
                    after = {one.registered: one for one in await transaction.spaces.all(workspace)}
                    return after[record.registered]
        raise NotFound("No switch is running in this workspace.", code="SWITCH_NOT_FOUND")

    async def run(self, lease: Lease, progress: JobProgress) -> None:
        """The body of REEMBED jobs: idempotent, and pays for each vector once.

        Errors: `Permanent` code SWITCH_GATE_REFUSED; those of the embedder; `LeaseLost`.
        """
        workspace = lease.job.workspace
        record = await self._record(lease)
        if record is None or record.state is not SpaceState.FILLING:
            _check_verdict(record)
            return
        space_id = record.registered.space_id
        embedder = (await self.embedders.of(workspace)).for_space(record.registered.space)
        if not await self._fill(lease, space_id, embedder, progress):
            return
        async with self.database.transaction(workspace.org_id) as transaction:
            gate = await transaction.spaces.gate(workspace, space_id)
        if gate is not None:
            with self.reading(workspace):
                await self._judge(lease, record, gate, progress)
        # Fill again for documents published meanwhile; the few still missing after this are embedded under the lock.
        if not await self._fill(lease, space_id, embedder, progress):
            return
        with self.reading(workspace):
            await self._switch(lease, record, embedder)

    async def _record(self, lease: Lease) -> SpaceRecord | None:
        async with self.database.transaction(lease.job.workspace.org_id) as transaction:
            records = await transaction.spaces.all(lease.job.workspace)
        wanted = lease.job.arguments.get(SPACE_ARGUMENT)
        return next((one for one in records if one.registered.space.name == wanted), None)

    async def _fill(self, lease: Lease, space_id: int, embedder: Embedder, progress: JobProgress) -> bool:
        """Embed the chunks without a vector in the space, batch by batch; False if the switch was cancelled."""
        last = -1
        while True:
            # A reading ends with what it read, so that an erasure waits for one batch.
            with self.reading(lease.job.workspace):
                reached, is_wanted = await self._fill_batch(lease, space_id, embedder, last)
            if reached is None:
                return is_wanted
            last = reached
            progress.advance()

    async def _fill_batch(self, lease: Lease, space_id: int, embedder: Embedder, after: int) -> tuple[int | None, bool]:
        """Embed a batch behind an ordinal; its last ordinal, None where nothing follows or the switch was cancelled
        (False).
        """
        workspace = lease.job.workspace
        async with self.database.transaction(workspace.org_id) as transaction:
            batch = await transaction.spaces.missing(workspace, space_id, after, embedder.batch_size)
        if not batch:
            return None, True
        vectors = await embed_texts(embedder, [one.text for one in batch])
        async with self.database.transaction(workspace.org_id) as transaction:
            await require_lease(transaction.jobs, lease)
            named = {one.ordinal: vector for one, vector in zip(batch, vectors, strict=True)}
            if not await transaction.spaces.fill(workspace, space_id, named):
                return None, False
        self.telemetry.count("rag_chunks_total", len(batch), paid="reembedded")
        return batch[-1].ordinal, True

    async def _judge(self, lease: Lease, record: SpaceRecord, gate: RecallGate, progress: JobProgress) -> None:
        workspace = lease.job.workspace
        verdict = await self.measurement.run(workspace, record.registered, gate, progress.advance)
        async with self.database.transaction(workspace.org_id) as transaction:
            await require_lease(transaction.jobs, lease)
            if not verdict.passed:
                await transaction.spaces.abandon(workspace, record.registered.space_id, self.grace)
            await transaction.spaces.record_verdict(workspace, record.registered.space_id, verdict)
        self.telemetry.event(
            "rag_switch_judged", space=record.registered.space.name, before=verdict.before, after=verdict.after
        )
        if not verdict.passed:
            raise _switch_refusal(record, verdict)

    async def _switch(self, lease: Lease, record: SpaceRecord, embedder: Embedder) -> None:
        """Activates the space. Publishes wait for this transaction, so it embeds the few documents published since the
        last fill.
        """
        workspace, space_id = lease.job.workspace, record.registered.space_id
        async with self.database.transaction(workspace.org_id) as transaction:
            await require_lease(transaction.jobs, lease)
            if not await transaction.spaces.hold(workspace, space_id):
                return
            while late := await transaction.spaces.missing(workspace, space_id, -1, embedder.batch_size):
                vectors = await embed_texts(embedder, [one.text for one in late])
                named = {one.ordinal: vector for one, vector in zip(late, vectors, strict=True)}
                await transaction.spaces.fill(workspace, space_id, named)
            version = await transaction.spaces.activate(workspace, space_id, self.grace)
        self._tell(record, version)

    async def _audit(
        self, transaction: Transaction, action: AuditAction, workspace: WorkspaceRef, space: EmbeddingSpace, actor: str
    ) -> None:
        await audit(transaction, self.telemetry, action, workspace, space.name, actor)

    def _tell(self, record: SpaceRecord, version: int | None) -> None:
        self.telemetry.event("rag_space_switched", space=record.registered.space.name, version=version)


def _count_tokens(texts: Sequence[str]) -> list[int]:
    return [estimate_tokens(text) for text in texts]


def _check_verdict(record: SpaceRecord | None) -> None:
    """Raises the gate's refusal again if the job was interrupted right after it."""
    if record is None or record.state is not SpaceState.ABANDONED or record.verdict is None:
        return
    if not record.verdict.passed:
        raise _switch_refusal(record, record.verdict)


def _switch_refusal(record: SpaceRecord, verdict: RecallComparison) -> Permanent:
    return Permanent(
        f"The switch to {record.registered.space.name} was refused: recall@{verdict.k} over {verdict.questions} "
        f"questions would go from {verdict.before:.4f} to {verdict.after:.4f}. The workspace answers as before.",
        code="SWITCH_GATE_REFUSED",
    )


async def _require_workspace(transaction: Transaction, workspace: WorkspaceRef) -> None:
    if await transaction.workspaces.get(workspace.workspace_id) is None:
        raise no_such_workspace()

"""The erasure of a whole workspace or organisation: its certificate, and what is kept by rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from uuid import UUID

from agentic_rag.erasure.certificate import CoverageGap, ErasedStore, StoreErasure, coverage_gaps
from agentic_rag.jobs.job import JobKind, NewJob
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.tenancy.principals import WorkspaceRef

CACHE = "cache"
"""Where answers are cached outside the database."""
BLOBS = "blobs"
"""Originals and archives of snapshots."""
UNBUILT = "unbuilt_snapshots"
"""Snapshots that were asked for and that no job began to store."""
EXTERNAL_GRAPH = "external_graph"

KEPT: Mapping[str, str] = MappingProxyType(
    {
        "rag_audit": "Who did what, by ids, codes and counts, for as long as the organisation keeps its audit log.",
        "rag_erasures": "The certificates of erasures: ids, counts and times.",
    }
)
"""The tables that keep rows of what was erased, and why."""

WORK = frozenset({JobKind.INGEST, JobKind.DELETE, JobKind.SYNC, JobKind.REEMBED, JobKind.SNAPSHOT, JobKind.EVAL})
"""The jobs that somebody asked for; maintenance ends without a word."""


@dataclass(frozen=True, slots=True)
class WorkspaceErasure:
    """The certificate of one erasure: numbers only. `finished_at` is None while a job has work to do."""

    org_id: UUID
    subject_id: UUID
    """The workspace, or the organisation itself."""
    requested_by: str
    requested_at: datetime
    finished_at: datetime | None = None
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    """Rows, blobs, nodes and cached answers that went, by table or store; what is counted after it went may be missing
    where a process died in between.
    """
    blob_owner: str | None = None
    """The prefix of the workspace's originals; once it is erased, the SHA-256 of that."""

    @property
    def is_organisation(self) -> bool:
        """Whether the whole organisation was to be erased."""
        return self.subject_id == self.org_id

    @property
    def is_complete(self) -> bool:
        """Whether nothing was left when the last transaction ended."""
        return self.finished_at is not None

    @property
    def had_blobs(self) -> bool:
        """Whether rows went that are there only where a blob was stored."""
        return any(self.counts.get(one) for one in (BLOBS, "rag_uploads", "rag_snapshots"))

    @property
    def not_covered(self) -> tuple[CoverageGap, ...]:
        """The places that it does not reach. The workspace's own snapshots go with it."""
        told = (ErasedStore.PROCESSES, ErasedStore.LAPSED_PROCESSES)
        counted = [StoreErasure(one, self.counts[one.value]) for one in told if one.value in self.counts]
        if not counted and (self.is_organisation or not self.is_complete):
            # Processes are asked for each workspace, before its erasure and then that of the organisation is complete.
            counted = [StoreErasure(ErasedStore.PROCESSES, 0, done=self.is_complete)]
        return coverage_gaps((), counted)


def erase_job(workspace: WorkspaceRef, carrier: Mapping[str, str]) -> NewJob:
    """The job that erases a workspace; at most one waits or runs at a time."""
    return NewJob(workspace, JobKind.ERASE, "workspace", {}, trace_carrier=carrier)


def require_name(given: str, name: str) -> None:
    """Errors: `InvalidInput` code CONFIRMATION_WRONG unless the name was repeated."""
    if given.strip() != name:
        raise InvalidInput(
            f"Nothing was deleted. Deletion cannot be undone: repeat the name, {name!r}, to confirm it.",
            code="CONFIRMATION_WRONG",
            path=("confirmName",),
        )


def require_idle(running: Mapping[str, int]) -> None:
    """Errors: `InvalidInput` code WORKSPACE_BUSY while jobs that somebody asked for wait or run, with their kinds."""
    if running:
        told = ", ".join(f"{kind} {count}" for kind, count in sorted(running.items()))
        raise InvalidInput(
            f"Nothing was deleted: jobs still wait or run ({told}). Wait until they end, or let the deletion cancel "
            "them with `cancelJobs`.",
            code="WORKSPACE_BUSY",
            path=("cancelJobs",),
        )

"""Raw reads of a workspace for `rag verify`, and the store of evaluations."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from agentic_rag.models.embedding.space import RegisteredSpace
from agentic_rag.operations.evaluation import EvalDataset, EvalRun, EvalScore
from agentic_rag.operations.findings import StoredDocument
from agentic_rag.retrieval.lexical.postings import AccessChanges, Segment
from agentic_rag.tenancy.principals import WorkspaceRef


@dataclass(frozen=True, slots=True)
class WorkspaceHead:
    """A workspace's versions, its active space and its number of visible chunks."""

    corpus_version: int
    graph_version: int
    space: RegisteredSpace | None
    chunks: int


@dataclass(frozen=True, slots=True)
class Anomaly:
    """Inconsistent rows found by the store itself: their number and one example."""

    kind: str
    rows: int
    example: str


@dataclass(frozen=True, slots=True)
class StoredOriginal:
    """The row of an original. `content_hash` is SHA-256."""

    document_id: UUID
    key: str
    content_hash: bytes
    size: int


class Inspection(Protocol):
    """Reads of one snapshot."""

    async def head(self) -> WorkspaceHead:
        """Versions and space. Errors: `NotFound` (workspace)."""
        ...

    def documents(self) -> AsyncIterator[Sequence[StoredDocument]]:
        """All documents with the entries of their visible chunks in every store, in pages of bounded size."""
        ...

    def segments(self) -> AsyncIterator[Segment]:
        """All postings segments. Errors: `ValueError` for a damaged one."""
        ...

    async def access_moves(self) -> AccessChanges:
        """Chunks whose access set differs from the one in their segment."""
        ...

    async def tombstone_ordinals(self) -> Sequence[int]:
        """Ordinals of erased chunks that segments may still contain."""
        ...

    async def anomalies(self) -> list[Anomaly]:
        """Rows that lack their counterpart or contradict it."""
        ...

    async def duplicate_chunks(self, most: int) -> list[tuple[str, str, int]]:
        """Pairs of documents with equal chunks: both source paths and the number of shared chunks."""
        ...

    def originals(self) -> AsyncIterator[StoredOriginal]:
        """All originals."""
        ...

    async def unfinished_jobs(self) -> Mapping[str, int]:
        """The number of unfinished jobs by kind."""
        ...

    async def blobs_to_delete(self) -> Sequence[str]:
        """Keys of blobs marked for deletion."""
        ...


InspectWorkspace = Callable[[WorkspaceRef], AbstractAsyncContextManager[Inspection]]
"""Opens an inspection of the workspace's current state. Errors: `DependencyUnavailable`."""


class EvalRunStore(Protocol):
    """Inside a transaction of one organisation. An evaluation belongs to a job and is deleted with it."""

    async def begin(self, workspace: WorkspaceRef, job_id: UUID, asked: EvalDataset, k: int) -> None:
        """Store the questions of a job that was enqueued in this transaction."""
        ...

    async def get(self, workspace: WorkspaceRef, job_id: UUID) -> EvalRun | None:
        """The evaluation, or None."""
        ...

    async def scores(self, workspace: WorkspaceRef, job_id: UUID) -> Sequence[EvalScore]:
        """The scores so far, in the order of the questions; empty once the report is stored."""
        ...

    async def keep(self, workspace: WorkspaceRef, job_id: UUID, position: int, score: EvalScore) -> None:
        """Store the score of the question at `position` (from 0); it replaces an earlier one."""
        ...

    async def finish(self, workspace: WorkspaceRef, job_id: UUID, report: str) -> None:
        """Store the report (JSON text) and delete the single scores."""
        ...

"""Everything a workspace holds, as it is stored: for checks that trust nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
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
    """A workspace's versions and the space that answers. `chunks` are the visible ones."""

    corpus_version: int
    graph_version: int
    space: RegisteredSpace | None
    chunks: int


@dataclass(frozen=True, slots=True)
class Anomaly:
    """Rows that cannot be right together, found by the store itself: how many, and one of them."""

    kind: str
    rows: int
    example: str


@dataclass(frozen=True, slots=True)
class StoredOriginal:
    """An original by its row. `content_hash` is SHA-256."""

    document_id: UUID
    key: str
    content_hash: bytes
    size: int


class Inspection(Protocol):
    """Reads at one instant."""

    async def head(self) -> WorkspaceHead:
        """Versions and space. Errors: `NotFound` (workspace)."""
        ...

    def documents(self) -> AsyncIterator[Sequence[StoredDocument]]:
        """Every document with what its visible chunks have in every store, in pages of bounded size."""
        ...

    def segments(self) -> AsyncIterator[Segment]:
        """Every postings segment. Errors: `ValueError` for a damaged one."""
        ...

    async def access_moves(self) -> AccessChanges:
        """Where chunks stand that their segments say stand elsewhere."""
        ...

    async def tombstone_ordinals(self) -> Sequence[int]:
        """The numbers of chunks that are gone and may stand in segments."""
        ...

    async def anomalies(self) -> list[Anomaly]:
        """Rows without their partners, and partners that disagree."""
        ...

    async def duplicate_chunks(self, most: int) -> list[tuple[str, str, int]]:
        """Texts that stand in several documents: source paths of two of them and how many chunks they share."""
        ...

    def originals(self) -> AsyncIterator[StoredOriginal]:
        """Every original by its row."""
        ...

    async def blobs_to_delete(self) -> Sequence[str]:
        """Keys of blobs that are to be removed."""
        ...


InspectWorkspace = Callable[[WorkspaceRef], AbstractAsyncContextManager[Inspection]]
"""Opens an inspection of a workspace as it is now. Errors: `DependencyUnavailable`."""


class EvalRunStore(Protocol):
    """Inside a transaction of one organisation. An evaluation goes with its job."""

    async def begin(self, workspace: WorkspaceRef, job_id: UUID, asked: EvalDataset, k: int) -> None:
        """Keep the questions of a job that was written in this transaction."""
        ...

    async def get(self, workspace: WorkspaceRef, job_id: UUID) -> EvalRun | None:
        """The evaluation, or None."""
        ...

    async def scores(self, workspace: WorkspaceRef, job_id: UUID) -> Sequence[EvalScore]:
        """What came out of the questions so far, in their order; empty again once there is a report."""
        ...

    async def keep(self, workspace: WorkspaceRef, job_id: UUID, position: int, score: EvalScore) -> None:
        """What came out of the question at a position, counted from 0; what was there before is replaced."""
        ...

    async def finish(self, workspace: WorkspaceRef, job_id: UUID, report: str) -> None:
        """Keep the report (JSON text) instead of the single scores."""
        ...

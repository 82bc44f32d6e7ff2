"""Documents, revisions and chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID

from agentic_rag.domain.answers import CitedPassage
from agentic_rag.domain.chunk_placements import ChunkPlacement
from agentic_rag.domain.documents import (
    Chunk,
    ChunkDraft,
    ChunkPlace,
    Document,
    DocumentFault,
    DocumentStatus,
    Revision,
    RevisionSpan,
    SpanRequest,
)
from agentic_rag.domain.pages import Page, PageRequest
from agentic_rag.domain.retrieval import DocumentFilter
from agentic_rag.domain.tenancy import WorkspaceRef


@dataclass(frozen=True, slots=True)
class NewDocument:
    """A source as it is registered, before any parsing."""

    document_id: UUID
    source_path: str
    title: str
    file_name: str
    media_type: str
    size: int
    uploaded_by: str
    url: str | None = None
    access_id: int | None = None
    """Who may read it; None: whoever may now, or everybody for a document that is new."""
    provenance: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class VisibleChunk:
    """What publishing needs to know of a chunk that readers see now."""

    ordinal: int
    chunk_id: UUID
    index: int
    start: int
    end: int
    page: int | None
    line_start: int
    line_end: int
    heading_path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StagedChunk:
    """A chunk of an unpublished revision; once embedded, `vector` is its bytes (little-endian float16) in the space
    numbered `space_id`. Without its text: who stages a revision has it.
    """

    index: int
    chunk_id: UUID
    vector: bytes | None
    space_id: int | None = None


class DocumentReader(Protocol):
    """Reads of one snapshot: every call sees the same corpus version."""

    async def chunks(self, ordinals: Sequence[int], access_ids: Sequence[int]) -> list[Chunk]:
        """The visible chunks with these ordinals that the access sets may read, in the order asked; unknown ones are
        left out.
        """
        ...

    async def cited(self, cited: Sequence[CitedPassage], access_ids: Sequence[int]) -> list[Chunk]:
        """Those of the passages that are visible and that the access sets may read, in the order asked."""
        ...

    async def placed(self, places: Sequence[ChunkPlace], access_ids: Sequence[int]) -> list[Chunk]:
        """The visible chunks at these places that the access sets may read, in the order asked."""
        ...

    async def titles(self, ordinals: Sequence[int], access_ids: Sequence[int]) -> dict[int, str]:
        """The document titles of those of these chunks that are visible and that the access sets may read."""
        ...

    async def placements(self, chunk_ids: Sequence[UUID], access_ids: Sequence[int]) -> list[ChunkPlacement]:
        """Every place where these chunks stand or stood, at any version that is kept, for readers of the access sets,
        by ordinal, then version. It reads the whole workspace: for people, not for questions.
        """
        ...

    async def ordinals_matching(self, wanted: DocumentFilter, access_ids: Sequence[int]) -> frozenset[int]:
        """The ordinals of visible chunks whose document passes the filter."""
        ...

    async def revision_spans(self, requests: Sequence[SpanRequest]) -> list[RevisionSpan | None]:
        """The stored text and page of each span, in the order asked, in one round trip: the ground truth for
        citations. None where there is no such revision.
        """
        ...

    async def find_documents(self, name: str, access_ids: Sequence[int], limit: int) -> list[Document]:
        """READY documents whose title or file name equals or contains `name` (case-insensitive), exact ones first."""
        ...


class DocumentStore(Protocol):
    """Reads and writes inside a transaction of one organisation."""

    async def register(self, workspace: WorkspaceRef, new: NewDocument) -> Document:
        """Insert as PENDING, or set an existing document back to PENDING with the new metadata (its published
        chunks stay visible). Registering again after a delete is legal and lifts the tombstone.
        """
        ...

    async def register_many(self, workspace: WorkspaceRef, new: Sequence[NewDocument]) -> list[Document]:
        """`register` for each, in any number at one round trip; no document twice. In the order given."""
        ...

    async def get(self, workspace: WorkspaceRef, document_id: UUID) -> Document | None:
        """The document, or None."""
        ...

    async def locked(self, workspace: WorkspaceRef, document_id: UUID) -> Document | None:
        """The document, which nobody else changes until this transaction ends; None when there is none. Before any
        lock on a job.
        """
        ...

    async def get_many(self, workspace: WorkspaceRef, document_ids: Sequence[UUID]) -> Mapping[UUID, Document]:
        """Those of the documents that exist."""
        ...

    async def page(
        self,
        workspace: WorkspaceRef,
        request: PageRequest,
        statuses: Sequence[DocumentStatus] = (),
        access_ids: Sequence[int] | None = None,
    ) -> Page[Document]:
        """Documents by source path; all statuses when none is given, those of all access sets without `access_ids`."""
        ...

    async def count(
        self, workspace: WorkspaceRef, access_ids: Sequence[int] | None = None
    ) -> Mapping[DocumentStatus, int]:
        """Documents by status, those of all access sets without `access_ids`; every status is present."""
        ...

    async def paths(self, workspace: WorkspaceRef, source: str) -> Mapping[str, Document]:
        """The documents that a source (`provenance["source"]`) brought, by source path."""
        ...

    async def set_status(
        self,
        workspace: WorkspaceRef,
        document_id: UUID,
        status: DocumentStatus,
        fault: DocumentFault | None = None,
    ) -> bool:
        """Move a document; False when it is gone or the move is illegal (STATUS_MOVES)."""
        ...

    async def set_progress(
        self, workspace: WorkspaceRef, document_id: UUID, chunks_done: int, chunk_count: int
    ) -> None:
        """Show how far ingestion is."""
        ...

    async def visible_chunks(self, workspace: WorkspaceRef, document_id: UUID) -> list[VisibleChunk]:
        """The chunks of a document that readers of the newest version see, by index."""
        ...

    async def stage(
        self, workspace: WorkspaceRef, document_id: UUID, revision: Revision, drafts: Sequence[ChunkDraft]
    ) -> None:
        """Write a revision that no reader sees yet and its chunks; doing it again for the same revision changes
        nothing.
        """
        ...

    async def staged(self, workspace: WorkspaceRef, revision_id: UUID) -> list[StagedChunk] | None:
        """The staged chunks by index; None when the revision was never staged."""
        ...

    async def stage_vectors(
        self, workspace: WorkspaceRef, revision_id: UUID, space_id: int, vectors: Mapping[int, bytes]
    ) -> None:
        """Attach vectors (by chunk index) to staged chunks."""
        ...

    async def discard_staged(self, workspace: WorkspaceRef, document_id: UUID, keep: UUID | None = None) -> int:
        """Drop staged rows of a document, but not those of revision `keep`; how many chunks went."""
        ...

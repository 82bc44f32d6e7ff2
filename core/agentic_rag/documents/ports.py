"""Documents, revisions and chunks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol
from uuid import UUID

from agentic_rag.documents.document import (
    ANY_DOCUMENT,
    Chunk,
    ChunkDraft,
    ChunkPosition,
    ChunkVersion,
    CitedPassage,
    Document,
    DocumentFault,
    DocumentFilter,
    DocumentStatus,
    ParsedDocument,
    Revision,
    RevisionSpan,
    SpanRequest,
    StagedChunk,
    TextLayout,
)
from agentic_rag.documents.metadata import MetadataChange
from agentic_rag.documents.revision_diff import VisibleChunk
from agentic_rag.documents.unread_pages import Recognising
from agentic_rag.kernel.pagination import Page, PageRequest
from agentic_rag.tenancy.access import ListScope
from agentic_rag.tenancy.principals import WorkspaceRef


@dataclass(frozen=True, slots=True)
class NewDocument:
    """A source at its registration, before parsing."""

    document_id: UUID
    source_path: str
    title: str
    file_name: str
    media_type: str
    size: int
    uploaded_by: str
    """The owner of a document that is new."""
    url: str | None = None
    access_id: int | None = None
    """The access set; None keeps the present one, or gives a new document the default set."""
    provenance: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class DocumentLabel:
    """What a source says of a document beside its content. `provenance` is added to what is stored."""

    source_path: str
    file_name: str
    url: str | None
    provenance: Mapping[str, str] = field(default_factory=dict[str, str])


class DocumentReader(Protocol):
    """Reads of one snapshot: every call sees the same corpus version."""

    has_stale_titles: bool
    """Whether the last `chunks` found that a title told before is another. Those told from then on are as stored."""

    async def chunks(
        self,
        ordinals: Sequence[int],
        access_ids: Sequence[int],
        *,
        with_beside: bool = False,
        naming: Sequence[UUID] = (),
    ) -> list[Chunk]:
        """The visible chunks with these ordinals that the access sets may read, in the order asked; unknown ones are
        left out. What is asked for next may be read along: those beside the first, the names of entities (`naming`).
        """
        ...

    async def chunks_by_citation(self, cited: Sequence[CitedPassage], access_ids: Sequence[int]) -> list[Chunk]:
        """The passages that are visible to the access sets, in the order asked."""
        ...

    async def chunks_at(self, places: Sequence[ChunkPosition], access_ids: Sequence[int]) -> list[Chunk]:
        """The visible chunks at these places that the access sets may read, in the order asked."""
        ...

    async def titles(
        self, ordinals: Sequence[int], access_ids: Sequence[int], *, are_checked: bool = False
    ) -> dict[int, str]:
        """The document titles of the chunks that are visible to the access sets, by ordinal. They may be told from
        memory where they `are_checked`: the caller asks for `chunks` next and looks at `has_stale_titles`.
        """
        ...

    async def placements(self, chunk_ids: Sequence[UUID], access_ids: Sequence[int]) -> list[ChunkVersion]:
        """Every stored version of these chunks for readers of the access sets, by ordinal, then version."""
        ...

    async def ordinals_matching(self, wanted: DocumentFilter, access_ids: Sequence[int]) -> frozenset[int]:
        """The ordinals of visible chunks whose document passes the filter."""
        ...

    async def revision_spans(self, requests: Sequence[SpanRequest]) -> list[RevisionSpan | None]:
        """The stored text and page of each span, in the order asked, in one round trip: the ground truth for
        citations. None where there is no such revision.
        """
        ...

    async def layout(self, document_id: UUID, access_ids: Sequence[int]) -> TextLayout | None:
        """The layout of a document's text; None when no passage of it is visible, or one is not readable by the access
        sets.
        """
        ...

    async def find_documents(self, name: str, access_ids: Sequence[int], limit: int) -> list[Document]:
        """READY documents whose title or file name equals or contains `name` (case-insensitive), exact ones first."""
        ...


class DocumentStore(Protocol):
    """Reads and writes inside a transaction of one organisation."""

    async def register(self, workspace: WorkspaceRef, new: NewDocument) -> Document:
        """Insert as PENDING, or set an existing document back to PENDING with the new metadata (its published
        chunks, owner, readers and writers stay). Registering again after a delete is legal and lifts the tombstone.
        """
        ...

    async def register_many(self, workspace: WorkspaceRef, new: Sequence[NewDocument]) -> list[Document]:
        """`register` for each, in any number at one round trip; no document twice. In the order given."""
        ...

    async def get(self, workspace: WorkspaceRef, document_id: UUID, scope: ListScope | None = None) -> Document | None:
        """The document, or None; with `scope` also None for one that it does not list, which takes the same time."""
        ...

    async def get_for_update(self, workspace: WorkspaceRef, document_id: UUID) -> Document | None:
        """The document, locked until this transaction ends, or None. Taken before any lock on a job."""
        ...

    async def get_many(self, workspace: WorkspaceRef, document_ids: Sequence[UUID]) -> Mapping[UUID, Document]:
        """Those of the documents that exist, by id."""
        ...

    async def page(
        self,
        workspace: WorkspaceRef,
        request: PageRequest,
        statuses: Sequence[DocumentStatus] = (),
        scope: ListScope | None = None,
        wanted: DocumentFilter = ANY_DOCUMENT,
    ) -> Page[Document]:
        """Documents that pass the filter, by source path; of all statuses if none is given, all without `scope`."""
        ...

    async def count_listed(
        self,
        workspace: WorkspaceRef,
        statuses: Sequence[DocumentStatus] = (),
        scope: ListScope | None = None,
        wanted: DocumentFilter = ANY_DOCUMENT,
    ) -> int:
        """How many documents all pages of `page` together have."""
        ...

    async def changed(
        self, workspace: WorkspaceRef, seconds: float, most: int, scope: ListScope | None = None
    ) -> Sequence[Document]:
        """Documents that changed within the last seconds by the store's clock, newest first; all without `scope`."""
        ...

    async def count(self, workspace: WorkspaceRef, scope: ListScope | None = None) -> Mapping[DocumentStatus, int]:
        """Documents by status, every one without `scope`; every status is present."""
        ...

    async def paths(self, workspace: WorkspaceRef, source: str, only: Sequence[str] = ()) -> Mapping[str, Document]:
        """The documents that a source (`provenance["source"]`) brought, by source path; of `only` these if any."""
        ...

    async def describe(self, workspace: WorkspaceRef, document_ids: Sequence[UUID], change: MetadataChange) -> int:
        """Add what somebody says of these documents to what was said before; the number of those that change by it.
        What readers see of any of them changes as a new corpus version. The change is in its stored form; a title that
        is removed stays until the next publish. The documents' own text (`DocumentPublication.metadata`) holds where
        nobody says anything.
        """
        ...

    async def id_key(self, workspace: WorkspaceRef) -> bytes:
        """The secret of the organisation under which new documents get their ids (`documents.document_ids`)."""
        ...

    async def occupants(
        self, workspace: WorkspaceRef, paths: Sequence[str], document_ids: Sequence[UUID]
    ) -> Mapping[UUID, str]:
        """The source paths of the documents that stand at these paths or have these ids, by id."""
        ...

    async def relabel(self, workspace: WorkspaceRef, document_id: UUID, label: DocumentLabel) -> bool:
        """Give a document another path, name and address; content, status and readers stay. What readers see of another
        path changes as a new corpus version. False when it is gone. Errors: `Retryable` code DATABASE_CONFLICT when
        another document has the path.
        """
        ...

    async def set_status(
        self,
        workspace: WorkspaceRef,
        document_id: UUID,
        status: DocumentStatus,
        fault: DocumentFault | None = None,
    ) -> bool:
        """Move a document; False when it is gone or the move is illegal (STATUS_TRANSITIONS)."""
        ...

    async def set_progress(
        self, workspace: WorkspaceRef, document_id: UUID, chunks_done: int, chunk_count: int
    ) -> None:
        """Store the progress of ingestion."""
        ...

    async def visible_chunks(self, workspace: WorkspaceRef, document_id: UUID) -> list[VisibleChunk]:
        """The chunks of a document that readers of the newest version see, by index."""
        ...

    async def stage(
        self, workspace: WorkspaceRef, document_id: UUID, revision: Revision, drafts: Sequence[ChunkDraft]
    ) -> None:
        """Write an unpublished revision and its chunks; a repeated call for the same revision changes nothing."""
        ...

    async def load_staging(self, workspace: WorkspaceRef, revision_id: UUID) -> list[StagedChunk] | None:
        """The staged chunks by index; None when the revision was never staged."""
        ...

    async def stage_vectors(
        self, workspace: WorkspaceRef, revision_id: UUID, space_id: int, vectors: Mapping[int, bytes]
    ) -> None:
        """Attach vectors (by chunk index) to staged chunks."""
        ...

    async def discard_staging(self, workspace: WorkspaceRef, document_id: UUID, keep: UUID | None = None) -> int:
        """Delete the staged rows of a document except those of revision `keep`; returns the number of chunks."""
        ...


@dataclass(frozen=True, slots=True)
class StoredBlob:
    """Size and SHA-256 of a stored stream."""

    size: int
    sha256: bytes


class BlobStore(Protocol):
    """Keys are relative POSIX paths made by the product, not by users. Errors: `NotFound`, `DependencyUnavailable`."""

    async def put(self, key: str, content: bytes, fence: int | None = None) -> None:
        """Store `content` under `key`, atomically; replaces earlier content.

        A key that several attempts of a job may write always takes the lease's `fence`: content written under a higher
        fence stays. A key of a single upload or attempt needs none. Errors: `LeaseLost`.
        """
        ...

    async def put_stream(self, key: str, pieces: AsyncIterator[bytes]) -> StoredBlob:
        """Store a stream in bounded memory; readers see it once it is complete. When `pieces` raises, or the caller is
        cancelled, nothing is left behind. `key` must be unused.
        """
        ...

    async def read(self, key: str) -> bytes:
        """The whole content of `key`."""
        ...

    def stream(self, key: str, part: range | None = None) -> AsyncIterator[bytes]:
        """The content in pieces of at most 64 KiB; with `part` only those bytes of it, which are there."""
        ...

    async def delete(self, key: str) -> bool:
        """Remove `key`; False when it was not there."""
        ...

    async def keys(self, prefix: str) -> list[str]:
        """All keys below `prefix`, sorted."""
        ...

    async def has_folder(self, prefix: str) -> bool:
        """Whether a directory has the folder that storing below `prefix` made and that stays: one without it, such as
        the place of a volume that is not mounted, is another. Always in buckets, which tell that they are away.
        """
        ...


@dataclass(frozen=True, slots=True)
class Original:
    """The original bytes of a document: their SHA-256, their number and their blob's key."""

    content_hash: bytes
    key: str
    size: int
    created_at: datetime


class OriginalStore(Protocol):
    """Inside a transaction of one organisation. A blob key serves one upload; a mark for deletion is final."""

    async def keep(self, workspace: WorkspaceRef, document_id: UUID, content_hash: bytes, key: str, size: int) -> str:
        """Record that blob `key` holds this content of a document; returns the earlier key if one holds it already.

        The caller holds the lock on the document, as after its registration.
        """
        ...

    async def of(self, workspace: WorkspaceRef, document_id: UUID) -> list[Original]:
        """The contents of a document, newest first."""
        ...

    async def stored_bytes(self, org_id: UUID) -> int:
        """The size of all originals of the organisation, once no other transaction that asked is open."""
        ...

    async def supersede(self, workspace: WorkspaceRef, document_ids: Sequence[UUID]) -> int:
        """Mark for deletion all contents of these documents except the published one and the one registered last;
        returns the number of blobs.
        """
        ...

    async def mark_for_deletion(self, workspace: WorkspaceRef, document_id: UUID) -> int:
        """Mark all contents of a document for deletion; returns the number of blobs."""
        ...

    async def keys_to_delete(self, workspace: WorkspaceRef, document_id: UUID | None, limit: int) -> list[str]:
        """Keys of the blobs marked for deletion of a document (None: of the workspace), sorted."""
        ...

    async def forget(self, workspace: WorkspaceRef, keys: Sequence[str]) -> int:
        """Remove the marks of deleted blobs; returns their number."""
        ...

    async def keys_in_use(self, workspace: WorkspaceRef, keys: Sequence[str]) -> frozenset[str]:
        """The given keys that hold an original or are marked for deletion. A blob with another key belongs to an
        upload that runs or was interrupted.
        """
        ...


@dataclass(frozen=True, slots=True)
class UploadRecord:
    """The first upload under an idempotency key. `job_id` is None when equal bytes were published already."""

    input_hash: bytes
    document_id: UUID
    job_id: UUID | None


class UploadStore(Protocol):
    """Inside a transaction of one organisation. A key is claimed before the document is touched."""

    async def claim(
        self, workspace: WorkspaceRef, idempotency_key: str, input_hash: bytes, document_id: UUID
    ) -> UploadRecord | None:
        """Claim a key: None on success, else the record of the upload that has it. Waits for a concurrent claim."""
        ...

    async def settle(self, workspace: WorkspaceRef, idempotency_key: str, job_id: UUID | None) -> None:
        """Add the job to a key that this transaction claimed."""
        ...


class Parser(Protocol):
    """Errors: `ParseFailed` with a code for the reason; `Retryable` when the parser process failed."""

    @property
    def version(self) -> str:
        """Part of the revision id; changes whenever equal bytes may give another text."""
        ...

    async def parse(
        self,
        content: bytes,
        file_name: str,
        media_type: str | None,
        *,
        is_web_page: bool = False,
        charset: str = "",
        recognising: Recognising | None = None,
    ) -> ParsedDocument:
        """Parse `content`; without `media_type` by name and bytes. Of a web page the main part is found. `charset`: as
        its server stated it. `recognising` recognises words on pages that are pictures; its errors are raised.
        """
        ...

    async def aclose(self) -> None:
        """End child processes."""
        ...

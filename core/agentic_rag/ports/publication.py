"""Publish: the one short transaction that makes staged work visible in every store at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID

from agentic_rag.domain.certificate import ErasedStore, StoreErasure
from agentic_rag.domain.documents import ChunkDraft, Revision
from agentic_rag.domain.postings import TermCounts
from agentic_rag.domain.retrieval import ChunkEntities
from agentic_rag.domain.tenancy import WorkspaceRef


@dataclass(frozen=True, slots=True)
class NewChunk:
    """A chunk no reader has seen: its draft, vector (little-endian float16 bytes), term counts and entities."""

    draft: ChunkDraft
    vector: bytes
    terms: TermCounts
    entities: ChunkEntities


@dataclass(frozen=True, slots=True)
class KeptChunk:
    """A chunk whose text a reader already sees: ordinal, vector, postings and mentions stay; the row is rewritten
    only when `moved`.
    """

    ordinal: int
    draft: ChunkDraft
    moved: bool


@dataclass(frozen=True, slots=True)
class DocumentPublication:
    """Everything one document's publish changes. `fence` proves the job's lease (None: no job, direct ingestion)."""

    document_id: UUID
    revision: Revision
    content_hash: bytes
    added: tuple[NewChunk, ...]
    kept: tuple[KeptChunk, ...]
    removed: tuple[int, ...]
    """Ordinals whose chunks are gone."""
    expected: UUID | None
    """The revision that `kept` and `removed` were computed against; another one meanwhile means the publication is
    stale.
    """
    job_id: UUID | None = None
    fence: int | None = None
    title: str | None = None
    """The title the text itself states; None keeps the registered one."""
    media_type: str | None = None
    """What the bytes turned out to be; None keeps the registered one."""
    provenance: Mapping[str, str] = field(default_factory=dict[str, str])
    """Entries that the publish adds to the document's provenance (what embedding it cost)."""


@dataclass(frozen=True, slots=True)
class Published:
    """What happened to one document: `version` is None when it was refused (`refusal`: LEASE_LOST, STALE or ERASED)
    and nothing of it was written.
    """

    document_id: UUID
    version: int | None
    refusal: str | None = None


class Publisher(Protocol):
    """Inside a transaction of one organisation."""

    async def publish(
        self, workspace: WorkspaceRef, space_id: int, batch: Sequence[DocumentPublication]
    ) -> list[Published]:
        """Publish a batch as one new corpus version: ordinals, chunks, vectors, one postings segment, mentions and
        relations, READY.

        A refused document does not hinder the others. Errors: `SpaceMismatch`, `SpaceSwitched` when the
        vectors are of a space that no longer answers, `NotFound` (workspace).
        """
        ...

    async def erase(
        self, workspace: WorkspaceRef, document_id: UUID, job_id: UUID | None = None, fence: int | None = None
    ) -> Erasure | None:
        """Remove every version of a document physically from every store of the database, as a new corpus version,
        and leave a tombstone.

        None when there is no such document. Errors: `LeaseLost`.
        """
        ...

    async def compact(self, workspace: WorkspaceRef) -> int:
        """Merge the workspace's postings segments into one; how many were merged (0: nothing to do)."""
        ...


@dataclass(frozen=True, slots=True)
class Erasure:
    """Rows removed or redacted, by store, and the corpus version that no longer holds the document."""

    document_id: UUID
    version: int
    revisions: int
    chunks: int
    vectors: int
    postings: int
    mentions: int
    entities: int
    staged: int
    runs_redacted: int
    cache_entries: int
    jobs_redacted: int = 0
    ordinals: tuple[tuple[int, int], ...] = ()
    """The numbers its chunks had, as ranges with both ends included."""
    is_followed: bool = False
    """Whether a graph outside the database has to follow."""

    @property
    def stores(self) -> tuple[StoreErasure, ...]:
        """The rows as a certificate counts them."""
        return (
            StoreErasure(ErasedStore.REVISIONS, self.revisions),
            StoreErasure(ErasedStore.CHUNKS, self.chunks),
            StoreErasure(ErasedStore.VECTORS, self.vectors),
            StoreErasure(ErasedStore.POSTINGS, self.postings),
            StoreErasure(ErasedStore.MENTIONS, self.mentions),
            StoreErasure(ErasedStore.ENTITIES, self.entities),
            StoreErasure(ErasedStore.STAGED, self.staged),
            StoreErasure(ErasedStore.RUNS, self.runs_redacted),
            StoreErasure(ErasedStore.JOBS, self.jobs_redacted),
            StoreErasure(ErasedStore.CACHE_TABLE, self.cache_entries),
            StoreErasure(ErasedStore.CACHE, 0, done=False),
            StoreErasure(ErasedStore.ORIGINALS, 0, done=False),
            *((StoreErasure(ErasedStore.GRAPH, 0, done=False),) if self.is_followed else ()),
        )

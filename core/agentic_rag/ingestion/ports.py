"""Publish: the one short transaction that makes staged work visible in every store at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID

from agentic_rag.documents.document import ChunkDraft, Revision
from agentic_rag.documents.metadata import NO_CHANGE, MetadataChange
from agentic_rag.documents.revision_diff import KeptChunk
from agentic_rag.erasure.ports import Erasure
from agentic_rag.ingestion.sources.source import UnreadableItem
from agentic_rag.language.term_counts import TermCounts
from agentic_rag.retrieval.candidates import ChunkEntities
from agentic_rag.tenancy.principals import WorkspaceRef


@dataclass(frozen=True, slots=True)
class NewChunk:
    """A chunk no reader has seen: its draft, vector (little-endian float16 bytes), term counts and entities."""

    draft: ChunkDraft
    vector: bytes
    terms: TermCounts
    entities: ChunkEntities


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
    metadata: MetadataChange = NO_CHANGE
    """What the text itself says; replaces what an earlier one said."""
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

    async def compact(self, workspace: WorkspaceRef) -> int | None:
        """Purge versions past the history, then write one group of the workspace's postings segments anew; how many it
        had (0: nothing to do). None when more is left: call it again in another transaction.
        """
        ...


UNKNOWN_SIZE = -1
"""The size of an item whose source tells none before it is read."""


@dataclass(frozen=True, slots=True)
class SourceItem:
    """A file of a source. `path` is relative, POSIX, unique in the source; `fingerprint` changes when the content may
    have changed, and is empty where only reading tells.
    """

    path: str
    size: int
    fingerprint: str
    url: str | None = None
    readable_by: tuple[str, ...] | None = None
    """The principals that the source names for it; None where it names none."""
    content_hash: bytes | None = None
    """SHA-256, of an item that is only listed: it is not read, and what is not stored of it is awaited."""


@dataclass(frozen=True, slots=True)
class SourceContent:
    """The bytes of an item, and the fingerprint that they have."""

    data: bytes
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Changes:
    """What a source holds: `upserted` may include unchanged items; `deleted` are known paths that are gone. A file that
    moved is in both; its content tells.
    """

    upserted: tuple[SourceItem, ...]
    deleted: tuple[str, ...]
    unreadable: tuple[UnreadableItem, ...]
    cursor: str


class SourceConnector(Protocol):
    """Errors: `InvalidInput` (no such source, or one that is refused), `PolicyRefused` (an address that may not be
    asked), `DependencyUnavailable` and `Retryable` (it does not answer), `NotFound` from `read` when the item went
    away.
    """

    @property
    def source_id(self) -> str:
        """Names the source inside a workspace: documents it brought carry it in their provenance as `source`."""
        ...

    async def changes(self, known: frozenset[str], cursor: str | None) -> Changes | None:
        """What the source holds now; `known` are the paths the workspace holds from it. None when nothing changed since
        `cursor`; without a cursor everything is compared.
        """
        ...

    async def read(self, item: SourceItem, known: str | None = None) -> SourceContent | None:
        """The content of an item; None when it still has the fingerprint `known`."""
        ...

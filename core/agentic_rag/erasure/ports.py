"""The store of erasure certificates, and the reads that check them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from agentic_rag.erasure.certificate import Certificate, ErasedStore, StoreErasure
from agentic_rag.tenancy.principals import WorkspaceRef


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
    """The ordinals of its chunks, as inclusive ranges."""
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


@dataclass(frozen=True, slots=True)
class ErasureTrace:
    """Rows of one store that still refer to a document."""

    store: str
    rows: int
    is_pending: bool = False
    """The rows list work of a pending job: blobs or nodes of an external graph to delete."""


class ErasureStore(Protocol):
    """Inside a transaction of one organisation."""

    async def certificate(self, workspace: WorkspaceRef, document_id: UUID) -> Certificate | None:
        """The certificate of the last erasure; None when the document was never erased, or was registered again."""
        ...

    async def past(self, workspace: WorkspaceRef, document_id: UUID) -> list[Certificate]:
        """The certificates of erasures after which the document was registered again, newest first."""
        ...

    async def follow(
        self, workspace: WorkspaceRef, document_id: UUID, stores: Sequence[StoreErasure]
    ) -> Certificate | None:
        """Record the erasures of stores outside the database and return the certificate; None without one."""
        ...

    async def traces(self, workspace: WorkspaceRef, document_id: UUID) -> list[ErasureTrace]:
        """Every row that still refers to the document: by its id in any table, by the ordinals of its chunks, or in the
        content of stored runs, cached answers and jobs. Redacted rows do not count.
        """
        ...


class ExternalGraph(Protocol):
    """Reads of a graph outside Postgres that prove an erasure. Errors: `DependencyUnavailable`."""

    async def document_nodes(self, workspace: WorkspaceRef, document_id: UUID) -> int:
        """The number of the document's nodes: its source, its chunks, and the entities whose first source it is."""
        ...

    async def version(self, workspace: WorkspaceRef) -> int:
        """The corpus version that the graph reflects; 0 for an unknown workspace."""
        ...

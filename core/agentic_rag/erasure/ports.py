"""The stores of erasure certificates, and the reads that check them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from agentic_rag.erasure.certificate import Certificate, ErasedStore, StoreErasure
from agentic_rag.erasure.workspace_erasure import WorkspaceErasure
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
            StoreErasure(ErasedStore.PROCESSES, 0, done=False),
            *((StoreErasure(ErasedStore.GRAPH, 0, done=False),) if self.is_followed else ()),
        )


@dataclass(frozen=True, slots=True)
class ErasureTrace:
    """Rows of one store that still refer to a document."""

    store: str
    rows: int
    is_pending: bool = False
    """The rows list work of a pending job: blobs or nodes of an external graph to delete."""


@dataclass(frozen=True, slots=True)
class HeldErasure:
    """An erasure whose certificate waits for processes that may hold texts of the document in memory."""

    document_id: UUID
    version: int
    """The corpus version of the erasure: the same document may be erased again later."""


@dataclass(frozen=True, slots=True)
class DropOrder:
    """Sent to all processes that were registered at `ordered_at`, by the database's clock."""

    order_id: UUID
    ordered_at: datetime


@dataclass(frozen=True, slots=True)
class DropProgress:
    """Who has followed an order, in numbers of processes."""

    followed: int = 0
    """They said that they dropped what they held, or signed off since."""
    lapsed: int = 0
    """They fell silent without signing off: killed, stopped, or cut off from the database."""
    silent: int = 0
    """They live and have not followed yet."""


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

    async def held(self, workspace: WorkspaceRef, limit: int) -> Sequence[HeldErasure]:
        """At most `limit` of the committed erasures whose certificates wait for processes."""
        ...

    async def order_drop(self, workspace: WorkspaceRef, document_ids: Sequence[UUID]) -> DropOrder:
        """Tell every process, at the commit, to drop what it holds of the workspace, because these documents (none: all
        of it) were erased. At most 100 documents.
        """
        ...

    async def drop_progress(self, order: DropOrder | None) -> DropProgress:
        """Who of the processes that were registered at the order has followed it; without an order, all that live are
        silent.
        """
        ...

    async def confirm(self, workspace: WorkspaceRef, erasures: Sequence[HeldErasure], progress: DropProgress) -> None:
        """Complete the certificates of the erasures with what processes said, where they still wait for it."""
        ...


class WorkspaceErasureStore(Protocol):
    """Inside a transaction of one organisation. Its calls see workspaces that leave; no other statement does."""

    async def running(self, workspace: WorkspaceRef) -> Mapping[str, int]:
        """The number of unfinished jobs that somebody asked for, by kind."""
        ...

    async def begin(self, workspace: WorkspaceRef, blob_owner: str, requested_by: str) -> None:
        """Hide the workspace from every reader and writer, free its name, forget its settings, and cancel its jobs."""
        ...

    async def begin_organisation(self, requested_by: str) -> Sequence[WorkspaceRef]:
        """Hide the organisation, free its name, and drop its keys and settings. Returns all its workspaces that do not
        leave yet, for `begin`.
        """
        ...

    async def drop_rows(self, workspace: WorkspaceRef, limit: int) -> int:
        """Delete and count at most `limit` rows of one table; their number. 0: only the last transaction's are left."""
        ...

    async def doom_blobs(self, workspace: WorkspaceRef) -> int:
        """Mark the blobs of all originals for deletion; their number."""
        ...

    async def unnamed(self, keys: Sequence[str]) -> list[str]:
        """Those of the blob keys that no row of the organisation names."""
        ...

    async def count(self, workspace: WorkspaceRef, store: str, number: int) -> None:
        """Add to what went from a store outside the database."""
        ...

    async def finish(self, workspace: WorkspaceRef) -> bool:
        """Delete whatever is left, the workspace's row and the running job's, and complete the certificate. False, and
        nothing was done, while a row names a blob.
        """
        ...

    async def finish_organisation(self) -> Sequence[WorkspaceRef]:
        """Where the organisation leaves and has no workspace any more, delete it and complete its certificate. Returns
        workspaces that were made in it since, for `begin`.
        """
        ...

    async def get(self, subject_id: UUID) -> WorkspaceErasure | None:
        """The erasure of a workspace, or of the organisation by its own id; None without one."""
        ...

    async def all(self, most: int | None = None) -> list[WorkspaceErasure]:
        """The erasures of the organisation, newest first; None: without a limit."""
        ...

    async def traces(self, subject_id: UUID) -> list[ErasureTrace]:
        """Every row of any table that belongs to the workspace, or to the organisation by its own id, except of those
        that are kept by rule.
        """
        ...


class ExternalGraph(Protocol):
    """A graph outside Postgres: reads that prove an erasure, and the removal of a workspace. Errors:
    `DependencyUnavailable`.
    """

    async def workspace_nodes(self, workspace: WorkspaceRef) -> int:
        """The number of all nodes of a workspace."""
        ...

    async def drop_workspace(self, workspace: WorkspaceRef, limit: int) -> int:
        """Delete at most `limit` nodes of a workspace, first the one that its writers need; their number."""
        ...

    async def document_nodes(self, workspace: WorkspaceRef, document_id: UUID) -> int:
        """The number of the document's nodes: its source, its chunks, and the entities whose first source it is."""
        ...

    async def version(self, workspace: WorkspaceRef) -> int:
        """The corpus version that the graph reflects; 0 for an unknown workspace."""
        ...

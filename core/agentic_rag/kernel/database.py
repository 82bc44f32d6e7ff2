"""The one place that opens tenant transactions."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

if TYPE_CHECKING:
    from agentic_rag.answering.ports import SavedStore, ThreadStore
    from agentic_rag.documents.ports import DocumentReader, DocumentStore, OriginalStore, UploadStore
    from agentic_rag.erasure.ports import ErasureStore, WorkspaceErasureStore
    from agentic_rag.ingestion.ports import Publisher
    from agentic_rag.ingestion.sources.ports import SourceStore
    from agentic_rag.ingestion.web.frontier import CrawlStore
    from agentic_rag.jobs.ports import JobStore
    from agentic_rag.models.billing.ports import UsageStore
    from agentic_rag.models.embedding.ports import SpaceStore
    from agentic_rag.models.embedding.space import RegisteredSpace
    from agentic_rag.models.providers.ports import ProviderStore
    from agentic_rag.operations.ports import EvalRunStore
    from agentic_rag.operations.snapshots.ports import SnapshotStore
    from agentic_rag.retrieval.ports import GraphReader, LexicalReader, VectorIndexStore, VectorReader
    from agentic_rag.tenancy.access import ReadIdentity, ReadScope
    from agentic_rag.tenancy.audit import AuditEntry
    from agentic_rag.tenancy.ports import AccessStore, ApiKeyStore, AuditLog
    from agentic_rag.tenancy.principals import WorkspaceRef
    from agentic_rag.workspaces.ports import OrganisationStore, WorkspaceStore
    from agentic_rag.workspaces.workspace import CorpusHead


class CorpusSnapshot(Protocol):
    """All reads of one retrieval, at one corpus version."""

    version: int
    """The corpus version every reader of this snapshot sees."""
    space: RegisteredSpace | None
    """The active embedding space; None for a workspace that never published."""
    access: ReadScope
    """What the snapshot's readers may read at its instant, whatever its version. The graph shows nothing else; the
    other readers are told in each call.
    """
    documents: DocumentReader
    """Chunks and revisions."""
    vectors: VectorReader
    """Dense arm."""
    lexical: LexicalReader
    """Lexical arm."""
    graph: GraphReader
    """Graph arm."""

    async def shown(self, version: int) -> int:
        """The number that this snapshot's readers are shown for a stored version (see `AccessStore.shown_version`)."""
        ...


class Transaction(Protocol):
    """Writes of one organisation; commits when the block ends, rolls back on any exception."""

    organisations: OrganisationStore
    api_keys: ApiKeyStore
    workspaces: WorkspaceStore
    documents: DocumentStore
    access: AccessStore
    jobs: JobStore
    originals: OriginalStore
    uploads: UploadStore
    spaces: SpaceStore
    indexes: VectorIndexStore
    publisher: Publisher
    audit: AuditLog
    providers: ProviderStore
    usage: UsageStore
    erasures: ErasureStore
    workspace_erasures: WorkspaceErasureStore
    snapshots: SnapshotStore
    sources: SourceStore
    crawls: CrawlStore
    eval_runs: EvalRunStore
    threads: ThreadStore
    saved: SavedStore


class Database(Protocol):
    """Errors of every use: `DependencyUnavailable` (dependency "postgres") when the server does not answer."""

    def snapshot(
        self,
        workspace: WorkspaceRef,
        as_of: int | None = None,
        space_id: int | None = None,
        readers: ReadIdentity = ...,
        *,
        may_defer: bool = False,
        may_lag: bool = False,
    ) -> AbstractAsyncContextManager[CorpusSnapshot]:
        """Open a read-only snapshot in the name of `readers`. `space_id` searches the vectors of another space than the
        active one (to judge it before a switch). With `may_defer` it may begin with the first read, and `chunks` are
        read before anything of it is believed: each read may raise `SnapshotOutdated` until then, upon which the caller
        opens one that is not deferred. With `may_lag` too, a replica may be read, whose titles and metadata may be a
        second older. Errors: `NotFound` (workspace), `InvalidInput` code AS_OF_UNAVAILABLE (newer
        than the corpus or past retention).
        """
        ...

    def transaction(self, org_id: UUID) -> AbstractAsyncContextManager[Transaction]:
        """Open a write transaction of one organisation."""
        ...

    async def head(self, workspace: WorkspaceRef, readers: ReadIdentity = ...) -> CorpusHead | None:
        """The newest corpus version, the space it answers in and what `readers` may read, of one instant; None for an
        unknown workspace. One cheap call, no tenant transaction.
        """
        ...

    async def corpus_version(self, workspace: WorkspaceRef) -> int | None:
        """The newest corpus version; None for an unknown workspace. One cheap call, no tenant transaction."""
        ...

    def while_answering(self, seconds: float) -> AbstractAsyncContextManager[None]:
        """Ends the block with `DependencyUnavailable` once the server has answered nobody for `seconds`: neither the
        block, nor others, nor a question asked beside it. A server that is slow does not end it.
        """
        ...

    async def record_audit(self, org_id: UUID, entry: AuditEntry, *, durable: bool = True) -> None:
        """Append an entry of an act that writes nothing else. It is committed when this returns, in one round trip. One
        that is not `durable` reaches the disk of the server within a second.
        """
        ...

    async def check(self) -> None:
        """Answer, or raise `DependencyUnavailable` or `Misconfigured` (no pgvector, migrations missing, role too
        strong).
        """
        ...

    async def aclose(self) -> None:
        """Close the pool."""
        ...

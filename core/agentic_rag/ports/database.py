"""The one place that opens tenant transactions."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from agentic_rag.domain.access import ANYBODY, Readable, Readers
from agentic_rag.domain.spaces import EmbeddingSpace, RegisteredSpace
from agentic_rag.domain.tenancy import WorkspaceRef
from agentic_rag.domain.workspace_settings import RagConfig
from agentic_rag.ports.access_store import AccessStore
from agentic_rag.ports.api_key_store import ApiKeyStore
from agentic_rag.ports.audit_log import AuditLog
from agentic_rag.ports.document_store import DocumentReader, DocumentStore
from agentic_rag.ports.erasure_store import ErasureStore
from agentic_rag.ports.eval_runs import EvalRunStore
from agentic_rag.ports.graph_store import GraphReader
from agentic_rag.ports.job_store import JobStore
from agentic_rag.ports.lexical_store import LexicalReader
from agentic_rag.ports.organisations import OrganisationStore
from agentic_rag.ports.original_store import OriginalStore
from agentic_rag.ports.provider_store import ProviderStore
from agentic_rag.ports.publication import Publisher
from agentic_rag.ports.snapshot_store import SnapshotStore
from agentic_rag.ports.space_store import SpaceStore
from agentic_rag.ports.upload_store import UploadStore
from agentic_rag.ports.usage_store import UsageStore
from agentic_rag.ports.vector_indexes import VectorIndexStore
from agentic_rag.ports.vector_store import VectorReader
from agentic_rag.ports.workspace_store import WorkspaceStore


@dataclass(frozen=True, slots=True)
class CorpusHead:
    """The newest corpus version, the space that answers questions at it (None before the first vector), the support
    below which it abstains, what the caller may read, and how it is searched (None: the process's default).
    """

    version: int
    space: EmbeddingSpace | None
    support_threshold: float | None = None
    access: Readable = Readable()
    rag_config: RagConfig | None = None


class Snapshot(Protocol):
    """All reads of one retrieval, at one corpus version."""

    @property
    def version(self) -> int:
        """The corpus version every reader of this snapshot sees."""
        ...

    @property
    def space(self) -> RegisteredSpace | None:
        """The active embedding space; None for a workspace that never published."""
        ...

    @property
    def access(self) -> Readable:
        """What the snapshot's readers may read at its instant, whatever its version. The graph shows nothing else; the
        other readers are told in each call.
        """
        ...

    @property
    def documents(self) -> DocumentReader:
        """Chunks and revisions."""
        ...

    @property
    def vectors(self) -> VectorReader:
        """Dense arm."""
        ...

    @property
    def lexical(self) -> LexicalReader:
        """Lexical arm."""
        ...

    @property
    def graph(self) -> GraphReader:
        """Graph arm."""
        ...


class Transaction(Protocol):
    """Writes of one organisation; commits when the block ends, rolls back on any exception."""

    @property
    def organisations(self) -> OrganisationStore: ...

    @property
    def api_keys(self) -> ApiKeyStore: ...

    @property
    def workspaces(self) -> WorkspaceStore: ...

    @property
    def documents(self) -> DocumentStore: ...

    @property
    def access(self) -> AccessStore: ...

    @property
    def jobs(self) -> JobStore: ...

    @property
    def originals(self) -> OriginalStore: ...

    @property
    def uploads(self) -> UploadStore: ...

    @property
    def spaces(self) -> SpaceStore: ...

    @property
    def indexes(self) -> VectorIndexStore: ...

    @property
    def publisher(self) -> Publisher: ...

    @property
    def audit(self) -> AuditLog: ...

    @property
    def providers(self) -> ProviderStore: ...

    @property
    def usage(self) -> UsageStore: ...

    @property
    def erasures(self) -> ErasureStore: ...

    @property
    def snapshots(self) -> SnapshotStore: ...

    @property
    def eval_runs(self) -> EvalRunStore: ...


class Database(Protocol):
    """Errors of every use: `DependencyUnavailable` (dependency "postgres") when the server does not answer."""

    def snapshot(
        self,
        workspace: WorkspaceRef,
        as_of: int | None = None,
        space_id: int | None = None,
        readers: Readers = ANYBODY,
    ) -> AbstractAsyncContextManager[Snapshot]:
        """Open a read-only snapshot in the name of `readers`. `space_id` searches the vectors of another space than the
        active one (to judge it before a switch). Errors: `NotFound` (workspace), `InvalidInput` code AS_OF_UNAVAILABLE
        (newer than the corpus or past retention).
        """
        ...

    def transaction(self, org_id: UUID) -> AbstractAsyncContextManager[Transaction]:
        """Open a write transaction of one organisation."""
        ...

    async def head(self, workspace: WorkspaceRef, readers: Readers = ANYBODY) -> CorpusHead | None:
        """The newest corpus version, the space it answers in and what `readers` may read, of one instant; None for an
        unknown workspace. One cheap call, no tenant transaction.
        """
        ...

    async def corpus_version(self, workspace: WorkspaceRef) -> int | None:
        """The newest corpus version; None for an unknown workspace. One cheap call, no tenant transaction."""
        ...

    async def check(self) -> None:
        """Answer, or raise `DependencyUnavailable` or `Misconfigured` (no pgvector, migrations missing, role too
        strong).
        """
        ...

    async def aclose(self) -> None:
        """Close the pool."""
        ...

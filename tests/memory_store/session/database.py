"""`kernel.database.Database` in memory: the one place that opens tenant transactions."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from tests.held_transactions import hold_transaction
from tests.memory_store.answering.cache import MemoryAnswerCache
from tests.memory_store.answering.saved import MemorySavedStore
from tests.memory_store.answering.threads import MemoryThreadStore
from tests.memory_store.documents.documents import MemoryDocumentStore
from tests.memory_store.documents.originals import MemoryOriginalStore, MemoryUploadStore
from tests.memory_store.documents.reader import MemoryDocumentReader
from tests.memory_store.erasure.erasures import MemoryErasureStore
from tests.memory_store.erasure.workspace_erasures import MemoryWorkspaceErasures
from tests.memory_store.ingestion.crawls import MemoryCrawlStore
from tests.memory_store.ingestion.publication import MemoryPublisher
from tests.memory_store.ingestion.sources import MemorySourceStore
from tests.memory_store.jobs.jobs import MemoryJobStore
from tests.memory_store.models.provider_keys import MemoryProviderStore
from tests.memory_store.models.spaces import MemorySpaceStore
from tests.memory_store.models.usage import MemoryUsageStore
from tests.memory_store.operations.eval_runs import MemoryEvalRunStore
from tests.memory_store.operations.snapshots import MemorySnapshotStore
from tests.memory_store.retrieval.search import MemoryGraphReader, MemoryLexicalReader, MemoryVectorReader
from tests.memory_store.retrieval.vector_indexes import MemoryVectorIndexStore
from tests.memory_store.session.state import WorkspaceState
from tests.memory_store.session.store import MemoryStore, Working, entered
from tests.memory_store.tenancy.access import MemoryAccessStore
from tests.memory_store.tenancy.api_keys import MemoryApiKeyStore
from tests.memory_store.tenancy.audit import MemoryAuditLog
from tests.memory_store.workspaces.organisations import MemoryOrganisationStore
from tests.memory_store.workspaces.workspaces import MemoryWorkspaceStore

from agentic_rag.kernel.database import CorpusSnapshot, Transaction
from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag.models.embedding.space import RegisteredSpace
from agentic_rag.tenancy.access import ANONYMOUS_READER, ReadIdentity, ReadScope
from agentic_rag.tenancy.audit import AuditEntry
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.organisation import FeatureFlag
from agentic_rag.workspaces.workspace import CorpusHead, effective_settings


@dataclass(frozen=True, slots=True)
class MemorySnapshot:
    """Readers of a state that was committed, at one of its versions."""

    state: WorkspaceState
    version: int
    space: RegisteredSpace | None
    """The space that is searched: the active one unless another was asked for."""
    access: ReadScope

    async def shown(self, version: int) -> int:
        """The number that the readers are shown for a version."""
        return version - sum(one <= version for one in self.state.hidden_versions(self.access))

    @property
    def documents(self) -> MemoryDocumentReader:
        """Chunks and revisions."""
        return MemoryDocumentReader(self.state, self.version)

    @property
    def vectors(self) -> MemoryVectorReader:
        """Dense arm."""
        return MemoryVectorReader(self.state, self.version, self.space)

    @property
    def lexical(self) -> MemoryLexicalReader:
        """Lexical arm."""
        return MemoryLexicalReader(self.state, self.version)

    @property
    def graph(self) -> MemoryGraphReader:
        """Graph arm."""
        return MemoryGraphReader(self.state, self.version, self.access)


@dataclass(frozen=True, slots=True)
class MemoryTransaction:
    """Writes of one organisation."""

    working: Working
    org_id: UUID
    cache: MemoryAnswerCache | None

    @property
    def organisations(self) -> MemoryOrganisationStore:
        """The organisation itself."""
        return MemoryOrganisationStore(self.working, self.org_id)

    @property
    def api_keys(self) -> MemoryApiKeyStore:
        """Its API keys."""
        return MemoryApiKeyStore(self.working, self.org_id)

    @property
    def workspaces(self) -> MemoryWorkspaceStore:
        """Workspaces and embedding spaces."""
        return MemoryWorkspaceStore(self.working, self.org_id)

    @property
    def documents(self) -> MemoryDocumentStore:
        """Documents and staged work."""
        return MemoryDocumentStore(self.working)

    @property
    def access(self) -> MemoryAccessStore:
        """Who may read which document."""
        return MemoryAccessStore(self.working)

    @property
    def jobs(self) -> MemoryJobStore:
        """The outbox."""
        return MemoryJobStore(self.working, self.org_id)

    @property
    def originals(self) -> MemoryOriginalStore:
        """Which blob holds which content."""
        return MemoryOriginalStore(self.working)

    @property
    def uploads(self) -> MemoryUploadStore:
        """Idempotency keys of uploads."""
        return MemoryUploadStore(self.working)

    @property
    def spaces(self) -> MemorySpaceStore:
        """Embedding spaces being filled, answering, or retired."""
        return MemorySpaceStore(self.working)

    @property
    def indexes(self) -> MemoryVectorIndexStore:
        """What is known of approximate indexes."""
        return MemoryVectorIndexStore(self.working)

    @property
    def publisher(self) -> MemoryPublisher:
        """Publish, erase, compact."""
        return MemoryPublisher(self.working, self.cache)

    @property
    def audit(self) -> MemoryAuditLog:
        """Who did what."""
        return MemoryAuditLog(self.working, self.org_id)

    @property
    def providers(self) -> MemoryProviderStore:
        """Keys that the organisation brought."""
        return MemoryProviderStore(self.working, self.org_id)

    @property
    def usage(self) -> MemoryUsageStore:
        """What calls of models used."""
        return MemoryUsageStore(self.working, self.org_id)

    @property
    def erasures(self) -> MemoryErasureStore:
        """Certificates of what was erased."""
        return MemoryErasureStore(self.working)

    @property
    def workspace_erasures(self) -> MemoryWorkspaceErasures:
        """Erasures of whole workspaces."""
        return MemoryWorkspaceErasures(self.working, self.org_id)

    @property
    def snapshots(self) -> MemorySnapshotStore:
        """What is known of snapshots."""
        return MemorySnapshotStore(self.working)

    @property
    def crawls(self) -> MemoryCrawlStore:
        """Frontiers of crawls."""
        return MemoryCrawlStore(self.working)

    @property
    def sources(self) -> MemorySourceStore:
        """Sources that workspaces follow."""
        return MemorySourceStore(self.working, self.org_id)

    @property
    def eval_runs(self) -> MemoryEvalRunStore:
        """Evaluations that jobs run."""
        return MemoryEvalRunStore(self.working)

    @property
    def saved(self) -> MemorySavedStore:
        """Questions that are asked again."""
        return MemorySavedStore(self.working)

    @property
    def threads(self) -> MemoryThreadStore:
        """Conversations."""
        return MemoryThreadStore(self.working)


class MemoryDatabase:
    """One writer at a time; readers hold the state that was committed when they came. With a `cache` in the same
    process, an erasure empties it of the workspace's answers.
    """

    def __init__(self, store: MemoryStore, cache: MemoryAnswerCache | None = None) -> None:
        self._store = store
        self._cache = cache

    @asynccontextmanager
    async def snapshot(
        self,
        workspace: WorkspaceRef,
        as_of: int | None = None,
        space_id: int | None = None,
        readers: ReadIdentity = ANONYMOUS_READER,
        *,
        may_defer: bool = False,
        may_lag: bool = False,
    ) -> AsyncGenerator[CorpusSnapshot]:
        """Open a read-only snapshot in the name of `readers`."""
        state = entered(self._store.committed, workspace)
        if state is None:
            raise NotFound(f"There is no workspace {workspace.workspace_id}.")
        newest = state.workspace.corpus_version
        if as_of is not None and not state.oldest_version <= as_of <= newest:
            raise InvalidInput(
                "This version cannot be read: it is newer than the corpus, or past what the workspace keeps "
                "(`historyDays`).",
                code="AS_OF_UNAVAILABLE",
                path=("asOf",),
            )
        space = state.active_space() if space_id is None else state.registered_space(space_id)
        with hold_transaction():
            snapshot: Any = MemorySnapshot(state, newest if as_of is None else as_of, space, state.readable(readers))
            yield snapshot

    @asynccontextmanager
    async def transaction(self, org_id: UUID) -> AsyncGenerator[Transaction]:
        """Open a write transaction of one organisation."""
        async with self._store.transaction(org_id) as working:
            with hold_transaction():
                transaction: Any = MemoryTransaction(working, org_id, self._cache)
                yield transaction

    async def head(self, workspace: WorkspaceRef, readers: ReadIdentity = ANONYMOUS_READER) -> CorpusHead | None:
        """The newest corpus version, its space and what `readers` may read; None for an unknown workspace."""
        state = entered(self._store.committed, workspace)
        if state is None:
            return None
        active, config = state.active_space(), effective_settings(state.workspace).rag_config
        access = state.readable(readers)
        if active is None:
            return CorpusHead(
                state.workspace.corpus_version,
                None,
                access=access,
                rag_config=config,
                web=state.workspace.settings.web,
                organisation_allows_web=self._allows_web(workspace.org_id),
            )
        record = next(one.calibration for one in state.spaces if one.registered == active)
        return CorpusHead(
            state.workspace.corpus_version,
            active.space,
            record.threshold,
            access,
            config,
            record.kind_thresholds,
            None if record.similarity is None else record.similarity.exponent,
            state.workspace.settings.web,
            self._allows_web(workspace.org_id),
        )

    def _allows_web(self, org_id: UUID) -> bool:
        state = self._store.organisations.get(org_id)
        made = None if state is None else state.organisation
        return made is not None and made.settings.is_on(FeatureFlag.WEB_ACCESS)

    async def corpus_version(self, workspace: WorkspaceRef) -> int | None:
        """The newest corpus version; None for an unknown workspace."""
        state = entered(self._store.committed, workspace)
        return None if state is None else state.workspace.corpus_version

    def while_answering(self, seconds: float) -> AbstractAsyncContextManager[None]:
        """It always answers."""
        return nullcontext()

    async def record_audit(self, org_id: UUID, entry: AuditEntry, *, durable: bool = True) -> None:
        """Append an entry that is committed when this returns."""
        async with self._store.transaction(org_id) as working:
            await MemoryAuditLog(working, org_id).record(entry)

    async def check(self) -> None:
        """Always answers."""

    async def aclose(self) -> None:
        """Nothing to close."""

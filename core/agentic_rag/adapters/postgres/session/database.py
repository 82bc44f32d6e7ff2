"""`kernel.database.Database` on Postgres: the only place that opens tenant transactions."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from uuid import UUID

from agentic_rag.adapters.postgres.answering.saved import PostgresSavedStore
from agentic_rag.adapters.postgres.answering.threads import PostgresThreadStore
from agentic_rag.adapters.postgres.documents.document_reader import PostgresDocumentReader
from agentic_rag.adapters.postgres.documents.documents import PostgresDocumentStore
from agentic_rag.adapters.postgres.documents.originals import PostgresOriginalStore
from agentic_rag.adapters.postgres.documents.uploads import PostgresUploadStore
from agentic_rag.adapters.postgres.erasure.certificates import PostgresErasureStore
from agentic_rag.adapters.postgres.erasure.workspace_erasures import PostgresWorkspaceErasures
from agentic_rag.adapters.postgres.ingestion.crawls import PostgresCrawlStore
from agentic_rag.adapters.postgres.ingestion.publication import PostgresPublisher
from agentic_rag.adapters.postgres.ingestion.sources import PostgresSourceStore
from agentic_rag.adapters.postgres.jobs.jobs import PostgresJobStore
from agentic_rag.adapters.postgres.models.provider_keys import PostgresProviderStore
from agentic_rag.adapters.postgres.models.space_rows import space_from
from agentic_rag.adapters.postgres.models.spaces import PostgresSpaceStore
from agentic_rag.adapters.postgres.models.usage import PostgresUsageStore
from agentic_rag.adapters.postgres.operations.eval_runs import PostgresEvalRunStore
from agentic_rag.adapters.postgres.operations.snapshots import PostgresSnapshotStore
from agentic_rag.adapters.postgres.retrieval.graph import PostgresGraphReader
from agentic_rag.adapters.postgres.retrieval.lexical import PostgresLexicalReader
from agentic_rag.adapters.postgres.retrieval.resident import CorpusState, ResidentCorpusStore
from agentic_rag.adapters.postgres.retrieval.segments import SegmentCache
from agentic_rag.adapters.postgres.retrieval.vector_indexes import PostgresVectorIndexStore
from agentic_rag.adapters.postgres.retrieval.vectors import PostgresVectorReader
from agentic_rag.adapters.postgres.session.connection import PostgresConnection, Row
from agentic_rag.adapters.postgres.session.corpus_heads import CorpusHeads
from agentic_rag.adapters.postgres.session.deferred_connection import DeferredConnection
from agentic_rag.adapters.postgres.session.pool import BOUND, ENTERED, PostgresPool, caller_setting
from agentic_rag.adapters.postgres.session.replica import ReadReplica
from agentic_rag.adapters.postgres.session.snapshot_header import HEADER, RememberedHeaders
from agentic_rag.adapters.postgres.tenancy.access import PostgresAccessStore, read_sets_above
from agentic_rag.adapters.postgres.tenancy.api_keys import PostgresApiKeyStore
from agentic_rag.adapters.postgres.tenancy.audit import PostgresAuditLog, record_alone
from agentic_rag.adapters.postgres.tenancy.read_scopes import ReadScopes
from agentic_rag.adapters.postgres.tenancy.restricted_versions import HiddenVersions
from agentic_rag.adapters.postgres.workspaces.organisations import PostgresOrganisationStore
from agentic_rag.adapters.postgres.workspaces.workspaces import PostgresWorkspaceStore
from agentic_rag.answering.ports import SavedStore, ThreadStore
from agentic_rag.documents.ports import DocumentReader, DocumentStore, OriginalStore, UploadStore
from agentic_rag.erasure.ports import ErasureStore, WorkspaceErasureStore
from agentic_rag.ingestion.ports import Publisher
from agentic_rag.ingestion.sources.ports import SourceStore
from agentic_rag.ingestion.web.frontier import CrawlStore
from agentic_rag.jobs.ports import JobStore
from agentic_rag.kernel.concurrency import Turnstile
from agentic_rag.kernel.database import CorpusSnapshot, Transaction
from agentic_rag.kernel.errors import InvalidInput, Misconfigured, NotFound
from agentic_rag.models.billing.ports import UsageStore
from agentic_rag.models.embedding.ports import SpaceStore
from agentic_rag.models.providers.ports import ProviderStore
from agentic_rag.operations.ports import EvalRunStore
from agentic_rag.operations.snapshots.ports import SnapshotStore
from agentic_rag.retrieval.ports import GraphReader, GraphStore, LexicalReader, VectorIndexStore, VectorReader
from agentic_rag.tenancy.access import ANONYMOUS_READER, ReadIdentity, ReadScope
from agentic_rag.tenancy.audit import AuditEntry
from agentic_rag.tenancy.ports import AccessStore, ApiKeyStore, AuditLog
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.ports import OrganisationStore, WorkspaceStore
from agentic_rag.workspaces.workspace import CorpusHead
from agentic_rag_migrations.serving import is_served

CORPUS_VERSION = f"SELECT rag_corpus_version(bound.org_id, $2) FROM {BOUND} CROSS JOIN {ENTERED}"  # noqa: S608

CHECK = """
SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'vector') AS has_vector,
       to_regclass('public.rag_schema_version') IS NOT NULL AS is_migrated,
       current_user AS role,
       r.rolsuper OR r.rolbypassrls AS is_above_policies,
       EXISTS (
           SELECT FROM pg_class c
           WHERE c.relname LIKE 'rag\\_%' AND c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace
             AND pg_has_role(r.oid, c.relowner, 'USAGE')
       ) AS owns_tables,
       EXISTS (
           SELECT FROM pg_roles o WHERE o.rolname = 'rag_owner' AND pg_has_role(session_user, o.oid, 'SET')
       ) AS may_become_owner
FROM pg_roles r
WHERE r.rolname = current_user
"""

SCHEMA_VERSION = "SELECT version_num FROM rag_schema_version"


class PostgresCorpusSnapshot:
    """The readers of one snapshot."""

    def __init__(
        self,
        connection: PostgresConnection,
        workspace: WorkspaceRef,
        version: int,
        header: Row,
        access: ReadScope,
        cache: SegmentCache,
        graph: GraphStore | None,
        hidden: HiddenVersions,
        residents: ResidentCorpusStore | None,
    ) -> None:
        # In the order of their versions, so that an older version sees the first of them.
        segments = tuple(header["segment_ids"][: header["segments_seen"]])
        state = (header["corpus_version"], access.version, segments)
        self._connection, self._workspace, self._hidden = connection, workspace, hidden
        self.version = version
        self.space = None if header["space_id"] is None else space_from(header)
        self.access = access
        changed = header["titles_changed"]
        held = None if residents is None else residents.find(workspace, CorpusState.of(header, self.space), changed)
        names: dict[UUID, str | None] = {}
        documents = PostgresDocumentReader(
            connection, workspace, version, cache, state, held, names, titles_changed=changed
        )
        self.documents: DocumentReader = documents
        self.vectors: VectorReader = PostgresVectorReader(
            connection, workspace, version, self.space, header["is_indexed"], None if held is None else held.vectors
        )
        self.lexical: LexicalReader = PostgresLexicalReader(
            connection, workspace, version, segments, cache, self.access.version
        )
        self.graph: GraphReader = PostgresGraphReader(connection, workspace, version, self.access, held, names)
        if graph is not None and version == header["corpus_version"]:
            visible = partial(documents.visible, access_ids=self.access.access_ids)
            self.graph = graph.reader(workspace, version, self.access, visible)

    async def shown(self, version: int) -> int:
        return await self._hidden.shown(self._connection, self._workspace, self.access, version)


class PostgresTransaction:
    """Writes of one organisation."""

    def __init__(
        self,
        connection: PostgresConnection,
        org_id: UUID,
        is_followed: bool = False,
        scopes: ReadScopes | None = None,
    ) -> None:
        self.organisations: OrganisationStore = PostgresOrganisationStore(connection, org_id)
        self.api_keys: ApiKeyStore = PostgresApiKeyStore(connection, org_id)
        self.workspaces: WorkspaceStore = PostgresWorkspaceStore(connection, org_id)
        self.documents: DocumentStore = PostgresDocumentStore(connection, is_followed=is_followed)
        self.access: AccessStore = PostgresAccessStore(connection, scopes, is_followed=is_followed)
        self.jobs: JobStore = PostgresJobStore(connection, org_id)
        self.originals: OriginalStore = PostgresOriginalStore(connection)
        self.uploads: UploadStore = PostgresUploadStore(connection)
        self.spaces: SpaceStore = PostgresSpaceStore(connection, is_followed=is_followed)
        self.indexes: VectorIndexStore = PostgresVectorIndexStore(connection)
        self.publisher: Publisher = PostgresPublisher(connection, is_followed=is_followed)
        self.audit: AuditLog = PostgresAuditLog(connection, org_id)
        self.providers: ProviderStore = PostgresProviderStore(connection, org_id)
        self.usage: UsageStore = PostgresUsageStore(connection, org_id)
        self.erasures: ErasureStore = PostgresErasureStore(connection)
        self.workspace_erasures: WorkspaceErasureStore = PostgresWorkspaceErasures(connection, org_id)
        self.snapshots: SnapshotStore = PostgresSnapshotStore(connection, org_id)
        self.sources: SourceStore = PostgresSourceStore(connection, org_id)
        self.crawls: CrawlStore = PostgresCrawlStore(connection)
        self.eval_runs: EvalRunStore = PostgresEvalRunStore(connection, org_id)
        self.threads: ThreadStore = PostgresThreadStore(connection)
        self.saved: SavedStore = PostgresSavedStore(connection)


class PostgresDatabase:
    """Opens snapshots and transactions on a pool.

    Opening a snapshot costs two round trips (begin with the tenant setting; versions, space and segments), and one more
    for access sets that this process has not seen for the caller; ending it costs one. One that is deferred goes by the
    header that this process remembers, and costs one at its first read, which compares that header. With a `graph`
    outside Postgres, snapshots of the newest version read that graph. It keeps no older versions, so snapshots of those
    read the Postgres tables. With `residents`, vectors and mentions that this process holds are not looked for in the
    database.
    With a `replica`, deferred snapshots that may lag are read there where it has the state that the primary told.
    With `refuses_owners` the check refuses a login that may become the owner of the tables.
    """

    def __init__(
        self,
        pool: PostgresPool,
        schema_head: str,
        cache: SegmentCache | None = None,
        graph: GraphStore | None = None,
        *,
        refuses_owners: bool = False,
        residents: ResidentCorpusStore | None = None,
        replica: ReadReplica | None = None,
    ) -> None:
        self._pool = pool
        self._replica = replica
        self._schema_head = schema_head
        self._refuses_owners = refuses_owners
        self._cache = cache or SegmentCache()
        self._scopes = ReadScopes()
        self._graph = graph
        self._residents = residents
        self._headers = RememberedHeaders()
        self.heads = CorpusHeads(pool, self._scopes, self._headers)
        """To be closed before the pool."""
        self._reading = Turnstile()

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
        is_newest = as_of is None and space_id is None
        row = self._headers.find(workspace) if may_defer and is_newest else None
        async with AsyncExitStack() as stack:
            stack.enter_context(self._reading.inside())

            async def begin() -> PostgresConnection:
                return await stack.enter_async_context(self._pool.snapshot(workspace.org_id))

            async def begin_deferred() -> tuple[PostgresConnection, bool]:
                if may_lag and self._replica is not None and row is not None:
                    found = await self._replica.begin(stack, workspace, row)
                    if found is not None:
                        return found, True
                return await begin(), False

            if row is not None:
                connection = DeferredConnection(begin_deferred, workspace, row["told"])
            else:
                connection = await begin()
                row = await connection.fetchrow(HEADER, *workspace.key, as_of, space_id)
                if row is None:
                    raise NotFound(f"There is no workspace {workspace.workspace_id}.")
                if is_newest:
                    self._headers.keep(workspace, row)
            version = _version(row, as_of)
            access = await self._scope(connection, workspace, readers, row)
            yield PostgresCorpusSnapshot(
                connection,
                workspace,
                version,
                row,
                access,
                self._cache,
                self._graph,
                self._scopes.hidden,
                self._residents,
            )

    def drop(self, workspace: WorkspaceRef | None) -> None:
        """Hold nothing of the workspace any more, or nothing at all."""
        self._headers.drop(workspace)
        self.heads.drop(workspace)
        self._cache.drop(workspace)
        if self._residents is not None:
            self._residents.drop(workspace)

    async def settle(self) -> None:
        """Wait until the snapshots and reads of heads that are open at the call are closed."""
        await self._reading.settle()

    @asynccontextmanager
    async def transaction(self, org_id: UUID) -> AsyncGenerator[Transaction]:
        async with self._pool.transaction(org_id) as connection:
            yield PostgresTransaction(connection, org_id, self._graph is not None, self._scopes)

    async def head(self, workspace: WorkspaceRef, readers: ReadIdentity = ANONYMOUS_READER) -> CorpusHead | None:
        with self._reading.inside():
            return await self.heads.read(workspace, readers)

    async def _scope(
        self, connection: PostgresConnection, workspace: WorkspaceRef, readers: ReadIdentity, row: Row
    ) -> ReadScope:
        """What the caller may read; the sets are read where this process does not know the newest."""
        return await self._scopes.of(workspace, readers, row, partial(read_sets_above, connection, workspace, readers))

    async def corpus_version(self, workspace: WorkspaceRef) -> int | None:
        async with self._pool.connection() as connection:
            version: int | None = await connection.fetchval(CORPUS_VERSION, *workspace.key, caller_setting())
            return version

    def while_answering(self, seconds: float) -> AbstractAsyncContextManager[None]:
        return self._pool.while_answering(seconds)

    async def record_audit(self, org_id: UUID, entry: AuditEntry, *, durable: bool = True) -> None:
        async with self._pool.connection() as connection:
            await record_alone(connection, org_id, entry, durable=durable)

    async def check(self) -> None:
        """Check that the database is usable. Errors: `DependencyUnavailable`, `Misconfigured` codes PGVECTOR_MISSING,
        SCHEMA_TOO_OLD, SCHEMA_TOO_NEW, DATABASE_ROLE_TOO_STRONG.
        """
        async with self._pool.connection() as connection:
            state = await connection.fetchrow(CHECK)
            if state is None or not state["has_vector"]:
                raise Misconfigured(
                    "The database has no pgvector: run `rag migrate up`, which adds it or says how to install it.",
                    code="PGVECTOR_MISSING",
                )
            current = await connection.fetchval(SCHEMA_VERSION) if state["is_migrated"] else None
            if (
                current is not None
                and current > self._schema_head
                and not await is_served(connection.fetchval, self._schema_head)
            ):
                raise Misconfigured(
                    f"The database is at schema {current}, this version knows {self._schema_head}: run the "
                    "version that migrated it, or a newer one; a migration is not undone.",
                    code="SCHEMA_TOO_NEW",
                )
            if current is None or current < self._schema_head:
                raise Misconfigured(
                    f"The database is at schema {current or 'none'}, this version needs {self._schema_head}: "
                    "run `rag migrate up`.",
                    code="SCHEMA_TOO_OLD",
                )
            if state["is_above_policies"] or state["owns_tables"]:
                raise Misconfigured(
                    f"The server would act as the database role {state['role']!r}, which row level security does not "
                    "bind (superuser, BYPASSRLS or owner of the tables). Let it act as rag_app: keep the default role, "
                    "or use a login that is only a member of rag_app.",
                    code="DATABASE_ROLE_TOO_STRONG",
                )
            if self._refuses_owners and state["may_become_owner"]:
                raise Misconfigured(
                    "In production the login of DATABASE_URL may not become rag_owner: use a login that is a member of "
                    "rag_app and rag_dispatcher only, and give that of the owner to AGENTIC_RAG_OWNER_DATABASE_URL.",
                    code="DATABASE_ROLE_TOO_STRONG",
                )

    async def aclose(self) -> None:
        await self.heads.aclose()
        await self._pool.aclose()


def _version(header: Row, as_of: int | None) -> int:
    newest: int = header["corpus_version"]
    if as_of is None:
        return newest
    if not header["oldest_version"] <= as_of <= newest:
        raise InvalidInput(
            "This version cannot be read: it is newer than the corpus, or past what the workspace keeps "
            "(`historyDays`).",
            code="AS_OF_UNAVAILABLE",
            path=("asOf",),
        )
    return as_of

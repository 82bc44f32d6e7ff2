"""The stores: PostgreSQL, Neo4j, the cache and the originals."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from agentic_rag import __version__
from agentic_rag.adapters.blobs.directory import DirectoryBlobStore
from agentic_rag.adapters.cache_chain import ChainedAnswerCache
from agentic_rag.adapters.postgres.answering.cache_entries import PostgresAnswerCache
from agentic_rag.adapters.postgres.answering.gate_log import PostgresGateLog
from agentic_rag.adapters.postgres.answering.runs import PostgresRunStore
from agentic_rag.adapters.postgres.documents.stored_originals import originals_exist
from agentic_rag.adapters.postgres.erasure.process_register import ProcessRegister
from agentic_rag.adapters.postgres.retrieval.resident import ResidentCorpusStore
from agentic_rag.adapters.postgres.retrieval.segments import DEFAULT_CACHE_BYTES, SegmentCache
from agentic_rag.adapters.postgres.session.database import PostgresDatabase
from agentic_rag.adapters.postgres.session.pool import PoolOptions, PostgresPool
from agentic_rag.adapters.postgres.session.replica import ReadReplica
from agentic_rag.adapters.redis.cache import RedisAnswerCache
from agentic_rag.answering.ports import AnswerCache, GateLog, RunStore
from agentic_rag.bootstrap.kernel import KernelParts
from agentic_rag.documents.ports import BlobStore
from agentic_rag.jobs.redis_address import key_prefix
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import Misconfigured
from agentic_rag.retrieval.ports import GraphStore
from agentic_rag_migrations import HEAD

if TYPE_CHECKING:
    from agentic_rag.adapters.neo4j.connection import Neo4jConnection, Neo4jOptions

SMALL_READ_CONNECTIONS = 2
"""Of a process; a small read takes a millisecond, and its result is cached for five seconds."""
GRAPH_MAX_LAG = 16
"""Corpus versions that Neo4j may be behind before answers go without it."""


class StoreParts(KernelParts):
    """Where data is kept. Neo4j's driver and the S3 client are imported only where the settings name them: they take
    31 and 4 MB.
    """

    @cached_property
    def _pool(self) -> PostgresPool:
        pool = self._open_pool(PoolOptions(max_size=self.settings.stores.database_pool_size))
        pool.admit = self.register.admit
        return pool

    def _open_pool(self, options: PoolOptions) -> PostgresPool:
        return self._owned(PostgresPool(self.settings.stores.database_url, options, self.telemetry))

    def _database_on(
        self,
        pool: PostgresPool,
        residents: ResidentCorpusStore | None = None,
        replica: ReadReplica | None = None,
    ) -> PostgresDatabase:
        is_production = self.settings.server.is_production
        cache = SegmentCache(max(self._resident_bytes, DEFAULT_CACHE_BYTES))
        return PostgresDatabase(
            pool, HEAD, cache, self.graph, refuses_owners=is_production, residents=residents, replica=replica
        )

    @property
    def _resident_bytes(self) -> int:
        return self.settings.retrieval.resident_mb << 20

    @cached_property
    def replica(self) -> ReadReplica | None:
        """The replica that searches read, if DATABASE_READ_URL names one."""
        stores = self.settings.stores
        if not stores.database_read_url:
            return None
        size = stores.database_pool_size
        return self._owned(ReadReplica(stores.database_read_url, size, self.telemetry, self._pool))

    @cached_property
    def _residents(self) -> ResidentCorpusStore:
        return self._owned(ResidentCorpusStore(self._pool, self._resident_bytes, lambda: self.register.is_current))

    @cached_property
    def database(self) -> Database:
        """The one place that opens tenant transactions."""
        database = self._database_on(self._pool, self._residents, self.replica)
        self.memory.holds(database.drop)
        self.memory.is_used_by(database.settle)
        self._owned(database.heads)
        return database

    @cached_property
    def register(self) -> ProcessRegister:
        """Lets erasures wait for this process once it is started; programs that serve or work start it."""
        program = f"agentic-rag {__version__}"
        url = self.settings.stores.database_url
        return self._owned(ProcessRegister(url, self.memory, self.clock, self.telemetry, program))

    @cached_property
    def _small_reads(self) -> Database:
        """A second, two-connection pool for small reads made while a request already holds a connection (keys,
        budgets, limits, usage). With one pool these would deadlock under load.
        """
        options = PoolOptions(
            max_size=SMALL_READ_CONNECTIONS, application_name="agentic-rag small reads", name="small_reads"
        )
        return self._database_on(self._open_pool(options))

    def heartbeat_database(self) -> Database:
        """A database of one connection, for another event loop; the caller closes it."""
        return self._database_on(PostgresPool(self.settings.stores.database_url, PoolOptions(max_size=1)))

    @property
    def _graph_home(self) -> str:
        """The name of the graph in the database; empty without Neo4j."""
        return "" if self.settings.stores.neo4j is None else self.settings.stores.neo4j.uri

    def _neo4j(self, options: Neo4jOptions | None = None) -> Neo4jConnection:
        from agentic_rag.adapters.neo4j.connection import Neo4jConnection, Neo4jOptions

        address = self.settings.stores.neo4j
        if address is None:
            raise Misconfigured("NEO4J_URI is needed here.")
        return self._owned(Neo4jConnection(address.uri, address.user, address.password, options or Neo4jOptions()))

    @cached_property
    def graph(self) -> GraphStore | None:
        """The graph outside Postgres, if NEO4J_URI names one. Answers use a short time-out, jobs a long one."""
        if not self._graph_home:
            return None
        from agentic_rag.adapters.neo4j.connection import Neo4jOptions
        from agentic_rag.adapters.neo4j.graph import Neo4jGraph

        connection = self._neo4j(Neo4jOptions(connect_seconds=Neo4jOptions().read_seconds))
        return Neo4jGraph(connection, GRAPH_MAX_LAG)

    @cached_property
    def runs(self) -> RunStore:
        return PostgresRunStore(self._pool, self.settings.operations.deploy)

    @cached_property
    def gate_log(self) -> GateLog:
        return PostgresGateLog(self._pool)

    @property
    def key_prefix(self) -> str:
        """What all keys in Redis but arq's begin with."""
        return key_prefix(self.settings.stores.redis_url, self.settings.jobs.queue_name)

    @cached_property
    def cache(self) -> AnswerCache:
        """Redis first, then the table behind it."""
        redis = RedisAnswerCache(self.settings.stores.redis_url, prefix=self.key_prefix)
        return self._owned(ChainedAnswerCache(redis, PostgresAnswerCache(self._pool)))

    @cached_property
    def blobs(self) -> BlobStore:
        return self._blobs(partial(originals_exist, self.settings.stores.database_url))

    @property
    def new_blobs(self) -> BlobStore:
        """The same for a restore, which fills an empty place, and while it does so locks the tables."""
        return self._blobs(_never)

    def _blobs(self, was_used: Callable[[], Awaitable[bool]]) -> BlobStore:
        place = self.settings.stores.blobs
        if isinstance(place, Path):
            return DirectoryBlobStore(place, was_used)
        from agentic_rag.adapters.blobs.s3 import S3BlobStore, S3Options

        options = S3Options(place.bucket, place.access_key, place.secret_key, place.endpoint, place.region)
        return S3BlobStore(options, self.settings.proxies)

    def directory_blobs(self, directory: Path) -> BlobStore:
        """A directory of blobs, such as snapshots copied to this machine."""
        return DirectoryBlobStore(directory)


async def _never() -> bool:
    return False

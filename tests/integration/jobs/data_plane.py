"""The data plane wired from real adapters over a database, a Redis and a directory of one test's own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from uuid import UUID, uuid4

import numpy as np
from arq.connections import ArqRedis
from numpy.typing import NDArray
from tests.inline_parser import InlineParser
from tests.memory_store.compute import InlineCompute
from tests.memory_store.telemetry import RecordingTelemetry
from tests.waiting import growing_pauses

from agentic_rag.adapters.blobs.directory import DirectoryBlobStore
from agentic_rag.adapters.deterministic.embedder import DeterministicEmbedder
from agentic_rag.adapters.neo4j.connection import Neo4jConnection, Neo4jOptions
from agentic_rag.adapters.neo4j.graph import Neo4jGraph
from agentic_rag.adapters.neo4j.writer import Neo4jGraphWriter
from agentic_rag.adapters.parsing.process.parser import ProcessParser
from agentic_rag.adapters.postgres.documents.documents import ID_KEY
from agentic_rag.adapters.postgres.jobs.dead_payloads import PostgresDeadPayloads
from agentic_rag.adapters.postgres.jobs.job_board import PostgresJobBoard
from agentic_rag.adapters.postgres.operations.archive import PostgresWorkspaceArchive
from agentic_rag.adapters.postgres.operations.graph_feed import PostgresGraphFeed
from agentic_rag.adapters.postgres.session.database import PostgresDatabase
from agentic_rag.adapters.postgres.session.pool import PoolOptions, PostgresPool
from agentic_rag.adapters.postgres.workspaces.organisations import PostgresOrganisations
from agentic_rag.adapters.redis.cache import RedisAnswerCache
from agentic_rag.adapters.redis.connection import queue_pool
from agentic_rag.adapters.redis.queue import ArqJobQueue
from agentic_rag.adapters.sources.directory import DirectorySource
from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.adapters.system.ids import RandomIds
from agentic_rag.documents.document import Document
from agentic_rag.documents.document_ids import resolve_ids
from agentic_rag.documents.originals import OriginalKeys
from agentic_rag.erasure.delete import DeleteDocument
from agentic_rag.ingestion.analysis.analyse import TextAnalysis
from agentic_rag.ingestion.group_commit import GroupCommitPublisher
from agentic_rag.ingestion.ingest import IngestDocument
from agentic_rag.ingestion.maintenance import ApplyRetention, CompactSegments
from agentic_rag.ingestion.sync import SyncOptions, SyncResult, SyncSource
from agentic_rag.jobs.job import Job, JobKind, RetryPolicy
from agentic_rag.jobs.redis_address import key_prefix
from agentic_rag.kernel.errors import SpaceMismatch
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.models.embedding.space import EmbeddingSpace
from agentic_rag.models.providers.embedder_registry import EmbedderRegistry
from agentic_rag.operations.dead_letters import DeadLetters
from agentic_rag.operations.graph.sync import GraphSync
from agentic_rag.operations.measure_switch import MeasureSwitch
from agentic_rag.operations.snapshots.restore import RestoreSnapshot
from agentic_rag.operations.snapshots.take import TakeSnapshot
from agentic_rag.operations.switch_embedding import SwitchEmbedding
from agentic_rag.retrieval.fusion_options import FusionWeights
from agentic_rag.retrieval.retrieve import Retrieve
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, WorkspaceRef
from agentic_rag.workspaces.settings import WorkspaceSettings
from agentic_rag.workspaces.workspace import WorkspaceKind
from agentic_rag_migrations import HEAD
from agentic_rag_worker.job_handlers import Handler
from agentic_rag_worker.timings import WorkerTimings
from agentic_rag_worker.worker import WorkerOptions, run_worker

QUICK = WorkerTimings(
    lease=1.0, poll_shortest=0.01, poll_longest=0.05, follow=0.1, expire=0.05, counts=0.5, grace=5.0,
    consumer_poll=0.02, outage=0.05,
)  # fmt: skip
"""Durations short enough to wait for."""


class PaidEmbedder:
    """The deterministic embedder with a meter: `paid` holds every text it was asked for. `before` may fail or wait."""

    def __init__(self, batch_size: int = 4) -> None:
        self._inner = DeterministicEmbedder()
        self._batch_size = batch_size
        self.paid: list[str] = []
        self.before: Callable[[Sequence[str]], object] | None = None

    @property
    def space(self) -> EmbeddingSpace:
        return self._inner.space

    @property
    def batch_size(self) -> int:
        return self._batch_size

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.before is not None:
            waits = self.before(texts)
            if asyncio.isfuture(waits):
                await waits
        self.paid += texts
        return await self._inner.embed(texts)

    async def aclose(self) -> None:
        await self._inner.aclose()


WIDE = EmbeddingSpace("openai", "wide", 16)


class WideEmbedder(PaidEmbedder):
    """Another model, with a meter. A `misled` one puts each question beside the wrong passages."""

    misled = False

    @property
    def space(self) -> EmbeddingSpace:
        return WIDE

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        hashed = await super().embed(texts)
        if self.misled:
            about_water = [("harbour" in text or "island" in text) == (len(text) > 60) for text in texts]
            return np.eye(16, dtype=np.float32)[[0 if one else 1 for one in about_water]]
        folded = hashed.reshape(len(texts), -1, 16).sum(axis=1) + 1e-3
        return (folded / np.linalg.norm(folded, axis=1, keepdims=True)).astype(np.float32)


class Hold:
    """Stops the embedder in its first call until `go_on`."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.go_on = asyncio.Event()

    def __call__(self, _: Sequence[str]) -> object:
        self.reached.set()
        return asyncio.ensure_future(self.go_on.wait())


@dataclass
class DataPlane:
    """The parts of a container that a worker uses, and the other use cases of the data plane."""

    database_url: str
    redis_url: str
    blob_root: Path
    embedder: PaidEmbedder = field(default_factory=PaidEmbedder)
    wide: WideEmbedder = field(default_factory=lambda: WideEmbedder())
    grace: timedelta = timedelta(days=1)
    missing_grace: timedelta = timedelta(days=1)
    retry_policy: RetryPolicy = field(default_factory=lambda: RetryPolicy(attempts=3, backoff_ms=10))
    queue_name: str = "agentic-rag-test"
    snapshot_every_hours: float = 0.0
    snapshot_keep: int = 2
    partitions: int = 1
    clock: SystemClock = field(default_factory=SystemClock)
    ids: RandomIds = field(default_factory=RandomIds)
    telemetry: RecordingTelemetry = field(default_factory=RecordingTelemetry)
    workspace: WorkspaceRef = field(default_factory=lambda: WorkspaceRef(DEFAULT_ORG_ID, uuid4()))
    neo4j_uri: str | None = None
    """Where the graph is kept, if not in Postgres."""
    more_handlers: dict[JobKind, Handler] = field(default_factory=dict)
    """Of kinds that only some tests run."""

    @property
    def key_prefix(self) -> str:
        return key_prefix(self.redis_url, self.queue_name)

    @cached_property
    def neo4j(self) -> Neo4jConnection | None:
        if self.neo4j_uri is None:
            return None
        return Neo4jConnection(self.neo4j_uri, "neo4j", "", Neo4jOptions(read_seconds=5.0))

    @cached_property
    def graph(self) -> Neo4jGraph | None:
        return None if self.neo4j is None else Neo4jGraph(self.neo4j, max_lag=16)

    @cached_property
    def graph_sync(self) -> GraphSync:
        writer = None if self.neo4j is None else Neo4jGraphWriter(self.neo4j)
        return GraphSync(PostgresGraphFeed(self.pool, self.neo4j_uri or ""), writer, self.telemetry)

    @cached_property
    def pool(self) -> PostgresPool:
        return PostgresPool(self.database_url)

    @cached_property
    def database(self) -> PostgresDatabase:
        return PostgresDatabase(self.pool, HEAD, graph=self.graph)

    @cached_property
    def queue(self) -> ArqJobQueue:
        return ArqJobQueue(self.arq_pool(), self.key_prefix, self.partitions)

    @cached_property
    def cache(self) -> RedisAnswerCache:
        return RedisAnswerCache(self.redis_url, prefix=key_prefix(self.redis_url, "agentic-rag"), timeout_seconds=1.0)

    @cached_property
    def blobs(self) -> DirectoryBlobStore:
        return DirectoryBlobStore(self.blob_root)

    @cached_property
    def parser(self) -> ProcessParser:
        return InlineParser()

    @cached_property
    def embedders(self) -> EmbedderRegistry:
        """The deterministic space, and `WIDE` by another meter."""

        def make(space: EmbeddingSpace) -> WideEmbedder:
            if space != WIDE:
                raise SpaceMismatch(f"Nobody here embeds with {space.name}: configure RAG_EMBEDDER.")
            return self.wide

        return EmbedderRegistry(self.embedder, make, {self.embedder.space.provider: lambda: self.embedder.space})

    @cached_property
    def switch(self) -> SwitchEmbedding:
        retrieve = Retrieve(self.telemetry)
        measurement = MeasureSwitch(self.database, self.embedders, retrieve, FusionWeights())
        return SwitchEmbedding(self.database, self.embedders, measurement, self.telemetry, self.grace)

    @cached_property
    def ingest(self) -> IngestDocument:
        return IngestDocument(
            self.database, self.blobs, self.parser, self.embedders, TextAnalysis(estimate_tokens, InlineCompute()),
            GroupCommitPublisher(self.database), self.telemetry, "small",
        )  # fmt: skip

    @cached_property
    def delete(self) -> DeleteDocument:
        return DeleteDocument(self.database, self.cache, self.blobs, self.telemetry)

    @cached_property
    def archive(self) -> PostgresWorkspaceArchive:
        return PostgresWorkspaceArchive(self.pool)

    @cached_property
    def take_snapshot(self) -> TakeSnapshot:
        return TakeSnapshot(
            self.database, self.archive, self.blobs, self.clock, self.telemetry, keep=self.snapshot_keep
        )

    @cached_property
    def restore_snapshot(self) -> RestoreSnapshot:
        return RestoreSnapshot(self.database, self.archive, self.blobs, self.cache, self.telemetry, HEAD)

    @property
    def handlers(self) -> Mapping[JobKind, Handler]:
        return {
            JobKind.INGEST: Handler(
                self.ingest.run,
                3_600.0,
                300.0,
                self.ingest.record_failure,
                self.ingest.is_rejection,
                self.ingest.is_published,
            ),
            JobKind.DELETE: Handler(self.delete.run_job, 600.0, 300.0),
            JobKind.COMPACT: Handler(CompactSegments(self.database).run, 600.0, 300.0),
            JobKind.RETENTION: Handler(ApplyRetention(self.database, self.blobs).run, 600.0, 300.0),
            JobKind.SNAPSHOT: Handler(self.take_snapshot.run, 21_600.0, 300.0, self.take_snapshot.record_failure),
            JobKind.REEMBED: Handler(self.switch.run, 86_400.0, 300.0),
            JobKind.GRAPH: Handler(self.graph_sync.run, 3_600.0, 120.0),
            **self.more_handlers,
        }

    def dead_payloads(self) -> PostgresDeadPayloads:
        return PostgresDeadPayloads(self.database_url)

    @cached_property
    def dead_letters(self) -> DeadLetters:
        return DeadLetters(self.database, self.telemetry)

    def job_board(self) -> PostgresJobBoard:
        return PostgresJobBoard(
            self.database_url, snapshot_every_hours=self.snapshot_every_hours, graph_home=self.neo4j_uri or ""
        )

    def heartbeat_database(self) -> PostgresDatabase:
        return PostgresDatabase(PostgresPool(self.database_url, PoolOptions(max_size=1)), HEAD)

    def arq_pool(self) -> ArqRedis:
        return queue_pool(self.redis_url)

    async def readiness(self) -> Mapping[str, str | None]:
        return {"postgres": None}

    async def prepare(self) -> None:
        """Make the organisation and the workspace."""
        await PostgresOrganisations(self.pool).ensure_organisation(self.workspace.org_id, "test")
        await self.add_workspace(self.workspace)

    async def set_id_key(self, key: bytes) -> bytes:
        """Give the organisation another secret for its documents' ids, empty for none; the one before."""
        org_id = self.workspace.org_id
        async with self.pool.transaction(org_id) as connection:
            before: bytes = await connection.fetchval(ID_KEY, org_id)
            await connection.execute("UPDATE rag_organizations SET document_key = $2 WHERE org_id = $1", org_id, key)
        return before

    async def add_workspace(self, workspace: WorkspaceRef) -> None:
        async with self.database.transaction(workspace.org_id) as transaction:
            await transaction.workspaces.create(
                workspace.workspace_id, str(workspace.workspace_id), WorkspaceKind.GENERAL, None, WorkspaceSettings()
            )

    async def aclose(self) -> None:
        for made in ("parser", "queue", "cache", "neo4j", "database"):
            if self.__dict__.get(made) is not None:
                await getattr(self, made).aclose()

    async def sync(self, folder: Path, *, dry_run: bool = False, delete_missing: bool = False) -> SyncResult:
        """Synchronise the workspace with a folder."""
        use_case = SyncSource(
            self.database,
            self.blobs,
            OriginalKeys(self.clock, self.ids),
            self.parser,
            self.telemetry,
            "small",
            self.embedders,
            self.missing_grace,
        )
        return await use_case.run(
            self.workspace,
            DirectorySource(folder),
            "tester",
            SyncOptions(dry_run=dry_run, delete_missing=delete_missing),
        )

    @asynccontextmanager
    async def worker(
        self, slots: int = 4, timings: WorkerTimings = QUICK, stall_seconds: float | None = None
    ) -> AsyncIterator[asyncio.Event]:
        """A worker in this process, drained at the end; the event stops it earlier."""
        stop = asyncio.Event()
        options = WorkerOptions(slots=slots, interactive_slots=1, timings=replace(timings, stall=stall_seconds))
        task = asyncio.create_task(run_worker(self, self.handlers, options, stop=stop))
        try:
            yield stop
        finally:
            stop.set()
            await task

    async def ingest_folder(self, folder: Path, *, delete_missing: bool = False) -> SyncResult:
        """Synchronise and work until nothing is left to do."""
        result = await self.sync(folder, delete_missing=delete_missing)
        async with self.worker():
            await self.until_idle()
        return result

    def hold_embedder(self) -> Hold:
        """Make embedding wait."""
        hold = Hold()
        self.embedder.before = hold
        return hold

    async def until_idle(self) -> None:
        """Wait until no job is unfinished that is due within a minute."""
        await until(self._idle, "all jobs finished")

    async def until_erased(self, path: str) -> None:
        async def is_gone() -> bool:
            return await self.document(path) is None

        await until(is_gone, f"{path} is erased")

    async def _idle(self) -> bool:
        soon = self.clock.now() + timedelta(minutes=1)
        unfinished = [job for job in await self.jobs() if job.state.value in ("QUEUED", "RUNNING")]
        return all(job.state.value == "QUEUED" and job.run_after > soon for job in unfinished)

    async def jobs(self, *kinds: JobKind) -> tuple[Job, ...]:
        async with self.database.transaction(self.workspace.org_id) as transaction:
            return (await transaction.jobs.page(self.workspace, PageRequest(100), kinds=kinds)).items

    async def document(self, path: str) -> Document | None:
        async with self.database.transaction(self.workspace.org_id) as transaction:
            ids = await resolve_ids(transaction.documents, self.workspace, [path])
            return await transaction.documents.get(self.workspace, ids[path])

    async def id_of(self, path: str, workspace: WorkspaceRef | None = None) -> UUID:
        """The id of the document that stands at a path, or would."""
        ref = workspace or self.workspace
        async with self.database.transaction(ref.org_id) as transaction:
            return (await resolve_ids(transaction.documents, ref, [path]))[path]

    async def chunk_texts(self, path: str) -> list[str]:
        """The visible chunks of a document, in order."""
        async with self.pool.transaction(self.workspace.org_id) as connection:
            rows = await connection.fetch(
                "SELECT text FROM rag_chunks WHERE workspace_id = $1 AND document_id = $2 AND visible_to IS NULL "
                "ORDER BY index",
                self.workspace.workspace_id,
                await self.id_of(path),
            )
        return [row["text"] for row in rows]

    async def rows(self, table: str, document_id: UUID | None = None) -> int:
        """How many rows of the workspace (and document) a table holds."""
        async with self.pool.transaction(self.workspace.org_id) as connection:
            found: int = await connection.fetchval(
                f"SELECT count(*) FROM {table} t WHERE workspace_id = $1 "
                "AND ($2::uuid IS NULL OR to_jsonb(t) ->> 'document_id' = $2::text)",
                self.workspace.workspace_id,
                document_id,
            )
        return found


async def until(condition: Callable[[], object], what: str, seconds: float = 30.0) -> None:
    """Return as soon as `condition` (plain or asynchronous) holds; fail naming `what` after `seconds`."""
    pauses = growing_pauses(most=0.03)
    try:
        async with asyncio.timeout(seconds):
            while True:
                holds = condition()
                if asyncio.iscoroutine(holds):
                    holds = await holds
                if holds:
                    return
                await asyncio.sleep(next(pauses))
    except TimeoutError:
        raise AssertionError(f"not within {seconds:g} s: {what}") from None


def paragraphs(*words: str, of: int = 120) -> str:
    """A Markdown text with a section per word, each about a chunk of profile `small`."""
    return "\n\n".join(
        f"# The {word} section\n\n" + " ".join(f"The {word} pump number {n} lifts water." for n in range(of // 4))
        for word in words
    )

"""Postgres, and a Neo4j that follows it, wired as in production; the test says when jobs run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from uuid import UUID, uuid4

from tests.builders import entities_of, entity_id
from tests.contract.backends import Backend, Watched, lease_graph_job
from tests.graph_contents import GraphContents, expected_graph, held_graph
from tests.line import Line
from tests.memory_store.compute import InlineCompute
from tests.memory_store.telemetry import RecordingTelemetry

from agentic_rag.adapters.deterministic.embedder import DeterministicEmbedder
from agentic_rag.adapters.neo4j.connection import Neo4jConnection, Neo4jOptions
from agentic_rag.adapters.neo4j.graph import Neo4jGraph
from agentic_rag.adapters.neo4j.writer import Neo4jGraphWriter
from agentic_rag.adapters.postgres.answering.cache_entries import PostgresAnswerCache
from agentic_rag.adapters.postgres.answering.gate_log import PostgresGateLog
from agentic_rag.adapters.postgres.answering.runs import PostgresRunStore
from agentic_rag.adapters.postgres.jobs.job_board import PostgresJobBoard
from agentic_rag.adapters.postgres.models.provider_keys import PostgresMasterKeyUsage
from agentic_rag.adapters.postgres.operations.graph_feed import PostgresGraphFeed
from agentic_rag.adapters.postgres.session.database import PostgresDatabase
from agentic_rag.adapters.postgres.session.pool import PostgresPool
from agentic_rag.adapters.postgres.workspaces.organisations import PostgresOrganisations
from agentic_rag.documents.document import document_id_for
from agentic_rag.erasure.ports import Erasure
from agentic_rag.ingestion.analysis.analyse import TextAnalysis
from agentic_rag.ingestion.ingest_chunks import ChunkedDocument, IngestChunks
from agentic_rag.jobs.job import JobRef, Lease
from agentic_rag.kernel.errors import LeaseLost
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.models.providers.embedder_registry import only
from agentic_rag.operations.graph.sync import GraphSync
from agentic_rag.retrieval.candidates import ChunkEntities
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.settings import WorkspaceSettings
from agentic_rag.workspaces.workspace import WorkspaceKind
from agentic_rag_migrations import HEAD

NAMES = ("Pump", "Valve", "Tank", "Pipe", "Seal")
SENTENCES: Mapping[str, ChunkEntities] = {
    f"the {one} feeds the {other} {verb}": entities_of(one, other, other, pairs=[(one, other)] * times)
    for one in NAMES
    for other in NAMES
    if one < other
    for verb, times in (("slowly", 1), ("twice a day", 2))
}
"""Sentences, each with two of five entities, so that documents share most of them."""


class Crash(Exception):
    """The end of a process, as seen from within."""


class Fuse(Watched):
    """Ends the job at its n-th step."""

    def __init__(self, at: int) -> None:
        super().__init__()
        self._at = at

    def advance(self) -> None:
        super().advance()
        if self.steps >= self._at:
            raise Crash


@dataclass
class GraphWorld:
    """One organisation's workspace; others may be made beside it."""

    database_url: str
    neo4j_url: str
    line: Line
    max_lag: int = 16
    read_seconds: float = 5.0
    telemetry: RecordingTelemetry = field(default_factory=RecordingTelemetry)
    workspace: WorkspaceRef = field(default_factory=lambda: WorkspaceRef(uuid4(), uuid4()))

    @cached_property
    def pool(self) -> PostgresPool:
        return PostgresPool(self.database_url)

    @cached_property
    def connection(self) -> Neo4jConnection:
        options = Neo4jOptions(read_seconds=self.read_seconds, rest_seconds=0.2)
        return Neo4jConnection(self.line.url, "neo4j", "", options)

    @cached_property
    def database(self) -> PostgresDatabase:
        return PostgresDatabase(self.pool, HEAD, graph=Neo4jGraph(self.connection, self.max_lag))

    @cached_property
    def plain_database(self) -> PostgresDatabase:
        """The same corpus, its graph read from Postgres."""
        return PostgresDatabase(self.pool, HEAD)

    @cached_property
    def backend(self) -> Backend:
        return Backend(
            self.database,
            PostgresRunStore(self.pool),
            PostgresAnswerCache(self.pool),
            lambda: PostgresJobBoard(self.database_url, graph_home=self.neo4j_url),
            self._make_organisation,
            PostgresMasterKeyUsage(self.pool),
            PostgresGateLog(self.pool),
        )

    @cached_property
    def feed(self) -> PostgresGraphFeed:
        return PostgresGraphFeed(self.pool, self.neo4j_url)

    @cached_property
    def writer(self) -> Neo4jGraphWriter:
        return Neo4jGraphWriter(self.connection)

    @cached_property
    def sync(self) -> GraphSync:
        return GraphSync(self.feed, self.writer, self.telemetry)

    async def prepare(self) -> None:
        await self._make_organisation(self.workspace.org_id)
        self.workspace = await self.backend.workspace(self.workspace.org_id)

    async def aclose(self) -> None:
        if "connection" in self.__dict__:
            await self.connection.aclose()
        await self.pool.aclose()
        await self.line.cut()

    async def publish(self, path: str, *passages: str) -> None:
        await self.backend.publish(self.workspace, path, list(passages), entities=SENTENCES)

    async def erase(self, path: str) -> Erasure | None:
        async with self.database.transaction(self.workspace.org_id) as transaction:
            return await transaction.publisher.erase(self.workspace, document_id_for(self.workspace, path))

    async def compact(self) -> None:
        async with self.database.transaction(self.workspace.org_id) as transaction:
            await transaction.publisher.compact(self.workspace)

    async def lease(self) -> Lease | None:
        """The graph job that waits, taken."""
        return await lease_graph_job(self.database, self.workspace)

    async def lapse(self, lease: Lease) -> None:
        """Have the lease taken away, as from a worker that died."""
        async with self.database.transaction(self.workspace.org_id) as transaction:
            assert await transaction.jobs.release(JobRef(self.workspace, lease.job.job_id), lease.fence)

    async def ingest(self, documents: Sequence[ChunkedDocument]) -> None:
        """Publish prepared documents into a new workspace, embedded deterministically."""
        self.workspace = WorkspaceRef(self.workspace.org_id, uuid4())
        async with self.database.transaction(self.workspace.org_id) as transaction:
            await transaction.workspaces.create(
                self.workspace.workspace_id,
                str(self.workspace.workspace_id),
                WorkspaceKind.GENERAL,
                None,
                WorkspaceSettings(),
            )
        await self.more(documents)

    async def more(self, documents: Sequence[ChunkedDocument]) -> None:
        """Publish further documents."""
        analysis = TextAnalysis(estimate_tokens, InlineCompute())
        await IngestChunks(self.database, only(DeterministicEmbedder()), analysis).run(
            self.workspace, documents, "tester"
        )

    async def follow(self, fuse: int | None = None) -> bool:
        """Run the graph job that waits; with a fuse it crashes at that step, and its lease lapses."""
        lease = await self.lease()
        assert lease is not None, "no graph job waits"
        try:
            done = await self.sync.run(lease, Watched() if fuse is None else Fuse(fuse))
        except Crash:
            await self.lapse(lease)
            return False
        if not done:
            async with self.database.transaction(self.workspace.org_id) as transaction:
                if not await transaction.jobs.finish(JobRef(self.workspace, lease.job.job_id), lease.fence):
                    raise LeaseLost("the job was finished by another")
        return done

    async def expected(self) -> GraphContents:
        return await expected_graph(self.database_url, self.workspace)

    async def held(self) -> GraphContents:
        return await held_graph(self.neo4j_url, self.workspace)

    async def is_equal(self) -> bool:
        """Whether the graph is exactly what Postgres says, and both say so."""
        status = await self.sync.status(self.workspace)
        return await self.held() == await self.expected() and status.is_equal

    async def _make_organisation(self, org_id: UUID) -> None:
        await PostgresOrganisations(self.pool).ensure_organisation(org_id, f"test {org_id}")


def id_of(name: str) -> str:
    """An entity's id as Neo4j holds it."""
    return str(entity_id(name))

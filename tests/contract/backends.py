"""The stores under test, by adapter name. Another adapter is one more entry in `BACKENDS`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from tests.builders import NO_ENTITIES, SPACE, drafts_of, new_chunk, new_document, publication, revision_of
from tests.memory_store.answering.cache import MemoryAnswerCache
from tests.memory_store.answering.gate_log import MemoryGateLog
from tests.memory_store.answering.runs import MemoryRunStore
from tests.memory_store.jobs.job_board import MemoryJobBoard
from tests.memory_store.models.provider_keys import MemoryMasterKeyUsage
from tests.memory_store.session.database import MemoryDatabase
from tests.memory_store.session.store import MemoryStore
from tests.memory_store.telemetry import RecordingTelemetry
from tests.memory_store.workspaces.organisations import MemoryOrganisations

from agentic_rag.adapters.neo4j.connection import Neo4jConnection, Neo4jOptions
from agentic_rag.adapters.neo4j.graph import Neo4jGraph
from agentic_rag.adapters.neo4j.writer import Neo4jGraphWriter
from agentic_rag.adapters.postgres.answering.cache_entries import PostgresAnswerCache
from agentic_rag.adapters.postgres.answering.gate_log import PostgresGateLog
from agentic_rag.adapters.postgres.answering.runs import PostgresRunStore
from agentic_rag.adapters.postgres.jobs.job_board import CalibrationSchedule, PostgresJobBoard
from agentic_rag.adapters.postgres.models.provider_keys import PostgresMasterKeyUsage
from agentic_rag.adapters.postgres.operations.graph_feed import PostgresGraphFeed
from agentic_rag.adapters.postgres.session.database import PostgresDatabase
from agentic_rag.adapters.postgres.session.pool import PostgresPool
from agentic_rag.adapters.postgres.workspaces.organisations import PostgresOrganisations
from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.answering.ports import AnswerCache, GateLog, RunStore
from agentic_rag.documents.document import Document
from agentic_rag.documents.metadata import NO_CHANGE, MetadataChange
from agentic_rag.documents.ports import NewDocument
from agentic_rag.documents.revision_diff import KeptChunk
from agentic_rag.ingestion.ports import Published
from agentic_rag.jobs.job import JobKind, JobRef, JobState, Lease
from agentic_rag.jobs.ports import JobBoard
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.models.providers.ports import MasterKeyUsage
from agentic_rag.operations.graph.sync import GraphSync
from agentic_rag.retrieval.candidates import ChunkEntities
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.settings import WorkspaceSettings
from agentic_rag.workspaces.workspace import WorkspaceKind
from agentic_rag_migrations import HEAD


@dataclass
class Backend:
    """One adapter of every port, and short ways to bring it into a state."""

    database: Database
    runs: RunStore
    cache: AnswerCache
    job_board: Callable[[], JobBoard]
    make_organisation: Callable[[UUID], Awaitable[None]]
    key_homes: MasterKeyUsage
    gate_log: GateLog

    async def organisation(self) -> UUID:
        """A new organisation."""
        org_id = uuid4()
        await self.make_organisation(org_id)
        return org_id

    async def workspace(self, org_id: UUID | None = None, settings: WorkspaceSettings | None = None) -> WorkspaceRef:
        """A new workspace with the test embedding space (number 1)."""
        ref = WorkspaceRef(org_id or await self.organisation(), uuid4())
        async with self.database.transaction(ref.org_id) as transaction:
            await transaction.workspaces.create(
                ref.workspace_id,
                f"workspace {ref.workspace_id}",
                WorkspaceKind.GENERAL,
                None,
                settings or WorkspaceSettings(),
            )
            await transaction.workspaces.register_space(ref, SPACE)
        return ref

    async def register(self, workspace: WorkspaceRef, new: NewDocument) -> Document:
        """Register a document."""
        async with self.database.transaction(workspace.org_id) as transaction:
            return await transaction.documents.register(workspace, new)

    async def publish(
        self,
        workspace: WorkspaceRef,
        path: str,
        passages: list[str],
        *,
        entities: Mapping[str, ChunkEntities] | None = None,
        vectors: Mapping[str, bytes] | None = None,
        metadata: MetadataChange = NO_CHANGE,
        **changes: object,
    ) -> Published:
        """Make `passages` the chunks of the document at `path`, keeping those it already has."""
        new = new_document(workspace, path, **changes)
        before = await self.register(workspace, new)
        revision = revision_of(new.document_id, passages)
        async with self.database.transaction(workspace.org_id) as transaction:
            visible = {
                chunk.chunk_id: chunk
                for chunk in await transaction.documents.visible_chunks(workspace, new.document_id)
            }
            added, kept = [], []
            for draft in drafts_of(revision, passages):
                held = visible.pop(draft.chunk_id, None)
                if held is None:
                    named = (entities or {}).get(draft.text, NO_ENTITIES)
                    added.append(new_chunk(draft, named, (vectors or {}).get(draft.text)))
                else:
                    kept.append(KeptChunk(held.ordinal, draft, moved=held.start != draft.start))
            removed = [chunk.ordinal for chunk in visible.values()]
            changed = publication(
                new.document_id, revision, added, kept=kept, removed=removed, expected=before.revision_id
            )
            [published] = await transaction.publisher.publish(workspace, 1, [replace(changed, metadata=metadata)])
        return published


CALIBRATION = CalibrationSchedule(least_chunks=100, quiet_seconds=0.0)


@asynccontextmanager
async def memory_backend(_: pytest.FixtureRequest) -> AsyncGenerator[Backend]:
    """All stores in this process."""
    store = MemoryStore(SystemClock())
    cache = MemoryAnswerCache(store.clock)

    async def make_organisation(org_id: UUID) -> None:
        await MemoryOrganisations(store).ensure_organisation(org_id, f"test {org_id}")

    yield Backend(
        MemoryDatabase(store, cache),
        MemoryRunStore(store),
        cache,
        lambda: MemoryJobBoard(store, CALIBRATION),
        make_organisation,
        MemoryMasterKeyUsage(store),
        MemoryGateLog(store),
    )


@asynccontextmanager
async def postgres_backend(request: pytest.FixtureRequest) -> AsyncGenerator[Backend]:
    """All stores on one Postgres."""
    url: str = request.getfixturevalue("migrated_url")
    pool = PostgresPool(url)

    async def make_organisation(org_id: UUID) -> None:
        await PostgresOrganisations(pool).ensure_organisation(org_id, f"test {org_id}")

    database = PostgresDatabase(pool, HEAD)
    yield Backend(
        database,
        PostgresRunStore(pool),
        PostgresAnswerCache(pool),
        lambda: PostgresJobBoard(url, calibration=CALIBRATION),
        make_organisation,
        PostgresMasterKeyUsage(pool),
        PostgresGateLog(pool),
    )
    await database.aclose()


@dataclass
class FollowedBackend(Backend):
    """Postgres, and a Neo4j that is brought up to it with every publish."""

    sync: GraphSync | None = None

    async def publish(self, workspace: WorkspaceRef, path: str, passages: list[str], **changes: Any) -> Published:
        """Make `passages` the chunks of the document at `path`, in both."""
        published = await super().publish(workspace, path, passages, **changes)
        await self.follow(workspace)
        return published

    async def follow(self, workspace: WorkspaceRef) -> None:
        """Run the graph job that waits, if one does."""
        assert self.sync is not None
        lease = await lease_graph_job(self.database, workspace)
        if lease is not None:
            await self.sync.run(lease, Watched())


class Watched:
    """Counts the steps of a job."""

    def __init__(self) -> None:
        self.steps = 0

    def advance(self) -> None:
        self.steps += 1


async def lease_graph_job(database: Database, workspace: WorkspaceRef) -> Lease | None:
    """The graph job of a workspace that waits, taken."""
    async with database.transaction(workspace.org_id) as transaction:
        waiting = await transaction.jobs.page(
            workspace, PageRequest(1), states=(JobState.QUEUED,), kinds=(JobKind.GRAPH,)
        )
        if not waiting.items:
            return None
        ref = JobRef(workspace, waiting.items[0].job_id)
        return await transaction.jobs.lease(ref, "tester", timedelta(minutes=1))


@asynccontextmanager
async def neo4j_backend(request: pytest.FixtureRequest) -> AsyncGenerator[Backend]:
    """The graph in Neo4j, all else on one Postgres."""
    url: str = request.getfixturevalue("migrated_url")
    # Time enough for a server that has just started.
    connection = Neo4jConnection(request.getfixturevalue("neo4j_url"), "neo4j", "", Neo4jOptions(read_seconds=10.0))
    pool = PostgresPool(url)

    async def make_organisation(org_id: UUID) -> None:
        await PostgresOrganisations(pool).ensure_organisation(org_id, f"test {org_id}")

    database = PostgresDatabase(pool, HEAD, graph=Neo4jGraph(connection, max_lag=16))
    yield FollowedBackend(
        database,
        PostgresRunStore(pool),
        PostgresAnswerCache(pool),
        lambda: PostgresJobBoard(url, graph_home="neo4j"),
        make_organisation,
        PostgresMasterKeyUsage(pool),
        PostgresGateLog(pool),
        GraphSync(PostgresGraphFeed(pool, "neo4j"), Neo4jGraphWriter(connection), RecordingTelemetry()),
    )
    await connection.aclose()
    await database.aclose()


BACKENDS: Mapping[str, Callable[[pytest.FixtureRequest], AbstractAsyncContextManager[Backend]]] = {
    "memory": memory_backend,
    "postgres": postgres_backend,
}

GRAPH_BACKENDS = {**BACKENDS, "neo4j": neo4j_backend}
"""Those of the graph's own suite."""

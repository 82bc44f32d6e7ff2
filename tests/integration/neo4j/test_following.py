"""The graph in Neo4j follows Postgres: equal after every job, whatever happened before, and fenced."""

from __future__ import annotations

import asyncio
import random
from datetime import timedelta

import neo4j
import pytest
from tests.builders import SPACE
from tests.contract.backends import Watched
from tests.integration.neo4j.world import SENTENCES, GraphWorld, id_of

from agentic_rag.adapters.neo4j.connection import Neo4jConnection
from agentic_rag.adapters.neo4j.writer import Neo4jGraphWriter
from agentic_rag.adapters.postgres.operations.graph_feed import Payload, PostgresGraphFeed
from agentic_rag.documents.document import document_id_for
from agentic_rag.jobs.job import JobKind, JobState
from agentic_rag.kernel.errors import LeaseLost
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.models.embedding.space import EmbeddingSpace
from agentic_rag.operations.graph.projection import GraphChange, GraphSource
from agentic_rag.operations.graph.sync import GraphSync
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.settings import WorkspaceSettings
from agentic_rag.workspaces.workspace import WorkspaceKind

pytestmark = [pytest.mark.integration, pytest.mark.network]


class Clearings(Neo4jGraphWriter):
    """Says whether anything was cleared."""

    def __init__(self, connection: Neo4jConnection, begun: asyncio.Event) -> None:
        super().__init__(connection)
        self._begun = begun

    async def clear(self, workspace: WorkspaceRef, fence: int, limit: int) -> int:
        self._begun.set()
        return await super().clear(workspace, fence, limit)


PATHS = ("a.md", "b.md", "c.md", "d.md")
PUMP_TANK, PUMP_VALVE, PIPE_SEAL = (
    "the Pump feeds the Tank slowly",
    "the Pump feeds the Valve slowly",
    "the Pipe feeds the Seal slowly",
)


async def test_what_is_published_is_in_the_graph_after_its_job(world: GraphWorld) -> None:
    await world.publish("a.md", PUMP_TANK, PUMP_VALVE)
    await world.publish("b.md", PUMP_TANK)

    assert await world.follow()

    held = await world.held()
    assert held == await world.expected()
    assert held.related[min((id_of("Pump"), id_of("Tank")), (id_of("Tank"), id_of("Pump")))] == 2
    assert await world.lease() is None


async def test_a_switch_of_the_embedding_space_is_followed_without_filling_the_graph_anew(world: GraphWorld) -> None:
    await world.publish("a.md", PUMP_TANK)
    await world.follow()
    async with world.database.transaction(world.workspace.org_id) as transaction:
        record = await transaction.spaces.begin(world.workspace, EmbeddingSpace("test", "wide", 12), None)
        number = record.registered.space_id
        missing = await transaction.spaces.missing(world.workspace, number, -1, 10)
        await transaction.spaces.fill(world.workspace, number, {one.ordinal: bytes(24) for one in missing})

    async with world.database.transaction(world.workspace.org_id) as transaction:
        version = await transaction.spaces.activate(world.workspace, number, timedelta(days=1))

    assert (await world.sync.status(world.workspace)).lag == 1
    begun = asyncio.Event()
    cleared = Clearings(world.connection, begun)
    lease = await world.lease()
    assert lease is not None
    assert await GraphSync(world.feed, cleared, world.telemetry).run(lease, Watched())
    assert not begun.is_set()
    assert (await world.writer.watermark(world.workspace)).version == version
    assert await world.is_equal()


async def test_a_changed_document_keeps_what_stayed_and_loses_what_went(world: GraphWorld) -> None:
    await world.publish("a.md", PUMP_TANK, PIPE_SEAL)
    await world.follow()

    await world.publish("a.md", PUMP_TANK, PUMP_VALVE)
    await world.follow()

    assert await world.is_equal()
    assert id_of("Seal") not in (await world.held()).entities


async def test_a_deleted_document_leaves_no_orphan_and_shared_entities_find_another_home(world: GraphWorld) -> None:
    await world.publish("a.md", PUMP_TANK, PIPE_SEAL)
    await world.publish("b.md", PUMP_TANK)
    await world.follow()

    await world.erase("a.md")
    await world.follow()

    held = await world.held()
    home = str(document_id_for(world.workspace, "b.md"))
    assert held == await world.expected()
    assert {name: source for name, _, source in held.entities.values()} == {"Pump": home, "Tank": home}
    assert list(held.sources) == [home]


async def test_an_entity_homed_at_a_document_that_no_longer_names_it_moves_when_that_is_deleted(
    world: GraphWorld,
) -> None:
    await world.publish("a.md", PUMP_TANK)
    await world.publish("b.md", PUMP_TANK)
    await world.publish("a.md", PIPE_SEAL)
    await world.follow()

    await world.erase("a.md")
    await world.follow()

    assert await world.is_equal()


async def test_a_document_deleted_and_registered_again_between_two_jobs_is_the_new_one(world: GraphWorld) -> None:
    await world.publish("a.md", PUMP_TANK, PUMP_VALVE)
    await world.follow()
    await world.erase("a.md")
    await world.publish("a.md", PUMP_TANK)

    await world.follow()

    assert await world.is_equal()
    assert len((await world.held()).chunks) == 1


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(2, 6))])
async def test_any_history_ends_equal_even_when_jobs_crash_on_the_way(world: GraphWorld, seed: int) -> None:
    chance = random.Random(seed)
    world.sync = GraphSync(world.feed, world.writer, world.telemetry, documents=2, chunks=2)
    for _ in range(24):
        step = chance.choices(("publish", "erase", "compact", "follow", "crash"), (8, 2, 1, 3, 4))[0]
        path = chance.choice(PATHS)
        if step == "publish":
            await world.publish(path, *chance.sample(sorted(SENTENCES), chance.randint(1, 6)))
        elif step == "erase":
            await world.erase(path)
        elif step == "compact":
            await world.compact()
        elif (await world.feed.position(world.workspace)).corpus_version == 0:
            continue
        elif await _waits(world):
            await world.follow(fuse=chance.randint(1, 6) if step == "crash" else None)
    if await _waits(world):
        await world.follow()

    assert await world.is_equal()


async def test_doing_a_job_twice_counts_nothing_twice(world: GraphWorld) -> None:
    await world.publish("a.md", *list(SENTENCES)[:6])
    await world.follow()
    async with world.pool.transaction(world.workspace.org_id) as connection:
        # As if the note that the graph was brought up had been lost.
        await connection.execute("UPDATE rag_workspaces SET graph_version = 0 WHERE workspace_id = $1",
                                 world.workspace.workspace_id)  # fmt: skip
    await world.publish("b.md", PUMP_TANK)

    await world.follow()

    assert await world.is_equal()


async def test_a_stale_writer_is_refused_and_changes_nothing(world: GraphWorld) -> None:
    await world.publish("a.md", PUMP_TANK)
    await world.follow()
    old = (await world.writer.watermark(world.workspace)).fence
    await world.writer.claim(world.workspace, old + 1)
    before = await world.held()
    document_id = document_id_for(world.workspace, "a.md")
    change = GraphChange(
        (GraphSource(document_id, "stale", document_id),), (document_id,), (), tuple(range(1)), (), (), (), ()
    )

    with pytest.raises(LeaseLost):
        await world.writer.apply(world.workspace, old, 9, change)
    with pytest.raises(LeaseLost):
        await world.writer.set_watermark(world.workspace, old, 9, 9)
    with pytest.raises(LeaseLost):
        await world.writer.clear(world.workspace, old, 10)
    with pytest.raises(LeaseLost):
        await world.writer.claim(world.workspace, old + 1)

    assert await world.held() == before
    assert (await world.writer.watermark(world.workspace)).version == 1


class StoppedFeed(PostgresGraphFeed):
    """Stops a worker between reading Postgres and writing the graph, as SIGSTOP may."""

    def __init__(self, world: GraphWorld) -> None:
        super().__init__(world.pool, world.neo4j_url)
        self.reached_it = asyncio.Event()
        self.go_on = asyncio.Event()

    async def payload(self, *asked: object) -> Payload:
        found = await super().payload(*asked)  # type: ignore[arg-type]
        self.reached_it.set()
        await self.go_on.wait()
        return found


async def test_a_worker_stopped_past_its_lease_writes_nothing_when_it_wakes(world: GraphWorld) -> None:
    await world.publish("a.md", PUMP_TANK, PUMP_VALVE)
    feed = StoppedFeed(world)
    lease = await world.lease()
    assert lease is not None
    stopped = asyncio.create_task(GraphSync(feed, world.writer, world.telemetry).run(lease, Watched()))
    await feed.reached_it.wait()
    await world.lapse(lease)
    await world.erase("a.md")
    await world.publish("b.md", PIPE_SEAL)

    await world.follow()
    feed.go_on.set()

    with pytest.raises(LeaseLost):
        await stopped
    assert await world.is_equal()


async def test_a_job_is_not_done_before_what_was_published_meanwhile_is_in_the_graph(world: GraphWorld) -> None:
    await world.publish("a.md", PUMP_TANK)
    feed = StoppedFeed(world)
    lease = await world.lease()
    assert lease is not None
    running = asyncio.create_task(GraphSync(feed, world.writer, world.telemetry).run(lease, Watched()))
    await feed.reached_it.wait()
    await world.publish("b.md", PIPE_SEAL)
    feed.go_on.set()

    assert await running

    assert await world.is_equal()
    async with world.database.transaction(world.workspace.org_id) as transaction:
        jobs = (await transaction.jobs.page(world.workspace, PageRequest(10), kinds=[JobKind.GRAPH])).items
    assert [job.state for job in jobs] == [JobState.DONE]


async def test_a_rebuild_mends_whatever_was_broken(world: GraphWorld) -> None:
    await world.publish("a.md", *list(SENTENCES)[:8])
    await world.follow()
    key = f"{world.workspace.org_id}/{world.workspace.workspace_id}"
    async with neo4j.AsyncGraphDatabase.driver(world.neo4j_url) as driver:
        await driver.execute_query("MATCH (c:RagChunk {workspaceId: $key}) WITH c LIMIT 2 DETACH DELETE c", key=key)
        await driver.execute_query("CREATE (:RagEntity {workspaceId: $key, id: 'nobody', name: 'nobody'})", key=key)
        await driver.execute_query(
            "MATCH (:RagEntity {workspaceId: $key})-[r:RELATED]->() SET r.weight = r.weight + 7", key=key
        )
    assert not await world.is_equal()

    assert await world.sync.rebuild(world.workspace, "ada") is not None
    await world.follow()

    assert await world.is_equal()
    async with world.database.transaction(world.workspace.org_id) as transaction:
        entries = (await transaction.audit.page(PageRequest(10))).items
    told = [(one.action, one.actor, one.workspace_id) for one in entries]
    assert told == [("graph.rebuild", "ada", world.workspace.workspace_id)]


async def test_a_graph_that_lost_its_data_is_filled_again_with_the_next_publish(world: GraphWorld) -> None:
    await world.publish("a.md", PUMP_TANK)
    await world.publish("b.md", PUMP_VALVE)
    await world.follow()
    key = f"{world.workspace.org_id}/{world.workspace.workspace_id}"
    async with neo4j.AsyncGraphDatabase.driver(world.neo4j_url) as driver:
        await driver.execute_query("MATCH (n {workspaceId: $key}) DETACH DELETE n", key=key)
        await driver.execute_query("MATCH (n:RagWorkspace {id: $key}) DELETE n", key=key)

    await world.publish("c.md", PIPE_SEAL)
    await world.follow()

    assert await world.is_equal()
    assert len((await world.held()).sources) == 3


async def test_another_workspace_of_the_same_id_in_another_organisation_is_untouched(world: GraphWorld) -> None:
    await world.publish("a.md", PUMP_TANK)
    await world.follow()
    before = await world.held()
    other = GraphWorld(world.database_url, world.neo4j_url, world.line)
    await other.prepare()
    async with other.database.transaction(other.workspace.org_id) as transaction:
        other.workspace = WorkspaceRef(other.workspace.org_id, world.workspace.workspace_id)
        await transaction.workspaces.create(
            other.workspace.workspace_id, "twin", WorkspaceKind.GENERAL, None, WorkspaceSettings()
        )
        await transaction.workspaces.register_space(other.workspace, SPACE)
    await other.publish("b.md", PUMP_TANK)
    await other.follow()
    await other.erase("b.md")
    await other.follow()

    assert await world.held() == before
    assert (await other.held()).entities == {}
    await other.connection.aclose()
    await other.pool.aclose()


async def _waits(world: GraphWorld) -> bool:
    async with world.database.transaction(world.workspace.org_id) as transaction:
        jobs = await transaction.jobs.page(
            world.workspace, PageRequest(1), states=[JobState.QUEUED], kinds=[JobKind.GRAPH]
        )
    return bool(jobs.items)

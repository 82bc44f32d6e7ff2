"""Answers over a graph in Neo4j: flagged and uncached while it is down or behind, never an error."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator

import pytest
from tests.contract.backends import Watched
from tests.integration.neo4j.world import GraphWorld
from tests.memory_store.answering.cache import MemoryAnswerCache
from tests.subgraphs import passages_of

from agentic_rag.adapters.deterministic.embedder import DeterministicEmbedder
from agentic_rag.adapters.postgres.answering.runs import PostgresRunStore
from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.adapters.system.ids import RandomIds
from agentic_rag.answering.ask import AnswerPorts, AnswerQuestion
from agentic_rag.answering.build import answer_question
from agentic_rag.answering.options import AnswerDefaults
from agentic_rag.answering.question import AnswerOptions, Question
from agentic_rag.answering.run import CacheOutcome, Run
from agentic_rag.answering.runs.record import RunRecorder
from agentic_rag.ingestion.ingest_chunks import ChunkedDocument
from agentic_rag.jobs.job import JobKind
from agentic_rag.kernel.dependency import Dependency
from agentic_rag.models.providers.embedder_registry import only
from agentic_rag.operations.graph.sync import GraphSync
from agentic_rag.tenancy.principals import Principal, Role

pytestmark = [pytest.mark.integration, pytest.mark.network]

DOCUMENTS = [
    ChunkedDocument("harbour.md", "Harbour", ("The Brannoch harbour master is Isla Munro. She keeps the log.",)),
    ChunkedDocument("munro.md", "Isla Munro", ("Isla Munro was born in Kirkwall and trained in Leith.",)),
    ChunkedDocument("weather.md", "Weather", ("Rain is likely over the sound for most of the autumn.",)),
]
QUESTION = "Where was the harbour master of Brannoch born?"


class Asker:
    """The use case over a world."""

    def __init__(self, world: GraphWorld) -> None:
        self._world = world
        runs, cache = PostgresRunStore(world.pool), MemoryAnswerCache(SystemClock())
        self.recorder = RunRecorder(world.database, runs, cache, world.telemetry)
        ports = AnswerPorts(
            world.database, cache, runs, only(DeterministicEmbedder()), world.telemetry, SystemClock(), RandomIds()
        )
        self._answer: AnswerQuestion = answer_question(ports, self.recorder, AnswerDefaults())

    async def ask(self, text: str = QUESTION) -> Run:
        question = Question(workspace=self._world.workspace, text=text, options=AnswerOptions())
        principal = Principal(self._world.workspace.org_id, "tester", Role.MEMBER)
        run = await self._answer.ask(principal, question)
        await self.recorder.drain()
        return run


@pytest.fixture
async def asker(world: GraphWorld) -> AsyncIterator[Asker]:
    # A cold server plans the first question of its life: on a busy machine that took longer than five seconds.
    world.read_seconds = 30.0
    await world.ingest(DOCUMENTS)
    asker = Asker(world)
    yield asker
    await asker.recorder.aclose()


async def test_a_graph_at_the_corpus_version_answers_and_is_cached(world: GraphWorld, asker: Asker) -> None:
    await world.follow()

    first = await asker.ask()
    again = await asker.ask()

    assert first.answer.degraded == ()
    assert first.versions.graph_version == first.versions.corpus_version
    assert again.cache is CacheOutcome.HIT
    assert first.answer.citations


async def test_without_neo4j_answers_come_flagged_uncached_and_in_time(world: GraphWorld, asker: Asker) -> None:
    await world.follow()
    await asker.ask("Is rain likely over the sound?")
    await world.line.cut()
    began = time.monotonic()

    runs = [await asker.ask() for _ in range(3)]

    assert time.monotonic() - began < 3
    assert [run.answer.degraded for run in runs] == [(Dependency.GRAPH,)] * 3
    assert [run.cache for run in runs] == [CacheOutcome.MISS] * 3
    assert all(run.answer.citations for run in runs)


async def test_a_neo4j_that_hangs_costs_one_short_wait_and_then_none(world: GraphWorld, asker: Asker) -> None:
    await world.follow()
    await asker.ask("Is rain likely over the sound?")
    world.connection.options = type(world.connection.options)(read_seconds=0.2, rest_seconds=60.0)
    world.line.hang()

    first, second = await asker.ask(), await asker.ask("Who is the harbour master?")

    assert (first.answer.degraded, second.answer.degraded) == ((Dependency.GRAPH,),) * 2
    waited = [next(one.seconds for one in run.stages if one.stage == "retrieve") for run in (first, second)]
    assert 0.2 <= waited[0] < 1.0
    assert waited[1] < 0.2


async def test_a_graph_that_was_never_filled_is_missing_not_empty(world: GraphWorld, asker: Asker) -> None:
    run = await asker.ask()

    assert run.answer.degraded == (Dependency.GRAPH,)


async def test_a_graph_behind_by_more_than_the_setting_is_left_out(world: GraphWorld, asker: Asker) -> None:
    await world.follow()
    for number in range(world.max_lag):
        await _touch(world, number)

    within = await asker.ask()
    await _touch(world, world.max_lag)
    beyond = await asker.ask()

    assert (within.answer.degraded, within.versions.graph_version) == ((), 1)
    assert beyond.answer.degraded == (Dependency.GRAPH,)
    assert (await asker.ask()).cache is CacheOutcome.MISS


async def test_passages_gone_from_the_snapshot_are_not_candidates(world: GraphWorld, asker: Asker) -> None:
    await world.follow()
    await world.erase("munro.md")

    async with (
        world.database.snapshot(world.workspace) as snapshot,
        world.plain_database.snapshot(world.workspace) as truth,
    ):
        ordinals = list(range(3))
        found = await snapshot.graph.vicinity([], [0], 40)
        reached = {ordinal for one in passages_of(found) for ordinal in one.ordinals}
        shown = {chunk.ordinal for chunk in await truth.documents.chunks(ordinals, [0])}
        version = snapshot.graph.version

    assert reached
    assert reached <= shown
    assert version == 1
    assert (await asker.ask()).answer.degraded == ()


async def test_after_an_outage_upkeep_asks_for_the_job_and_it_catches_up(world: GraphWorld, asker: Asker) -> None:
    await world.follow()
    await world.line.cut()
    await _touch(world, 1)
    await world.erase("munro.md")
    assert not await world.follow()
    assert (await asker.ask()).answer.degraded == (Dependency.GRAPH,)
    assert not (await world.sync.status(world.workspace)).is_equal
    board = world.backend.job_board()

    due = [task.key for task in await board.upkeep() if (task.workspace, task.kind) == (world.workspace, JobKind.GRAPH)]
    await board.aclose()
    await world.line.mend()
    await _touch(world, 2)
    await world.follow()

    assert due == ["graph"]
    assert await world.is_equal()
    assert any(event.name == "rag_graph_unreachable" for event in world.telemetry.events)


async def test_a_process_without_neo4j_says_that_its_graph_is_where_the_corpus_is(world: GraphWorld) -> None:
    await world.ingest(DOCUMENTS)
    lease = await world.lease()
    assert lease is not None
    plain = GraphSync(world.feed, None, world.telemetry)

    assert not await plain.run(lease, Watched())

    position = await world.feed.position(world.workspace)
    assert position.graph_version == position.corpus_version == 1
    assert (await plain.status(world.workspace)).is_equal


async def _touch(world: GraphWorld, number: int) -> None:
    """A version without anything the questions are about."""
    await world.more([ChunkedDocument(f"note-{number}.md", "Note", (f"note number {number} about nothing",))])

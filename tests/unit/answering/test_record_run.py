import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from tests.unit.answering.answering_world import Cache, Runs, Telemetry, World
from tests.unit.answering.corpus import WORKSPACE, Corpus
from tests.waiting import eventually

from agentic_rag.answering.run import EncodedAnswer, Run
from agentic_rag.answering.runs import record
from agentic_rag.answering.runs.record import BATCH, CacheFill, RunRecorder
from agentic_rag.kernel.errors import AgenticRagError, DependencyUnavailable, Permanent, Retryable
from agentic_rag.tenancy.entering import bound_principals, entering_as
from agentic_rag.tenancy.principals import Principal, Role, WorkspaceRef


def database() -> Any:
    return Corpus()


async def _run() -> Run:
    world = World(Corpus())
    run = await world.ask("Hello!")
    await world.recorder.aclose()
    return run


async def test_runs_are_stored_in_batches_in_order() -> None:
    run, runs = await _run(), Runs()
    recorder = RunRecorder(database(), runs, Cache(), Telemetry())
    for number in range(BATCH + 3):
        recorder.submit(replace(run, run_id=UUID(int=number)))
    await recorder.drain()
    assert runs.batches == [BATCH, 3]
    assert [one.run_id.int for one in runs.stored] == list(range(BATCH + 3))
    await recorder.aclose()


async def test_runs_that_come_while_a_batch_is_stored_wait_for_company(monkeypatch: pytest.MonkeyPatch) -> None:
    class RunsThatBringOthers(Runs):
        async def record(self, runs: Sequence[Run], *, durable: bool = False) -> None:
            await super().record(runs, durable=durable)
            if len(self.batches) == 1:
                recorder.submit(replace(run, run_id=UUID(int=2)))
                asyncio.get_running_loop().call_soon(recorder.submit, replace(run, run_id=UUID(int=3)))

    async def all_are_stored() -> bool:
        return len(runs.stored) == 3

    monkeypatch.setattr(record, "LINGER_SECONDS", 0.02)
    run, runs = await _run(), RunsThatBringOthers()
    recorder = RunRecorder(database(), runs, Cache(), Telemetry())
    recorder.submit(replace(run, run_id=UUID(int=1)))
    await eventually(all_are_stored, "all three are stored")
    assert runs.batches == [1, 2]
    await recorder.aclose()


async def test_runs_are_stored_although_answers_to_be_cached_come_all_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    class BusyCache(Cache):
        puts = 0

        async def put(self, *entry: Any) -> None:
            self.puts += 1
            await asyncio.sleep(0)
            if self.puts < 10 * BATCH:
                take(self.puts)

    def take(number: int) -> None:
        fill = CacheFill(WORKSPACE, str(number), EncodedAnswer(run.answer), 60, seen_version=version)
        recorder.submit(replace(run, run_id=UUID(int=number + 1)), fill)

    class RunsThatLook(Runs):
        async def record(self, runs: Sequence[Run], *, durable: bool = False) -> None:
            puts.append(cache.puts)
            await super().record(runs, durable=durable)

    monkeypatch.setattr(record, "LINGER_SECONDS", 0.0)
    run, runs, cache, corpus, puts = await _run(), RunsThatLook(), BusyCache(), database(), list[int]()
    version = await corpus.corpus_version(WORKSPACE)
    recorder = RunRecorder(corpus, runs, cache, Telemetry())
    take(0)
    await recorder.drain()
    await recorder.aclose()

    assert len(runs.stored) == cache.puts == 10 * BATCH
    assert puts[0] < 2 * BATCH


async def test_a_run_can_be_found_before_it_is_stored() -> None:
    run, runs = await _run(), Runs()
    recorder = RunRecorder(database(), runs, Cache(), Telemetry())
    recorder.submit(run)
    assert recorder.find(WORKSPACE, run.run_id) is run
    assert recorder.find(replace(WORKSPACE, workspace_id=UUID(int=1)), run.run_id) is None
    await recorder.aclose()
    assert recorder.find(WORKSPACE, run.run_id) is None
    assert runs.stored == [run]


@pytest.mark.tells("rag_cache_put_failed")
async def test_an_answer_that_cannot_be_cached_is_stored_all_the_same() -> None:
    class Away(Cache):
        async def put(self, workspace: WorkspaceRef, key: str, value: bytes, ttl_seconds: int) -> None:
            raise DependencyUnavailable("Redis is away.", dependency="redis")

    run, runs, corpus = await _run(), Runs(), database()
    recorder = RunRecorder(corpus, runs, Away(), Telemetry())

    version = await corpus.corpus_version(WORKSPACE)
    recorder.submit(run, CacheFill(WORKSPACE, "key", EncodedAnswer(run.answer), 60, seen_version=version))
    await recorder.aclose()

    assert runs.stored == [run]


async def test_what_does_not_fit_is_dropped_and_counted() -> None:
    run, runs, telemetry = await _run(), Runs(), Telemetry()
    recorder = RunRecorder(database(), runs, Cache(), telemetry, capacity=2)
    for number in range(5):
        recorder.submit(replace(run, run_id=UUID(int=number)))
    await recorder.aclose()
    assert len(runs.stored) == 2
    assert telemetry.counts["rag_runs_unrecorded_total", (("reason", "full"),)] == 3


async def test_it_takes_runs_again_after_a_drain_and_closes_idle() -> None:
    run, runs = await _run(), Runs()
    recorder = RunRecorder(database(), runs, Cache(), Telemetry())
    await recorder.drain()
    for number in range(3):
        recorder.submit(replace(run, run_id=UUID(int=number)))
        await recorder.drain()
    assert runs.batches == [1, 1, 1]
    await recorder.aclose()
    await RunRecorder(database(), runs, Cache(), Telemetry()).aclose()


class RefusingRuns(Runs):
    """A store that raises what stands in `faults`, one each time, and refuses runs with an id in `refused`."""

    def __init__(self, *faults: AgenticRagError, refused: frozenset[int] = frozenset()) -> None:
        super().__init__()
        self.faults = list(faults)
        self.refused = refused
        self.tries = 0

    async def record(self, runs: Sequence[Run], *, durable: bool = False) -> None:
        self.tries += 1
        if self.faults:
            raise self.faults.pop(0)
        if any(run.run_id.int in self.refused for run in runs):
            raise Permanent("a run with what no column takes")
        await super().record(runs, durable=durable)


def away() -> DependencyUnavailable:
    return DependencyUnavailable("Postgres does not answer.", dependency="postgres")


async def test_runs_wait_for_a_database_that_is_away_and_can_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    async def all_are_stored() -> bool:
        return len(runs.stored) == 2

    monkeypatch.setattr(record, "LINGER_SECONDS", 0.0)
    monkeypatch.setattr(record, "FIRST_REST_SECONDS", 0.01)
    run, runs, telemetry = await _run(), RefusingRuns(away(), Retryable("a lock"), away(), away()), Telemetry()
    recorder = RunRecorder(database(), runs, Cache(), telemetry)
    for number in (1, 2):
        recorder.submit(replace(run, run_id=UUID(int=number)))

    assert recorder.find(WORKSPACE, UUID(int=2)) is not None
    await eventually(all_are_stored, "both are stored")
    await recorder.aclose()
    assert runs.tries == 5
    assert not telemetry.counts


async def test_a_database_that_is_away_is_not_asked_by_every_run_that_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    async def is_tried() -> bool:
        return runs.tries > 0

    monkeypatch.setattr(record, "LINGER_SECONDS", 0.0)
    run, runs = await _run(), RefusingRuns(*[away() for _ in range(BATCH)])
    recorder = RunRecorder(database(), runs, Cache(), Telemetry())
    for number in range(2 * BATCH):
        recorder.submit(replace(run, run_id=UUID(int=number)))
    await eventually(is_tried, "the first batch is tried")
    for number in range(2 * BATCH, 4 * BATCH):
        recorder.submit(replace(run, run_id=UUID(int=number)))
        await asyncio.sleep(0)

    assert runs.tries == 1
    runs.faults.clear()
    await recorder.aclose()
    assert len(runs.stored) == 4 * BATCH


async def test_a_run_that_the_store_refuses_loses_no_other() -> None:
    run, runs, telemetry = await _run(), RefusingRuns(refused=frozenset({3})), Telemetry()
    recorder = RunRecorder(database(), runs, Cache(), telemetry)
    for number in range(6):
        recorder.submit(replace(run, run_id=UUID(int=number)))
    await recorder.aclose()

    assert [one.run_id.int for one in runs.stored] == [0, 1, 2, 4, 5]
    assert telemetry.counts == {("rag_runs_unrecorded_total", (("reason", "PERMANENT"),)): 1}


async def test_a_process_that_ends_does_not_wait_for_a_database_that_stays_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(record, "FIRST_REST_SECONDS", 0.01)
    run, runs, telemetry = await _run(), RefusingRuns(*[away() for _ in range(100)]), Telemetry()
    recorder = RunRecorder(database(), runs, Cache(), telemetry)
    for number in range(3 * BATCH):
        recorder.submit(replace(run, run_id=UUID(int=number)))
    await asyncio.wait_for(recorder.aclose(), 5)

    assert runs.tries == record.TRIES_OF_A_DRAIN
    assert telemetry.counts == {("rag_runs_unrecorded_total", (("reason", "DEPENDENCY_UNAVAILABLE"),)): 3 * BATCH}


class BrokenRuns(Runs):
    """A store with a fault that is none of the product's errors."""

    broken = True

    async def record(self, runs: Sequence[Run], *, durable: bool = False) -> None:
        if self.broken:
            raise TypeError("a value nobody foresaw")
        await super().record(runs, durable=durable)


async def test_an_unforeseen_fault_is_reported_and_neither_hangs_a_drain_nor_the_next_run() -> None:
    run, runs, telemetry = await _run(), BrokenRuns(), Telemetry()
    recorder = RunRecorder(database(), runs, Cache(), telemetry)
    recorder.submit(run)
    await asyncio.wait_for(recorder.drain(), 5)
    runs.broken = False
    recorder.submit(run)
    await asyncio.wait_for(recorder.aclose(), 5)

    assert telemetry.counts["rag_runs_unrecorded_total", (("reason", "INTERNAL"),)] == 1
    assert runs.stored == [run]


async def test_the_first_caller_is_not_bound_while_later_runs_are_stored() -> None:
    bound: list[tuple[str, ...]] = []

    class SeenRuns(Runs):
        async def record(self, runs: Sequence[Run], *, durable: bool = False) -> None:
            bound.append(bound_principals())

    run = await _run()
    recorder = RunRecorder(database(), SeenRuns(), Cache(), Telemetry())
    with entering_as(Principal(WORKSPACE.org_id, "ada", Role.MEMBER)):
        recorder.submit(run)
        assert bound_principals()
    await recorder.aclose()

    assert bound == [()]

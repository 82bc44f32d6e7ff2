"""What caches and memory hold says whose it is: a key that were the same for two tenants gives neither the other's."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from tests.unit.answering.answering_world import Cache, Runs, Telemetry, World
from tests.unit.answering.corpus import WORKSPACE, Corpus

from agentic_rag.answering.answer import Answer
from agentic_rag.answering.ask import PipelineResult
from agentic_rag.answering.run import CacheOutcome, EncodedAnswer, Run
from agentic_rag.answering.runs.answer_codec import encode, pack
from agentic_rag.answering.runs.cache_entry import TenantGuard, decode_entry, encode_entry
from agentic_rag.answering.runs.record import CacheFill, RunRecorder
from agentic_rag.kernel.concurrency import SingleFlight
from agentic_rag.tenancy.principals import WorkspaceRef

THEIRS = WorkspaceRef(UUID(int=77), UUID(int=78))
LEAKS = ("rag_tenant_leaks_total", ())
QUESTION = "How many days of annual leave do employees receive?"


def _world() -> World:
    corpus = Corpus()
    corpus.add("handbook.md", "Staff handbook", "Employees receive 28 days of annual leave.")
    return World(corpus)


async def _answer() -> Answer:
    return (await _world().ask(QUESTION)).answer


async def test_an_entry_gives_back_its_answer_and_whose_it_is() -> None:
    answer = await _answer()

    entry = encode_entry(WORKSPACE, EncodedAnswer(answer))
    owner, cached = decode_entry(entry)

    assert (owner, cached.answer, cached.pack()) == (WORKSPACE, answer, pack(encode(answer)))
    assert encode(answer) in entry


async def test_an_entry_that_does_not_say_whose_it_is_cannot_be_read() -> None:
    answer = await _answer()
    for entry in (encode(answer), b"", b"rag3", encode_entry(WORKSPACE, EncodedAnswer(answer))[:30]):
        with pytest.raises(ValueError, match=r"names no workspace|truncated"):
            decode_entry(entry)


async def test_a_cached_answer_of_another_workspace_is_answered_anew_and_counted() -> None:
    world = _world()
    first = await world.ask(QUESTION)
    await world.recorder.drain()
    [key] = world.cache.values
    world.cache.values[key] = encode_entry(THEIRS, EncodedAnswer(replace(first.answer, text="a secret of theirs")))

    second = await world.ask(QUESTION)

    assert (second.cache, second.answer) == (CacheOutcome.MISS, first.answer)
    assert world.telemetry.counts[LEAKS] == 1
    assert "rag_tenant_leak" in world.telemetry.events


async def test_an_own_cached_answer_is_no_leak() -> None:
    world = _world()
    await world.ask(QUESTION)
    await world.recorder.drain()

    assert (await world.ask(QUESTION)).cache is CacheOutcome.HIT
    assert LEAKS not in world.telemetry.counts


class OneFlightForAll(SingleFlight[PipelineResult]):
    """Joins whoever comes to a run of somebody else, whatever the keys are."""

    def __init__(self, theirs: PipelineResult) -> None:
        super().__init__()
        self.theirs = theirs

    async def run(self, key: Hashable, work: Callable[[], Awaitable[PipelineResult]]) -> tuple[PipelineResult, bool]:
        return self.theirs, True


@pytest.mark.tells("rag_tenant_leak")
async def test_a_shared_run_of_another_workspace_is_run_anew_and_counted() -> None:
    world = _world()
    answered: list[PipelineResult] = []
    run = world.answer._run_stages

    async def noted(request: Any) -> PipelineResult:
        answered.append(await run(request))
        return answered[-1]

    world.answer._run_stages = noted  # type: ignore[method-assign]
    first = await world.ask(QUESTION)
    await world.recorder.drain()
    world.cache.values.clear()
    stolen = replace(answered[0], workspace=THEIRS, answer=replace(first.answer, text="a secret of theirs"))
    world.answer._flights = OneFlightForAll(stolen)

    second = await world.ask(QUESTION)

    assert (second.cache, second.answer) == (CacheOutcome.MISS, first.answer)
    assert world.telemetry.counts[LEAKS] == 1


async def test_what_waits_to_be_stored_is_found_by_its_own_workspace_only() -> None:
    telemetry, cache = Telemetry(), Cache()
    database: Any = Corpus()
    recorder = RunRecorder(database, Runs(), cache, telemetry)
    run: Run = await _world().ask(QUESTION)
    recorder.submit(run, CacheFill(run.workspace, "key", EncodedAnswer(run.answer), 60, 0))
    other = WorkspaceRef(THEIRS.org_id, run.workspace.workspace_id)

    assert recorder.find(run.workspace, run.run_id) == run
    waiting = recorder.filling(run.workspace, "key")
    assert waiting is not None
    assert waiting.answer == run.answer
    assert recorder.find(other, run.run_id) is None
    assert recorder.filling(other, "key") is None
    assert LEAKS not in telemetry.counts
    await asyncio.wait_for(recorder.aclose(), 5)


def test_the_wall_lets_through_what_is_asked_for_by_its_owner() -> None:
    telemetry = Telemetry()

    assert TenantGuard(telemetry).check_owner(THEIRS, WorkspaceRef(UUID(int=77), UUID(int=78)), "here")
    assert not telemetry.counts

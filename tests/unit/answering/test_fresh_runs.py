"""A run can be read as soon as its answer is there, in the process that answered and in every other one."""

import asyncio
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest
from tests.unit.answering.answering_world import PRINCIPAL, World
from tests.unit.answering.corpus import WORKSPACE, Corpus

from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.adapters.system.ids import RandomIds
from agentic_rag.answering.run import Run
from agentic_rag.answering.runs.read import ReadRuns
from agentic_rag.kernel.errors import NotFound


async def answered() -> tuple[World, Run]:
    """A run with an id of this moment, that waits to be stored."""
    world = World(Corpus())
    run = replace(await world.ask("Hello!"), run_id=RandomIds().new())
    await world.recorder.drain()
    world.recorder.submit(run)
    return world, run


def reader(world: World, *, same_process: bool) -> ReadRuns:
    database: Any = world.corpus
    return ReadRuns(database, world.runs, SystemClock(), world.recorder if same_process else None)


@pytest.mark.parametrize("same_process", [True, False])
async def test_a_run_is_read_right_after_its_answer(same_process: bool) -> None:
    world, run = await answered()

    found = await reader(world, same_process=same_process).get(PRINCIPAL, WORKSPACE, run.run_id)

    assert found is not None
    assert found.run_id == run.run_id
    assert (run in world.runs.stored) != same_process
    await world.recorder.aclose()


async def test_a_follow_up_finds_a_run_that_another_process_is_storing() -> None:
    world, run = await answered()
    other = World(world.corpus)
    other.runs.stored = world.runs.stored

    followed = await other.ask("And then?", after=run.run_id)

    assert followed.answer is not None
    await world.recorder.aclose()
    await other.recorder.aclose()


@pytest.mark.parametrize("run_id", [uuid4(), UUID("01890000-0000-7000-8000-000000000001")])
async def test_an_id_of_nothing_that_is_not_fresh_is_refused_at_once(run_id: UUID) -> None:
    world = World(Corpus())

    async with asyncio.timeout(0.5):
        assert await reader(world, same_process=False).get(PRINCIPAL, WORKSPACE, run_id) is None
        with pytest.raises(NotFound):
            await world.ask("And then?", after=run_id)

"""What a run tells while it goes on, to whom, and how it is cancelled."""

import asyncio
from dataclasses import replace

import pytest
from tests.unit.answering.answering_world import PRINCIPAL, World
from tests.unit.answering.corpus import WORKSPACE, Corpus

from agentic_rag.answering.live.events import RunEvent, RunEventKind
from agentic_rag.answering.question import AnswerOptions, CacheMode, Question
from agentic_rag.answering.run import CacheOutcome
from agentic_rag.answering.state_machine import Stage
from agentic_rag.kernel.errors import NotFound, RunCancelled
from agentic_rag.tenancy.principals import Role, WorkspaceRef

ASKED = "How high may the waves be for crew transfer?"
QUESTION = Question(WORKSPACE, ASKED, (), None, AnswerOptions())
OTHER = replace(PRINCIPAL, subject="olga")
KINDS = RunEventKind


@pytest.fixture
def world() -> World:
    corpus = Corpus()
    corpus.add("access.md", "Access", "Crew transfer is suspended when the significant wave height exceeds 1.5 metres.")
    return World(corpus)


class Held:
    """Holds a stage of the world's runs until it is let go."""

    def __init__(self, world: World, stage: Stage) -> None:
        self.reached, self.go = asyncio.Event(), asyncio.Event()
        self._run = world.answer._stages[stage].run
        world.answer._stages = {**world.answer._stages, stage: self}

    async def run(self, state: object, reads: object) -> object:
        self.reached.set()
        await self.go.wait()
        return await self._run(state, reads)  # type: ignore[arg-type]


async def test_stages_the_draft_and_each_citation_come_in_their_order(world: World) -> None:
    told: list[RunEvent] = []

    run = await world.answer.ask(PRINCIPAL, QUESTION, told.append)

    assert told[0] == RunEvent(KINDS.RUN_STARTED, run_id=run.run_id)
    ended = [one for one in told if one.kind is KINDS.STAGE_ENDED]
    assert tuple(one.record for one in ended) == run.stages
    started = [one.stage for one in told if one.kind is KINDS.STAGE_STARTED]
    assert started == [one.stage for one in ended]
    order = [(one.kind, one.stage) for one in told]
    draft = order.index((KINDS.DRAFT, Stage.SYNTHESIZE))
    assert order.index((KINDS.STAGE_ENDED, Stage.SYNTHESIZE)) < draft
    assert draft < order.index((KINDS.STAGE_STARTED, Stage.SELF_CHECK))
    assert "1.5 metres" in (told[draft].draft or "")
    cited = tuple(one.citation for one in told if one.kind is KINDS.CITATION)
    assert cited == run.answer.citations != ()


async def test_an_answer_from_the_cache_tells_its_start_only(world: World) -> None:
    await world.answer.ask(PRINCIPAL, QUESTION)
    told: list[RunEvent] = []

    run = await world.answer.ask(PRINCIPAL, QUESTION, told.append)

    assert (run.cache, [one.kind for one in told]) == (CacheOutcome.HIT, [KINDS.RUN_STARTED])


async def test_links_in_a_draft_are_not_live() -> None:
    corpus = Corpus()
    corpus.add("access.md", "Access", "Crew transfer stops at waves of 1.5 metres, see https://evil.example/x for it.")
    told: list[RunEvent] = []

    await World(corpus).answer.ask(PRINCIPAL, QUESTION, told.append)

    drafts = [one.draft or "" for one in told if one.kind is KINDS.DRAFT]
    assert len(drafts) == 1
    assert "https://" not in drafts[0]


async def test_who_joins_a_run_sees_its_stages_from_the_first_and_no_text_before_it_has_ended(world: World) -> None:
    held = Held(world, Stage.SELF_CHECK)
    first: list[RunEvent] = []
    second: list[RunEvent] = []
    runs = [asyncio.ensure_future(world.answer.ask(PRINCIPAL, QUESTION, first.append))]
    await held.reached.wait()
    runs.append(asyncio.ensure_future(world.answer.ask(OTHER, QUESTION, second.append)))
    await asyncio.sleep(0.01)

    assert KINDS.DRAFT in [one.kind for one in first]
    assert [one.kind for one in second if one.is_text] == []
    held.go.set()
    mine, theirs = await asyncio.gather(*runs)
    assert theirs.cache is CacheOutcome.JOINED
    stages = [[one.stage for one in told if one.kind is KINDS.STAGE_ENDED] for told in (first, second)]
    assert stages[0] == stages[1] != []
    assert [one.run_id for one in (first[0], second[0])] == [mine.run_id, theirs.run_id]


async def test_cancelling_ends_one_callers_run_and_frees_its_place(world: World) -> None:
    held = Held(world, Stage.SYNTHESIZE)
    told: list[list[RunEvent]] = [[], []]
    runs = [asyncio.ensure_future(world.answer.ask(PRINCIPAL, QUESTION, one.append)) for one in told]
    await held.reached.wait()
    run_id = told[0][0].run_id
    assert run_id is not None

    assert await world.answer.cancel(PRINCIPAL, WORKSPACE, run_id)
    with pytest.raises(RunCancelled):
        await runs[0]
    held.go.set()
    assert (await runs[1]).answer.citations
    with pytest.raises(NotFound):
        await world.answer.cancel(PRINCIPAL, WORKSPACE, run_id)
    assert world.answer._room._units._free == world.answer._room._units._capacity


async def test_a_run_that_has_ended_says_so(world: World) -> None:
    run = await world.answer.ask(PRINCIPAL, QUESTION)

    assert await world.answer.cancel(PRINCIPAL, WORKSPACE, run.run_id) is False


@pytest.mark.parametrize(
    ("caller", "workspace", "may"),
    [
        (OTHER, WORKSPACE, False),
        (replace(OTHER, role=Role.ADMIN), WORKSPACE, True),
        (PRINCIPAL, WorkspaceRef(WORKSPACE.org_id, PRINCIPAL.org_id), False),
    ],
)
async def test_a_run_is_cancelled_by_its_asker_or_by_who_manages_the_workspace(
    world: World, caller: object, workspace: WorkspaceRef, may: bool
) -> None:
    held, told = Held(world, Stage.SYNTHESIZE), list[RunEvent]()
    run = asyncio.ensure_future(
        world.answer.ask(PRINCIPAL, replace(QUESTION, options=AnswerOptions(cache=CacheMode.BYPASS)), told.append)
    )
    await held.reached.wait()

    assert world.answer._running.cancel(caller, workspace, told[0].run_id) is may  # type: ignore[arg-type]
    held.go.set()
    if may:
        with pytest.raises(RunCancelled):
            await run
    else:
        await run


async def test_leaving_cancels_the_stages_unless_others_wait_for_them(world: World) -> None:
    held = Held(world, Stage.SYNTHESIZE)
    runs = [asyncio.ensure_future(world.answer.ask(PRINCIPAL, QUESTION)) for _ in range(2)]
    await held.reached.wait()

    runs[0].cancel()
    await asyncio.wait(runs[:1])
    assert not runs[1].done()
    runs[1].cancel()
    await asyncio.wait(runs[1:])
    assert world.answer._feeds == {}
    assert world.answer._room._units._free == world.answer._room._units._capacity

"""Questions that are asked in a thread follow its turns, and become turns of it: over stores in memory."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.answering.test_explain import World, filled

from agentic_rag.answering.question import Question
from agentic_rag.answering.run import Run
from agentic_rag.answering.runs.read import ReadRuns
from agentic_rag.answering.runs.run_filter import RunFilter
from agentic_rag.answering.threads.manage import ManageThreads
from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.tenancy.principals import Principal, Role, SubjectKind

FOUNDED = "Who founded the Baltic Chess Union?"
STANDALONE = "Why (about: who founded the Baltic Chess Union)?"


class Desk:
    """A world in which questions are asked in threads."""

    def __init__(self, world: World) -> None:
        self.world, self.workspace, self.ada = world, world.workspace, world.asker
        self.admin = replace(world.asker, subject="root", role=Role.ADMIN)
        self.key = replace(world.asker, kind=SubjectKind.KEY)
        self.reading = ReadRuns(world.database, world.runs, world.store.clock, world.recorder)
        self.threads = ManageThreads(world.database, world.telemetry, self.reading, world.recorder)

    async def newest_act(self) -> tuple[str, str, dict[str, Any]]:
        """Action, actor and detail of the newest entry of the audit log."""
        async with self.world.database.transaction(self.workspace.org_id) as transaction:
            newest = (await transaction.audit.page(PageRequest(1))).items[0]
        return newest.action, newest.actor, dict(newest.detail)

    async def ask(self, text: str, asker: Principal | None = None, **more: Any) -> Run:
        return await self.world.answer.ask(asker or self.ada, Question(self.workspace, text, **more))


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    async with filled(World()) as world:
        yield Desk(world)


async def test_a_thread_is_gone_on_with_by_its_id_alone(desk: Desk) -> None:
    founded = await desk.ask(FOUNDED, begins_thread=True)

    thanked = await desk.ask("Thank you!", thread=founded.thread)
    follow_up = await desk.ask("And why?", thread=founded.thread)

    assert founded.thread == founded.run_id == thanked.thread == follow_up.thread
    assert follow_up.answer.debug.standalone_question == STANDALONE
    assert await desk.world.runs.count(desk.workspace, RunFilter(thread=founded.run_id)) == 3


async def test_a_thread_may_begin_behind_a_run(desk: Desk) -> None:
    founded = await desk.ask(FOUNDED)

    follow_up = await desk.ask("And why?", after=founded.run_id, begins_thread=True)

    assert follow_up.answer.debug.standalone_question == STANDALONE
    assert (founded.thread, follow_up.thread) == (None, follow_up.run_id)


@pytest.mark.parametrize("other", ["admin", "key"])
async def test_nobody_else_asks_in_a_thread_or_is_shown_it(desk: Desk, other: str) -> None:
    founded = await desk.ask(FOUNDED, begins_thread=True)
    stranger: Principal = getattr(desk, other)
    key = desk.workspace, founded.run_id

    attempts = (
        desk.ask("And why?", stranger, thread=founded.run_id),
        desk.threads.rename(stranger, *key, "Mine"),
        desk.threads.delete(stranger, *key),
    )
    for attempt in attempts:
        with pytest.raises(NotFound, match="There is no such thread") as caught:
            await attempt
        assert caught.value.code == "THREAD_NOT_FOUND"
    assert await desk.threads.get(stranger, *key) is None
    assert (await desk.threads.page(stranger, desk.workspace, PageRequest())).items == ()
    shown = await desk.reading.get(desk.admin, *key)
    assert shown is not None
    assert shown.thread is None


async def test_a_deleted_thread_takes_its_runs_along_and_the_audit_log_says_so(desk: Desk) -> None:
    founded = await desk.ask(FOUNDED, begins_thread=True)

    assert await desk.threads.delete(desk.ada, desk.workspace, founded.run_id) == 1

    assert await desk.world.runs.get(desk.workspace, founded.run_id) is None
    with pytest.raises(NotFound):
        await desk.ask("And why?", thread=founded.run_id)
    assert await desk.newest_act() == ("thread.delete", desk.ada.subject_id, {"runs": 1})


async def test_a_run_is_deleted_by_who_asked_also_a_moment_after_its_answer(desk: Desk) -> None:
    run = await desk.ask(FOUNDED)
    assert desk.world.recorder.find(desk.workspace, run.run_id) is not None

    with pytest.raises(NotFound) as refused:
        await desk.threads.delete_run(desk.admin, desk.workspace, run.run_id)
    await desk.threads.delete_run(desk.ada, desk.workspace, run.run_id)

    assert refused.value.code == "RUN_NOT_FOUND"
    assert await desk.newest_act() == ("run.delete", desk.ada.subject_id, {})
    assert desk.world.recorder.find(desk.workspace, run.run_id) is None
    assert await desk.world.runs.get(desk.workspace, run.run_id) is None


@pytest.mark.parametrize("title", ["", "  ", "x" * 201, "a\nb"])
async def test_a_name_is_one_line(desk: Desk, title: str) -> None:
    founded = await desk.ask(FOUNDED, begins_thread=True)

    with pytest.raises(InvalidInput) as caught:
        await desk.threads.rename(desk.ada, desk.workspace, founded.run_id, title)

    assert caught.value.path == ("title",)
    renamed = await desk.threads.rename(desk.ada, desk.workspace, founded.run_id, " The founding ")
    assert renamed.shown_title == "The founding"


@pytest.mark.parametrize("more", ["begins_thread", "after"])
async def test_a_thread_has_turns_of_its_own(desk: Desk, more: str) -> None:
    founded = await desk.ask(FOUNDED, begins_thread=True)
    given: dict[str, Any] = {more: founded.run_id if more == "after" else True}

    with pytest.raises(InvalidInput) as caught:
        await desk.ask("And why?", thread=founded.run_id, **given)

    assert caught.value.path == ("thread",)

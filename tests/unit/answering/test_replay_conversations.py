"""Follow-ups are asked again after the runs that were their conversation: over stores in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from tests.memory_store.documents.blobs import MemoryBlobStore
from tests.unit.answering.test_explain import World, filled
from tests.unit.answering.test_threads import FOUNDED, STANDALONE, Desk

from agentic_rag.adapters.system.ids import RandomIds
from agentic_rag.answering.question import AnswerOptions, Turn
from agentic_rag.answering.run import CacheOutcome, Run
from agentic_rag.answering.runs import read
from agentic_rag.answering.runs.redaction import SOURCE_ERASED
from agentic_rag.answering.runs.replay import ReplayedConversation, ReplayRun, RunComparison
from agentic_rag.answering.state_machine import Stage
from agentic_rag.documents.document import DocumentFilter, document_id_for
from agentic_rag.erasure.delete import DeleteDocument

FOLLOW_UP = "And why?"
ELSEWHERE = "What do vessels below twelve metres pay?"


class Replays(Desk):
    """A desk at which runs are asked again."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.replays = ReplayRun(world.database, self.reading, world.answer)

    async def replay(self, run: Run) -> RunComparison:
        await self.world.recorder.drain()
        return await self.replays.replay(self.ada, self.workspace, run.run_id)

    async def erase(self, title: str) -> None:
        await self.world.recorder.drain()
        erase = DeleteDocument(self.world.database, self.world.cache, MemoryBlobStore(), self.world.telemetry)
        await erase.run(self.workspace, document_id_for(self.workspace, f"{title}.md"))


@pytest.fixture
async def desk() -> AsyncIterator[Replays]:
    async with filled(World()) as world:
        yield Replays(world)


async def test_a_follow_up_is_asked_again_after_the_turns_of_its_thread(desk: Replays) -> None:
    founded = await desk.ask(FOUNDED, begins_thread=True)
    thanked = await desk.ask("Thank you!", thread=founded.thread)
    follow_up = await desk.ask(FOLLOW_UP, thread=founded.thread)
    await desk.ask("Who founded the Norrland Hockey League?", thread=founded.thread)

    found = await desk.replay(follow_up)
    again = await desk.replay(found.after)

    assert follow_up.turns == (founded.run_id, thanked.run_id)
    assert found.conversation is again.conversation is ReplayedConversation.WHOLE
    assert found.differences == again.differences == ()
    assert (found.after.question, found.after.answer.debug.standalone_question) == (FOLLOW_UP, STANDALONE)
    assert found.after.turns == follow_up.turns
    assert found.after.thread is None


async def test_a_run_behind_another_one_is_asked_again_behind_it(desk: Replays) -> None:
    founded = await desk.ask(FOUNDED)
    follow_up = await desk.ask(FOLLOW_UP, after=founded.run_id)

    found = await desk.replay(follow_up)

    assert follow_up.turns == (founded.run_id,)
    assert (found.conversation, found.differences) == (ReplayedConversation.WHOLE, ())
    assert found.after.answer.debug.standalone_question == STANDALONE


async def test_where_the_question_is_put_otherwise_the_rewrite_is_where_the_runs_part(desk: Replays) -> None:
    founded = await desk.ask(FOUNDED, begins_thread=True)
    follow_up = await desk.ask(FOLLOW_UP, thread=founded.thread)
    other = replace(follow_up.answer.debug, standalone_question="Why was the Baltic Chess Union founded?")
    earlier = replace(
        follow_up, run_id=RandomIds().new(), answer=replace(follow_up.answer, debug=other), encoded=None, thread=None
    )
    await desk.world.runs.record([earlier])

    found = await desk.replay(earlier)

    first = found.differences[0]
    assert (first.stage, first.what) == (Stage.REWRITE, "stand-alone question")
    assert (first.before, first.after) == (other.standalone_question, STANDALONE)


async def test_without_a_conversation_a_run_says_that_it_had_none(desk: Replays) -> None:
    founded = await desk.ask(FOUNDED, begins_thread=True)

    found = await desk.replay(founded)

    assert founded.turns == ()
    assert (found.conversation, found.differences) == (ReplayedConversation.NONE, ())


async def test_of_turns_that_a_caller_sent_nothing_is_kept_and_the_stand_alone_question_is_asked(
    desk: Replays,
) -> None:
    founded = await desk.ask(FOUNDED)
    sent = (Turn(FOUNDED, "Otto Falk."),)
    follow_up = await desk.ask(FOLLOW_UP, history=sent)
    mixed = await desk.ask(FOLLOW_UP, history=sent, after=founded.run_id)

    found = await desk.replay(follow_up)

    assert follow_up.turns is mixed.turns is None
    assert found.conversation is ReplayedConversation.NOT_KEPT
    assert found.after.question == follow_up.answer.debug.standalone_question == STANDALONE


async def test_a_deleted_turn_lives_on_in_no_later_run(desk: Replays, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "_FRESH_SECONDS", 0.1)
    founded = await desk.ask(FOUNDED)
    follow_up = await desk.ask(FOLLOW_UP, after=founded.run_id)
    await desk.threads.delete_run(desk.ada, desk.workspace, founded.run_id)

    found = await desk.replay(follow_up)

    assert found.conversation is ReplayedConversation.GONE
    assert found.after.question == STANDALONE
    assert found.after.turns == ()


async def test_a_turn_whose_source_is_erased_is_no_turn_any_more(desk: Replays) -> None:
    fees = await desk.ask(ELSEWHERE, begins_thread=True)
    elsewhere = AnswerOptions(filter=DocumentFilter(path_globs=("Baltic*",)))
    founded = await desk.ask(FOUNDED, thread=fees.thread, options=elsewhere)
    await desk.erase("Harbour fees")

    follow_up = await desk.ask(FOLLOW_UP, thread=fees.thread)
    found = await desk.replay(founded)

    erased = await desk.reading.get(desk.ada, desk.workspace, fees.run_id)
    assert erased is not None
    assert erased.answer.text == SOURCE_ERASED
    assert founded.turns == (fees.run_id,)
    assert found.conversation is ReplayedConversation.GONE
    assert follow_up.turns is None


async def test_an_answer_from_the_cache_keeps_the_turns_of_its_own_run(desk: Replays) -> None:
    first, second = await desk.ask(FOUNDED), await desk.ask(FOUNDED)
    await desk.world.recorder.drain()
    before = await desk.ask(FOLLOW_UP, after=first.run_id)
    await desk.world.recorder.drain()

    hit = await desk.ask(FOLLOW_UP, after=second.run_id)

    assert hit.cache is CacheOutcome.HIT
    assert (before.turns, hit.turns) == ((first.run_id,), (second.run_id,))


async def test_an_admin_asks_a_run_of_somebody_else_again_after_its_turns(desk: Replays) -> None:
    founded = await desk.ask(FOUNDED)
    follow_up = await desk.ask(FOLLOW_UP, after=founded.run_id)
    await desk.world.recorder.drain()

    found = await desk.replays.replay(desk.admin, desk.workspace, follow_up.run_id)

    assert (found.conversation, found.differences) == (ReplayedConversation.WHOLE, ())
    assert found.after.subject == desk.admin.subject_id

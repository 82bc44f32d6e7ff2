"""What every `GateLog` promises."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from tests.builders import citation, run_of
from tests.contract.backends import Backend
from tests.unit.answering.test_gate import ANSWERED, OPEN, UNANSWERED
from tests.unit.answering.test_gate_decisions import PLAIN

from agentic_rag.answering.feedback.feedback import Feedback, FeedbackKind, FeedbackReason, Rating, TaskOutcome
from agentic_rag.answering.gate.decide import decide
from agentic_rag.answering.gate.rollback import REST, Rollback
from agentic_rag.answering.gate.stored_decision import decision_to_store
from agentic_rag.answering.gate_decision import DowngradeCause
from agentic_rag.answering.outside import OutsideReport
from agentic_rag.answering.run import CacheOutcome, Run
from agentic_rag.tenancy.principals import WorkspaceRef

LOOKED = OutsideReport(searches=2, pages=3)


def judged(workspace: WorkspaceRef, subject: str = "tester", key: str | None = None) -> Run:
    run = run_of(workspace, citations=[citation(uuid4(), "a quoted span")], idempotency_key=key, input_hash=b"1" * 32)
    gate = decide(PLAIN, ANSWERED, replace(OPEN, mode="shadow", care=1.0))
    return replace(run, subject=subject, answer=replace(run.answer, gate=gate))


async def test_a_decision_comes_back_as_its_run_took_it(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    run = judged(workspace)

    await adapter.runs.record([run, run_of(workspace)])

    assert await adapter.gate_log.decisions(workspace, run.created_at, None, 9) == [decision_to_store(run)]


async def test_decisions_are_those_since_then_newest_first_and_at_most_so_many(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    runs = [judged(workspace) for _ in range(4)]
    await adapter.runs.record(runs)

    since = await adapter.gate_log.decisions(workspace, runs[1].created_at, None, 9)
    most = await adapter.gate_log.decisions(workspace, runs[0].created_at, None, 2)
    later = await adapter.gate_log.decisions(workspace, runs[3].created_at + timedelta(seconds=1), None, 9)

    assert [one.run_id for one in since] == [run.run_id for run in runs[:0:-1]]
    assert [one.run_id for one in most] == [runs[3].run_id, runs[2].run_id]
    assert later == []


async def test_of_one_subject_only_its_own_decisions_come_and_of_another_workspace_none(adapter: Backend) -> None:
    workspace, other = await adapter.workspace(), await adapter.workspace()
    mine, theirs, elsewhere = judged(workspace, "ada"), judged(workspace, "bob"), judged(other, "ada")
    await adapter.runs.record([mine, theirs, elsewhere])

    found = await adapter.gate_log.decisions(workspace, mine.created_at, "ada", 9)

    assert [one.run_id for one in found] == [mine.run_id]


async def test_of_one_mode_only_its_decisions_come_however_many_newer_ones_there_are(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    watched, looked = (judged(workspace) for _ in range(2))
    looked = replace(looked, answer=replace(looked.answer, gate=replace(looked.answer.gate, mode="on")))
    await adapter.runs.record([watched, looked])

    found = {
        mode: await adapter.gate_log.decisions(workspace, watched.created_at, None, 1, mode=mode)
        for mode in ("shadow", "on")
    }

    assert {mode: [one.run_id for one in ones] for mode, ones in found.items()} == {
        "shadow": [watched.run_id],
        "on": [looked.run_id],
    }


async def test_what_is_said_of_a_run_comes_back_and_a_later_word_takes_its_place(adapter: Backend) -> None:
    workspace, other = await adapter.workspace(), await adapter.workspace()
    run = judged(workspace)
    await adapter.runs.record([run])
    first = Feedback(run.run_id, "ada", run.created_at, Rating.GOOD)
    later = Feedback(
        run.run_id,
        "ada",
        run.created_at + timedelta(seconds=1),
        Rating.BAD,
        FeedbackReason.OUTDATED,
        TaskOutcome.FAILED,
        (uuid4(), uuid4()),
        0.4,
    )
    of_bob = replace(first, subject="bob", given_at=later.given_at + timedelta(seconds=1))

    stored = [await adapter.gate_log.add_feedback(workspace, one) for one in (first, later, of_bob)]

    assert stored == [True, True, True]
    assert await adapter.gate_log.feedback_of(workspace, run.run_id, None) == [later, of_bob]
    assert await adapter.gate_log.feedback_of(workspace, run.run_id, "ada") == [later]
    assert await adapter.gate_log.feedback_of(other, run.run_id, None) == []


async def test_nothing_can_be_said_of_a_run_that_is_not_stored(adapter: Backend) -> None:
    workspace, other = await adapter.workspace(), await adapter.workspace()
    run = judged(other)
    await adapter.runs.record([run])
    given = Feedback(run.run_id, "ada", run.created_at, Rating.GOOD)

    assert not await adapter.gate_log.add_feedback(workspace, given)
    assert await adapter.gate_log.feedback_of(other, run.run_id, None) == []


async def test_what_was_said_of_some_runs_is_told_newest_first(adapter: Backend) -> None:
    workspace, other = await adapter.workspace(), await adapter.workspace()
    runs = [judged(workspace) for _ in range(3)]
    await adapter.runs.record(runs)
    said = [
        Feedback(run.run_id, "cleo", run.created_at + timedelta(seconds=after), Rating.GOOD)
        for after, run in enumerate(runs)
    ]
    for one in said:
        await adapter.gate_log.add_feedback(workspace, one)
    ids = [run.run_id for run in runs]

    assert await adapter.gate_log.feedback_on(workspace, ids[:2]) == said[1::-1]
    assert await adapter.gate_log.feedback_on(workspace, [*ids, uuid4()]) == said[::-1]
    assert await adapter.gate_log.feedback_on(workspace, []) == []
    assert await adapter.gate_log.feedback_on(other, ids) == []


async def test_a_run_that_was_stored_before_brings_no_second_decision(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    first, again = judged(workspace, key="k"), judged(workspace, key="k")

    await adapter.runs.record([first], durable=True)
    await adapter.runs.record([again], durable=True)

    found = await adapter.gate_log.decisions(workspace, first.created_at, None, 9)
    assert [one.run_id for one in found] == [first.run_id]


async def test_an_answer_from_the_cache_was_not_judged_again(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    run = judged(workspace)

    await adapter.runs.record([run, replace(run, run_id=uuid4(), cache=CacheOutcome.HIT)])

    assert len(await adapter.gate_log.decisions(workspace, run.created_at, None, 9)) == 1


async def test_of_one_plan_only_its_decisions_come_however_many_newer_ones_there_are(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    inside = judged(workspace)
    gate = decide(PLAIN, UNANSWERED, OPEN)
    outside = replace(inside, run_id=uuid4(), answer=replace(inside.answer, gate=gate, outside=LOOKED))
    later = replace(judged(workspace), created_at=inside.created_at + timedelta(seconds=1))
    await adapter.runs.record([inside, outside, later])

    (found,) = await adapter.gate_log.decisions_of_plan(workspace, inside.created_at, "full_loop", 1)

    assert found == decision_to_store(outside)
    assert (found.plan_type, found.external_calls, found.gained) == ("full_loop", 5, False)


async def test_decisions_of_other_deploys_are_told_apart(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    run = judged(workspace)
    await adapter.runs.record([run])
    (found,) = await adapter.gate_log.decisions(workspace, run.created_at, None, 9)

    others = [
        await adapter.gate_log.decisions_of_plan(workspace, run.created_at, found.plan_type, 9, but_deploy=deploy)
        for deploy in (found.deploy, "another")
    ]

    assert others == [[], [found]]


async def test_a_rollback_is_kept_once_while_it_holds(adapter: Backend) -> None:
    workspace, other = await adapter.workspace(), await adapter.workspace()
    began = datetime(2026, 11, 27, 12, tzinfo=UTC)
    first = Rollback("search", DowngradeCause.LATENCY, "95 % took up to 9.0 s", began, "1")
    meanwhile = replace(first, began_at=began + timedelta(minutes=1))
    kept = [
        replace(first, began_at=began + REST),
        replace(first, began_at=began + timedelta(minutes=2), deploy="2"),
        replace(first, began_at=began + timedelta(minutes=1), plan="full_loop", cause=DowngradeCause.FRESHNESS),
        first,
    ]

    for one in (first, meanwhile, *kept[2::-1]):
        await adapter.gate_log.add_rollback(workspace, one)

    assert await adapter.gate_log.rollbacks(workspace, began) == kept
    assert await adapter.gate_log.rollbacks(workspace, began + REST) == kept[:1]
    assert await adapter.gate_log.rollbacks(other, began) == []


async def test_what_callers_do_is_kept_once_of_each_kind_beside_what_they_say(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    run = judged(workspace)
    await adapter.runs.record([run])
    said = Feedback(run.run_id, "ada", run.created_at, Rating.GOOD)
    opened = replace(said, kind=FeedbackKind.OPENED, given_at=run.created_at + timedelta(seconds=1))
    repeated = Feedback(
        run.run_id, "ada", run.created_at + timedelta(seconds=2), Rating.BAD, kind=FeedbackKind.REPEATED
    )

    stored = [await adapter.gate_log.add_feedback(workspace, one) for one in (said, opened, repeated)]
    again = await adapter.gate_log.add_feedback(workspace, replace(opened, given_at=repeated.given_at))
    nowhere = await adapter.gate_log.add_feedback(workspace, replace(opened, run_id=uuid4()))

    assert (stored, again, nowhere) == ([True, True, True], False, False)
    assert await adapter.gate_log.feedback_on(workspace, [run.run_id]) == [repeated, opened, said]
    assert await adapter.gate_log.feedback_of(workspace, run.run_id, "ada") == [said]

"""What callers say of runs, and what it says of the passages that the runs surfaced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.api.builders import REF, a_run, numbered
from tests.memory_store.telemetry import RecordingTelemetry
from tests.set_clock import SetClock
from tests.unit.answering.test_gate import ANSWERED, OPEN
from tests.unit.answering.test_gate_decisions import PLAIN

from agentic_rag.answering.feedback.feedback import (
    MAX_CHUNKS,
    Feedback,
    FeedbackKind,
    FeedbackReason,
    Rating,
    precision_at_k,
    surfaced_chunks,
)
from agentic_rag.answering.feedback.give_feedback import GiveFeedback
from agentic_rag.answering.feedback.notice import REPEAT_SECONDS, NoticeFeedback
from agentic_rag.answering.gate.decide import decide
from agentic_rag.answering.gate.report import report_decisions
from agentic_rag.answering.gate.stored_decision import decision_to_store
from agentic_rag.answering.run import Run
from agentic_rag.kernel.errors import DependencyUnavailable, InvalidInput, NotFound
from agentic_rag.tenancy.principals import Principal, Role, WorkspaceRef

ADA = Principal(REF.org_id, "ada", Role.MEMBER)
AT = SetClock().now()
IDS = st.lists(st.uuids(), unique=True, max_size=6)


@given(IDS, IDS)
def test_precision_is_a_share_of_what_was_surfaced(surfaced: list[UUID], useful: list[UUID]) -> None:
    found = precision_at_k(surfaced, useful)

    assert (found is None) == (not surfaced or not useful)
    if found is not None:
        assert found * len(surfaced) == pytest.approx(len(set(surfaced) & set(useful)))


def test_what_was_handed_on_is_surfaced_and_what_is_cited_beside_it() -> None:
    run = a_run(citations=2)
    kept, dropped = run.answer.debug.candidates[0], replace(run.answer.debug.candidates[0], chunk_id=numbered(7))
    debug = replace(run.answer.debug, candidates=(kept, replace(dropped, dropped_because="below the threshold")))
    cited = [one.chunk_id for one in run.answer.citations]

    found = surfaced_chunks(replace(run, answer=replace(run.answer, debug=debug)))

    assert found[0] == kept.chunk_id
    assert set(found) == {kept.chunk_id, *cited}
    assert len(found) == len(set(found))


@dataclass
class Log:
    """Stores feedback at the third try, as behind an answer that was given a moment ago."""

    tries: int = 0
    kept: list[Feedback] = field(default_factory=list[Feedback])

    async def add_feedback(self, workspace: WorkspaceRef, feedback: Feedback) -> bool:
        self.tries += 1
        if self.tries < 3:
            return False
        self.kept.append(feedback)
        return True


@dataclass
class Runs:
    run: Run | None

    async def get(self, principal: Principal, workspace: WorkspaceRef, run_id: UUID) -> Run | None:
        return self.run


def use_case(log: Log, run: Run | None) -> GiveFeedback:
    return GiveFeedback(cast("Any", log), cast("Any", Runs(run)), SetClock(), RecordingTelemetry())


async def test_feedback_waits_for_its_run_to_be_stored_and_says_what_was_of_use() -> None:
    log, run = Log(), a_run()
    first, *_ = surfaced = surfaced_chunks(run)

    said = await use_case(log, run).give(ADA, REF, run.run_id, Rating.GOOD, chunk_ids=[first, first])

    assert log.kept == [said]
    assert (said.subject, said.given_at, said.chunk_ids) == (ADA.subject_id, AT, (first,))
    assert said.precision == 1 / len(surfaced)


@pytest.mark.parametrize(
    ("rating", "reason", "chunks", "code"),
    [
        (Rating.GOOD, FeedbackReason.WRONG, [], "FEEDBACK_INVALID"),
        (Rating.BAD, None, [numbered(999)], "FEEDBACK_INVALID"),
        (Rating.BAD, None, [numbered(1)] * (MAX_CHUNKS + 1), "OPTION_OUT_OF_RANGE"),
    ],
)
async def test_what_cannot_be_said_of_a_run_is_refused(
    rating: Rating, reason: FeedbackReason | None, chunks: Sequence[UUID], code: str
) -> None:
    log = Log()

    with pytest.raises(InvalidInput) as refused:
        await use_case(log, a_run()).give(ADA, REF, numbered(500), rating, reason=reason, chunk_ids=chunks)

    assert (refused.value.code, log.tries) == (code, 0)


async def test_of_a_run_that_the_caller_may_not_see_nothing_can_be_said() -> None:
    log = Log()

    with pytest.raises(NotFound) as refused:
        await use_case(log, None).give(ADA, REF, numbered(500), Rating.GOOD)

    assert (refused.value.code, log.tries) == ("RUN_NOT_FOUND", 0)


def test_a_report_tells_by_plan_how_many_were_helped_and_what_was_of_use() -> None:
    run = a_run()
    judged = decision_to_store(replace(run, answer=replace(run.answer, gate=decide(PLAIN, ANSWERED, OPEN))))
    assert judged is not None
    decisions = [replace(judged, run_id=numbered(one), tokens=100 * one) for one in (1, 2, 3)]
    said = [
        Feedback(numbered(1), "ada", AT, Rating.GOOD, precision=0.5),
        Feedback(numbered(1), "bob", AT, Rating.BAD),
        Feedback(numbered(2), "ada", AT, Rating.GOOD, precision=0.25),
        Feedback(numbered(9), "ada", AT, Rating.BAD, precision=0.0),
        # What callers only do is no rating.
        Feedback(numbered(3), "ada", AT, Rating.BAD, kind=FeedbackKind.REPEATED),
    ]

    total = report_decisions(decisions, said, is_complete=True).total
    silent = report_decisions(decisions, is_complete=True).total

    assert total is not None
    assert silent is not None
    assert (total.tokens, total.ratings, total.satisfaction, total.precision) == (600, 3, 0.666667, 0.375)
    assert (silent.ratings, silent.satisfaction, silent.precision) == (0, None, None)


class NoticeLog:
    """Keeps what it is given, as a `GateLog`; `fails` raises instead."""

    def __init__(self) -> None:
        self.kept: list[Feedback] = []
        self.fails = False

    async def add_feedback(self, workspace: WorkspaceRef, feedback: Feedback) -> bool:
        if self.fails:
            raise DependencyUnavailable("away", dependency="postgres")
        self.kept.append(feedback)
        return True


def noticing(log: NoticeLog) -> tuple[NoticeFeedback, SetClock]:
    clock = SetClock()
    return NoticeFeedback(cast("Any", log), clock, RecordingTelemetry()), clock


def asked(number: int, question: str = "Who signs?", subject: str = "user:ada") -> Run:
    return replace(a_run(), run_id=UUID(int=number), question=question, subject=subject)


async def test_the_same_question_soon_after_speaks_against_the_run_before() -> None:
    log = NoticeLog()
    noticed, clock = noticing(log)

    noticed.asked(asked(1), None)
    clock.seconds += REPEAT_SECONDS
    noticed.asked(asked(2, "who  SIGNS?"), None)
    clock.seconds += REPEAT_SECONDS + 1
    noticed.asked(asked(3), None)
    noticed.asked(asked(4, "Who pays?"), None)
    noticed.asked(asked(5, subject="user:bob"), None)
    await noticed.aclose()

    assert [(one.run_id.int, one.rating, one.kind) for one in log.kept] == [(1, Rating.BAD, FeedbackKind.REPEATED)]


async def test_a_request_that_is_sent_again_is_the_same_run_and_speaks_against_none() -> None:
    log = NoticeLog()
    noticed, clock = noticing(log)

    noticed.asked(asked(1), None)
    clock.seconds += 1
    noticed.asked(asked(1), None)
    await noticed.aclose()

    assert log.kept == []


async def test_who_asks_on_or_opens_a_citation_speaks_for_the_run() -> None:
    log = NoticeLog()
    noticed, _ = noticing(log)

    noticed.asked(asked(2), UUID(int=1))
    noticed.opened(asked(3), "user:ada")
    noticed.opened(asked(4), "user:bob")
    await noticed.aclose()

    assert [(one.run_id.int, one.rating, one.kind) for one in log.kept] == [
        (1, Rating.GOOD, FeedbackKind.FOLLOWED),
        (3, Rating.GOOD, FeedbackKind.OPENED),
    ]


async def test_the_key_of_a_program_tells_nothing_by_what_it_does() -> None:
    log = NoticeLog()
    noticed, _ = noticing(log)

    for number in (1, 2):
        noticed.asked(asked(number, subject="key:bot"), UUID(int=9))
    noticed.opened(asked(3, subject="key:bot"), "key:bot")
    await noticed.aclose()

    assert log.kept == []


@pytest.mark.tells("rag_feedback_not_noticed")
async def test_what_cannot_be_written_fails_no_request() -> None:
    log = NoticeLog()
    log.fails = True
    noticed, _ = noticing(log)

    noticed.asked(asked(2), UUID(int=1))
    await noticed.aclose()

    assert log.kept == []

"""How plans are judged by the outcomes of their runs: windows, what puts a plan to rest, when it is tried again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from uuid import UUID

import pytest
from tests.gate.outcomes import OutcomeLog
from tests.unit.answering.answering_world import Telemetry
from tests.unit.answering.corpus import WORKSPACE

from agentic_rag.answering.feedback.feedback import WEIGHTS, Feedback, FeedbackKind, Rating
from agentic_rag.answering.gate.decide import GateRules, lower
from agentic_rag.answering.gate.evaluate import PlanEvaluation, Standing, begun_rollbacks, evaluate_plans
from agentic_rag.answering.gate.policy import WebPolicy
from agentic_rag.answering.gate.rollback import REST, Rollback
from agentic_rag.answering.gate.stored_decision import StoredDecision
from agentic_rag.answering.gate.watch_outcomes import FRESH_SECONDS, WatchOutcomes
from agentic_rag.answering.gate.windows import LEAST_SATISFACTION, MOST_RUNS, RATED, RUNS, rolling_windows
from agentic_rag.answering.gate_decision import DowngradeCause

NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)
STANDING = Standing(NOW, "2", slow_seconds=8.0)
OPEN = GateRules(WebPolicy(organisation=True, workspace=True), can_search=True, can_crawl=True)


def ran(number: int, plan: str = "search", **different: Any) -> StoredDecision:
    """The run of that number, a minute behind the one before."""
    plain = StoredDecision(
        UUID(int=number), NOW - REST + timedelta(minutes=number), "w", "on", 0.5, 1.0, plan, plan, "lookup", (), (),
        seconds=1.0, cost_usd=0.01, tokens=0, deploy="2", external_calls=2, gained=True,
    )  # fmt: skip
    return replace(plain, **different)


def newest_first(*parts: Sequence[StoredDecision]) -> list[StoredDecision]:
    return [one for part in parts for one in part][::-1]


def said(numbers: range, rating: Rating, kind: FeedbackKind = FeedbackKind.SAID) -> list[Feedback]:
    return [Feedback(UUID(int=number), "ada", NOW, rating, kind=kind) for number in numbers]


def evaluated(
    runs: Sequence[StoredDecision], feedback: Sequence[Feedback] = (), standing: Standing = STANDING
) -> tuple[PlanEvaluation, tuple[Rollback, ...]]:
    """The one plan, and what is to rest."""
    (found,) = evaluate_plans(newest_first(runs), feedback, standing)
    return found, begun_rollbacks((found,), standing)


def test_a_window_ends_with_enough_runs_and_feedback_or_with_very_many_runs() -> None:
    runs = newest_first([ran(number) for number in range(250)])
    rated = {one.run_id: [one] for one in said(range(250 - int(RATED), 250), Rating.GOOD)}

    first, second = rolling_windows(runs, rated, 9)

    assert (first.runs, first.satisfaction) == (RUNS, 1.0)
    assert (second.runs, second.satisfaction, second.fault) == (MOST_RUNS, None, None)
    assert (first.external_calls, first.cost_usd, first.p95_seconds, first.freshness_gain) == (2.0, 0.01, 1.0, 1.0)
    assert (second.last, second.first) == (runs[RUNS].decided_at, runs[RUNS + MOST_RUNS - 1].decided_at)


def test_what_callers_only_do_counts_less_than_what_they_say() -> None:
    runs = newest_first([ran(number) for number in range(RUNS)])
    by_run = {
        UUID(int=number): [*said(range(number, number + 1), Rating.GOOD),
                           *said(range(number, number + 1), Rating.BAD, FeedbackKind.REPEATED)]
        for number in range(RUNS)
    }  # fmt: skip

    (window,) = rolling_windows(runs, by_run, 9)

    assert window.satisfaction == pytest.approx(1 / (1 + WEIGHTS[FeedbackKind.REPEATED]))
    assert max(WEIGHTS.values()) == WEIGHTS[FeedbackKind.SAID]


@pytest.mark.parametrize(
    ("bad", "rests"), [(range(0), False), (range(20, 40), False), (range(20), False), (range(40), True)]
)
def test_a_plan_rests_after_two_bad_windows_in_a_row(bad: range, rests: bool) -> None:
    runs = [ran(number) for number in range(40)]
    feedback = said(range(40), Rating.GOOD)
    feedback = [replace(one, rating=Rating.BAD) if one.run_id.int in bad else one for one in feedback]

    found, begun = evaluated(runs, feedback)

    assert len(found.windows) == 2
    assert [one.cause for one in begun] == [DowngradeCause.SATISFACTION] * rests


def test_satisfaction_at_the_line_is_not_bad() -> None:
    good = round(LEAST_SATISFACTION * RUNS)
    feedback = [
        *said(range(good), Rating.GOOD), *said(range(good, RUNS), Rating.BAD),
        *said(range(RUNS, RUNS + good), Rating.GOOD), *said(range(RUNS + good, 2 * RUNS), Rating.BAD),
    ]  # fmt: skip

    assert evaluated([ran(number) for number in range(2 * RUNS)], feedback)[1] == ()


def test_runs_that_cite_nothing_of_what_they_found_put_their_plan_to_rest() -> None:
    runs = [ran(number, gained=False) for number in range(2 * MOST_RUNS)]

    (begun,) = evaluated(runs)[1]

    assert (begun.plan, begun.cause) == ("search", DowngradeCause.FRESHNESS)
    assert begun.reason == "0 % of its runs cited what they found, less than 10 %"


def test_runs_that_read_documents_alone_are_judged_and_never_put_to_rest() -> None:
    runs = [ran(number, "retrieve", gained=None, external_calls=0) for number in range(40)]

    found, begun = evaluated(runs, said(range(40), Rating.BAD))

    assert [one.fault for one in found.windows] == [DowngradeCause.SATISFACTION] * 2
    assert [one.freshness_gain for one in found.windows] == [None, None]
    assert begun == ()


@pytest.mark.parametrize(
    ("seconds", "cause"),
    [((9.0, 9.0), [DowngradeCause.LATENCY]), ((9.0, 1.0), []), ((1.0, 9.0), []), ((8.0, 8.0), [])],
)
def test_a_plan_rests_after_two_slow_deploys_in_a_row(
    seconds: tuple[float, float], cause: list[DowngradeCause]
) -> None:
    before, since = seconds
    runs = [ran(number, seconds=before, deploy="1") for number in range(RUNS)]
    runs += [ran(number, seconds=since) for number in range(RUNS, 2 * RUNS)]

    found, begun = evaluated(runs)

    assert [one.deploy for one in found.deploys] == ["2", "1"]
    assert [one.cause for one in begun] == cause


def test_a_deploy_of_few_runs_is_not_judged() -> None:
    runs = [ran(number, seconds=9.0, deploy="1") for number in range(RUNS)]
    runs += [ran(number, seconds=9.0) for number in range(RUNS, 2 * RUNS - 1)]

    assert evaluated(runs)[1] == ()


def rested(began_at: datetime = NOW - REST, deploy: str = "2") -> Rollback:
    return Rollback("search", DowngradeCause.SATISFACTION, "50 % of the callers were content", began_at, deploy)


def test_at_rest_a_plan_is_not_judged_again() -> None:
    runs, feedback = [ran(number) for number in range(60)], said(range(60), Rating.BAD)
    standing = replace(STANDING, rollbacks=[rested(NOW - timedelta(hours=1))])

    found, begun = evaluated(runs, feedback, standing)

    assert (found.rollback, found.windows, begun) == (standing.rollbacks[0], (), ())


def test_on_trial_one_bad_window_is_enough_and_a_run_of_before_does_not_count() -> None:
    before = [ran(number) for number in range(40)]
    trial = [ran(2000 + number) for number in range(RUNS)]
    later = replace(STANDING, now=NOW + REST, rollbacks=[rested(NOW - REST + timedelta(minutes=30))])
    feedback = [*said(range(40), Rating.GOOD), *said(range(2000, 2000 + RUNS), Rating.BAD)]

    few, none_yet = evaluated([*before, *trial[:-1]], feedback, later)
    found, begun = evaluated([*before, *trial], feedback, later)

    assert (few.is_on_trial, none_yet) == (True, ())
    assert (found.is_on_trial, len(found.windows)) == (False, 1)
    assert [one.began_at for one in begun] == [later.now]


def test_another_deploy_is_tried_at_once() -> None:
    rollback = rested(NOW - timedelta(hours=1), "1")

    assert rollback.holds(NOW, "1")
    assert not rollback.holds(NOW, "2")
    assert not rollback.holds(rollback.until, "1")
    assert rollback.is_followed_by(NOW, "2")
    assert not rollback.is_followed_by(NOW, "1")
    assert not rollback.is_followed_by(rollback.began_at - timedelta(seconds=1), "2")


@pytest.mark.parametrize(
    ("wanted", "crawls", "lowered"),
    [("search", True, True), ("full_loop", True, False), ("full_loop", False, True)],
)
def test_a_plan_at_rest_lowers_what_would_come_to_it(wanted: str, crawls: bool, lowered: bool) -> None:
    found = lower(wanted, replace(OPEN, can_crawl=crawls, rollbacks=(rested(),)))

    causes = {one.cause: one.after for one in found}
    assert (causes.get(DowngradeCause.SATISFACTION) == "retrieve") is lowered


def watching(log: OutcomeLog, deploy: str = "2") -> WatchOutcomes:
    return WatchOutcomes(cast("Any", log), log, Telemetry(), deploy=deploy, budget_seconds=10.0)


async def test_a_plan_that_is_seldom_taken_rests_however_many_runs_took_another_one() -> None:
    log = OutcomeLog(at=NOW + timedelta(days=3))
    rare = [ran(number, "full_loop") for number in range(0, 40 * 30, 30)]
    often = [ran(number) for number in range(40 * 30) if number % 30]
    log.kept = sorted([*rare, *often], key=lambda one: one.decided_at, reverse=True)
    log.said = [Feedback(one.run_id, "ada", NOW, Rating.BAD) for one in rare]
    log.said += [Feedback(one.run_id, "ada", NOW, Rating.GOOD) for one in often[::-1]]

    found = await watching(log).rollbacks(WORKSPACE)

    assert [(one.plan, one.cause) for one in found] == [("full_loop", DowngradeCause.SATISFACTION)]


@pytest.mark.parametrize(("bad", "rests"), [(2 * MOST_RUNS, True), (2 * MOST_RUNS - MOST_RUNS // 2, False)])
async def test_a_plan_that_nobody_rates_rests_by_its_newest_two_full_windows(bad: int, rests: bool) -> None:
    log = OutcomeLog(at=NOW + timedelta(days=3))
    log.kept = newest_first([ran(number, gained=number < 3 * MOST_RUNS - bad) for number in range(3 * MOST_RUNS)])

    found = await watching(log).rollbacks(WORKSPACE)

    assert [one.cause for one in found] == [DowngradeCause.FRESHNESS] * rests


@pytest.mark.parametrize(("before", "rests"), [(9.0, True), (1.0, False)])
async def test_a_deploy_is_judged_beside_the_one_before_however_many_runs_it_made(before: float, rests: bool) -> None:
    log = OutcomeLog(at=NOW + timedelta(days=3))
    earlier = [ran(number, seconds=before, deploy="1") for number in range(RUNS)]
    log.kept = newest_first(earlier, [ran(number, seconds=9.0) for number in range(RUNS, 3000)])

    watched = watching(log)
    evaluations, rollbacks = await watched.evaluate(WORKSPACE), await watched.rollbacks(WORKSPACE)

    assert [one.cause for one in rollbacks] == [DowngradeCause.LATENCY] * rests
    assert [one.deploy for evaluation in evaluations for one in evaluation.deploys] == ["2", "1"]


@pytest.mark.tells("rag_gate_rolled_back")
@pytest.mark.tells("rag_gate_tried_again")
async def test_a_rollback_is_stored_told_once_and_known_to_the_next_process() -> None:
    log, telemetry = OutcomeLog(at=NOW), Telemetry()
    log.kept = newest_first([ran(number) for number in range(40)])
    log.said = said(range(40), Rating.BAD)

    def process(deploy: str) -> WatchOutcomes:
        return WatchOutcomes(cast("Any", log), log, telemetry, deploy=deploy, budget_seconds=10.0)

    first = process("2")
    (begun,) = await first.rollbacks(WORKSPACE)
    log.at += timedelta(seconds=2 * FRESH_SECONDS)
    again = await first.rollbacks(WORKSPACE)
    other = await process("2").rollbacks(WORKSPACE)
    next_deploy = await process("3").rollbacks(WORKSPACE)
    log.at = begun.until
    after = await first.rollbacks(WORKSPACE)

    assert (again, other, next_deploy, after) == ((begun,), (begun,), (), ())
    assert log.rested == [begun]
    events = [fields for name, fields in telemetry.told if name == "rag_gate_rolled_back"]
    assert [(one["cause"], one["deploy"]) for one in events] == [("satisfaction", "2")]
    assert "rag_gate_tried_again" in telemetry.events


@pytest.mark.tells("rag_gate_tried_again")
async def test_a_deploy_that_tries_a_plan_again_says_so_though_its_process_saw_no_rest() -> None:
    log, telemetry = OutcomeLog(at=NOW + timedelta(hours=1)), Telemetry()
    log.rested = [rested(NOW, "2"), rested(NOW - timedelta(days=3), "1")]

    def process(deploy: str) -> WatchOutcomes:
        return WatchOutcomes(cast("Any", log), log, telemetry, deploy=deploy, budget_seconds=10.0)

    async def tried(watched: WatchOutcomes) -> list[object]:
        before = len(telemetry.told)
        await watched.rollbacks(WORKSPACE)
        told = telemetry.told[before:]
        return [(one["plan_type"], one["deploy"]) for name, one in told if name == "rag_gate_tried_again"]

    third = process("3")

    assert await tried(process("2")) == []
    assert await tried(third) == [("search", "3")]
    log.at += timedelta(seconds=2 * FRESH_SECONDS)
    assert await tried(third) == []
    log.kept = newest_first([ran(3000 + number, deploy="3") for number in range(RUNS)])
    log.said = said(range(3000, 3000 + RUNS), Rating.GOOD)
    log.at += timedelta(days=4)
    assert await tried(process("3")) == []

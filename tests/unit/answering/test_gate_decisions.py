"""Decisions of the gate after the fact: what would change one, what many add up to, what other weights make of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.builders import citation, run_of
from tests.memory_store.telemetry import RecordingTelemetry
from tests.unit.answering.test_gate import ANSWERED, OPEN, UNANSWERED, probes, questions, rules

from agentic_rag.answering.gate.counterfactual import FIXED, find_counterfactuals
from agentic_rag.answering.gate.decide import GateRules, decide, plan_for, sum_up, weigh
from agentic_rag.answering.gate.intent import AskedIntent, Intent
from agentic_rag.answering.gate.replay import replay_decisions
from agentic_rag.answering.gate.report import nearest_rank, report_decisions
from agentic_rag.answering.gate.signals import NOTHING_FOUND, ProbeSigns, QuestionSigns
from agentic_rag.answering.gate.stored_decision import StoredDecision, decision_to_store
from agentic_rag.answering.gate.tell_decision import tell_decision
from agentic_rag.answering.gate.weights import HEURISTIC_WEIGHTS, IN_FORCE, WeightsTrial, weights_for
from agentic_rag.answering.gate_decision import DowngradeCause, GateDecision
from agentic_rag.answering.outside import OutsideReport
from agentic_rag.answering.run import CacheOutcome, Run
from agentic_rag.models.chat.request import ChatSpend
from agentic_rag.tenancy.principals import WorkspaceRef

WORKSPACE = WorkspaceRef(UUID(int=1), UUID(int=2))
NOW = datetime(2026, 11, 23, tzinfo=UTC)
PLAIN = QuestionSigns(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, AskedIntent(Intent.LOOKUP, 0.5))
STALE = replace(ANSWERED, freshness=0.0)
HEAVIER = replace(
    HEURISTIC_WEIGHTS,
    version="gate-test",
    weights=MappingProxyType({**HEURISTIC_WEIGHTS.weights, "freshness": -2.0}),
)


def _run(decision: GateDecision, *, cache: CacheOutcome = CacheOutcome.MISS, seconds: float = 0.1) -> Run:
    run = run_of(WORKSPACE)
    return replace(run, cache=cache, seconds=seconds, answer=replace(run.answer, gate=decision))


def _stored(decision: GateDecision, seconds: float = 0.1, cost: float | None = 0.0) -> StoredDecision:
    found = decision_to_store(_run(decision, seconds=seconds))
    assert found is not None
    return replace(found, cost_usd=cost)


@given(questions, probes, rules)
def test_the_value_that_is_told_crosses_the_threshold_and_no_smaller_change_does(
    question: QuestionSigns, probe: ProbeSigns, bounds: GateRules
) -> None:
    decision = decide(question, probe, replace(bounds, mode="on"))
    signals = {one.name: one.value for one in decision.contributions}

    def crosses(name: str, value: float, threshold: float) -> bool:
        score = sum_up(weigh({**signals, name: value}, IN_FORCE))
        return (score >= threshold) is not (decision.score >= threshold)

    found = find_counterfactuals(decision)

    assert [one.plan for one in found] == ["search", "full_loop"]
    for one in found:
        for change in one.changes:
            assert 0 <= change.needed <= 1
            assert crosses(change.name, change.needed, one.threshold), change
            # The next value in 6 digits whose contribution, in 6 digits, is another.
            step = max(1e-6, 2e-6 / abs(IN_FORCE.weights[change.name]))
            back = -step if change.is_least else step
            assert not crosses(change.name, change.needed + back, one.threshold), change


@given(questions, probes, rules)
def test_a_signal_that_is_not_told_crosses_no_threshold_alone(
    question: QuestionSigns, probe: ProbeSigns, bounds: GateRules
) -> None:
    decision = decide(question, probe, replace(bounds, mode="on"))
    signals = {one.name: one.value for one in decision.contributions}
    for one in find_counterfactuals(decision):
        told = {change.name for change in one.changes} | FIXED
        for name in signals.keys() - told:
            for value in (0.0, 1.0):
                score = sum_up(weigh({**signals, name: value}, IN_FORCE))
                assert (score >= one.threshold) is (decision.score >= one.threshold), name


def test_a_decision_says_by_how_much_it_was_missed_and_what_would_change_it() -> None:
    search, full_loop = find_counterfactuals(decide(PLAIN, ANSWERED, OPEN, weights=HEURISTIC_WEIGHTS))

    assert search.explanation == (
        "search from 0.2: short by 0.31; would if sufficiency were ≤ 0.54 or freshness were ≤ 0.48 or "
        "wants_web were ≥ 0.52"
    )
    assert full_loop.explanation == "full_loop from 0.55: short by 0.66; would if sufficiency were ≤ 0.19"


def test_where_no_signal_alone_is_enough_that_is_told() -> None:
    _, full_loop = find_counterfactuals(
        decide(PLAIN, replace(ANSWERED, sufficiency=1.0), replace(OPEN, care=0.0), weights=HEURISTIC_WEIGHTS)
    )

    assert full_loop.explanation == "full_loop from 0.8: short by 1.06; no signal alone changes it"


def test_a_threshold_that_was_reached_tells_what_would_keep_below_it() -> None:
    search, _ = find_counterfactuals(decide(PLAIN, UNANSWERED, OPEN, weights=HEURISTIC_WEIGHTS))

    assert search.distance > 0
    assert search.explanation.startswith("search from 0.2: reached, by ")
    assert "would not if sufficiency were ≥ " in search.explanation


@pytest.mark.parametrize("mode", ["off", "on"])
def test_a_decision_without_a_probe_has_nothing_to_change(mode: str) -> None:
    assert find_counterfactuals(decide(PLAIN, None, replace(OPEN, mode=mode))) == ()


def test_a_plan_that_was_lowered_is_remembered_as_it_was_asked_for() -> None:
    watched = decide(PLAIN, UNANSWERED, replace(OPEN, mode="shadow"))
    followed = decide(PLAIN, UNANSWERED, OPEN)
    empty, past = (decide(replace(PLAIN, corpus_empty=1.0), probe, OPEN) for probe in (None, NOTHING_FOUND))

    assert (watched.plan_type, watched.planned) == ("retrieve", "full_loop")
    assert watched.was_lowered_by(DowngradeCause.MODE)
    assert (followed.plan_type, followed.planned) == ("full_loop", "full_loop")
    assert (empty.plan_type, empty.planned) == ("skip", "retrieve")
    assert (past.plan_type, past.planned) == ("full_loop", "full_loop")
    assert watched.intent == "lookup"


@pytest.mark.parametrize(
    ("cache", "is_stored"),
    [(CacheOutcome.MISS, True), (CacheOutcome.BYPASS, True), (CacheOutcome.HIT, False), (CacheOutcome.JOINED, False)],
)
def test_a_decision_is_stored_with_the_run_that_took_it(cache: CacheOutcome, is_stored: bool) -> None:
    found = decision_to_store(_run(decide(PLAIN, ANSWERED, OPEN), cache=cache))

    assert (found is not None) is is_stored


def test_without_a_judgement_nothing_is_stored() -> None:
    assert decision_to_store(_run(decide(PLAIN, None, OPEN))) is None
    assert decision_to_store(_run(decide(PLAIN, ANSWERED, replace(OPEN, mode="off")))) is None


def test_what_a_chat_model_cost_is_stored_and_an_unknown_price_stays_unknown() -> None:
    run = _run(decide(PLAIN, ANSWERED, OPEN))

    def spent(chat: ChatSpend | None) -> tuple[float | None, int | None]:
        debug = replace(run.answer.debug, chat=chat)
        found = decision_to_store(replace(run, answer=replace(run.answer, debug=debug)))
        assert found is not None
        return found.cost_usd, found.tokens

    assert spent(None) == (0.0, 0)
    assert spent(ChatSpend(1, 10, 5, 0.25)) == (0.25, 15)
    assert spent(ChatSpend(1, 10, 5, None)) == (None, 15)


def test_a_report_counts_plans_as_they_were_asked_for() -> None:
    shadow = replace(OPEN, mode="shadow")
    answered = [_stored(decide(PLAIN, ANSWERED, shadow), seconds=0.1 * n, cost=0.5) for n in range(1, 10)]
    missed = _stored(decide(PLAIN, UNANSWERED, shadow), seconds=2.0, cost=None)

    report = report_decisions([*answered, missed], is_complete=True)

    assert report.total is not None
    assert (report.runs, report.total.p95_seconds, report.total.cost_usd) == (10, 2.0, 4.5)
    assert [(one.name, one.runs, one.share) for one in report.by_plan] == [("retrieve", 9, 0.9), ("full_loop", 1, 0.1)]
    retrieve, full_loop = report.by_plan
    assert (retrieve.p50_seconds, retrieve.hit_rate, retrieve.unpriced_runs) == (0.5, 1.0, 0)
    assert (full_loop.unpriced_runs, full_loop.cost_usd) == (1, 0.0)
    assert [(one.name, one.runs) for one in report.by_intent] == [("lookup", 10)]
    assert [(one.cause, one.runs) for one in report.causes] == [("mode", 1)]


def test_a_report_parts_runs_that_were_only_watched_from_those_that_looked_outside() -> None:
    watched = [_stored(decide(PLAIN, UNANSWERED, replace(OPEN, mode="shadow")), seconds=0.1, cost=0.25)] * 3
    looked = _stored(decide(PLAIN, UNANSWERED, OPEN), seconds=2.0, cost=1.0)

    report = report_decisions([looked, *watched], is_complete=True)

    told = [(one.name, one.runs, one.share, one.p95_seconds, one.cost_usd) for one in report.by_mode]
    assert told == [("shadow", 3, 0.75, 0.1, 0.75), ("on", 1, 0.25, 2.0, 1.0)]


def test_a_report_of_nothing_is_empty() -> None:
    assert report_decisions([], is_complete=True).total is None


@given(st.lists(st.floats(0, 100), min_size=1), st.sampled_from([0.5, 0.95]))
def test_a_percentile_is_one_of_the_values(values: list[float], share: float) -> None:
    found = nearest_rank(values, share)

    assert found in values
    assert sum(one <= found for one in values) >= share * len(values) - 1e-9


@given(questions, probes, rules)
def test_a_replay_with_the_same_weights_differs_nowhere(
    question: QuestionSigns, probe: ProbeSigns, bounds: GateRules
) -> None:
    decision = decide(question, probe, replace(bounds, mode="on"))

    replayed = replay_decisions([_stored(decision)], IN_FORCE, is_complete=True)

    assert (replayed.runs, replayed.unreadable, replayed.differences) == (1, 0, ())


def test_a_replay_names_the_decisions_that_other_weights_take_otherwise() -> None:
    fresh, stale = (_stored(decide(PLAIN, probe, OPEN, weights=HEURISTIC_WEIGHTS)) for probe in (ANSWERED, STALE))

    replayed = replay_decisions([fresh, stale], HEAVIER, is_complete=True)

    (moved,) = replayed.differences
    assert (moved.run_id, moved.plan_before, moved.plan_after) == (fresh.run_id, fresh.planned, "retrieve")
    assert moved.score_after == pytest.approx(fresh.score - 1.4)
    assert replayed.weights_version == "gate-test"


def test_a_replay_keeps_the_knob_where_it_was() -> None:
    careful = _stored(decide(PLAIN, replace(ANSWERED, sufficiency=0.6), replace(OPEN, care=1.0)))

    replayed = replay_decisions([careful], IN_FORCE, is_complete=True)

    assert careful.planned == "search"
    assert plan_for(careful.score, IN_FORCE.thresholds(0.5)) == "retrieve"
    assert replayed.differences == ()


def test_decisions_with_other_signals_are_left_out_of_a_replay() -> None:
    stored = _stored(decide(PLAIN, ANSWERED, OPEN))
    earlier = replace(stored, contributions=stored.contributions[1:], decided_at=NOW - timedelta(days=1))

    replayed = replay_decisions([stored, earlier], IN_FORCE, is_complete=False)

    assert (replayed.runs, replayed.unreadable, replayed.is_complete) == (1, 1, False)


def test_a_trial_judges_a_share_of_the_workspaces_always_the_same() -> None:
    trial = WeightsTrial(HEURISTIC_WEIGHTS.version, 0.2)
    spaces = [UUID(int=number) for number in range(2_000)]

    drawn = [weights_for(one, trial) for one in spaces]

    assert drawn == [weights_for(one, trial) for one in spaces]
    assert {one.version for one in drawn} == {HEURISTIC_WEIGHTS.version, IN_FORCE.version}
    assert 0.16 < sum(one is HEURISTIC_WEIGHTS for one in drawn) / len(drawn) < 0.24
    assert all(weights_for(one, None) is IN_FORCE for one in spaces[:9])
    assert all(weights_for(one, replace(trial, share=1.0)) is HEURISTIC_WEIGHTS for one in spaces[:9])
    assert all(weights_for(one, replace(trial, share=0.0)) is IN_FORCE for one in spaces[:9])


def test_a_report_tells_the_versions_of_the_weights_apart() -> None:
    stored = [_stored(decide(PLAIN, ANSWERED, OPEN, weights=one)) for one in (IN_FORCE, HEURISTIC_WEIGHTS, IN_FORCE)]

    found = report_decisions(stored, is_complete=True)

    assert [(one.name, one.runs) for one in found.by_version] == [(IN_FORCE.version, 2), (HEURISTIC_WEIGHTS.version, 1)]


@pytest.mark.parametrize(("after", "gained"), [(0.0, True), (-0.001, False), (None, False)])
def test_a_run_gained_what_it_cites_of_texts_that_were_read_since_it_began(after: float | None, gained: bool) -> None:
    run = run_of(WORKSPACE)
    began = run.created_at - timedelta(seconds=run.seconds)
    read_at = None if after is None else began + timedelta(seconds=after)
    long_held = replace(citation(UUID(int=1), "The pump is red."), read_at=began - timedelta(days=9))
    cited = (long_held, replace(long_held, read_at=read_at))
    judged = replace(run.answer, gate=decide(PLAIN, UNANSWERED, OPEN), citations=cited)

    looked = decision_to_store(replace(run, answer=replace(judged, outside=OutsideReport(searches=1, pages=2))))
    inside = decision_to_store(replace(run, answer=judged))

    assert looked is not None
    assert inside is not None
    assert (looked.gained, looked.external_calls) == (gained, 3)
    assert (inside.gained, inside.external_calls) == (None, 0)


def test_decisions_are_counted_by_plan_and_by_the_version_of_the_weights() -> None:
    telemetry = RecordingTelemetry()

    for weights in (IN_FORCE, HEURISTIC_WEIGHTS, IN_FORCE):
        tell_decision(telemetry, decide(PLAIN, UNANSWERED, OPEN, weights=weights))

    counted = {dict(labels)["model_version"]: count for (_, labels), count in telemetry.counters.items()}
    assert counted == {IN_FORCE.version: 2, HEURISTIC_WEIGHTS.version: 1}
    assert {dict(labels)["plan_type"] for _, labels in telemetry.counters} == {"full_loop"}

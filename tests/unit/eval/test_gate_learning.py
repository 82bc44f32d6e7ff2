"""What the gate learns from labelled cases, and when it may be used."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from uuid import UUID

import pytest

from agentic_rag.answering.gate.weights import (
    HEURISTIC_WEIGHTS,
    IN_FORCE,
    LEARNED_WEIGHTS,
    GateWeights,
    WeightsTrial,
    weights_for,
    with_own_weights,
)
from agentic_rag.kernel.errors import InvalidInput, Misconfigured
from agentic_rag_eval.gate_cases import CaseKind, GateCase, GateScore, judge_gate, searches_by
from agentic_rag_eval.gate_learning import (
    LEARNED,
    HeldOut,
    ReliabilityBin,
    compare_weights,
    family_of,
    fit_weights,
    judge_promotion,
    learn_gate,
)
from agentic_rag_eval.gate_model import write_model

SILENT = dict.fromkeys(HEURISTIC_WEIGHTS.weights, 0.0) | {"base": 1.0, "freshness": 1.0}


def cases(names: Sequence[str] = ("a", "b", "c"), count: int = 40) -> list[GateCase]:
    """Sets in which `coverage` alone tells what is missing; `margin` misleads."""
    random = Random(7)
    made: list[GateCase] = []
    for name in names:
        for place in range(count):
            kind = CaseKind.MISSING if place % 4 == 0 else CaseKind.INSIDE
            is_missing = kind is CaseKind.MISSING
            signals = {
                **SILENT,
                "coverage": random.gauss(0.3 if is_missing else 0.7, 0.08),
                "margin": random.gauss(0.6 if is_missing else 0.4, 0.1),
                "sufficiency": random.random(),
            }
            made.append(GateCase(name, f"{name}-{place}", kind, signals, not is_missing, answered_outside=True))
    return made


def held_out(f1: float, brier: float) -> HeldOut:
    return HeldOut(GateScore(100, 1.0, 0.3, f1, f1), brier, 0.0, (ReliabilityBin(1.0, 0.5, 0.5),))


def test_the_signal_that_tells_gets_the_weight_and_none_speaks_against_its_meaning() -> None:
    weights = fit_weights(cases(), HEURISTIC_WEIGHTS, "new")

    learned = {name: weights.weights[name] for name in LEARNED}
    assert min(learned, key=lambda name: learned[name]) == "coverage"
    assert learned["margin"] == 0
    assert all(one <= 0 for one in learned.values())
    in_force = (abs(HEURISTIC_WEIGHTS.weights[name]) for name in LEARNED)
    assert math.isclose(sum(map(abs, learned.values())), sum(in_force), rel_tol=1e-4)
    assert weights.version == "new"


def test_a_question_for_news_speaks_for_the_web_or_says_nothing() -> None:
    def news(given: list[GateCase], *, needs: bool) -> list[GateCase]:
        told = [replace(one, signals={**one.signals, "intent_fresh_news": 1.0}) for one in given]
        return [new if one.needs_search is needs else one for one, new in zip(given, told, strict=True)]

    outside, inside = (
        fit_weights(news(cases(), needs=needs), HEURISTIC_WEIGHTS, "new").weights["intent_fresh_news"]
        for needs in (True, False)
    )

    assert outside > 0
    assert inside == 0


def test_what_is_not_learned_stays_as_it_is_in_force() -> None:
    weights = fit_weights(cases(), HEURISTIC_WEIGHTS, "new")

    kept = weights.weights.keys() - {*LEARNED, "base"}
    assert all(weights.weights[name] == HEURISTIC_WEIGHTS.weights[name] for name in kept)
    assert weights.thresholds(0.5) == HEURISTIC_WEIGHTS.thresholds(0.5)


def test_the_threshold_is_the_highest_that_keeps_the_answered_questions() -> None:
    weights = fit_weights(cases(), HEURISTIC_WEIGHTS, "new")

    kept = judge_gate(cases(), searches_by(weights))
    higher = judge_gate(cases(), searches_by(replace(weights, search=weights.search + 0.05, full_loop=9.0)))

    assert kept.answered >= 0.99
    assert kept.calls < 0.5
    assert higher.answered < 0.99


@pytest.mark.slow
def test_every_set_is_judged_by_weights_that_never_saw_its_family() -> None:
    given = cases(("a", "b", "b-second"))
    other = [one if one.set_name == "a" else replace(one, signals={**one.signals, "coverage": 0.5}) for one in given]

    found, changed = learn_gate(given, HEURISTIC_WEIGHTS), learn_gate(other, HEURISTIC_WEIGHTS)

    assert found.split == "set"
    assert found.left_out.keys() == {"a", "b", "b-second"}
    assert found.left_out["b"] == found.left_out["b-second"]
    same = replace(changed.left_out["b"], version=found.weights.version)
    assert found.left_out["b"] == same
    assert found.left_out["a"].weights != changed.left_out["a"].weights


def test_weights_in_force_are_judged_by_what_they_were_without_the_set() -> None:
    knows_nothing = replace(HEURISTIC_WEIGHTS, weights={**HEURISTIC_WEIGHTS.weights, "base": -9.0})
    left_out: dict[str, GateWeights] = dict.fromkeys(("a", "b", "c"), knows_nothing)

    plain, fair = learn_gate(cases(), HEURISTIC_WEIGHTS), learn_gate(cases(), HEURISTIC_WEIGHTS, left_out)

    assert plain.in_force.score.calls > fair.in_force.score.calls == 0.0
    assert plain.learned == fair.learned


def test_cases_with_an_instant_are_learned_from_the_older_and_judged_on_the_newest() -> None:
    dated = [replace(one, at=f"2026-{1 + place % 12:02}-01") for place, one in enumerate(cases())]
    turned = [
        replace(one, signals={**one.signals, "coverage": 1 - one.signals["coverage"]})
        if (one.at or "") >= "2026-10"
        else one
        for one in dated
    ]

    found, changed = learn_gate(dated, HEURISTIC_WEIGHTS), learn_gate(turned, HEURISTIC_WEIGHTS)

    assert (found.split, dict(found.left_out)) == ("time", {})
    assert found.learned.score.cases == 30
    assert replace(found.weights, version="") == replace(changed.weights, version="")
    assert changed.learned.score.f1 < found.learned.score.f1


@pytest.mark.slow
def test_weights_are_named_by_their_data() -> None:
    found = learn_gate(cases(), HEURISTIC_WEIGHTS)

    assert found.weights.version == f"gate-learned-{found.data_hash[:8]}"
    assert learn_gate(list(reversed(cases())), HEURISTIC_WEIGHTS).data_hash == found.data_hash
    assert learn_gate(cases(count=44), HEURISTIC_WEIGHTS).data_hash != found.data_hash


@pytest.mark.parametrize(
    ("f1", "brier", "is_promoted"),
    [(0.53, 0.05, True), (0.529, 0.04, False), (0.7, 0.051, False), (0.4, 0.01, False)],
)
def test_weights_are_promoted_by_three_points_and_no_worse_calibration(
    f1: float, brier: float, is_promoted: bool
) -> None:
    verdict = judge_promotion(held_out(f1, brier), held_out(0.5, 0.05))

    assert verdict.is_promoted is is_promoted
    assert verdict.reason.startswith("promoted: " if is_promoted else "refused: ")
    assert verdict.reason.endswith(f"Brier score 0.050 → {brier:.3f}")


@pytest.mark.slow
def test_weights_from_elsewhere_are_held_against_those_in_force() -> None:
    better = replace(HEURISTIC_WEIGHTS, weights={**HEURISTIC_WEIGHTS.weights, "coverage": -2.0}, search=0.0)

    assert compare_weights(cases(), better, HEURISTIC_WEIGHTS).is_promoted
    assert not compare_weights(cases(), HEURISTIC_WEIGHTS, better).is_promoted
    assert not compare_weights(cases(), HEURISTIC_WEIGHTS, HEURISTIC_WEIGHTS).is_promoted


def test_weights_that_tell_nothing_are_refused_and_say_so_in_their_folder(tmp_path: Path) -> None:
    given = [replace(one, signals={**SILENT, "sufficiency": one.signals["sufficiency"]}) for one in cases()]

    found = learn_gate(given, HEURISTIC_WEIGHTS)

    metrics = json.loads((write_model(tmp_path, found) / "metrics.json").read_text())
    assert not found.promotion.is_promoted
    assert found.promotion.reason.startswith("refused: ")
    assert (metrics["promoted"], metrics["reason"]) == (False, found.promotion.reason)


def test_a_version_is_a_folder_with_model_metrics_and_plot(tmp_path: Path) -> None:
    found = learn_gate(cases(), HEURISTIC_WEIGHTS)

    folder = write_model(tmp_path, found)

    model = json.loads((folder / "model.json").read_text())
    metrics = json.loads((folder / "metrics.json").read_text())
    assert folder.name == found.weights.version
    assert GateWeights(**model["weights"]) == found.weights
    assert {name: GateWeights(**one) for name, one in model["left_out"].items()} == dict(found.left_out)
    assert metrics["learned"]["f1"] == round(found.learned.score.f1, 4)
    assert metrics["data_hash"] == found.data_hash
    assert (folder / "reliability.svg").read_text().count("<circle") == len(found.learned.bins) + len(
        found.in_force.bins
    )


def test_what_was_learned_and_promoted_can_be_tried_on_a_share_of_the_workspaces(tmp_path: Path) -> None:
    found = learn_gate(cases(), HEURISTIC_WEIGHTS)
    assert found.promotion.is_promoted
    write_model(tmp_path, found)

    trial = with_own_weights(WeightsTrial(found.weights.version, 1.0), tmp_path)

    assert weights_for(UUID(int=1), trial) == found.weights
    assert weights_for(UUID(int=1), replace(trial, share=0.0)) == IN_FORCE
    assert with_own_weights(WeightsTrial(LEARNED_WEIGHTS.version, 0.2), tmp_path).weights is None


@pytest.mark.parametrize(
    ("file", "before", "after", "said"),
    [
        ("metrics.json", '"promoted": true', '"promoted": false', "F1"),
        ("model.json", '"version": "gate-learned-', '"version": "gate-learned-0', "they are of"),
        ("model.json", '"coverage"', '"covering"', "other signals"),
        ("model.json", '"search": 0.2', '"search": 9', "at most"),
        ("model.json", '"search": 0.2', '"search": NaN', "malformed"),
        ("model.json", "{", "", "Expected `object`"),
        ("model.json", '"policy"', '"politics"', "policy"),
    ],
)
def test_weights_that_were_refused_or_cannot_be_read_are_not_tried(
    tmp_path: Path, file: str, before: str, after: str, said: str
) -> None:
    found = learn_gate(cases(), HEURISTIC_WEIGHTS)
    path = write_model(tmp_path, found) / file
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after, 1))

    with pytest.raises(Misconfigured, match=said) as refused:
        with_own_weights(WeightsTrial(found.weights.version, 0.2), tmp_path)

    assert refused.value.code == "GATE_WEIGHTS_INVALID"


def test_weights_that_are_not_there_are_told_with_their_place(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="gate-learned-01234567"):
        with_own_weights(WeightsTrial("gate-learned-01234567", 0.2), tmp_path)


@pytest.mark.parametrize(
    "given",
    [cases(("a",)), [one for one in cases() if not one.needs_search], [replace(one, at="2026") for one in cases()][:1]],
)
def test_what_leaves_nothing_to_learn_or_to_judge_is_refused(given: list[GateCase]) -> None:
    with pytest.raises(InvalidInput):
        learn_gate(given, HEURISTIC_WEIGHTS)


def test_a_case_of_a_run_that_was_not_judged_is_refused_by_its_name() -> None:
    first, *others = cases()
    cut = replace(first, signals={name: value for name, value in first.signals.items() if name != "support"})

    with pytest.raises(InvalidInput, match=r"a-0 of a .*: support"):
        learn_gate([cut, *others], HEURISTIC_WEIGHTS)


def test_parts_of_one_set_are_one_family() -> None:
    assert [family_of(one) for one in ("hotpotqa", "hotpotqa-dev100", "clapnq")] == ["hotpotqa", "hotpotqa", "clapnq"]


def test_learned_weights_in_force_are_those_that_were_promoted() -> None:
    folder = Path(__file__).parents[3] / "eval" / "rag_gate" / LEARNED_WEIGHTS.version
    model, metrics = (json.loads((folder / name).read_text()) for name in ("model.json", "metrics.json"))

    assert GateWeights(**model["weights"]) == LEARNED_WEIGHTS
    assert metrics["promoted"]
    assert model["data_hash"] == metrics["data_hash"]

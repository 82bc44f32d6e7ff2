"""What stored decisions and feedback say of a search, as cases to learn from."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.answering.test_gate_outcomes import ran, said
from tests.unit.eval.test_gate_learning import cases

from agentic_rag.answering.feedback.feedback import FeedbackKind, Rating
from agentic_rag.answering.gate.captured import captured_cases
from agentic_rag.answering.gate_decision import FeatureContribution
from agentic_rag_eval.gate_cases import save_cases, shares_of

SIGNALS = (FeatureContribution("base", 1.0, 1.0, 1.0), FeatureContribution("coverage", 0.4, -1.0, -0.4))
NAMES = {"base", "coverage"}
GOOD, BAD = Rating.GOOD, Rating.BAD


@pytest.mark.parametrize(
    ("plan", "gained", "rating", "outcome"),
    [
        ("search", True, None, (False, True)),
        ("search", True, GOOD, (False, True)),
        ("search", True, BAD, (False, False)),
        ("full_loop", False, GOOD, (True, True)),
        ("full_loop", False, BAD, (False, False)),
        ("full_loop", False, None, (False, False)),
        ("search", None, GOOD, None),
        ("retrieve", None, GOOD, (True, True)),
        ("retrieve", None, BAD, None),
        ("retrieve", None, None, None),
    ],
)
def test_what_came_of_a_run_says_what_a_search_was_worth(
    plan: str, gained: bool | None, rating: Rating | None, outcome: tuple[bool, bool] | None
) -> None:
    decision = ran(1, plan, gained=gained, contributions=SIGNALS)
    feedback = [] if rating is None else said(range(1, 2), rating)

    found = captured_cases([decision], feedback, NAMES)

    assert [(one.answered, one.answered_outside) for one in found] == [outcome] * (outcome is not None)
    assert [(one.at, one.signals) for one in found] == [(decision.decided_at, {"base": 1.0, "coverage": 0.4})] * len(
        found
    )


def test_a_word_outweighs_what_its_caller_did() -> None:
    decision = ran(1, "retrieve", gained=None, contributions=SIGNALS)
    feedback = [*said(range(1, 2), GOOD), *said(range(1, 2), BAD, FeedbackKind.REPEATED)]

    assert [one.answered for one in captured_cases([decision], feedback, NAMES)] == [True]


def test_callers_who_disagree_tell_nothing_of_a_run_that_read_the_documents_alone() -> None:
    decision = ran(1, "retrieve", gained=None, contributions=SIGNALS)
    good, bad = said(range(1, 2), GOOD), [replace(one, subject="bob") for one in said(range(1, 2), BAD)]

    assert captured_cases([decision], [*good, *bad], NAMES) == []


def test_decisions_with_other_signals_are_left_out() -> None:
    decision = ran(1, gained=True, contributions=SIGNALS[:1])

    assert captured_cases([decision], (), NAMES) == []


def test_captured_cases_weigh_the_same_each(tmp_path: Path) -> None:
    dated = [replace(one, at=f"2026-01-{1 + place % 28:02}") for place, one in enumerate(cases())]

    shares = shares_of(dated)

    assert shares == [1 / len(dated)] * len(dated)
    assert len(set(shares_of([*dated, replace(dated[0], case_id="undated", at=None)]))) > 1
    save_cases(tmp_path / "dated.jsonl", dated[:1])
    assert json.loads((tmp_path / "dated.jsonl").read_text())["at"] == "2026-01-01"

"""The verdicts of `make quality` on two ways of answering the same questions."""

from __future__ import annotations

import pytest
from tests.quality.grounded import conclusion_row, grounded_rows
from tests.quality.rows import above, not_below

from agentic_rag_eval.metrics import Score, score
from agentic_rag_eval.records import AskRecord, CitedSpan, EvalDocument, EvalQuestion


@pytest.mark.parametrize(
    ("values", "other", "ok"),
    [
        ([1.0] * 40, [1.0] * 40, True),
        ([1.0] * 39 + [0.0], [1.0] * 39 + [0.5], True),
        # The interval holds zero: a few questions are much worse, and as many a little better.
        ([0.0] * 3 + [1.0] * 37, [1.0] * 3 + [0.95] * 37, False),
        ([0.99] * 400, [1.0] * 400, False),
    ],
    ids=["equal", "a point below", "three points below in a wide interval", "a point below without doubt"],
)
def test_a_loss_misses_when_it_is_certain_or_larger_than_two_points(
    values: list[float], other: list[float], ok: bool
) -> None:
    assert not_below("row", values, other).ok is ok


def test_a_gain_must_be_certain() -> None:
    assert above("row", [1.0] * 40, [0.5] * 40).ok
    assert not above("row", [1.0] * 20 + [0.0] * 20, [0.0] * 19 + [1.0] * 21).ok


def ended(outcome: str, answer: str) -> Score:
    record = AskRecord(answer, outcome, (), ("a",), 1.0, 0.1, {})
    return score(EvalQuestion("q", "Who?", ("Ada",), ("a",), "who"), record, 5)


def test_grounded_answers_alone_are_held_to_the_gold_answer() -> None:
    asked = [ended("GROUNDED", "Ada."), ended("GROUNDED", "Bob."), ended("UNCERTAIN", "Bob."), ended("ABSTAINED", "")]
    rows = grounded_rows("musique", asked)
    assert [row.measured.split()[0] for row in rows] == ["50.0", "100.0", "25.0"]
    assert [row.ok for row in rows] == [False, True, False]


def test_an_uncertain_answer_lowers_the_share_that_is_called_grounded() -> None:
    rows = grounded_rows("covidqa", [ended("GROUNDED", "Ada."), ended("UNCERTAIN", "Ada.")])
    assert [row.measured.split()[0] for row in rows] == ["0.0", "50.0", "0.0"]


@pytest.mark.parametrize(
    ("cited", "ok"),
    [
        ([("a", "It aims."), ("a", "It is\nlower.")], True),
        ([("a", "It aims."), ("a", "It asks."), ("a", "It is lower.")], False),
        ([("b", "It is lower.")], False),
        ([], False),
    ],
    ids=["second", "third", "of another study", "none"],
)
def test_what_a_study_found_must_be_cited_first_or_second(cited: list[tuple[str, str]], ok: bool) -> None:
    question = EvalQuestion("1", "Is it lower?", ("yes",), ("a",), "study")
    citations = tuple(CitedSpan(path, snippet) for path, snippet in cited)
    told = score(question, AskRecord("It is.", "GROUNDED", citations, ("a",), 1.0, 0.1, {}), 5)
    documents = [EvalDocument(one, one, "It aims. It asks.\n\nIt is lower.\n") for one in ("a", "b")]

    assert conclusion_row([told], documents).ok is ok

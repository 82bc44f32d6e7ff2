"""The rows on abstention judge by questions that neither the line nor the weights have seen."""

from __future__ import annotations

import random

import pytest
from tests.quality.abstention import SEEN, Supports, abstention_rows, below_users_line

from agentic_rag.answering.evidence.answerability import AnswerabilityFeatures
from agentic_rag_eval.support_calibration import AskedSupport

WIDTH = len(AnswerabilityFeatures.__dataclass_fields__)
MANY = 120


def asked(place: int, chance: random.Random, *, answerable: bool) -> AskedSupport:
    """A question whose sign at `place` alone tells whether it can be answered; its support in force tells, too."""
    signs = [chance.random() for _ in range(WIDTH)]
    signs[place] = 0.9 + 0.1 * chance.random() if answerable else 0.1 * chance.random()
    return AskedSupport(0.9 if answerable else 0.1, answerable, tuple(signs), abstained=not answerable)


def told_by(place: int, name: str) -> Supports:
    chance = random.Random(name)
    answered = [asked(place, chance, answerable=True) for _ in range(MANY)]
    removed = [asked(place, chance, answerable=False) for _ in range(MANY)]
    return Supports(name, answered, removed, [], [], answered)


def shown(sets: list[Supports]) -> tuple[str, float]:
    """What must hold of musique without its documents, and the share abstained on."""
    [row] = [one for one in abstention_rows(sets) if one.name.startswith("musique: abstained without their documents")]
    return row.must, float(row.measured.split()[0])


@pytest.mark.slow
def test_a_set_is_judged_by_weights_that_its_questions_did_not_shape() -> None:
    alike = [told_by(0, name) for name in ("musique", "covidqa", "clapnq")]
    other = [told_by(0, "musique"), told_by(1, "covidqa"), told_by(1, "clapnq")]

    assert shown(alike) == ("≥ 40", 100.0)
    must, caught = shown(other)
    assert must == "≥ 40"
    assert caught < 40


def test_a_part_of_the_same_collection_does_not_shape_them_either() -> None:
    sets = [told_by(0, "hotpotqa"), told_by(0, "hotpotqa-dev100"), told_by(1, "covidqa"), told_by(1, "clapnq")]

    caught = [row for row in abstention_rows(sets) if row.name.startswith("hotpotqa, hotpotqa-dev100: abstained")]

    assert [row.ok for row in caught] == [False]


@pytest.mark.parametrize("others", [(), ("covidqa",)])
def test_without_two_other_collections_what_is_judged_at_a_line_is_only_told(others: tuple[str, ...]) -> None:
    rows = abstention_rows([told_by(0, "musique"), *(told_by(0, name) for name in others)])

    at_lines = [row for row in rows if row.name.endswith(SEEN)]
    assert len(at_lines) >= 3
    assert {row.must for row in at_lines} == {"reported"}


def test_the_line_of_a_question_is_drawn_by_others() -> None:
    """Every second answerable question has no support: each half has a line by the other, and all of one lie below."""
    supports = [0.9, 0.1] * 50

    assert sum(below_users_line(supports, supports)) == 50

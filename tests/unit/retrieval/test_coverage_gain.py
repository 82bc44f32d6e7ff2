"""What a passage adds to those before it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.retrieval.graph.coverage_gain import COVERAGE_GAIN, coverage_gains, link_probability
from agentic_rag.retrieval.graph.multi_hop import GraphPath, PathExtension
from agentic_rag.retrieval.lexical.bm25 import TermProfile

ONE_HOP = [True, True, False, False]
OTHER_HOP = [False, False, True, True]


def terms(held: Sequence[Sequence[bool]], idf: Sequence[float] | None = None) -> TermProfile:
    rows = np.array(held, np.bool_)
    weights = np.ones(rows.shape[1]) if idf is None else np.array(idf)
    return TermProfile(rows, np.zeros(rows.shape), weights, 1.0)


def order_of(scores: Sequence[float], profile: TermProfile, going_on: float) -> list[int]:
    given_scores = np.array(scores)
    return np.argsort(-(given_scores + coverage_gains(given_scores, profile, going_on)), kind="stable").tolist()


def test_the_passage_of_another_hop_comes_before_the_second_of_the_same_hop() -> None:
    profile = terms([ONE_HOP, ONE_HOP, OTHER_HOP])

    assert order_of([0.5, 0.45, 0.4], profile, going_on=1.0) == [0, 2, 1]


def test_a_question_whose_trails_lead_nowhere_keeps_its_order() -> None:
    profile = terms([ONE_HOP, ONE_HOP, OTHER_HOP])

    assert coverage_gains(np.array([0.5, 0.45, 0.4]), profile, 0.0).tolist() == [0.0, 0.0, 0.0]


def test_a_passage_far_behind_stays_behind() -> None:
    profile = terms([ONE_HOP, ONE_HOP, OTHER_HOP])

    assert order_of([0.9, 0.85, 0.1], profile, going_on=1.0) == [0, 1, 2]


def test_a_gain_is_the_share_of_the_questions_weight_that_is_new() -> None:
    profile = terms([[True, True, False], [True, False, True]], idf=[1.0, 1.0, 2.0])

    gains = coverage_gains(np.array([0.9, 0.1]), profile, 1.0)

    assert gains.tolist() == pytest.approx([COVERAGE_GAIN / 2, COVERAGE_GAIN / 2])


def test_nothing_is_new_of_a_question_without_content() -> None:
    profile = terms([ONE_HOP, OTHER_HOP], idf=[0.0, 0.0, 0.0, 0.0])

    assert coverage_gains(np.array([0.5, 0.4]), profile, 1.0).tolist() == [0.0, 0.0]


@given(st.data())
def test_all_that_passages_gain_is_what_they_hold_together(data: st.DataObject) -> None:
    passages, words = data.draw(st.integers(1, 8)), data.draw(st.integers(1, 6))
    row = st.lists(st.booleans(), min_size=words, max_size=words)
    held = data.draw(st.lists(row, min_size=passages, max_size=passages))
    drawn = data.draw(st.lists(st.floats(0, 1), min_size=passages, max_size=passages))
    scores = np.array(sorted(drawn, reverse=True))

    gains = coverage_gains(scores, terms(held), 1.0)

    assert np.all(gains >= 0)
    assert gains.sum() == pytest.approx(COVERAGE_GAIN * np.array(held).any(axis=0).mean(), abs=1e-5)


def test_trails_lead_on_as_far_as_entities_do() -> None:
    trails = (GraphPath((1,), 0.4), GraphPath((2,), 0.1))
    chance = np.array([[0.0, 0.1, 0.2], [0.0, 0.0, 0.05]])

    first = PathExtension(trails, np.array([1, 2, 3]), chance, np.array([0.2, 0.05]))

    assert link_probability(first) == pytest.approx(0.5)


def test_without_a_trail_nothing_leads_on() -> None:
    assert link_probability(PathExtension((), np.zeros(0, np.int64), np.zeros((0, 0)), np.zeros(0))) == 0.0

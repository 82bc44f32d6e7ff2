"""The weights of a reading are what tells answering units from others, and a set is judged by all its questions."""

from __future__ import annotations

import numpy as np
import pytest
from eval.training.train_reading import ReadQuestion, fit_weights, precision


def questions(likeness_tells: float, odds_tell: float = 0.0, count: int = 80) -> list[ReadQuestion]:
    random = np.random.default_rng(3)
    found: list[ReadQuestion] = []
    for _ in range(count):
        answers = np.arange(8) == random.integers(8)
        scores = random.normal(1.0, 0.1, 8) + 0.1 * answers
        likeness = random.normal(0.5, 0.1, 8) + likeness_tells * answers
        found.append(ReadQuestion(scores, likeness, random.normal(0.0, 1.0, 8) + odds_tell * answers, answers))
    return found


@pytest.mark.slow
def test_a_likeness_that_tells_weighs_more_and_finds_more() -> None:
    telling, idle = questions(0.3), questions(0.0)

    weights = fit_weights([telling])

    assert weights[0] > 1.0 > abs(fit_weights([idle])[0])
    assert precision(telling, weights)[0] > precision(telling, (0.0, 0.0))[0] + 20


@pytest.mark.slow
def test_odds_that_tell_weigh_more_and_find_more() -> None:
    telling, idle = questions(0.0, 4.0), questions(0.0)

    weights = fit_weights([telling])

    assert weights[1] > 1.0 > abs(fit_weights([idle])[1])
    assert precision(telling, weights)[0] > precision(telling, (weights[0], 0.0))[0] + 20


def test_a_question_without_an_answering_unit_is_missed_and_none_is_fitted_on_it() -> None:
    known = ReadQuestion(np.array([1.0, 0.5]), np.array([0.5, 0.5]), np.array([0.0, 0.0]), np.array([True, False]))
    unknown = ReadQuestion(known.scores, known.likeness, known.odds, np.array([False, False]))
    empty = ReadQuestion(np.array([]), np.array([]), np.array([]), np.array([], np.bool_))

    assert precision([known, unknown, empty, known], (0.0, 0.0)) == (50.0, 50.0)
    assert fit_weights([[known]]) == fit_weights([[known, unknown, empty]])

"""The weight of a reading is what tells answering units from others, and a set is judged by all its questions."""

from __future__ import annotations

import numpy as np
from eval.training.train_reading import ReadQuestion, fit_weight, precision


def questions(likeness_tells: float, count: int = 80) -> list[ReadQuestion]:
    random = np.random.default_rng(3)
    found: list[ReadQuestion] = []
    for _ in range(count):
        answers = np.arange(8) == random.integers(8)
        scores = random.normal(1.0, 0.1, 8) + 0.1 * answers
        found.append(ReadQuestion(scores, random.normal(0.5, 0.1, 8) + likeness_tells * answers, answers))
    return found


def test_a_likeness_that_tells_weighs_more_and_finds_more() -> None:
    telling, idle = questions(0.3), questions(0.0)

    weight = fit_weight([telling])

    assert weight > 1.0 > abs(fit_weight([idle]))
    assert precision(telling, weight)[0] > precision(telling, 0.0)[0] + 20


def test_a_question_without_an_answering_unit_is_missed_and_none_is_fitted_on_it() -> None:
    known = ReadQuestion(np.array([1.0, 0.5]), np.array([0.5, 0.5]), np.array([True, False]))
    unknown = ReadQuestion(known.scores, known.likeness, np.array([False, False]))
    empty = ReadQuestion(np.array([]), np.array([]), np.array([], np.bool_))

    assert precision([known, unknown, empty, known], 0.0) == (50.0, 50.0)
    assert fit_weight([[known]]) == fit_weight([[known, unknown, empty]])

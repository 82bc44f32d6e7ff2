"""What a step of the reader's training holds: texts side by side, with some of their questions."""

from __future__ import annotations

import random

from eval.training.reader.texts import AskedIds, join, some_of

FIRST = AskedIds((10, 11), (12,), (-1, 2), (-1, 0), (20, 21), ((0,), (1,)), ((), (30,)))
SECOND = AskedIds((13,), (14,), (1,), (-1,), (22, 23), ((0,), ()), ((), ()))


def test_units_of_joined_texts_are_rivals_and_each_keeps_what_stands_around_it() -> None:
    both = join([FIRST, SECOND])

    texts = (*both.units, *both.beside)
    assert texts == (10, 11, 13, 12, 14)
    assert [texts[one] if one >= 0 else None for one in both.headings] == [None, 12, 14]
    assert [texts[one] if one >= 0 else None for one in both.before] == [None, 10, None]


def test_questions_of_joined_texts_keep_their_answers() -> None:
    both = join([FIRST, SECOND])

    answered = {
        question: [both.units[one] for one in places]
        for question, places in zip(both.questions, both.answers, strict=True)
    }
    assert answered == {20: [10], 21: [11], 22: [13], 23: []}
    assert both.altered == ((), (30,), (), ())


def test_some_questions_of_a_text_keep_their_answers() -> None:
    both = join([FIRST, SECOND])

    some = some_of(both, random.Random(1), 2)

    known = dict(zip(both.questions, zip(both.answers, both.altered, strict=True), strict=True))
    assert len(some.questions) == 2
    assert some.units == both.units
    for question, answers, altered in zip(some.questions, some.answers, some.altered, strict=True):
        assert known[question] == (answers, altered)
    assert some_of(both, random.Random(1), 4) is both

"""The questions with several readings agree with their documents, and a lie about them is seen."""

from __future__ import annotations

import pytest
from tests.quality.natural import holds, tokens_of
from tests.quality.readings import FOLDER, ReadingsQuestion, readings_questions, rows_of, shows_all

QUESTIONS = readings_questions()
LIMIT = ReadingsQuestion(
    "office-1", "What is the limit?", (("50 MB", ("Uploads",)), ("140 euros", ("Hotels", "Travel")))
)
HOTEL = ReadingsQuestion("office-2", "What is the limit for a hotel?", must="140 euros")
WHOLE = "- Files › Uploads — The limit is 50 MB. [1]\n- Travel policy — The limit is 140 euros. [2]"


def test_half_of_the_questions_have_several_readings() -> None:
    several = sum(bool(one.readings) for one in QUESTIONS)
    assert several >= 20
    assert len(QUESTIONS) - several >= 20
    assert all(len(one.readings) > 1 or one.must for one in QUESTIONS)


def test_each_value_stands_in_a_document() -> None:
    texts = {path.parent.name: "" for path in FOLDER.glob("*/*.md")}
    for path in FOLDER.glob("*/*.md"):
        texts[path.parent.name] += path.read_text("utf-8")
    wanted = [(one, value) for one in QUESTIONS for value in (*(value for value, _ in one.readings), one.must) if value]
    assert [one.question_id for one, value in wanted if not holds(tokens_of(texts[one.corpus]), value)] == []


@pytest.mark.parametrize(
    ("outcome", "text"),
    [
        ("GROUNDED", WHOLE),
        ("UNDERSPECIFIED", "- Files › Uploads — The limit is 50 MB. [1]"),
        (
            "UNDERSPECIFIED",
            "- Files › Uploads — The limit is 140 euros. [1]\n- Travel policy — The limit is 50 MB. [2]",
        ),
        ("UNDERSPECIFIED", "The limit is 50 MB. [1] The limit is 140 euros. [2]"),
    ],
    ids=["not said", "one of two", "labels of the other", "no labels"],
)
def test_a_lie_makes_the_row_miss(outcome: str, text: str) -> None:
    assert shows_all(LIMIT, "UNDERSPECIFIED", WHOLE)
    assert not shows_all(LIMIT, outcome, text)
    assert not rows_of([(LIMIT, outcome, text), (HOTEL, "GROUNDED", "The limit is 140 euros.")])[0].ok


def test_calling_everything_underspecified_makes_the_row_miss() -> None:
    rows = rows_of([(LIMIT, "UNDERSPECIFIED", WHOLE), (HOTEL, "UNDERSPECIFIED", WHOLE)])
    assert [row.ok for row in rows] == [True, False, True]

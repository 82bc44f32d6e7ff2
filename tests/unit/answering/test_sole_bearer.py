"""A document that opens with the name in a question is about it: what it tells is shown before nothing is, as
uncertain.
"""

import pytest
from tests.unit.answering.test_bearers import asked

from agentic_rag.answering.answer import Outcome
from agentic_rag.answering.extraction.subquery import build_subquery
from agentic_rag.answering.query.planner import detect_answer_type
from agentic_rag.answering.siblings.asked_act import asks_what_it_is

DIPLOMAT = (
    "Sir Horace Rumbell, 8th Baronet, (2 July 1829 – 3 November 1913) was a Lorrin diplomat in several countries."
)
ARCHIVES = ("The library", "The museum", "The town hall")
PLAY = "Low Water is a play about the Lorrin by Edda Krause. It premiered in Brenning in 1931."


@pytest.mark.parametrize(
    ("question", "text", "told"),
    [
        ("When was Horace Rumbell born?", DIPLOMAT, "(2 July 1829"),
        ("When was Low Water released?", PLAY, "premiered in Brenning in 1931"),
    ],
)
async def test_what_the_document_about_a_name_tells_is_shown_as_uncertain(question: str, text: str, told: str) -> None:
    answer = await asked(question, text, *(f"{one} of Brenning keeps papers of Horace Rumbell." for one in ARCHIVES))

    assert answer.outcome is Outcome.UNCERTAIN
    assert told in answer.text
    assert all(one.verified for one in answer.citations)


@pytest.mark.parametrize(
    "text",
    [
        "The court opened in 1901. Horace Rumbell (2 July 1829 – 3 November 1913) was a Lorrin diplomat.",
        "Peter Lind (2 July 1829 – 3 November 1913) was a Lorrin footballer. His horse was Horace Rumbell.",
        "Horace Rumbell was a Lorrin diplomat. He was seen in Marle County in 1913.",
    ],
)
async def test_nothing_is_shown_of_a_document_about_something_else_or_without_what_is_asked(text: str) -> None:
    answer = await asked(
        "When was Horace Rumbell born?", text, *(f"{one} keeps papers of Horace Rumbell." for one in ARCHIVES)
    )

    assert answer.outcome is Outcome.ABSTAINED


async def test_nothing_is_shown_where_a_word_of_the_question_is_left() -> None:
    answer = await asked("When was Low Water released on cassette?", PLAY)

    assert "1931" not in answer.text


@pytest.mark.parametrize(
    ("question", "opening", "beside"),
    [
        (
            "What does the term Ibarag refer to?",
            "Ibarag people The Ibarag are a minority of half a million people in Marle.",
            "However, in the case of Ibarag, this term refers to a type of traditional dance performed at festivals.",
        ),
        (
            "What is the medium of Low Water?",
            "Low Water is a 1979 film by Ivo Marin.",
            "Note: the medium of Low Water has been changed to a novel in this section.",
        ),
    ],
)
async def test_what_a_name_is_is_certain_only_of_a_document_that_says_so(
    question: str, opening: str, beside: str
) -> None:
    assert (await asked(question, beside)).outcome is Outcome.GROUNDED
    assert (await asked(question, opening, beside)).outcome is Outcome.UNCERTAIN


@pytest.mark.parametrize(
    ("question", "opening", "beside"),
    [
        (
            "What is the medium of the seals of Pump Kelm?",
            "Pump Kelm is a pump of the Lorrin works.",
            "The medium of the seals of Pump Kelm is oil.",
        ),
        (
            "Which sport can guests of Kelm House do?",
            "Kelm House is a hotel in Marle.",
            "Guests of Kelm House can do one sport: rowing.",
        ),
        (
            "Which nationality must staff of Project Tern have?",
            "Project Tern is the move of the archive to the new store.",
            "Staff of Project Tern must have Lorrin nationality.",
        ),
        (
            "What is the medium of Low Water Stones?",
            "Low Water is a film by Ivo Marin. It tells of the Stones.",
            "The medium of Low Water Stones is oil.",
        ),
    ],
)
async def test_what_is_asked_of_more_than_the_name_may_stand_in_any_document(
    question: str, opening: str, beside: str
) -> None:
    assert (await asked(question, opening, beside)).outcome is Outcome.GROUNDED


@pytest.mark.parametrize(
    "question",
    [
        "What was the profession of Ada Harrowell?",
        "What was Ada Harrowell's occupation?",
        "What is Ada Harrowell known for?",
        "What is the sport of Ada Harrowell?",
        "What genre is Low Water?",
        "What is the nationality of Ada Harrowell?",
        "What does Ibarag stand for?",
    ],
)
def test_a_question_for_what_a_name_is_has_only_a_word_for_that_beside_it(question: str) -> None:
    assert asks_what_it_is(build_subquery(question, detect_answer_type(question), {}))
    assert not asks_what_it_is(build_subquery(f"{question[:-1]} on cassette?", detect_answer_type(question), {}))


async def test_texts_that_contradict_each_other_about_a_name_conflict_beside_the_one_that_opens_with_it() -> None:
    answer = await asked(
        "What is the medium of Low Water?",
        "Low Water is a 1979 film by Ivo Marin.",
        "The medium of Low Water is 35 mm film.",
        "The medium of Low Water is 16 mm film.",
    )

    assert answer.outcome is Outcome.CONFLICTING


async def test_of_two_things_of_a_name_none_is_shown_alone() -> None:
    ship = (
        "Horace Rumbell is a paddle steamer. It was built of oak by two brothers, who sold it to the harbour. Nobody "
        "who sailed in it liked the noise of its wheels or the smell of its coal."
    )

    answer = await asked(
        "When was Horace Rumbell born?",
        DIPLOMAT,
        ship,
        *(f"{one} of Brenning keeps papers of Horace Rumbell." for one in ARCHIVES),
    )

    assert answer.outcome is Outcome.ABSTAINED


async def test_what_else_is_asked_of_a_name_may_stand_in_any_document() -> None:
    opening = "Project Tern is the move of the archive to the new store."

    answer = await asked("What is the budget of Project Tern?", opening, "The budget of Project Tern is 40,000 euros.")

    assert answer.outcome is Outcome.GROUNDED

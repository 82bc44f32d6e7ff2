"""A document that opens with the name in a question is about it: what it tells is shown before nothing is, as
uncertain.
"""

import pytest
from tests.unit.answering.test_bearers import asked

from agentic_rag.answering.answer import Outcome

DUNN = "Charles Dunholm (July 14, 1872 – November 10, 1939) was an American jurist. Born in Marle County, he read law."
DIPLOMAT = (
    "Sir Horace Rumbell, 8th Baronet, (2 July 1829 – 3 November 1913) was a Lorrin diplomat in several countries."
)
ARCHIVES = ("The library", "The museum", "The town hall")
PLAY = "Low Water is a play about the Lorrin by Edda Krause. It premiered in Brenning in 1931."


@pytest.mark.parametrize(
    ("question", "text", "told"),
    [
        ("Where was Justice Dunholm born?", DUNN, "jurist. Born in Marle County"),
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
        "The court opened in 1901. Charles Dunholm was an American jurist. Born in Marle County, he read law.",
        "Peter Dunholm was an English footballer. Born in Marle County, he played for Brenning.",
        "Charles Dunholm was an American jurist. He was never seen in Marle County.",
    ],
)
async def test_nothing_is_shown_of_a_document_about_something_else_or_without_what_is_asked(text: str) -> None:
    answer = await asked("Where was Justice Dunholm born?", text)

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


async def test_what_else_is_asked_of_a_name_may_stand_in_any_document() -> None:
    opening = "Project Tern is the move of the archive to the new store."

    answer = await asked("What is the budget of Project Tern?", opening, "The budget of Project Tern is 40,000 euros.")

    assert answer.outcome is Outcome.GROUNDED

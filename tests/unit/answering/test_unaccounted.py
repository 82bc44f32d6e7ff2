"""Words of a question that name a thing of their own which what answers does not account for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.answering.test_extractive import passage

from agentic_rag.answering.extraction.extractive import DraftSentence
from agentic_rag.answering.extraction.subquery import build_subquery
from agentic_rag.answering.extraction.text_units import UnitKind
from agentic_rag.answering.query.planner import detect_answer_type
from agentic_rag.answering.siblings.labels import entry_above, sibling_labels
from agentic_rag.answering.siblings.unaccounted import unaccounted_words
from agentic_rag.retrieval.candidates import Passage

CARDS = """| Card | Fee per year | Colour |
|---|---|---|
| Family | £40 | green |
| Child (up to 12) | free | blue |
| Adult | £24 | red |

Replacing a lost child card costs £2.
A lost adult card costs £5. Family cards are valid for a year."""
SHEDS = """## Shed North

The door is 6.2 m high.

## Shed South

The door is 5.1 m high."""
COURSES = """Comic workshop for children from 9 to 12: 2 April, 14 to 17. The fee is £8. Registration ends on 20 March.

Reading night for children from 8 to 10: 31 July, from 19. Bring a torch."""
OFFERS = "Radivet asks £38,400 and delivers within five weeks. Medorin asks £35,900, installation extra."


def found(question: str, text: str, said: str, *more: Passage) -> tuple[str, ...]:
    """What `said`, quoted of a text, does not account for."""
    part = build_subquery(question, detect_answer_type(question), {})
    kind = UnitKind.TABLE_ROW if said.startswith("|") else UnitKind.PROSE
    start = text.index(said)
    quote = DraftSentence(0, 0, start, start + len(said), said, kind, 1.0)
    return unaccounted_words(part, [quote], [passage(0, "Notes", text), *more])


@pytest.mark.parametrize(
    ("question", "text", "said", "lacking"),
    [
        ("What does a lost family card cost?", CARDS, "Replacing a lost child card costs £2.", ("family",)),
        ("What does a lost child card cost?", CARDS, "Replacing a lost child card costs £2.", ()),
        ("What is the fee for the Family card?", CARDS, "| Family | £40 | green |", ()),
        ("What is the fee for the adult card?", CARDS, "| Family | £40 | green |", ("adult",)),
        ("How high is the door of Shed North?", SHEDS, "The door is 5.1 m high.", ("North",)),
        ("How high is the door of Shed South?", SHEDS, "The door is 5.1 m high.", ()),
        ("When does the reading night end?", COURSES, "Registration ends on 20 March.", ("reading", "night")),
        ("When does registration for the comic workshop end?", COURSES, "Registration ends on 20 March.", ()),
        ("Within how many weeks does Medorin deliver?", OFFERS, OFFERS.split(" Med")[0], ("Medorin",)),
        ("Within how many weeks does Radivet deliver?", OFFERS, OFFERS.split(" Med")[0], ()),
    ],
)  # fmt: skip
def test_what_is_told_of_a_sibling_is_not_told_of_the_thing_that_is_asked_about(
    question: str, text: str, said: str, lacking: tuple[str, ...]
) -> None:
    assert found(question, text, said) == lacking


def test_steps_below_the_heading_of_a_sibling_are_of_that_one() -> None:
    steps = "1. Switch on the extraction.\n2. Close the lid."
    text = f"# Laser cutter\n\n{steps}\n\n# Vinyl cutter\n\nIt cuts foil."
    assert found("How do I start the vinyl cutter?", text, steps) == ("vinyl",)
    assert found("How do I start the laser cutter?", text, steps) == ()


def test_a_word_that_no_document_has_is_the_question_s_own() -> None:
    assert found("What does a lost toddler card cost?", CARDS, "Replacing a lost child card costs £2.") == ()


def test_another_quoted_sentence_does_not_account_for_a_name() -> None:
    part_of_text = OFFERS
    assert found("Within how many weeks does Medorin deliver?", OFFERS, part_of_text) == ("Medorin",)


def test_what_stands_at_one_place_are_siblings() -> None:
    rows = replace(passage(0, "Notes", CARDS))
    assert ("Family", "Child (up to 12)", "Adult") in sibling_labels([rows], None)
    assert ("Card", "Fee per year", "Colour") in sibling_labels([rows], None)
    assert any({"Shed North", "Shed South"} <= set(one) for one in sibling_labels([passage(0, "Sheds", SHEDS)], None))
    drinks = passage(0, "Bar", "There is tea and coffee in the hall.")
    assert ("tea", "coffee") in sibling_labels([drinks], None)


def test_a_paragraph_is_about_the_term_that_opens_it() -> None:
    assert entry_above(COURSES, COURSES.index("Registration")) == "Comic workshop for children from 9 to 12"
    assert entry_above(COURSES, COURSES.index("Bring")) == "Reading night for children from 8 to 10"
    assert entry_above(OFFERS, OFFERS.index("Medorin")) == ""

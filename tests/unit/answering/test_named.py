"""What a question names must stand somewhere in the passages."""

from __future__ import annotations

import pytest
from tests.unit.answering.answering_world import World
from tests.unit.answering.corpus import Corpus
from tests.unit.answering.test_extractive import passage

from agentic_rag.answering.answer import Outcome
from agentic_rag.answering.evidence.named import lacks_name, lacks_thing
from agentic_rag.answering.plan import AnswerType
from agentic_rag.answering.query.planner import detect_answer_type

HELD = passage(1, "Harbour", "Ana Núñez-Ruiz leads the port of Otter Voe. King Harald visited the Grand Hotel in 1931.")


@pytest.mark.parametrize(
    "question",
    [
        "Who leads Otter Voe?",
        "Since when does Ana Nunez-Ruiz lead it?",
        "When did King Harald IV visit?",
        "Who was in the “Grand Hotel”?",
        "Did the hotel of Grand Otter Voe open?",
        "Torque of the screws?",
        "How much RAM has it?",
        "What happens on a Monday in May?",
        "who was maja lindqvist",
        "Wer leitet die Werft?",
        "When was Harald's visit?",
        "Summarise the June status report.",
        "Show the Otter Voe report.",
        "May we sell T-shirts?",
    ],
    ids=lambda one: one[:24],
)
def test_a_name_that_stands_there_or_none_is_no_objection(question: str) -> None:
    assert not lacks_name(question, [HELD])


@pytest.mark.parametrize(
    "question",
    [
        "Who leads Brannoch Sound?",
        "Who was in the “Old Inn”?",
        "When did Harald visit Lund?",
        "Who is Otter Lindqvist?",
        "Summarise the Brannoch report.",
    ],
)
def test_a_name_that_stands_nowhere_speaks_against_an_answer(question: str) -> None:
    assert lacks_name(question, [HELD])
    assert lacks_name(question, [])


def test_the_words_of_a_name_must_stand_in_one_passage() -> None:
    other = passage(2, "Yard", "The Brannoch yard lies at the Sound.")
    assert not lacks_name("Who leads Brannoch Sound?", [HELD, other])
    assert lacks_name("Who leads Otter Sound?", [HELD, other])


@pytest.mark.parametrize(
    ("question", "text", "lacks"),
    [
        ("What drives British demand?", "In Britain the rules were relaxed.", False),
        ("What does Italy buy?", "Italian yards buy rope.", False),
        ("What does Norway buy?", "Norwegians buy rope.", False),
        ("What does Otter buy?", "Ottilie buys rope.", True),
    ],
)
def test_what_is_of_a_country_is_named_by_the_country(question: str, text: str, lacks: bool) -> None:
    assert lacks_name(question, [passage(1, "Trade", text)]) is lacks


PRICES = "Microchip: dog, cat, rabbit £22 each. Tyres of trailers: 3 mm."


@pytest.mark.parametrize(
    ("question", "lacks"),
    [
        ("What does a microchip for a ferret cost?", True),
        ("How much is a microchip for a ferret?", True),
        ("What does a microchip for a dog cost?", False),
        ("How much is a microchip for the rabbits?", False),
        ("How many mm do the tyres of a trailer need?", False),
        ("How much is a microchip for the own dog?", False),
        ("How many microchips do you set in a year?", False),
        ("Is there a microchip for a ferret?", False),
        ("Was kostet ein Chip für ein Frettchen?", False),
    ],
)
def test_a_figure_is_asked_of_a_thing_that_a_passage_names(question: str, lacks: bool) -> None:
    assert lacks_thing(question, detect_answer_type(question), [passage(1, "Prices", PRICES)]) is lacks


def test_a_title_names_a_thing_too() -> None:
    assert not lacks_thing("What does a chip for a ferret cost?", AnswerType.FIGURE, [passage(1, "Ferrets", PRICES)])


async def test_a_price_for_what_no_text_names_is_not_grounded() -> None:
    corpus = Corpus()
    table = "| Service | Cost |\n|---|---|\n| Microchip | £22 |\n| Booster | £60 |"
    corpus.add("prices.csv", "Prices for a dog", table)
    world = World(corpus)

    asked = [(await world.ask(f"What does a microchip for a {one} cost?")).answer.outcome for one in ("dog", "ferret")]

    assert asked[0] is Outcome.GROUNDED
    assert asked[1] is not Outcome.GROUNDED
    await world.recorder.aclose()

"""A thing that a question names by a number is told from others of its kind."""

from __future__ import annotations

import pytest
from tests.soak.facts import make_fact
from tests.unit.answering.answering_world import World
from tests.unit.answering.corpus import Corpus
from tests.unit.answering.test_extractive import passage

from agentic_rag.answering.answer import Answer, Outcome
from agentic_rag.answering.evidence.numbered_names import is_of_other_size, numbers_of_names, rows_of_other_size
from agentic_rag.answering.extraction.extractive import DraftSentence
from agentic_rag.answering.extraction.text_units import UnitKind


async def ask(question: str, *documents: tuple[str, str]) -> Answer:
    corpus = Corpus()
    for number, (title, text) in enumerate(documents):
        corpus.add(f"{number}.md", title, text)
    world = World(corpus)
    answer = (await world.ask(question)).answer
    await world.recorder.aclose()
    return answer


@pytest.mark.parametrize(("asked", "known"), [(376, 10012), (635, 10007), (5, 10037), (1203, 15)])
async def test_another_unit_of_the_same_name_grounds_nothing(asked: int, known: int) -> None:
    wanted, other = make_fact("north", asked), make_fact("north", known)
    assert wanted.name.rsplit(" ", 1)[0] == other.name.rsplit(" ", 1)[0]

    answer = await ask(wanted.question, (f"Unit {other.name}", other.text.decode()))
    own = await ask(other.question, (f"Unit {other.name}", other.text.decode()))

    assert answer.outcome is not Outcome.GROUNDED
    assert (own.outcome, other.serial in own.text) == (Outcome.GROUNDED, True)


@pytest.mark.parametrize(
    ("question", "title", "text", "is_grounded"),
    [
        ("What is the door code of room 12?", "Keys", "The door code of room 14 is 4471.", False),
        ("What is the door code of room 14?", "Keys", "The door code of room 14 is 4471.", True),
        ("What is the door code of room 14?", "Room 14", "The door code is 4471.", True),
        ("Wie lautet der Türcode von Raum 12?", "Schlüssel", "Der Türcode von Raum 14 lautet 4471.", False),
        ("What is the weight of the pump P-3?", "Pumps", "The weight of the pump P-4 is 41 kg.", False),
    ],
)
async def test_the_number_behind_a_name_must_stand_by_the_quote(
    question: str, title: str, text: str, is_grounded: bool
) -> None:
    answer = await ask(question, (title, text))

    assert (answer.outcome is Outcome.GROUNDED) is is_grounded


@pytest.mark.parametrize(
    ("question", "numbers"),
    [
        ("What is the serial number of the Dusky Heron 1203?", ["1203"]),
        ("Who signed Form 83-A and form 7?", ["83-A", "7"]),
        ("What does error E204 mean, and what does line 12.5 say?", ["12.5"]),
        ("What is the fee after 30 days?", []),
        ("What is the fee for a parcel that weighs 5 kg?", []),
        ("How many ships came in March 5 years ago?", []),
        ("Who won the Cup 2022?", []),
        ("What is 12 % of 400?", []),
        ("Wann endet die Pause nach 30 Minuten?", []),
    ],
)
def test_numbers_of_names_are_told_from_measures_and_dates(question: str, numbers: list[str]) -> None:
    assert numbers_of_names(question) == numbers


@pytest.mark.parametrize(
    ("question", "text", "is_other"),
    [
        ("What does a boat of 15 m cost?", "Boats up to 10 m cost 24 pounds, up to 13 metres 31.", True),
        ("What does a boat of 12 m cost?", "Boats up to 10 m cost 24 pounds, up to 13 metres 31.", False),
        ("What does a boat over 14 m cost?", "A boat up to 14 m costs 170 pounds.", True),
        ("What does a boat over 14 m cost?", "Boats over 13 m cost 170 pounds.", False),
        ("What does a boat of 12 m cost?", "A boat costs 170 pounds.", False),
        ("What does a boat of 12 m cost?", "A boat of 13 m costs 170 pounds.", False),
        ("What does a boat of 12 m cost?", "A boat of up to 10 t costs 170 pounds.", False),
        ("May I cancel 10 days before the course?", "Up to seven or 7 days before the course it is free.", False),
        ("Combien coûte un bateau de 15 mètres ?", "Un bateau jusqu'à 13 mètres coûte 31 €.", True),
        ("Was kostet ein Boot mit 9 Metern?", "Ein Boot ab 10 m kostet 31 €.", True),
        ("¿Cuánto cuesta un barco de 9 metros?", "Un barco de más de 10 m cuesta 31 €.", True),
    ],
)
def test_a_size_lies_within_the_bounds_that_are_told(question: str, text: str, is_other: bool) -> None:
    said = DraftSentence(0, 0, 0, len(text), text, UnitKind.PROSE, 1.0)
    assert is_of_other_size(question, [said], [passage(1, "Notes", text)]) is is_other


def test_a_time_that_is_asked_for_is_no_bound_of_one_that_the_question_names() -> None:
    text = "The deposit is paid back in 5 to 10 days."
    said = DraftSentence(0, 0, 0, len(text), text, UnitKind.PROSE, 1.0)
    near = [passage(1, "Notes", text)]
    assert not is_of_other_size("When is the deposit for a hire of 3 days paid back?", [said], near)
    assert is_of_other_size("What is paid back for a hire of 3 days?", [said], near)


def test_rows_of_other_sizes_are_left_out_where_one_holds_the_size() -> None:
    lifts = passage(1, "Lifts", "Lift up to 10 m | 310 | EUR\nLift 10 to 13 m | 420 | EUR\nWash | 8 | EUR")
    assert rows_of_other_size("What is a lift of a 12 metre boat?", [lifts]) == {(1, 0)}
    assert not rows_of_other_size("What is a lift of a 15 metre boat?", [lifts])
    assert not rows_of_other_size("What is a lift?", [lifts])
    assert not rows_of_other_size("What is a lift of an 8 m boat, and of a 12 m boat?", [lifts])

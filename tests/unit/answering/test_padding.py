"""A sentence of another document, or of other things, that answers nothing does not stand beside the answer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.answering.test_extractive import passage

from agentic_rag.answering.evidence.padding import cut_to_values, without_farther, without_padding
from agentic_rag.answering.extraction.candidate_units import CandidateUnit
from agentic_rag.answering.extraction.extractive import DraftSentence
from agentic_rag.answering.extraction.subquery import build_subquery
from agentic_rag.answering.extraction.text_units import UnitKind
from agentic_rag.answering.plan import AnswerType
from agentic_rag.answering.query.planner import detect_answer_type
from agentic_rag.answering.shapes.question_kind import question_kind

RENT, ARREARS = "The rent rises by 2.8 per cent.", "Rent arrears came to 13,960 pounds."
PASSAGES = [passage(1, "January", RENT), passage(2, "May", ARREARS)]
QUESTION = "By how much does the rent rise?"
PART = build_subquery(QUESTION, detect_answer_type(QUESTION), {})
SAID = [DraftSentence(0, at, 0, len(text), text, UnitKind.PROSE, 1.0) for at, text in enumerate((RENT, ARREARS))]


def unit(at: int, odds: float | None) -> CandidateUnit:
    return CandidateUnit(at, 0, SAID[at].end, UnitKind.PROSE, 0, 0, 0, 0, True, (0, SAID[at].end), None, 1.0, odds)


@pytest.mark.parametrize(
    ("odds", "kept"),
    [
        ((4.0, -0.6), [RENT]),
        ((-0.6, 4.0), [ARREARS]),
        ((4.0, 2.9), [RENT, ARREARS]),
        ((4.0, None), [RENT]),
        ((-0.2, -3.0), [RENT, ARREARS]),
        ((None, None), [RENT, ARREARS]),
    ],
    ids=["the second is padding", "the first is", "both answer", "not judged", "neither answers", "no model reads"],
)
def test_what_rather_does_not_answer_is_left_out_of_another_document(
    odds: tuple[float | None, float | None], kept: list[str]
) -> None:
    left = without_padding(PART, SAID, PASSAGES, [unit(at, one) for at, one in enumerate(odds)])
    assert [one.text for one in left] == kept


def test_what_stands_around_the_answer_in_its_own_document_stays() -> None:
    beside = replace(PASSAGES[1], chunk=replace(PASSAGES[1].chunk, document_id=PASSAGES[0].chunk.document_id))
    assert without_padding(PART, SAID, [PASSAGES[0], beside], [unit(0, 4.0), unit(1, -5.0)]) == tuple(SAID)


@pytest.mark.parametrize(
    ("beside", "stays"),
    [
        ("The lift is repaired in May.", False),
        ("It applies from May.", True),
        ("The reason is a new roof.", True),
        ("The rent of garages stays.", True),
    ],
)
def test_what_has_no_word_of_the_question_does_not_stay_but_what_leans_on_the_answer(beside: str, stays: bool) -> None:
    passages = [passage(1, "January", RENT), passage(2, "January", beside)]
    passages[1] = replace(passages[1], chunk=replace(passages[1].chunk, document_id=passages[0].chunk.document_id))
    said = [SAID[0], DraftSentence(0, 1, 0, len(beside), beside, UnitKind.PROSE, 1.0)]
    read = [unit(0, 4.0), replace(unit(1, -5.0), end=len(beside))]
    assert without_padding(PART, said, passages, read) == tuple(said if stays else said[:1])


@pytest.mark.parametrize(
    ("question", "odds", "cut"),
    [
        ("What does a belt cost?", (-2.0, 3.0, -1.0), "A belt costs 48 pounds."),
        ("When does it begin?", (-2.0, -1.0, 3.0), "A belt costs 48 pounds. It begins on 3 May."),
        ("What does a belt cost?", (-2.0, -0.5, -1.0), None),
        ("What does a belt cost?", (3.0, -0.5, -1.0), None),
        ("Why is the belt replaced?", (-2.0, 3.0, -1.0), None),
        ("What does a belt cost?", (None, None, None), None),
    ],
    ids=["the second", "it leans on the one before", "none answers", "no value", "no value asked", "not judged"],
)
def test_a_quote_is_cut_to_the_sentence_with_the_value(
    question: str, odds: tuple[float | None, ...], cut: str | None
) -> None:
    said = ("The belt is replaced with the drum.", "A belt costs 48 pounds.", "It begins on 3 May.")
    text = " ".join(said)
    starts = [text.index(one) for one in said]
    units = [
        replace(unit(0, one), start=at, end=at + len(sentence))
        for one, at, sentence in zip(odds, starts, said, strict=True)
    ]
    part = build_subquery(question, detect_answer_type(question), {})
    quote = DraftSentence(0, 0, 0, len(text), text, UnitKind.PROSE, 1.0)
    (shown,) = cut_to_values([quote], {0: (part, units)}, [passage(1, "Belts", text)])
    assert shown.text == (text if cut is None else cut)
    assert text[shown.start : shown.end] == shown.text
    assert cut_to_values([quote], {}, [passage(1, "Belts", text)]) == (quote,)


SERVICES = """services:
  postgres:
    image: pgvector:0.8
    restart: always
  redis:
    image: valkey:9
"""


def test_beside_a_setting_stays_no_other_one_that_holds_less_of_the_question() -> None:
    part = build_subquery("Which image does the postgres service use?", AnswerType.FACT, {})
    lines = ("image: pgvector:0.8", "restart: always", "image: valkey:9")
    starts = [(SERVICES.index(line), line) for line in lines]
    said = [DraftSentence(0, 0, at, at + len(line), line, UnitKind.LIST_ITEM, 1.0) for at, line in starts]
    assert [one.text for one in without_padding(part, said, [passage(1, "Compose", SERVICES)], [])] == [lines[0]]


@pytest.mark.parametrize(
    ("question", "kept"),
    [
        ("What do the soup and the steak cost?", ["Soup: £4", "Steak: £18"]),
        ("What does the soup cost?", ["Soup: £4"]),
    ],
)
def test_each_setting_whose_name_is_asked_for_stays(question: str, kept: list[str]) -> None:
    menu = "Soup: £4\nSalad: £6\nSteak: £18"
    part = build_subquery(question, AnswerType.FIGURE, {})
    said = [
        DraftSentence(0, 0, menu.index(line), menu.index(line) + len(line), line, UnitKind.LIST_ITEM, 1.0)
        for line in menu.split("\n")
    ]
    assert [one.text for one in without_padding(part, said, [passage(1, "Menu", menu)], [])] == kept


NIGHTLY, MONTHLY = "Nightly backups are kept for 35 days.", "Monthly backups are kept for 13 months."
NORTH, SOUTH = "It is 42 m long; the door is 6.2 m high.", "It is 36 m long; the door is 5.1 m high."
DOSE, KIDNEYS = "The dose of ibuprofen for adults is 400 mg.", "With kidney disease the dose is 200 mg."
DOGS, JULY = "Dogs may enter the pool area.", "Dogs may not enter the area."
NOTICE, LATER = (
    "Die Kündigungsfrist für Mieter beträgt drei Monate.",
    "Nach acht Jahren beträgt die Frist sechs Monate.",
)
MET = "Monthly backups met their limit of 13 months."
RENT_PL, LATE_PL = "Czynsz za lokal wynosi 400 zł.", "Po terminie czynsz wynosi 450 zł."
VALVE, BEHIND = "Close the main valve when a pipe bursts.", "It is behind the flap."


@pytest.mark.parametrize(
    ("question", "text", "said", "odds", "kept"),
    [
        ("How long are nightly backups kept?", f"{NIGHTLY} {MONTHLY}", (NIGHTLY, MONTHLY), (2.5, 1.6), (NIGHTLY,)),
        ("How long are nightly backups kept?", f"{NIGHTLY} {MONTHLY}", (MONTHLY, NIGHTLY), (1.6, 2.5), (NIGHTLY,)),
        ("How long are nightly backups kept?", f"{NIGHTLY} {MET}", (NIGHTLY, MET), (2.5, 1.6), (NIGHTLY,)),
        ("Ile wynosi czynsz za lokal?", f"{RENT_PL} {LATE_PL}", (RENT_PL, LATE_PL), (2.5, 1.6), None),
        ("How long are backups kept?", f"{NIGHTLY} {MONTHLY}", (NIGHTLY, MONTHLY), (2.5, 1.6), (NIGHTLY, MONTHLY)),
        ("How long are nightly backups kept?", f"{NIGHTLY} {MONTHLY}", (NIGHTLY, MONTHLY), (1.6, 2.5), None),
        (
            "How long are nightly and weekly backups kept?",
            f"{NIGHTLY} {MONTHLY}",
            (NIGHTLY, MONTHLY),
            (2.5, 1.6),
            None,
        ),
        ("Why are nightly backups kept?", f"{NIGHTLY} {MONTHLY}", (NIGHTLY, MONTHLY), (2.5, 1.6), None),
        ("Which days are nightly backups kept?", f"{NIGHTLY} {MONTHLY}", (NIGHTLY, MONTHLY), (2.5, 1.6), None),
        (
            "How high is the door of Shed North?",
            f"## Shed North\n\n{NORTH}\n\n## Shed South\n\n{SOUTH}",
            (NORTH, SOUTH),
            (4.0, 2.8),
            (NORTH,),
        ),
        (
            "Where is the main valve for a burst pipe?",
            f"1. {VALVE}\n2. {BEHIND}",
            (VALVE, BEHIND),
            (2.1, 1.0),
            None,
        ),
        ("What is the dose of ibuprofen for adults?", f"{DOSE} {KIDNEYS}", (DOSE, KIDNEYS), (2.5, 1.6), None),
        ("May dogs enter the pool area?", f"{DOGS} {JULY}", (DOGS, JULY), (2.5, 1.6), None),
        ("Wie lang ist die Kündigungsfrist für Mieter?", f"{NOTICE} {LATER}", (NOTICE, LATER), (2.5, 1.6), None),
        ("Where is the main valve for a burst pipe?", f"{VALVE} {BEHIND}", (VALVE, BEHIND), (2.1, 1.0), None),
    ],
)
def test_what_has_less_of_the_question_does_not_stand_beside_what_answers(
    question: str, text: str, said: tuple[str, ...], odds: tuple[float, ...], kept: tuple[str, ...] | None
) -> None:
    answer_type = detect_answer_type(question)
    quotes = [
        DraftSentence(0, 0, text.index(one), text.index(one) + len(one), one, UnitKind.PROSE, 1.0) for one in said
    ]
    read = [replace(unit(0, one), start=quote.start, end=quote.end) for one, quote in zip(odds, quotes, strict=True)]
    part = build_subquery(question, answer_type, {})
    kind = question_kind(question, answer_type)
    left = without_farther(part, kind, quotes, [passage(1, "Notes", text)], read)
    assert tuple(one.text for one in left) == (said if kept is None else kept)

"""Rows and items that fit a question and that are not quoted."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from tests.unit.answering.test_extractive import passage

from agentic_rag.answering.extraction.extractive import DraftSentence, ExcludedSpans
from agentic_rag.answering.extraction.subquery import build_subquery
from agentic_rag.answering.extraction.text_units import UnitKind
from agentic_rag.answering.query.planner import detect_answer_type
from agentic_rag.answering.shapes.question_kind import question_kind
from agentic_rag.answering.siblings.left_out import MOST_ADDED, leaves_some_out, with_rest_of_list
from agentic_rag.retrieval.candidates import Passage

NAMES = "| Company | City | Employees |\n|---|---|---|\n"
NOTICES = (
    f"{NAMES}| Marine Terminal | Oakland | 39 |\n| Ports Shared | Oakland | 4 |\n| Harbour Cranes | Alameda | 12 |"
)
BRING = "For the dive bring:\n\n- a towel\n- a medical certificate\n- warm clothes\n\nParking is free."
IN_OAKLAND = "Which companies in Oakland gave notice?"


def quoted(said: str, text: str) -> tuple[DraftSentence, ...]:
    """`said` line by line as quotes of a text."""
    quotes = list[DraftSentence]()
    for line in said.splitlines():
        kind, start = UnitKind.TABLE_ROW if line.startswith("|") else UnitKind.LIST_ITEM, text.index(line)
        quotes.append(DraftSentence(0, 0, start, start + len(line), line, kind, 1.0))
    return tuple(quotes)


def leaves_out(question: str, said: str, *passages: Passage) -> bool:
    """Whether `said`, quoted line by line of the first passage, leaves some out."""
    answer_type = detect_answer_type(question)
    part = build_subquery(question, answer_type, {})
    quotes = quoted(said, passages[0].chunk.text)
    return leaves_some_out(part, question_kind(question, answer_type), quotes, passages)


@pytest.mark.parametrize(
    ("question", "said", "is_part"),
    [
        (IN_OAKLAND, "| Marine Terminal | Oakland | 39 |", True),
        (IN_OAKLAND, "| Marine Terminal | Oakland | 39 |\n| Ports Shared | Oakland | 4 |", False),
        (IN_OAKLAND, NOTICES, False),
        ("Which companies in Alameda gave notice?", "| Harbour Cranes | Alameda | 12 |", False),
        ("Which companies gave notice?", "| Marine Terminal | Oakland | 39 |\n| Ports Shared | Oakland | 4 |", True),
        ("Which company in Oakland has the most employees?", "| Marine Terminal | Oakland | 39 |", False),
        ("How many employees has Ports Shared?", "| Ports Shared | Oakland | 4 |", False),
    ],
)
def test_a_list_of_rows_is_whole_where_every_row_is_quoted_that_fits_as_well(
    question: str, said: str, *, is_part: bool
) -> None:
    assert leaves_out(question, said, passage(1, "Notices", NOTICES)) is is_part


@pytest.mark.parametrize(
    ("said", "is_part"),
    [
        ("- a towel\n- warm clothes", True),
        ("- a towel\n- a medical certificate\n- warm clothes", False),
        ("Parking is free.", False),
    ],
)
def test_a_list_is_whole_with_all_of_its_items(said: str, *, is_part: bool) -> None:
    assert leaves_out("What are the things to bring for the dive?", said, passage(1, "Diving", BRING)) is is_part


def test_an_item_that_names_several_things_may_be_the_list_that_is_asked_for() -> None:
    rooms = "- Rooms: hall, study and loft\n- Hours: 8 to 17\n- Keys: at the desk"
    assert not leaves_out("Which rooms are there?", "- Rooms: hall, study and loft", passage(1, "House", rooms))


def test_rows_of_the_same_table_in_another_passage_count() -> None:
    first = passage(1, "Notices", NOTICES)
    rows = "| Quay Cold Stores | Oakland | 7 |\n| Pier Works | Vallejo | 9 |\n\nEnd of the report."
    after = passage(2, "Notices", rows)
    chunk = replace(after.chunk, revision_id=first.chunk.revision_id, index=first.chunk.index + 1)
    said = "| Marine Terminal | Oakland | 39 |\n| Ports Shared | Oakland | 4 |"

    assert leaves_out(IN_OAKLAND, said, first, replace(after, chunk=chunk, table_head=NAMES))
    assert not leaves_out(IN_OAKLAND, said, first, replace(passage(3, "Notices of 2014", rows), table_head=NAMES))


def test_a_table_that_goes_on_where_nobody_looked_is_not_whole() -> None:
    rows = "\n".join(f"| Company {at} | Vallejo | {at} |" for at in range(10, 70))
    long = passage(1, "Notices", f"{NOTICES}\n{rows}")
    said = "| Marine Terminal | Oakland | 39 |\n| Ports Shared | Oakland | 4 |"

    first = passage(1, "Notices", NOTICES)
    later = passage(
        2, "Notices", f"{NAMES.splitlines()[0]}\n| Pier Works | Vallejo | 9 |\n| Pier Cranes | Vallejo | 1 |"
    )
    page = replace(later.chunk, revision_id=first.chunk.revision_id, index=first.chunk.index + 3)

    assert leaves_out(IN_OAKLAND, said, first, replace(later, chunk=page))
    assert leaves_out(IN_OAKLAND, said, long)
    assert not leaves_out(IN_OAKLAND, said, passage(1, "Notices", f"{long.chunk.text}\n\nEnd of the report."))


def completed(question: str, said: str, text: str, excluded: ExcludedSpans = frozenset()) -> list[str]:
    """What an answer says with the rest of the table or list that it quotes of."""
    answer_type = detect_answer_type(question)
    part, kind = build_subquery(question, answer_type, {}), question_kind(question, answer_type)
    return [
        one.text for one in with_rest_of_list(part, kind, quoted(said, text), [passage(1, "Notices", text)], excluded)
    ]


def test_what_fits_as_well_is_added() -> None:
    said = "| Marine Terminal | Oakland | 39 |"
    assert completed(IN_OAKLAND, said, NOTICES) == [said, "Ports Shared — City: Oakland; Employees: 4."]
    assert completed("What are the things to bring for the dive?", "- a towel", BRING) == [
        "- a towel",
        "a medical certificate.",
        "warm clothes.",
    ]
    assert completed("How many employees has Marine Terminal?", said, NOTICES) == [said]


def test_what_was_refused_or_is_too_much_is_not_added() -> None:
    said = "| Marine Terminal | Oakland | 39 |"
    refused = frozenset({(1, NOTICES.index("| Ports"))})
    many = NOTICES + "".join(f"\n| Company {at} | Oakland | {at} |" for at in range(MOST_ADDED))

    assert completed(IN_OAKLAND, said, NOTICES, refused) == [said]
    assert completed(IN_OAKLAND, said, many) == [said]


CABIN = "| Thing | In the cabin |\n|---|---|\n| Books | yes |\n| Laptops | yes |\n| Knives | no |\n| Pens | yes |"
POOL = "In the pool:\n\n- dogs may swim\n- children may swim\n- cats may not swim"


def test_what_is_denied_is_not_added_to_what_is_not() -> None:
    said = "| Books | yes |\n| Laptops | yes |"
    assert completed("Which things may travel?", said, CABIN)[2:] == ["Pens — In the cabin: yes."]
    assert completed("Which animals may swim?", "- dogs may swim", POOL)[1:] == ["children may swim."]
    rules = "In the pool:\n\n- wear a cap\n- do not run"
    assert completed("What are the rules in the pool?", "- wear a cap", rules)[1:] == ["do not run."]
    assert len(completed("Which things are there?", "| Books | yes |", CABIN)) == 4
    where = "| Inn | Town | Meals |\n|---|---|---|\n| Alder | Oslo | yes |\n| Birch | Oslo | no |"
    assert completed("Which inns are in Oslo?", "| Alder | Oslo | yes |", where)[1:] == [
        "Birch — Town: Oslo; Meals: no."
    ]


@pytest.mark.parametrize(
    ("question", "animals"),
    [
        (
            "Quais animais é permitido levar a nadar?",
            ("cães podem nadar", "crianças podem nadar", "gatos não podem nadar"),
        ),
        (
            "Welke dieren mogen zwemmen?",
            ("honden mogen zwemmen", "kinderen mogen zwemmen", "katten mogen niet zwemmen"),
        ),
        (
            "Quali animali possono nuotare?",
            ("cani possono nuotare", "bimbi possono nuotare", "gatti non possono nuotare"),
        ),
    ],
)
def test_what_is_denied_is_not_added_in_other_languages(question: str, animals: tuple[str, str, str]) -> None:
    text = "Pool:\n\n" + "\n".join(f"- {one}" for one in animals)
    assert completed(question, f"- {animals[0]}", text)[1:] == [f"{animals[1]}."]


def test_a_long_row_is_read_once() -> None:
    row = f"| Marine Terminal | {'Oakland ' * 6_000}|"
    text = f"{NAMES}{row}\n| Ports Shared | Oakland | 4 |"
    start = time.perf_counter()
    assert leaves_out(IN_OAKLAND, row, passage(1, "Notices", text))
    assert time.perf_counter() - start < 1

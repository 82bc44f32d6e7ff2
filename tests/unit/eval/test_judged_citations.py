"""The quality rows on citations: a right answer holds them, and every lie that is planted makes one miss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

import pytest
from tests.quality.citations import citation_rows, judge
from tests.unit.cli.product import answered

from agentic_rag.answering.answer import Answer, TextSpan
from agentic_rag_eval.citations import covered

SOURCE = "Preface. Oona Pellgrave signs off the audit. Mr. Tam flies. He lands at noon.[7] The end."
FIRST, SECOND = "Oona Pellgrave signs off the audit.", "Mr. Tam flies. He lands at noon.[7]"
TEXTS = {answered().answer.citations[0].revision_id: SOURCE}


def right() -> Answer:
    answer = answered().answer
    citations = tuple(
        replace(
            answer.citations[0],
            marker=marker,
            snippet=quote,
            source_span=TextSpan(SOURCE.index(quote), SOURCE.index(quote) + len(quote)),
        )
        for marker, quote in ((1, FIRST), (2, SECOND))
    )
    return replace(answer, text=f"{FIRST} [1] {SECOND} [2]", citations=citations)


def with_first(answer: Answer, **changes: object) -> Answer:
    first, *rest = answer.citations
    return replace(answer, citations=(replace(first, **changes), *rest))


LIES: dict[str, Callable[[Answer], Answer]] = {
    "another quote": lambda one: with_first(one, snippet="Oona Pellgrave signs off the budget."),
    "no quote": lambda one: with_first(one, snippet="", source_span=TextSpan(3, 3)),
    "another place": lambda one: with_first(one, source_span=TextSpan(10, 10 + len(FIRST))),
    "another revision": lambda one: with_first(one, revision_id=UUID(int=1)),
    "a citation that no marker names": lambda one: replace(one, text=f"{FIRST} [2] {SECOND} [2]"),
    "a marker without a citation": lambda one: replace(one, citations=one.citations[:1]),
    "a sentence without a marker": lambda one: replace(one, text=f"{FIRST} [1] She is never wrong. {SECOND} [2]"),
    "a last sentence without a marker": lambda one: replace(one, text=f"{one.text} She is never wrong."),
    "no markers at all": lambda one: replace(one, text=f"{FIRST} {SECOND}"),
}


def misses(*answers: Answer) -> list[str]:
    return [row.name for row in citation_rows([judge(one, TEXTS) for one in answers]) if not row.ok]


def test_a_right_answer_holds_both_rows() -> None:
    assert misses(right()) == []


def test_what_the_product_says_of_its_citations_is_not_read() -> None:
    assert misses(with_first(right(), verified=False)) == []


def test_a_reference_of_the_source_may_be_shown_in_round_brackets_and_must_be_the_same() -> None:
    quotes = {1: "It fell in Kenya [2], in Peru [3]. Nobody knows why."}

    assert covered("It fell in Kenya (2), in Peru (3). Nobody knows why. [1]", quotes) == [1.0, 1.0]
    assert covered("It fell in Kenya (3), in Peru (2). Nobody knows why. [1]", quotes) == [0.0, 1.0]


def test_a_reference_of_the_source_in_square_brackets_counts_as_a_marker() -> None:
    answer = replace(right(), text=f"{FIRST} [1] Mr. Tam [9] flies. He lands at noon.[7] [2]")

    assert "citation validity" in misses(answer)


@pytest.mark.parametrize("lie", LIES)
def test_every_planted_lie_makes_a_row_miss(lie: str) -> None:
    assert misses(*[right()] * 5, LIES[lie](right())) != []


TABLE = """\
| Class | Back in | Kept |
|---|---|---|
| `Gold` | 8:30 hours | -5 days |
| Tin | 9 hours | 14 days |

**Note:** none."""


def of_the_table(*shown: str) -> Answer:
    answer = right()
    quote = replace(answer.citations[0], marker=1, snippet=TABLE, source_span=TextSpan(0, len(TABLE)))
    return replace(answer, text="\n- ".join((*shown, "Tin — Back in: 9 hours [1]")), citations=(quote,))


def is_covered(answer: Answer) -> bool:
    return all(judge(answer, {answer.citations[0].revision_id: TABLE}).covered)


@pytest.mark.parametrize("shown", ["Gold — Back in: 8:30 hours; Kept: -5 days", "Tin: 9 hours; 14 days", "Note: none."])
def test_rows_and_emphasis_are_covered_by_the_table_they_come_from(shown: str) -> None:
    assert is_covered(of_the_table(shown))


@pytest.mark.parametrize(
    "lie",
    [
        "Gold — Back in: 9 hours; Kept: -5 days",
        "Gold — Back in: 830 hours; Kept: -5 days",
        "Gold — Back in: 8:30 hours; Kept: 5 days",
        "Gold — Kept: 8:30 hours; Back in: -5 days",
        "Gold — Back in: 8:30 hours; Kept: 14 days",
        "Silver — Back in: 8:30 hours; Kept: -5 days",
    ],
)
def test_a_row_with_a_cell_of_another_place_is_not_covered(lie: str) -> None:
    assert not is_covered(of_the_table(lie))

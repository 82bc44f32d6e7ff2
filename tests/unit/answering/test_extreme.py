"""The row with the extreme is told of whole tables alone, and of tables of what is asked for."""

from dataclasses import replace

import pytest
from tests.unit.answering.test_extractive import passage

from agentic_rag.answering.extraction.extractive import draft_part
from agentic_rag.answering.extraction.subquery import build_subquery
from agentic_rag.answering.plan import AnswerType
from agentic_rag.answering.shapes.extreme import LONGEST_WHOLE_TABLE, extreme_row
from agentic_rag.retrieval.candidates import Passage

HEAD = "# Ranges\n\n| Range | Price (£) |\n|---|---|\n"
ROWS = "| Ash | 1,240 |\n| Elm | 980 |\n| Oak | 1,015 |"


def rows_said(question: str, *passages: Passage) -> list[str]:
    part = build_subquery(question, AnswerType.FACT, {})
    draft = draft_part(part, 0, passages, 2)
    return [one.text.split(" ")[0] for one in extreme_row(part, 0, passages, draft, frozenset())]


def in_order(*texts: str) -> list[Passage]:
    """Chunks of one document."""
    found = [passage(place, "Price list", text) for place, text in enumerate(texts)]
    return [replace(one, chunk=replace(one.chunk, index=place)) for place, one in enumerate(found)]


def test_the_row_with_the_extreme_of_a_whole_table() -> None:
    assert rows_said("Which range is the cheapest?", *in_order(HEAD + ROWS)) == ["Elm"]
    assert rows_said("Which range is the cheapest?", *in_order(HEAD + ROWS, "## Terms\n\nPrices hold.")) == ["Elm"]


@pytest.mark.parametrize(
    "texts",
    [
        (HEAD + ROWS, "| Fir | 420 |\n\nPrices hold."),
        (HEAD + ROWS + "\n| Yew | 2,000 |" * (LONGEST_WHOLE_TABLE // 10),),
    ],
    ids=["the next chunk begins with a row", "the table may have been cut"],
)
def test_a_part_of_a_table_has_no_extreme(texts: tuple[str, ...]) -> None:
    assert rows_said("Which range is the cheapest?", *in_order(*texts)) == []


def test_the_rest_of_a_table_has_no_extreme() -> None:
    first, rest = in_order(HEAD + ROWS, "| Fir | 420 |\n| Yew | 400 |\n\nPrices hold.")
    assert rows_said("Which range is the cheapest?", replace(rest, table_head=HEAD.split("\n\n")[1])) == []
    assert rows_said("Which range is the cheapest?", first, rest) == []


def test_a_table_that_names_no_such_thing_has_no_extreme_of_it() -> None:
    assert rows_said("Which supplier has the highest price?", *in_order(HEAD + ROWS)) == []


@pytest.mark.parametrize(
    "question",
    [
        "Which ranges are below their minimum stock?",
        "Which ranges have more than the minimum stock?",
        "Which range exceeds the maximum price?",
    ],
)
def test_a_bound_that_things_have_asks_for_no_extreme(question: str) -> None:
    head = "# Ranges\n\n| Range | In hand | Minimum stock | Maximum price |\n|---|---|---|---|\n"
    stock = "| Ash | 4 | 6 | 20 |\n| Elm | 9 | 5 | 40 |\n| Oak | 3 | 1 | 30 |"

    assert rows_said(question, *in_order(head + stock)) == []
    assert rows_said("Which range has the minimum stock?", *in_order(head + stock)) == ["Oak"]

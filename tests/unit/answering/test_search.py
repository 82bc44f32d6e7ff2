"""Questions about a measure: the documents that are meant are searched for it, each by itself."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.unit.answering.answering_world import World
from tests.unit.answering.corpus import Corpus

from agentic_rag.answering.answer import Citation
from agentic_rag.answering.question import AnswerOptions, CacheMode
from agentic_rag.documents.document import DocumentFilter
from agentic_rag.retrieval.candidates import FIGURES

FEW = AnswerOptions(cache=CacheMode.BYPASS, top_k=4)
PERIODS = {"q1": "March 31, 2023", "q2": "June 30, 2023", "q3": "September 30, 2023"}
HEAD = "BALANCE SHEETS\n(In millions)\nAs of\n{}\nCurrent assets:\nCash 310"
PROSE = (
    "Risks to inventory levels: storms change the inventory levels of every port, and inventory may spoil. {}",
    "Inventory levels depend on demand; when demand for an inventory changes, levels of inventory change. {}",
    "The supply chain of inventory is long, and changes of inventory levels may be reported late. {}",
)
CHANGED = "How have Harbour's inventory levels changed?"


def _filed(company: str, place: int, quarter: str) -> tuple[str, ...]:
    days = f"{PERIODS[quarter]}\nDecember 31, 2022"
    table = f"{HEAD.format(days)} 290\nInventories 4,{place}19 5,159\nTotal assets 9,100 8,200"
    return (*(one.format(f"({company} {quarter})") for one in PROSE), table, "Signed for the company by its master.")


@pytest.fixture
async def world() -> AsyncIterator[World]:
    corpus = Corpus(support_threshold=0.0)
    for company in ("Harbour Inc.", "Gate Corp."):
        for place, quarter in enumerate(PERIODS, start=1):
            title = f"{company} Form 10-Q, quarterly period ended {PERIODS[quarter]} (2023-{quarter.upper()})"
            corpus.add(f"{company}-{quarter}.pdf", title, *_filed(company, place, quarter))
    made = World(corpus)
    yield made
    await made.recorder.aclose()


def _rows(citations: tuple[Citation, ...]) -> dict[str, str]:
    return {one.source_path: one.snippet for one in citations if one.snippet.startswith("Inventories")}


async def test_each_report_of_the_company_gives_its_row(world: World) -> None:
    answer = (await world.ask(CHANGED, options=FEW)).answer

    assert _rows(answer.citations) == {
        "Harbour Inc.-q1.pdf": "Inventories 4,119 5,159",
        "Harbour Inc.-q2.pdf": "Inventories 4,219 5,159",
        "Harbour Inc.-q3.pdf": "Inventories 4,319 5,159",
    }
    assert "Current assets: Inventories (in millions) — June 30, 2023: 4,219; December 31, 2022: 5,159" in answer.text


async def test_only_the_report_that_is_named_is_searched(world: World) -> None:
    answer = (await world.ask("What were Harbour's inventories in Q2 2023?", options=FEW)).answer

    assert _rows(answer.citations) == {"Harbour Inc.-q2.pdf": "Inventories 4,219 5,159"}


async def test_the_names_of_the_columns_are_cited_beside_the_row(world: World) -> None:
    answer = (await world.ask("What were Harbour's inventories in Q2 2023?", options=FEW)).answer

    row = next(one for one in answer.citations if one.snippet.startswith("Inventories"))
    head = next(one for one in answer.citations if one.marker == row.marker + 1)
    assert head.answer_spans == row.answer_spans
    assert "June 30, 2023\nDecember 31, 2022" in head.snippet


async def test_what_was_looked_for_by_the_measure_says_so_and_is_among_the_candidates(world: World) -> None:
    answer = (await world.ask(CHANGED, options=FEW)).answer

    looked_for = [one for one in answer.citations if one.origin == FIGURES]
    assert looked_for
    assert {one.chunk_id for one in looked_for} <= {one.chunk_id for one in answer.debug.candidates}
    assert all(one.arms for one in looked_for)


async def test_a_filter_narrows_what_is_looked_through(world: World) -> None:
    only = AnswerOptions(cache=CacheMode.BYPASS, filter=DocumentFilter(source_path_prefix="Harbour Inc.-q1"))

    answer = (await world.ask("What were Harbour's inventories?", options=only)).answer

    assert _rows(answer.citations).keys() <= {"Harbour Inc.-q1.pdf"}


async def test_a_question_for_no_measure_is_answered_as_ever(world: World) -> None:
    answer = (await world.ask("Who signed for Harbour in Q2 2023?", options=FEW)).answer

    assert all(one.origin != FIGURES for one in answer.citations)

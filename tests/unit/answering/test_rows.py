"""Questions about a measure are answered by rows of tables, and by sentences with its figures."""

from __future__ import annotations

import time
from dataclasses import replace
from uuid import UUID, uuid5

from agentic_rag.answering.extraction.text_units import UnitKind
from agentic_rag.answering.figures.borderless_tables import has_rows
from agentic_rag.answering.figures.measures import breakdown_concepts, measures_of
from agentic_rag.answering.figures.rows import FigureIndex, FigureQuote, years_of
from agentic_rag.documents.document import Chunk
from agentic_rag.language.tokenizer import tokenize

TABLE = """Harbour Inc.
STATEMENTS OF OPERATIONS
(In millions)
Three Months Ended
June 30,
2022 2023
Net sales:
Products 355 448
Services 104 186
Total net sales 459 634
Cost of sales 102 116
Operating expenses 212 229
"""
REGIONS = """SALES BY REGION
(In millions)
Three Months Ended
June 30,
2022 2023
North Sea
Net sales 255 348
Baltic
Net sales 204 286
"""
TEXT = (
    "The harbour was busy.\n\nNet sales of services grew by 79% to $186 million in the quarter because ships came. "
    "Service boats of 12 tons are sold at 4% less, and sales are slow."
)
WHOSE = "Harbour Inc. Form 10-Q, quarterly period ended {} (2023-Q{})"
FIRST, SECOND = WHOSE.format("March 31, 2023", 1), WHOSE.format("June 30, 2023", 2)


def chunk(ordinal: int, title: str, text: str, *headings: str) -> Chunk:
    document = uuid5(UUID(int=0), title)
    return Chunk(
        ordinal, uuid5(document, str(ordinal)), document, document, ordinal, text, 0, len(text), 1, 1, 1, headings,
        title, title, None, "application/pdf",
    )  # fmt: skip


def chosen(question: str, *chunks: Chunk, rows: int = 4, sentences: int = 4) -> list[FigureQuote]:
    measures = measures_of(question, frozenset(tokenize(FIRST)), {})
    pool = FigureIndex(chunks)
    pool.set_rarity(dict.fromkeys(pool.label_terms, 0.5))
    by = breakdown_concepts(question)
    if by is not None:
        return pool.table(measures, by, years_of(question), rows)
    return pool.quotes(measures, years_of(question), rows, sentences)


def said(quotes: list[FigureQuote]) -> list[str]:
    return [one.chunk.text[one.start : one.end] for one in quotes]


def test_the_row_comes_first_whose_label_is_the_measure():
    found = said(chosen("What were Harbour's operating costs?", chunk(1, FIRST, TABLE)))

    assert found[0] == "Operating expenses 212 229"


def test_the_cost_of_sales_is_no_revenue():
    found = said(chosen("What was Harbour's revenue?", chunk(1, FIRST, TABLE)))

    assert found[0] == "Total net sales 459 634"


def test_what_a_label_explains_in_brackets_does_not_make_it_of_something_else():
    page = TABLE.replace("Services 104", "Norway (including Northern Isles, Spitsbergen) 104")

    found = said(chosen("What was Harbour's revenue from Norway?", chunk(1, FIRST, page)))

    assert found[0] == "Norway (including Northern Isles, Spitsbergen) 104 186"


def test_the_part_is_asked_for_wherever_the_question_names_it():
    page = TABLE.replace("Services 104", "Blue Ferry 104")

    found = said(chosen("How much did Blue Ferry add to Harbour's revenue?", chunk(1, FIRST, page)))

    assert found[0] == "Blue Ferry 104 186"


def test_the_whole_goes_before_its_parts():
    found = said(chosen("What were Harbour's net sales?", chunk(1, FIRST, REGIONS), chunk(2, FIRST, TABLE)))

    assert found[0] == "Total net sales 459 634"


def test_every_document_gives_its_row_before_any_gives_a_second():
    pages = [chunk(1, FIRST, TABLE), chunk(2, SECOND, TABLE.replace("104 186", "186 204"))]

    found = chosen("How has Harbour's revenue from services changed?", *pages, rows=2)

    assert [(one.chunk.document_title, text) for one, text in zip(found, said(found), strict=True)] == [
        (FIRST, "Services 104 186"),
        (SECOND, "Services 186 204"),
    ]


def test_the_same_figures_in_two_tables_are_said_once():
    again = TABLE.replace("Total net sales 459 634", "Net sales $ 459 $ 634")

    found = said(chosen("What were Harbour's net sales?", chunk(1, FIRST, TABLE), chunk(2, FIRST, again)))

    assert sum("459" in quote for quote in found) == 1


def test_a_sentence_with_the_figure_follows_its_row():
    found = chosen("What was Harbour's revenue from services?", chunk(1, FIRST, TABLE), chunk(2, FIRST, TEXT))

    assert [one.kind for one in found[:2]] == [UnitKind.TABLE_ROW, UnitKind.PROSE]
    assert said(found)[1].startswith("Net sales of services grew by 79% to $186 million")


def test_a_sentence_is_quoted_without_the_row_it_was_read_together_with():
    page = "Total net sales 459 634\nBoats\nNet sales of boats grew by 12% in the quarter because ships came."

    found = said(chosen("What were Harbour's net sales of boats?", chunk(1, FIRST, page)))

    assert "Net sales of boats grew by 12% in the quarter because ships came." in found


def test_nothing_of_another_year_is_said():
    assert said(chosen("What were Harbour's operating expenses in 2023?", chunk(1, FIRST, TABLE)))
    assert said(chosen("What were Harbour's operating expenses in 2022?", chunk(1, FIRST, TABLE)))
    assert said(chosen("What were Harbour's operating expenses in 2019?", chunk(1, FIRST, TABLE))) == []


def test_a_breakdown_is_the_rows_of_the_table_in_their_order():
    pages = [chunk(1, FIRST, TABLE), chunk(2, FIRST, TEXT)]

    found = said(chosen("What was Harbour's revenue breakdown across its products?", *pages, rows=3))

    assert found == ["Products 355 448", "Services 104 186", "Total net sales 459 634"]


def test_a_breakdown_without_a_table_is_none():
    assert chosen("What was Harbour's revenue breakdown across its products?", chunk(2, FIRST, TEXT)) == []


def test_what_the_question_does_not_ask_for_is_left_out():
    assert chosen("What are Harbour's inventories?", chunk(1, FIRST, TABLE), chunk(2, FIRST, TEXT)) == []


def test_a_text_without_tables_holds_no_rows():
    assert has_rows(TABLE)
    assert not has_rows(TEXT)


def test_pages_of_unwrapped_prose_are_looked_through_at_once():
    page = "In 2021 the board met 4 times (3 in 1999); costs of $ 40 were reported to it in 12 months, 3 % late. "
    pages = [replace(chunk(place, "Minutes", page * 25), start=0) for place in range(1, 9)]

    started = time.process_time()

    chosen("How are costs reported to the board?", *pages)
    assert time.process_time() - started < 0.5

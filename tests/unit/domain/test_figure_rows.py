"""Questions about a measure are answered by rows of tables, from the filings they mean."""

from __future__ import annotations

import time
from dataclasses import replace
from uuid import UUID, uuid5

from agentic_rag.domain.answers import AnswerType
from agentic_rag.domain.documents import Chunk
from agentic_rag.domain.evidence import Passage
from agentic_rag.domain.figure_rows import asks_for_measure, figure_units, means_documents
from agentic_rag.domain.lexical import query_terms
from agentic_rag.domain.part_queries import part_query
from agentic_rag.domain.retrieval import Candidate
from agentic_rag.domain.synthesis import draft_part

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
Operating expenses 212 229
"""
TEXT = "The harbour was busy.\n\nNet sales of services grew by 79% to $186 million because more ships were served."
WHOSE = "Harbour Inc. Form 10-Q, quarterly period ended {} (2023-Q{})"


def passage(ordinal: int, title: str, text: str, score: float = 0.6) -> Passage:
    document = uuid5(UUID(int=0), title)
    chunk = Chunk(
        ordinal, uuid5(document, str(ordinal)), document, document, 0, text, 0, len(text), 1, 1, 1, (), title, title,
        None, "application/pdf",
    )  # fmt: skip
    return Passage(chunk, Candidate(ordinal, score - ordinal / 100, ()), (0,))


FIRST, SECOND = WHOSE.format("March 31, 2023", 1), WHOSE.format("June 30, 2023", 2)
FILED = [passage(1, SECOND, TABLE), passage(2, SECOND, TEXT), passage(3, FIRST, TABLE), passage(4, FIRST, TEXT)]


def quoted(question: str, passages: list[Passage]) -> list[tuple[str, str]]:
    part = part_query(question, AnswerType.FACT, dict.fromkeys(query_terms(question), 0.5))
    return [
        (passages[unit.passage].chunk.document_title, passages[unit.passage].chunk.text[unit.start : unit.end])
        for unit in figure_units(part, 0, passages)
    ]


def test_the_row_of_the_filing_that_is_meant_comes_first():
    assert quoted("What were Harbour's operating costs in Q2 2023?", FILED)[0] == (SECOND, "Operating expenses 212 229")


def test_over_all_filings_each_gives_its_row():
    found = quoted("How has Harbour's revenue from services changed?", FILED)

    assert found[:2] == [(SECOND, "Services 104 186"), (FIRST, "Services 104 186")]


def test_a_sentence_with_an_amount_follows_the_rows():
    found = quoted("What was Harbour's revenue from services in Q2 2023?", FILED)

    assert any("$186 million" in quote for _, quote in found)
    assert all(title == SECOND for title, _ in found)


def test_a_question_for_no_measure_gets_no_rows():
    assert not asks_for_measure("Who is the captain of the Harbour team?")
    assert quoted("Who is the captain of the Harbour team?", FILED) == []


def test_rows_that_the_question_does_not_ask_for_are_left_out():
    assert not any("Products" in quote for _, quote in quoted("What were Harbour's operating expenses?", FILED))


def test_without_rows_and_without_a_document_that_is_meant_nothing_is_added():
    notes = [passage(1, "Notes", TEXT), passage(2, "More notes", TEXT)]

    assert quoted("What are sales?", notes) == []
    assert quoted("What are sales?", []) == []


def test_only_the_titles_of_long_documents_are_meant():
    assert means_documents("How is Harbour's Q1 2023?", FILED)
    assert not means_documents("How is Harbour's Q1 2023?", [FILED[0], FILED[2]])


def test_two_short_documents_of_one_title_are_not_a_long_one():
    twins = [passage(place, f"{place}", TEXT) for place in range(4)]
    titled = [replace(one, chunk=replace(one.chunk, document_title=("Harbour", "Gate")[place % 2]))
              for place, one in enumerate(twins)]  # fmt: skip

    assert not means_documents("Who built the harbour?", titled)


def test_the_answer_names_the_columns_of_the_row_and_cites_it():
    question = "What were Harbour's operating expenses in Q2 2023?"
    part = part_query(question, AnswerType.FIGURE, dict.fromkeys(query_terms(question), 0.5))

    first = draft_part(part, 0, FILED, 2).sentences[0]

    assert first.text.startswith(f"{SECOND} — Operating expenses (in millions) — Three Months Ended June 30, 2022: 212")
    assert FILED[first.passage].chunk.text[first.start : first.end] == "Operating expenses 212 229"


def test_pages_of_unwrapped_prose_are_looked_through_at_once():
    page = "In 2021 the board met 4 times (3 in 1999); costs of $ 40 were reported to it in 12 months, 3 % late. "
    passages = [passage(place, "Minutes", page * 25) for place in range(1, 9)]

    started = time.process_time()

    quoted("How are costs reported to the board?", passages)
    assert time.process_time() - started < 0.5

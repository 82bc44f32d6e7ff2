"""A question about reports is not answered from what they say of something else."""

from __future__ import annotations

from uuid import UUID, uuid5

import pytest

from agentic_rag.answering.extraction.extractive import DraftSentence
from agentic_rag.answering.extraction.subquery import build_subquery
from agentic_rag.answering.extraction.text_units import UnitKind
from agentic_rag.answering.figures.finder import FinancialFigures
from agentic_rag.answering.figures.missing_facts import find_missing_fact
from agentic_rag.answering.plan import AnswerType
from agentic_rag.documents.document import Chunk
from agentic_rag.language.tokenizer import query_terms
from agentic_rag.retrieval.candidates import Candidate, Passage
from agentic_rag.retrieval.title_match import are_editions

TITLE = "Harbour Inc. Form 10-Q, quarterly period ended June 30, 2023 (2023-Q2)"
SALES = "Net sales of the ferry segment were $186 million."
TALK = "We sell advertising on the Blue Ferry, and the Red Ferry was announced."


EARLIER = "Harbour Inc. Form 10-Q, quarterly period ended June 30, 2022 (2022-Q2)"
GATE = "Gate Corp. Form 10-Q, quarterly period ended June 30, 2023 (2023-Q2)"
TOTAL = "Total net sales were $310 million."


def passage(text: str, ordinal: int = 1, title: str = TITLE) -> Passage:
    document = uuid5(UUID(int=0), title)
    chunk = Chunk(
        ordinal, uuid5(document, str(ordinal)), document, document, ordinal, text, 0, len(text), 1, 1, 1, (), title,
        title, None, "application/pdf",
    )  # fmt: skip
    return Passage(chunk, Candidate(ordinal, 0.5, ()))


PASSAGES = [passage(SALES), passage(TALK, 2)]


def said(place: int) -> DraftSentence:
    return quoting(PASSAGES[place], place)


def quoting(found: Passage, place: int, kind: UnitKind = UnitKind.PROSE) -> DraftSentence:
    text = found.chunk.text
    return DraftSentence(0, place, 0, len(text), text, kind, 1.0)


def missing_of(question: str, *quotes: tuple[str, str], kind: UnitKind = UnitKind.PROSE) -> str | None:
    """What is missing where the draft quotes these sentences of reports: (title, sentence)."""
    found = [passage(text, ordinal, title) for ordinal, (title, text) in enumerate(quotes, 1)]
    part = build_subquery(question, AnswerType.FACT, dict.fromkeys(query_terms(question), 0.5))
    return find_missing_fact(part, found, [quoting(one, place, kind) for place, one in enumerate(found)])


def missing(question: str, *places: int, kind: AnswerType = AnswerType.FACT) -> str | None:
    part = build_subquery(question, kind, dict.fromkeys(query_terms(question), 0.5))
    return find_missing_fact(part, PASSAGES, [said(place) for place in places])


@pytest.mark.parametrize(
    ("title", "text", "told"),
    [
        (TITLE, SALES, "“Gate”"),
        ("Harbour Inc., Half-Yearly Report, June 2023", SALES, "“Gate”"),
        ("Harbour 2023", "In millions\nTotal net sales 310 290", "“Gate”"),
        ("Minutes of 14 May 2023", "Keys are ordered at the office for 24 pounds each.", None),
    ],
)
def test_only_reports_are_held_to_the_facts_of_a_question(title: str, text: str, told: str | None):
    found = passage(text, title=title)
    part = build_subquery("What did Gate earn?", AnswerType.FACT, {"gate": 0.5, "earn": 0.5})
    assert FinancialFigures().missing_fact(part, [found], [quoting(found, 0)]) == told


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("What were Harbour's net sales in Q2 2023?", None),
        ("In Harbour's 10-Q, what were ferry sales?", None),
        ("What were Gate's net sales in Q2 2023?", "“Gate”"),
        ("What were Harbour's net sales in 2019?", "2019"),
        ("What were Harbour's net sales of the Night Boat?", "“Night Boat”"),
        ("What dividend did Harbour pay?", "a figure for “dividend”"),
    ],
)
def test_whose_it_is_when_and_what_must_be_said(question: str, told: str | None):
    assert missing(question, 0) == told


def test_a_thing_that_is_named_in_no_quote_has_no_figure():
    assert missing("What were Harbour's sales of the Red Ferry?", 0) == "“Red”"


@pytest.mark.parametrize(
    "question",
    [
        "What was Harbour's revenue from Blue Ferry in Q2 2023?",
        "What was Harbour's revenue in Q2 2023 from Blue Ferry?",
        "In Q2 2023, how much did Blue Ferry contribute to Harbour's revenue?",
        "What was the revenue of Harbour's Blue Ferry?",
    ],
)
@pytest.mark.parametrize(
    "named",
    [
        (TITLE, "The Blue Ferry is expected to sail in 2024."),
        (GATE, "Net sales of the Blue Ferry were $4 million."),
    ],
)
def test_a_figure_is_not_of_what_only_another_sentence_names(question: str, named: tuple[str, str]):
    assert missing_of(question, (TITLE, TOTAL), named) == "a figure for “Blue Ferry”"


def test_a_figure_of_another_year_is_not_asked_for():
    named = (EARLIER, "Net sales of the Blue Ferry were $4 million.")

    told = missing_of("What was Harbour's revenue from Blue Ferry in Q2 2023?", (TITLE, TOTAL), named)

    assert told == "a figure for “Blue Ferry”"
    assert missing_of("What was the revenue of Harbour's Blue Ferry?", (TITLE, TOTAL), named) is None


def test_the_sentence_that_names_it_with_its_figure_answers():
    question = "What was Harbour's revenue from Blue Ferry in Q2 2023?"

    assert missing_of(question, (TITLE, TOTAL), (TITLE, "Net sales of the Blue Ferry were $4 million.")) is None


@pytest.mark.parametrize("sentence", ["The Blue Ferry 90 has 85 seats.", "Sales of the Blue Ferry 90, a boat, fell."])
def test_a_figure_of_something_else_about_it_does_not(sentence: str):
    question = "What were Harbour's sales of the Blue Ferry 90 in Q2 2023?"

    assert missing_of(question, (TITLE, sentence)) == "a figure for “Blue Ferry”"


def test_a_row_is_of_the_kind_of_its_table_unless_it_says_another():
    question = "What was Harbour's net income from Blue Ferry in Q2 2023?"

    assert missing_of(question, (TITLE, "Blue Ferry 4 3"), kind=UnitKind.TABLE_ROW) is None
    assert missing_of(question, (TITLE, "Blue Ferry: Net sales 4 3"), kind=UnitKind.TABLE_ROW) is not None


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("What were Harbour's hovercraft sales in Q2 2023?", "a figure for “hovercraft”"),
        ("What were Harbour's night train sales in Q2 2023?", "a figure for “night train”"),
        ("How much revenue did Harbour earn from hovercrafts in Q2 2023?", "a figure for “hovercrafts”"),
        ("What was Harbour's revenue from its hovercraft business in Q2 2023?", "a figure for “hovercraft”"),
        ("What was Harbour's total revenue worldwide in Q2 2023?", None),
        ("What was Harbour's revenue in the Second Quarter of 2023?", None),
    ],
)
def test_a_thing_without_a_capital_is_named_by_the_figure_too(question: str, told: str | None):
    assert missing_of(question, (TITLE, TOTAL), (GATE, "Hovercraft and night train sales were $2 million.")) == told


def test_two_things_in_one_question_stand_in_one_sentence():
    ferry, norway = (
        (TITLE, "Net sales of the Blue Ferry were $4 million."),
        (TITLE, "Net sales in Norway were $9 million."),
    )

    together = "What were Harbour's net sales of the Blue Ferry in Norway in Q2 2023?"
    apart = "What were Harbour's net sales of the Blue Ferry and in Norway in Q2 2023?"

    assert missing_of(together, ferry, norway) == "a figure for “Blue Ferry” and “Norway” together"
    assert missing_of(apart, ferry, norway) is None


def test_what_is_said_of_a_measure_needs_no_figure_but_is_of_whose_it_is():
    question = "How did the Blue Ferry affect Harbour's revenue in Q2 2023?"

    assert missing_of(question, (TITLE, "The Blue Ferry helped net sales.")) is None
    assert missing_of(question, (TITLE, TOTAL), (GATE, "The Blue Ferry helped net sales.")) == "“Blue Ferry”"


def test_whose_it_is_may_be_named_without_having_anything():
    question = "What was the Norway revenue of Harbour in Q2 2023?"

    assert (
        missing_of(question, (TITLE, TOTAL), (GATE, "Net sales in Norway were $9 million.")) == "a figure for “Norway”"
    )
    assert missing_of(question, (TITLE, "Net sales in Norway were $9 million.")) is None


def test_the_word_that_opens_a_question_has_nothing():
    assert missing_of("Compare Harbour's net sales of 2022 and 2023.", (TITLE, TOTAL), (EARLIER, TOTAL)) is None


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("What was Harbour's backlog in Q2 2023?", "“backlog”"),
        ("What was Harbour's customer churn rate in Q2 2023?", "“customer churn”"),
    ],
)
def test_what_is_asked_for_must_be_said_where_it_is_no_measure(question: str, told: str):
    assert missing_of(question, (TITLE, TOTAL), (TITLE, "No customer stands for 10% of sales.")) == told


def test_a_name_may_stand_anywhere_where_no_measure_is_asked_for():
    assert missing("What did Harbour say of the Red Ferry?", 0) is None
    assert missing("What did Harbour say of the Green Ferry?", 0) == "“Green”"


def test_a_question_for_a_figure_wants_one():
    question = "How much did Harbour earn by advertising in Q2 2023?"

    assert missing(question, 1, kind=AnswerType.FIGURE) == "a figure for it"


def test_what_is_counted_must_be_said():
    question = "How many employees did Harbour have in 2023?"

    assert missing(question, 0, kind=AnswerType.FIGURE) == "“employees”"


def test_editions_are_long_documents_whose_titles_name_a_period():
    assert are_editions(PASSAGES)
    assert not are_editions(PASSAGES[:1])
    assert not are_editions([passage(SALES, 1, "Notes"), passage(TALK, 2, "Notes")])
    assert not are_editions([])


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What were the net sales of Harbour's competitors in the second quarter of 2023?", "“competitors”"),
        ("What were the average net sales of competitors?", "“competitors”"),
        ("What were the net sales of Harbour's segments in the second quarter of 2023?", None),
        ("What were the net sales of Harbour's ferry segment in the second quarter of 2023?", None),
    ],
)
def test_whoever_else_a_measure_is_asked_of_must_be_named(question: str, expected: str | None) -> None:
    assert missing(question, 0, kind=AnswerType.FIGURE) == expected

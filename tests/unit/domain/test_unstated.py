"""A question about reports is not answered from what they say of something else."""

from __future__ import annotations

from uuid import UUID, uuid5

import pytest

from agentic_rag.domain.answers import AnswerType
from agentic_rag.domain.document_fit import of_editions
from agentic_rag.domain.documents import Chunk
from agentic_rag.domain.evidence import Passage
from agentic_rag.domain.lexical import query_terms
from agentic_rag.domain.part_queries import part_query
from agentic_rag.domain.retrieval import Candidate
from agentic_rag.domain.sentence_units import UnitKind
from agentic_rag.domain.synthesis import DraftSentence
from agentic_rag.domain.unstated import unstated

TITLE = "Harbour Inc. Form 10-Q, quarterly period ended June 30, 2023 (2023-Q2)"
SALES = "Net sales of the ferry segment were $186 million."
TALK = "We sell advertising on the Blue Ferry, and the Red Ferry was announced."


def passage(text: str, ordinal: int = 1, title: str = TITLE) -> Passage:
    document = uuid5(UUID(int=0), title)
    chunk = Chunk(
        ordinal, uuid5(document, str(ordinal)), document, document, ordinal, text, 0, len(text), 1, 1, 1, (), title,
        title, None, "application/pdf",
    )  # fmt: skip
    return Passage(chunk, Candidate(ordinal, 0.5, ()))


PASSAGES = [passage(SALES), passage(TALK, 2)]


def said(place: int) -> DraftSentence:
    text = PASSAGES[place].chunk.text
    return DraftSentence(0, place, 0, len(text), text, UnitKind.PROSE, 1.0)


def missing(question: str, *places: int, kind: AnswerType = AnswerType.FACT) -> str | None:
    part = part_query(question, kind, dict.fromkeys(query_terms(question), 0.5))
    return unstated(part, PASSAGES, [said(place) for place in places])


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("What were Harbour's net sales in Q2 2023?", None),
        ("In Harbour's 10-Q, what were ferry sales?", None),
        ("What were Gate's net sales in Q2 2023?", "“Gate”"),
        ("What were Harbour's net sales in 2019?", "2019"),
        ("What were Harbour's net sales of the Night Boat?", "“Night Boat”"),
        ("What dividend did Harbour pay?", "the measure that is asked for"),
    ],
)
def test_whose_it_is_when_and_what_must_be_said(question: str, told: str | None):
    assert missing(question, 0) == told


def test_a_thing_that_is_named_in_no_quote_has_no_figure():
    assert missing("What were Harbour's sales of the Red Ferry?", 0) == "“Red”"


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
    assert of_editions(PASSAGES)
    assert not of_editions(PASSAGES[:1])
    assert not of_editions([passage(SALES, 1, "Notes"), passage(TALK, 2, "Notes")])
    assert not of_editions([])

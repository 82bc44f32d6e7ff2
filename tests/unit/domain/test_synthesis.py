"""What a part's sentences are, and in which order, is decided without a model."""

from __future__ import annotations

from uuid import UUID, uuid5

import pytest

from agentic_rag.domain.answers import AnswerType
from agentic_rag.domain.documents import Chunk
from agentic_rag.domain.evidence import Passage
from agentic_rag.domain.lexical import query_terms
from agentic_rag.domain.part_queries import part_query
from agentic_rag.domain.retrieval import Candidate
from agentic_rag.domain.synthesis import PartDraft, draft_part


def passage(ordinal: int, title: str, text: str, score: float = 0.6) -> Passage:
    document = uuid5(UUID(int=0), title)
    chunk = Chunk(
        ordinal, uuid5(document, str(ordinal)), document, document, 0, text, 0, len(text), 1, 1, 1, (), title, title,
        None, "application/pdf",
    )  # fmt: skip
    return Passage(chunk, Candidate(ordinal, score - ordinal / 100, ()), (0,))


def drafted(question: str, kind: AnswerType, passages: list[Passage]) -> PartDraft:
    part = part_query(question, kind, dict.fromkeys(query_terms(question), 0.5))
    return draft_part(part, 0, passages, 2)


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("Is the north gate locked at night?", "The north gate is locked at night."),
        ("Is Berlin larger than Hamburg?", "Hamburg is larger than Berlin."),
        ("Did the board approve the merger?", "The board refused to approve the merger."),
        ("Was the bridge closed in 2020?", "The bridge was closed in 2019 and reopened in 2020."),
        ("Was order 17 shipped?", "Order No. 17 was shipped."),
    ],
)
def test_a_yes_or_no_question_is_answered_by_what_the_source_says(question: str, sentence: str):
    found = drafted(question, AnswerType.YES_NO, [passage(1, "Notes", sentence)])

    assert [one.text for one in found.sentences] == [sentence]

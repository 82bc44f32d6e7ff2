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


ROWS = "(In millions)\n2022 2023\n" + "\n".join(f"Mooring costs 1,{place}04 1,{place}86" for place in range(1, 5))
SHARES = "Mooring costs grew by {} %.\n\nMooring costs fell by {} %."
FEES = "What were the mooring costs of the north quay?"
PLAIN = [
    passage(3, "Report one", ROWS, 0.4),
    passage(4, "Report two", ROWS, 0.4),
    passage(5, "Report one", SHARES.format(2, 3), 0.4),
    passage(6, "Report two", SHARES.format(4, 5), 0.4),
]
DISAGREEING = [
    passage(1, "Notes", "The mooring costs of the north quay were 40 euros for every ship.", 0.9),
    passage(2, "Rules", "The mooring costs of the north quay were 45 euros for every ship.", 0.9),
]


def test_the_row_leads_the_answer_to_a_question_for_a_figure():
    found = drafted(FEES, AnswerType.FIGURE, [DISAGREEING[0], *PLAIN])

    assert not found.conflicting
    assert "Mooring costs (in millions) — 2022: 1,104; 2023: 1,186" in found.sentences[0].text
    assert DISAGREEING[0].chunk.text in [one.text for one in found.sentences]


def test_sentences_that_disagree_lead_the_answer_before_any_row():
    found = drafted(FEES, AnswerType.FIGURE, [*DISAGREEING, *PLAIN])

    assert found.conflicting
    assert len(found.sentences) == 6
    assert {one.text for one in found.sentences[:2]} == {one.chunk.text for one in DISAGREEING}

"""Whether the sentences of a draft state such a thing as is asked for, or only speak of its subject."""

from __future__ import annotations

from collections.abc import Sequence

from agentic_rag.answering.extraction.answer_type_match import states_answer
from agentic_rag.answering.extraction.candidate_units import Subquery
from agentic_rag.answering.extraction.extractive import DraftSentence
from agentic_rag.answering.verification.citations import quotes_of
from agentic_rag.retrieval.candidates import Passage


def is_stated(part: Subquery, sentences: Sequence[DraftSentence], passages: Sequence[Passage]) -> bool:
    """True when a quote has a span of the type asked for that the question does not name."""
    quotes = (quote for sentence in sentences for quote in quotes_of(sentence))
    texts = (passages[one.passage].chunk.text[one.start : one.end] for one in quotes)
    return any(states_answer(text, part.answer_type, part.text) for text in texts)

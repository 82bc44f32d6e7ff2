"""Whether the sentences of a draft state such a thing as is asked for, or only speak of its subject."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from agentic_rag.answering.extraction.answer_type_match import asks_for_place, gives_reason, states_answer
from agentic_rag.answering.extraction.candidate_units import Subquery
from agentic_rag.answering.extraction.extractive import DraftSentence
from agentic_rag.answering.shapes.question_kind import QuestionKind
from agentic_rag.answering.verification.citations import quotes_of
from agentic_rag.retrieval.candidates import Passage

_PLACE = re.compile(
    r"\b(?:in|at|on|behind|under|near|next to|beside|between|above|below|inside|outside|into|from|to|via|opposite|"
    r"through|along|across) (?!(?:case|order|addition|fact|time|least|most|general|spite|particular|accordance)\b)"
    r"(?:(?:the|a|an|its|his|her|their|our|each|every|both|all) )?([^\W\d_][\w’'-]+)",
    re.IGNORECASE,
)
_SEVERAL = re.compile(r"[,;\n]| and | or ")
_REQUIRED: tuple[tuple[Callable[[Subquery, QuestionKind], bool], Callable[[str, Subquery], bool]], ...] = (
    (lambda part, kind: asks_for_place(part.text), lambda said, part: _names_place(said, part.text)),
    (lambda part, kind: kind is QuestionKind.LIST, lambda said, part: len(_SEVERAL.findall(said)) > 1),
    (lambda part, kind: kind is QuestionKind.REASON, lambda said, part: gives_reason(said)),
)
"""For each kind of question that asks for it: what the quotes must have to be more than the nearest text."""


def is_stated(part: Subquery, sentences: Sequence[DraftSentence], passages: Sequence[Passage]) -> bool:
    """True when a quote has a span of the type asked for that the question does not name."""
    return any(states_answer(text, part.answer_type, part.text) for text in _quotes(sentences, passages))


def has_form(
    part: Subquery, kind: QuestionKind, sentences: Sequence[DraftSentence], passages: Sequence[Passage]
) -> bool:
    """True when the quotes together have what a question of this kind asks for: a place, several things, a reason."""
    said = "\n".join(_quotes(sentences, passages))
    return all(holds(said, part) for asked, holds in _REQUIRED if asked(part, kind))


def _quotes(sentences: Sequence[DraftSentence], passages: Sequence[Passage]) -> list[str]:
    quotes = (quote for sentence in sentences for quote in quotes_of(sentence))
    return [passages[one.passage].chunk.text[one.start : one.end] for one in quotes]


def _names_place(said: str, question: str) -> bool:
    """True for a noun behind a preposition of place that the question does not have."""
    asked = frozenset(re.findall(r"[\w’'-]+", question.lower()))
    return any(match[1].lower() not in asked for match in _PLACE.finditer(said))

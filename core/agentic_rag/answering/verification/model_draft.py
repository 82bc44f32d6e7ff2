"""Turns a model's answer into a draft: only sentences whose quotes stand in the passages they name."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from agentic_rag.answering.extraction.extractive import DraftSentence
from agentic_rag.answering.extraction.text_units import UnitKind
from agentic_rag.answering.plan import SubQuestion
from agentic_rag.answering.prompts.synthesis import ClaimedAnswer, ClaimedQuote, ClaimedSentence
from agentic_rag.answering.verification.citations import quotes_of
from agentic_rag.kernel.text import fold_text
from agentic_rag.language.quote_matching import locate_quote
from agentic_rag.language.tables import is_row
from agentic_rag.retrieval.candidates import Passage

_MARKERS = "0123456789, "


@dataclass(frozen=True, slots=True)
class ModelDraft:
    """The part of a model's answer that goes on to the self-check."""

    sentences: tuple[DraftSentence, ...]
    missing: tuple[int, ...]
    """Positions of the parts that stay unanswered."""
    conflicting: bool


def draft_from_model(answer: ClaimedAnswer, passages: Sequence[Passage], parts: Sequence[SubQuestion]) -> ModelDraft:
    """The draft of an answer to `parts`. A part that another one waits for may be answered within that one."""
    drafted = [_draft_sentence(sentence, passages) for sentence in answer.sentences]
    sentences = tuple(dict.fromkeys(sentence for sentence in drafted if sentence is not None))
    answered = {sentence.part for sentence in sentences}
    lost = find_lost_parts({sentence.part for sentence in answer.sentences}, answered, parts)
    documents = {passages[quote.passage].chunk.document_id for one in sentences for quote in quotes_of(one)}
    return ModelDraft(
        sentences,
        tuple(sorted((set(answer.unanswered) - answered).union(lost))),
        answer.conflicting and len(documents) > 1,
    )


def find_lost_parts(before: Collection[int], after: Collection[int], parts: Sequence[SubQuestion]) -> tuple[int, ...]:
    """The parts that lost all their sentences in a check, except those that only lead to others."""
    steps = {place for part in parts for place in part.depends_on}
    return tuple(sorted(set(before) - set(after) - steps))


def _draft_sentence(sentence: ClaimedSentence, passages: Sequence[Passage]) -> DraftSentence | None:
    text = _without_markers(sentence.text)
    found: dict[tuple[int, int, int], DraftSentence] = {}
    for quote in sentence.quotes:
        span = _span(quote, passages)
        if span is not None and text:
            passage = passages[quote.passage]
            kind = _kind(passage.chunk.text, span)
            drafted = DraftSentence(sentence.part, quote.passage, *span, text, kind, passage.candidate.score)
            found.setdefault((quote.passage, *span), drafted)
    if not found:
        return None
    first, *others = found.values()
    return replace(first, more_quotes=tuple(others), is_model_text=True)


def _span(quote: ClaimedQuote, passages: Sequence[Passage]) -> tuple[int, int] | None:
    return locate_quote(quote.text, passages[quote.passage].chunk.text) if 0 <= quote.passage < len(passages) else None


def _kind(text: str, span: tuple[int, int]) -> UnitKind:
    """A quote within a table row is checked against the table's header too."""
    line = text[text.rfind("\n", 0, span[0]) + 1 :].split("\n", 1)[0]
    return UnitKind.TABLE_ROW if is_row(line) else UnitKind.PROSE


def _without_markers(text: str) -> str:
    """Without `[1]` and the like: citations are numbered when all of them are known."""
    pieces = text.split("[")
    kept = [pieces[0]]
    for piece in pieces[1:]:
        inside, closed, rest = piece.partition("]")
        if closed and inside and not inside.strip(_MARKERS):
            kept[-1] = kept[-1].rstrip()
            kept.append(rest)
        else:
            kept.append("[" + piece)
    return fold_text("".join(kept))

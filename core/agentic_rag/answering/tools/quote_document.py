"""The answer of a look-up: quotes of the document that it found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agentic_rag.answering.answer import AbstentionReason, Outcome
from agentic_rag.answering.extraction.candidate_units import quotable_units
from agentic_rag.answering.extraction.extractive import DraftSentence, opening_sentence, sentence_of
from agentic_rag.answering.extraction.text_units import UnitKind
from agentic_rag.answering.messages import Message, RunMessage
from agentic_rag.answering.run_state import RunState, Shortfall
from agentic_rag.answering.shapes.forms import quote_block
from agentic_rag.answering.shapes.summary import summaries_in
from agentic_rag.retrieval.candidates import Passage

INTRODUCING = 3
"""Sentences that introduce a document."""
MIN_WORDS = 6
"""Of a sentence that introduces one: shorter ones are names, dates and greetings."""


def quote_document(state: RunState) -> RunState | None:
    """A document that was asked for is quoted from its first sentence. One that was asked about is quoted by the
    section that sums it up, else by its first sentences, of which it is not established that they do. None where
    nothing was looked up, or the quotes were refused.
    """
    found = state.retrieved
    if found.opening is not None:
        first = opening_sentence((found.opening,), 0)
        return None if first is None else _with_quotes(state, (found.opening,), (first,), None)
    for block in summaries_in(found.introduction, range(len(found.introduction))):
        told = _with_quotes(state, found.introduction, (quote_block(block, found.introduction, 0),), None)
        if told is not None:
            return told
    doubt = Shortfall(AbstentionReason.NOT_ESTABLISHED, RunMessage(Message.NOT_ESTABLISHED), Outcome.UNCERTAIN)
    return _with_quotes(state, found.introduction, _first_sentences(found.introduction), doubt)


def _with_quotes(
    state: RunState, passages: tuple[Passage, ...], said: tuple[DraftSentence, ...], shortfall: Shortfall | None
) -> RunState | None:
    """The state with this draft; None without one, or where a self-check refused it."""
    places = {(passages[one.passage].chunk.ordinal, one.start) for one in said}
    if not said or places & state.checked.excluded:
        return None
    draft = replace(state.draft, sentences=said, shortfall=shortfall, missing=())
    return replace(state, retrieved=replace(state.retrieved, passages=passages), draft=draft)


def _first_sentences(passages: Sequence[Passage]) -> tuple[DraftSentence, ...]:
    """The first of the first passage with any; names, dates and tables above them are no introduction."""
    for place, passage in enumerate(passages):
        units = [
            unit
            for unit in quotable_units(passage, place)
            if unit.kind is UnitKind.PROSE and len(passage.chunk.text[unit.start : unit.end].split()) >= MIN_WORDS
        ]
        if units:
            return tuple(sentence_of(unit, passages, 0) for unit in units[:INTRODUCING])
    return ()

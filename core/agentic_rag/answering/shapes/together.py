"""Forms for an unsure choice: what stands together with the best unit is quoted whole."""

from __future__ import annotations

from collections.abc import Sequence

from agentic_rag.answering.extraction.answer_type_match import asks_for_place, gives_reason
from agentic_rag.answering.extraction.candidate_units import CandidateUnit, Subquery, segment_passage
from agentic_rag.answering.extraction.extractive import DraftSentence, ExcludedSpans, PartDraft
from agentic_rag.answering.extraction.segmented_text import Span
from agentic_rag.answering.extraction.term_matching import mask_of
from agentic_rag.answering.extraction.text_blocks import RankedBlock, TextBlock, TextBlockKind, find_blocks
from agentic_rag.answering.extraction.text_units import UnitKind, format_unit
from agentic_rag.answering.plan import AnswerType
from agentic_rag.answering.shapes.forms import LONGEST_BLOCK, is_excluded, quote_block
from agentic_rag.retrieval.candidates import Passage

MIN_NEAR = 3
"""Units of one block that come close to the best one: which of them answers is open."""
MIN_NEAR_ITEMS, MIN_NEAR_SHARE = 2, 1 / 3
"""The same of items of a list, and their share of it."""
MOST_TOGETHER = 4
"""Sentences of a section that is quoted whole."""
MOST_COMPARED = 4
"""Sentences of a paragraph that is quoted whole for a comparison."""


def block_of_near_units(
    part: Subquery, place: int, passages: Sequence[Passage], draft: PartDraft, excluded: ExcludedSpans
) -> tuple[DraftSentence, ...]:
    """The list, table or short section that holds the best unit, where others of it come close; none where a place or a
    value is asked for.
    """
    if not draft.ranked or part.answer_type not in (AnswerType.FACT, AnswerType.LIST) or asks_for_place(part.text):
        return ()
    best = draft.ranked[0]
    block = _block_around(best, passages[best.passage])
    if block is None:
        return ()
    near = sum(one.passage == best.passage and block.start <= one.start < block.end for one in draft.ranked)
    held = RankedBlock(best.passage, block, best.mask, best.context_mask, best.score)
    is_list = block.kind is TextBlockKind.LIST
    least = max(MIN_NEAR_ITEMS, MIN_NEAR_SHARE * len(block.parts)) if is_list else MIN_NEAR
    if near < least or is_excluded(held, passages, excluded):
        return ()
    return (quote_block(held, passages, place),)


def compared_together(
    part: Subquery, place: int, passages: Sequence[Passage], draft: PartDraft, excluded: ExcludedSpans
) -> tuple[DraftSentence, ...]:
    """The short paragraph of the best sentence, where it has something of the question that the sentence lacks: the
    other side.
    """
    if not draft.ranked or draft.ranked[0].kind is not UnitKind.PROSE:
        return ()
    best = draft.ranked[0]
    spans = _sentences_around(best, passages[best.passage])
    low = segment_passage(passages[best.passage]).low
    others = mask_of(low[spans[0][0] : spans[-1][1]], part.terms) & ~best.mask
    if not 1 < len(spans) <= MOST_COMPARED or not others or _refused(spans, passages[best.passage], excluded):
        return ()
    return (_quote(place, best, (spans[0][0], spans[-1][1]), passages),)


def with_reason(
    part: Subquery, place: int, passages: Sequence[Passage], draft: PartDraft, excluded: ExcludedSpans
) -> tuple[DraftSentence, ...]:
    """The best sentence that gives no reason with the one of its paragraph that does."""
    if not draft.units or draft.units[0].kind is not UnitKind.PROSE:
        return ()
    best = draft.units[0]
    passage = passages[best.passage]
    text = passage.chunk.text
    if gives_reason(text[best.start : best.end]):
        return ()
    spans = _sentences_around(best, passage)
    reasons = [span for span in spans if gives_reason(text[slice(*span)])]
    if not reasons or _refused(reasons, passage, excluded):
        return ()
    reason = min(reasons, key=lambda span: (abs(span[0] - best.start), span))
    both = sorted(((best.start, best.end), reason))
    return tuple(_quote(place, best, span, passages) for span in both)


def _block_around(unit: CandidateUnit, passage: Passage) -> TextBlock | None:
    """The smallest list, table or section with the unit; None where it is too long to be an answer."""
    held = [one for one in find_blocks(passage.chunk.text) if one.start <= unit.start < one.end]
    block = min(held, key=lambda one: one.end - one.start, default=None)
    if block is None or block.end - block.start > LONGEST_BLOCK:
        return None
    if block.kind is not TextBlockKind.SECTION:
        return block if len(block.parts) > 1 else None
    reading = segment_passage(passage)
    places = range(reading.block_of(block.start), reading.block_of(block.end - 1) + 1)
    many = sum(block.start <= start < block.end for at in places for start in reading.sentences(reading.block(at))[1])
    return block if many <= MOST_TOGETHER else None


def _sentences_around(unit: CandidateUnit, passage: Passage) -> list[Span]:
    """The prose of the unit's paragraph."""
    reading = segment_passage(passage)
    spans = reading.sentences(reading.block(reading.block_of(unit.start)))[0]
    return [span for span in spans if reading.kind(span) is UnitKind.PROSE]


def _refused(spans: Sequence[Span], passage: Passage, excluded: ExcludedSpans) -> bool:
    return any((passage.chunk.ordinal, span[0]) in excluded for span in spans)


def _quote(place: int, unit: CandidateUnit, span: Span, passages: Sequence[Passage]) -> DraftSentence:
    text = format_unit(passages[unit.passage].chunk.text[slice(*span)])
    return DraftSentence(place, unit.passage, *span, text, UnitKind.PROSE, unit.score)

"""The answers that a part may be given where no form decides: its best units, what stands beside them in their
paragraphs, the lists, tables and sections that hold them, and what a form of its kind proposes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from agentic_rag.answering.extraction.candidate_units import CandidateUnit, segment_passage
from agentic_rag.answering.extraction.extractive import DraftSentence, ExcludedSpans, PartDraft, add_openers
from agentic_rag.answering.extraction.segmented_text import Span
from agentic_rag.answering.extraction.text_blocks import RankedBlock, TextBlock, TextBlockKind, find_blocks
from agentic_rag.answering.extraction.text_units import UnitKind, format_unit
from agentic_rag.answering.shapes.forms import LONGEST_BLOCK, is_excluded, quote_block
from agentic_rag.answering.verification.citations import quotes_of
from agentic_rag.retrieval.candidates import Passage

BEST_UNITS = 6
"""Units, best first, around which answers are sought."""
WINDOWS = ((0, 1), (-1, 0), (0, 2), (-1, 1), (0, 3))
"""Sentences before and after a unit that are quoted with it."""
LONGEST_PARAGRAPH = 8
"""Sentences of a paragraph that is quoted whole."""


@dataclass(frozen=True, slots=True)
class CandidateAnswer:
    """Sentences that may answer: around the unit of this rank so many sentences before and after it, or the block that
    holds it.
    """

    sentences: tuple[DraftSentence, ...]
    rank: int = 0
    before: int = 0
    after: int = 0
    block: TextBlock | None = None
    is_proposed: bool = False
    """A form of the question's kind gives it."""

    @property
    def quotes(self) -> tuple[DraftSentence, ...]:
        """What it quotes."""
        return tuple(quote for one in self.sentences for quote in quotes_of(one))


def find_candidates(
    place: int,
    passages: Sequence[Passage],
    draft: PartDraft,
    excluded: ExcludedSpans,
    proposed: tuple[DraftSentence, ...] = (),
) -> list[CandidateAnswer]:
    """The draft itself and the other answers, `proposed` among them, none that quotes nothing or the same again."""
    found: dict[tuple[tuple[int, int, int], ...], CandidateAnswer] = {}
    for one in (*_all_candidates(place, passages, draft, excluded), CandidateAnswer(proposed, is_proposed=True)):
        if key := tuple((quote.passage, quote.start, quote.end) for quote in one.quotes):
            known = found.setdefault(key, one)
            if one.is_proposed:
                found[key] = replace(known, is_proposed=True)
    return list(found.values())


def _all_candidates(
    place: int, passages: Sequence[Passage], draft: PartDraft, excluded: ExcludedSpans
) -> Iterator[CandidateAnswer]:
    yield CandidateAnswer(draft.sentences)
    units = [one for one in draft.read if (passages[one.passage].chunk.ordinal, one.start) not in excluded]
    yield CandidateAnswer(tuple(add_openers(units[:2], passages, place, excluded)))
    for rank, unit in enumerate(units[:BEST_UNITS]):
        passage = passages[unit.passage]
        yield CandidateAnswer(tuple(add_openers([unit], passages, place, excluded)), rank)
        for before, after, span in _windows(unit, passage):
            if not any(known == passage.chunk.ordinal and span[0] <= at < span[1] for known, at in excluded):
                text = format_unit(passage.chunk.text[slice(*span)])
                said = DraftSentence(place, unit.passage, *span, text, UnitKind.PROSE, unit.score)
                yield CandidateAnswer((said,), rank, before, after)
        for block in _blocks_around(unit, passage):
            held = RankedBlock(unit.passage, block, unit.mask, unit.context_mask, unit.score)
            if not is_excluded(held, passages, excluded):
                yield CandidateAnswer((quote_block(held, passages, place),), rank, block=block)


def _windows(unit: CandidateUnit, passage: Passage) -> Iterator[tuple[int, int, Span]]:
    """The sentences of the unit's paragraph around it, and the paragraph, with how many stand before and after it."""
    if unit.kind is not UnitKind.PROSE:
        return
    spans = _prose_around(unit, passage)
    at = next((at for at, span in enumerate(spans) if span[0] == unit.start), None)
    if at is None:
        return
    whole = ((-at, len(spans) - 1 - at),) if len(spans) <= LONGEST_PARAGRAPH else ()
    for before, after in (*WINDOWS, *whole):
        if at + before >= 0 and at + after < len(spans):
            yield -before, after, (spans[at + before][0], spans[at + after][1])


def _prose_around(unit: CandidateUnit, passage: Passage) -> list[Span]:
    """The prose of the unit's paragraph."""
    reading = segment_passage(passage)
    spans = reading.sentences(reading.block(reading.block_of(unit.start)))[0]
    return [span for span in spans if reading.kind(span) is UnitKind.PROSE]


def _blocks_around(unit: CandidateUnit, passage: Passage) -> Iterator[TextBlock]:
    """The lists, tables and sections that the unit heads, announces or stands in, but for those that are too long."""
    for block in find_blocks(passage.chunk.text):
        heads = (span for span in (block.heading, block.lead, (block.start, block.end)) if span is not None)
        if block.end - block.start > LONGEST_BLOCK or not any(a < unit.end and unit.start < b for a, b in heads):
            continue
        if block.kind is TextBlockKind.SECTION or len(block.parts) > 1:
            yield block

"""The lists, tables and sections of retrieved passages, ranked by what they hold of a question."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from agentic_rag.answering.extraction.candidate_units import (
    CONTEXT_CREDIT,
    MIN_PASSAGE_RATIO,
    Subquery,
    passages_of_part,
    segment_passage,
)
from agentic_rag.answering.extraction.segmented_text import Span
from agentic_rag.answering.extraction.term_matching import lower_text, mask_of, weight_of
from agentic_rag.answering.extraction.text_blocks import RankedBlock, TextBlock, TextBlockKind, find_blocks
from agentic_rag.answering.extraction.unit_ranking import READING_WEIGHT
from agentic_rag.documents.document import Chunk
from agentic_rag.retrieval.candidates import Passage

HEADING_CREDIT = 0.5
"""What a term in the heading or lead-in of a block adds: it says what the block is about."""
RANK_CREDIT = 0.8
"""What the passage's fused score, relative to the first one's, adds: a heading alone is found in many a document."""
LENGTH_PENALTY = 0.1
"""For each `LENGTH_STEP` characters: a longer text holds more words by chance."""
LENGTH_STEP = 600


def rank_blocks(
    part: Subquery,
    position: int,
    passages: Sequence[Passage],
    kinds: Collection[TextBlockKind],
    *,
    whole: bool = False,
    only: re.Pattern[str] | None = None,
) -> list[RankedBlock]:
    """The blocks of these kinds with terms of the question (`whole`: all of them), best first; ties by passage, then
    offset. `only` must stand in the text of a passage.
    """
    ranked: list[RankedBlock] = []
    for place, passage, share in passages_of_part(position, passages, 0.0 if whole else MIN_PASSAGE_RATIO):
        chunk = passage.chunk
        if only is not None and only.search(chunk.text) is None:
            continue
        title = mask_of(lower_text(" ".join((chunk.document_title, *chunk.heading_path))), part.terms)
        reading = segment_passage(passage)
        hits, everywhere = reading.hits(part.terms), reading.mask(part.terms)
        for block in find_blocks(chunk.text):
            if block.kind not in kinds:
                continue
            own = _mask_in(hits, (block.start, block.end))
            headed = _mask_in(hits, block.heading) | _mask_in(hits, block.caption)
            if block.kind is TextBlockKind.LIST:
                headed |= _mask_in(hits, block.lead)
            if not whole and not own | headed:
                continue
            mask = own | headed
            above = title
            if everywhere & ~mask & ~title:
                for heading in reading.headings(reading.block_of(block.start))[:-1]:
                    above |= _mask_in(hits, heading)
            score = (
                weight_of(mask, part.terms)
                + (HEADING_CREDIT * weight_of(headed, part.terms) if not _is_title(block, chunk) else 0.0)
                + CONTEXT_CREDIT * weight_of(above & ~mask, part.terms)
                + RANK_CREDIT * share
                - LENGTH_PENALTY * (block.end - block.start) / LENGTH_STEP
            )
            ranked.append(RankedBlock(place, block, mask, headed | above, round(score, 6)))
    ranked.sort(key=lambda one: (-one.score, one.passage, one.block.start))
    return ranked


def rank_read_blocks(blocks: Sequence[RankedBlock], likeness: Sequence[float]) -> list[RankedBlock]:
    """The blocks best first, where `likeness` is that of each to the question."""
    most = max(likeness)
    scores = [round(one.score - READING_WEIGHT * (most - like), 6) for one, like in zip(blocks, likeness, strict=True)]
    ranked = [replace(one, score=score) for one, score in zip(blocks, scores, strict=True)]
    return sorted(ranked, key=lambda one: (-one.score, one.passage, one.block.start))


def _is_title(block: TextBlock, chunk: Chunk) -> bool:
    """True below the title of the document, which says nothing of this block."""
    return block.heading is not None and chunk.text[slice(*block.heading)].lstrip("# ") == chunk.document_title


def _mask_in(hits: Sequence[tuple[int, int]], span: Span | None) -> int:
    mask = 0
    if span is not None:
        for at, bit in hits:
            if span[0] <= at < span[1]:
                mask |= bit
    return mask

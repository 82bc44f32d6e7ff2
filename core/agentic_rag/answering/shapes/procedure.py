"""A procedure that its document tells in several numbered lists, one a stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agentic_rag.answering.extraction.candidate_units import Subquery
from agentic_rag.answering.extraction.extractive import DraftSentence
from agentic_rag.answering.extraction.segmented_text import Span
from agentic_rag.answering.extraction.term_matching import lower_text, mask_of
from agentic_rag.answering.extraction.text_blocks import RankedBlock, TextBlockKind, find_blocks
from agentic_rag.answering.shapes.forms import LONGEST_BLOCK, quote_block
from agentic_rag.retrieval.candidates import Passage

MOST_STAGES = 5


def quote_stages(
    one: RankedBlock, part: Subquery, passages: Sequence[Passage], place: int
) -> tuple[DraftSentence, ...]:
    """The numbered lists of a passage as one sentence with a quote each, under their headings, where none of these says
    more of what is asked than that of the list found; else none.
    """
    passage = passages[one.passage]
    text, asked = passage.chunk.text, part.text.lower()
    stages = [
        (block, block.heading)
        for block in find_blocks(text)
        if block.kind is TextBlockKind.LIST and block.heading is not None and text[block.start] == "1"
    ]
    names = [_name(text, heading) for _, heading in stages]
    held = [mask_of(lower_text(name), part.terms) for name in names]
    own = next((mask for (block, _), mask in zip(stages, held, strict=True) if block.start == one.block.start), None)
    if own is None or any(mask != own for mask in held) or any(name.lower() in asked for name in names):
        return ()
    length = sum(block.end - block.start for block, _ in stages)
    if not 1 < len(set(names)) == len(stages) <= MOST_STAGES or length > LONGEST_BLOCK:
        return ()
    first, *others = (_quote(replace(one, block=block), heading, passages, place) for block, heading in stages)
    return (replace(first, text="\n".join((first.text, *(other.text for other in others))), more_quotes=tuple(others)),)


def _quote(one: RankedBlock, heading: Span, passages: Sequence[Passage], place: int) -> DraftSentence:
    """A list; its heading is named, and quoted with it where it stands right above."""
    text, quoted = passages[one.passage].chunk.text, quote_block(one, passages, place)
    start = quoted.start if text[heading[1] : quoted.start].strip() else heading[0]
    return replace(quoted, start=start, text=f"{_name(text, heading)}\n{quoted.text}")


def _name(text: str, heading: Span) -> str:
    return text[slice(*heading)].strip("#*_ ")

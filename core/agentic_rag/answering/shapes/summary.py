"""The form of a summary: the section that sums a document up, else the one that the question is about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from uuid import UUID

from agentic_rag.answering.extraction.candidate_units import Subquery
from agentic_rag.answering.extraction.extractive import DraftSentence, ExcludedSpans, PartDraft
from agentic_rag.answering.extraction.term_matching import lower_text, mask_of, weight_of
from agentic_rag.answering.extraction.text_blocks import RankedBlock, TextBlockKind, find_blocks
from agentic_rag.answering.shapes.forms import LONGEST_BLOCK, quote_block
from agentic_rag.answering.shapes.rank_blocks import rank_blocks
from agentic_rag.language.words.word_table import Asked
from agentic_rag.language.words.word_tables import table_of
from agentic_rag.retrieval.candidates import Passage

MIN_TITLE_SHARE = 0.3
"""Of the question's weight in the title and file name of the document that it means."""
_SUMS_UP = re.compile(
    r"^[#\d.\s]*(?:(?:executive|management|short|brief|simple) )?(?:summary|abstract|overview|at a glance|key points|"
    r"main points|in brief|in short)\b",
    re.IGNORECASE,
)
"""A heading of a section that sums up its document."""


def summing_section(
    part: Subquery, place: int, passages: Sequence[Passage], draft: PartDraft, excluded: ExcludedSpans
) -> tuple[DraftSentence, ...]:
    """The section whose heading says that it sums up the document named in the question; else the section that holds
    most of the question, of that document where one is named.
    """
    meant = _document_meant(part, passages)
    of_it = [at for at, one in enumerate(passages) if meant in (None, one.chunk.document_id)]
    if meant is not None:
        told = next(summaries_in(passages, of_it), None)
        if told is not None:
            return (quote_block(told, passages, place),)
    for one in rank_blocks(part, place, passages, {TextBlockKind.SECTION}):
        ordinal = passages[one.passage].chunk.ordinal
        refused = any(ordinal == known and one.block.start <= at < one.block.end for known, at in excluded)
        if one.passage in of_it and not refused and one.block.end - one.block.start <= LONGEST_BLOCK:
            return (quote_block(one, passages, place),)
    return ()


def summaries_in(passages: Sequence[Passage], places: Sequence[int]) -> Iterator[RankedBlock]:
    """The sections of these passages whose headings say that they sum up their document, in the order given."""
    for at in places:
        text = passages[at].chunk.text
        for block in find_blocks(text):
            heading = "" if block.heading is None else text[slice(*block.heading)]
            if block.kind is TextBlockKind.SECTION and _sums_up(heading, text):
                yield RankedBlock(at, block, 0, 0, 0.0)


def _sums_up(heading: str, text: str) -> bool:
    table = table_of(text)
    wording = None if table is None else table.answers.get(Asked.SUMMARY)
    if wording is not None:
        return wording.pattern.match(heading) is not None
    return table is None and _SUMS_UP.match(heading) is not None


def _names_of(passage: Passage) -> str:
    return lower_text(f"{passage.chunk.document_title} {PurePath(passage.chunk.source_path).stem}")


def _document_meant(part: Subquery, passages: Sequence[Passage]) -> UUID | None:
    """The document whose title and file name hold more of the question than any other's; None where none stands out."""
    shares = {one.chunk.document_id: weight_of(mask_of(_names_of(one), part.terms), part.terms) for one in passages}
    ranked = sorted(shares.values(), reverse=True)
    if not ranked or ranked[0] < MIN_TITLE_SHARE or (len(ranked) > 1 and ranked[0] == ranked[1]):
        return None
    return max(shares, key=lambda document_id: shares[document_id])

"""The form of an answer that names several things: the items of a list, the rows of a table, an enumeration."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace

from agentic_rag.answering.extraction.candidate_units import Subquery, segment_passage
from agentic_rag.answering.extraction.extractive import DraftSentence, ExcludedSpans, PartDraft
from agentic_rag.answering.extraction.term_matching import holds_phrase, lower_text, mask_of, weight_of
from agentic_rag.answering.extraction.text_blocks import RankedBlock, TextBlockKind, find_blocks
from agentic_rag.answering.extraction.text_units import UnitKind, format_unit
from agentic_rag.answering.shapes.forms import (
    LONGEST_BLOCK,
    MIN_BLOCK_RATIO,
    is_excluded,
    quote_block,
    quote_row,
    ranked_blocks,
)
from agentic_rag.language.english import FUNCTION_WORDS
from agentic_rag.language.tables import is_row, split_cells
from agentic_rag.language.words.word_tables import function_words_of
from agentic_rag.retrieval.candidates import Passage

MIN_ALIKE = 2
"""Sentences that begin alike after one that announces them."""
_NAMES_SEVERAL = re.compile(r"[^,;:]+[,;] (?:[^,;]+[,;] )*[^,;]*\b(?:and|or)\b|[^;]+;[^;]+;")
"""At least three things: "A, B and C", "A; B; C"."""
MIN_ROW_SHARE = 0.1
"""Of the question's weight that tells some rows of a table from the others."""
_JOINED = re.compile(r"(?<![\w-])[\w-]{1,40}(?:, [\w-]{1,40}){0,11},? (?:and|or) [\w-]{1,40}(?![\w-])")
_JOINT = re.compile(r", ?(?:and |or )?| and | or ")
_TAKES_AWAY = re.compile(
    r"\b(?:not|no|never|nor|but|except\w*|exclud\w*|other than|apart from|outside|without|between|both)\b|n['’]t\b"
)
"""What is joined is not meant, not all of it, or only together."""
LONGEST_SECTION = 500
"""Characters of a section without a list, where items are asked for."""


def all_items(
    part: Subquery, place: int, passages: Sequence[Passage], draft: PartDraft, excluded: ExcludedSpans
) -> tuple[DraftSentence, ...]:
    """The items of the list, or the rows of the table, that holds what is asked for; else the section that does."""
    held = _list_of_best(draft, passages)
    if held is not None and not is_excluded(held, passages, excluded):
        return (quote_block(held, passages, place),)
    named = _enumeration(place, passages, draft)
    if named is not None:
        return (named,)
    if _is_row_of_several(draft, passages):
        return draft.sentences[:1]
    for one in ranked_blocks(part, place, passages, draft, frozenset(TextBlockKind)):
        if is_excluded(one, passages, excluded) or one.block.end - one.block.start > LONGEST_BLOCK:
            continue
        if draft.units and one.score < MIN_BLOCK_RATIO * draft.units[0].score:
            break
        block = one.block
        if block.kind is TextBlockKind.SECTION:
            inner = [
                held
                for held in find_blocks(passages[one.passage].chunk.text)
                if held.kind is not TextBlockKind.SECTION
                and block.start <= held.start < block.end
                and len(held.parts) > 1
            ]
            if len(inner) != 1 and block.end - block.start > LONGEST_SECTION:
                break
            if len(inner) == 1 and inner[0].kind is TextBlockKind.TABLE:
                return quote_rows(part, replace(one, block=inner[0]), passages, place)
            return (quote_block(replace(one, block=inner[0]) if len(inner) == 1 else one, passages, place),)
        if block.kind is TextBlockKind.TABLE and len(block.parts) > 1:
            return quote_rows(part, one, passages, place)
        if len(block.parts) > 1:
            return (quote_block(one, passages, place),)
    return ()


def _enumeration(place: int, passages: Sequence[Passage], draft: PartDraft) -> DraftSentence | None:
    """The best sentence where it names several things itself, or the sentences after it do that begin alike."""
    for unit in draft.units[:1]:
        reading = segment_passage(passages[unit.passage])
        if unit.kind is not UnitKind.PROSE:
            return None
        spans, starts = reading.sentences(reading.block(reading.block_of(unit.start)))
        first = bisect_left(starts, unit.end)
        heads = [reading.text[slice(*span)].split(" ", 1)[0] for span in spans[first:]]
        alike = next((at for at, head in enumerate(heads) if head != heads[0]), len(heads))
        end = unit.end
        if alike >= MIN_ALIKE and heads[0].lower() not in FUNCTION_WORDS | function_words_of(reading.text):
            end = spans[first + alike - 1][1]
        elif not _NAMES_SEVERAL.search(reading.text[unit.start : unit.end]):
            return None
        text = format_unit(reading.text[unit.start : end])
        return DraftSentence(place, unit.passage, unit.start, end, text, UnitKind.PROSE, unit.score)
    return None


def _is_row_of_several(draft: PartDraft, passages: Sequence[Passage]) -> bool:
    """True where the best unit is a row of a table with a cell that names several things."""
    for unit in draft.units[:1]:
        text = passages[unit.passage].chunk.text[unit.start : unit.end]
        if unit.kind is UnitKind.TABLE_ROW and is_row(text):
            return any(_NAMES_SEVERAL.search(cell) for cell in split_cells(text))
    return False


def _list_of_best(draft: PartDraft, passages: Sequence[Passage]) -> RankedBlock | None:
    """The list that the best unit heads, announces or is an item of."""
    for unit in draft.units[:1]:
        for block in find_blocks(passages[unit.passage].chunk.text):
            heads = [span for span in (block.heading, block.lead, (block.start, block.end)) if span is not None]
            if (
                block.kind is TextBlockKind.LIST
                and len(block.parts) > 1
                and block.end - block.start <= LONGEST_BLOCK
                and any(span[0] < unit.end and unit.start < span[1] for span in heads)
            ):
                return RankedBlock(unit.passage, block, unit.mask, unit.context_mask, unit.score)
    return None


def quote_rows(part: Subquery, one: RankedBlock, passages: Sequence[Passage], place: int) -> tuple[DraftSentence, ...]:
    """The rows that hold what the question says beside the names of table and columns; all rows where none does."""
    block, text = one.block, passages[one.passage].chunk.text
    above = one.above_mask
    if block.lead is not None:
        above |= mask_of(lower_text(text[slice(*block.lead)]), part.terms)
    worth = [
        round(weight_of(mask_of(lower_text(text[slice(*row)]), part.terms) & ~above, part.terms), 6)
        for row in block.parts
    ]
    joined = _rows_of_joined(part, [text[slice(*row)] for row in block.parts], above)
    if len(joined) == len(block.parts):
        return (quote_block(one, passages, place),)
    if joined:
        return tuple(quote_row(one, passages, place, block.parts[at]) for at in joined)
    best = max(worth)
    if best < MIN_ROW_SHARE or min(worth) == best:
        return (quote_block(one, passages, place),)
    kept = [row for row, share in zip(block.parts, worth, strict=True) if share == best]
    return tuple(quote_row(one, passages, place, row) for row in kept)


def _rows_of_joined(part: Subquery, rows: Sequence[str], above: int) -> list[int]:
    """The rows that each hold another of the things that the question joins ("in May and June"), of those that hold the
    most else; none where a row holds all of them, only one of them stands in the table, or the question takes them away
    ("in all months but May and June").
    """
    asked, low = part.text.lower(), [row.lower() for row in rows]
    if _TAKES_AWAY.search(asked):
        return []
    for found in _JOINED.finditer(asked):
        things = [one for one in _JOINT.split(found[0]) if one]
        held = [frozenset(one for one in things if holds_phrase(row, one)) for row in low]
        if len(frozenset[str]().union(*held)) < 2 or any(len(one) == len(things) for one in held):
            continue
        bits = mask_of(lower_text(found[0]), part.terms) | above
        worth = [round(weight_of(mask_of(lower_text(row), part.terms) & ~bits, part.terms), 6) for row in rows]
        best = max(share for share, one in zip(worth, held, strict=True) if one)
        return [at for at, one in enumerate(held) if one and worth[at] == best]
    return []

"""The quotable units of retrieved passages, scored against a question's content terms."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from agentic_rag.domain.answer_fit import fit
from agentic_rag.domain.answers import AnswerType
from agentic_rag.domain.evidence import Passage
from agentic_rag.domain.sentence_units import QUOTABLE, UnitKind, header_span, is_row, kind_of, row_spans
from agentic_rag.domain.sentences import sentence_spans
from agentic_rag.domain.term_match import QuestionTerm, hits, lowered, mask_of, weight_of

READ_PASSAGES = 4
"""Passages that are split into sentences: the ones that cover most of the question."""
BLOCKS_PER_PASSAGE = 3
UNITS_PER_BLOCK = 4
"""Paragraphs of a passage that are split, and units of one that are looked at closely."""
BLANK_LINE = "\n\n"
MAX_LIST_CHARACTERS = 700
"""A list is quoted whole up to this length, else item by item."""
MAX_VALUE_CHARACTERS = 60

CONTEXT_CREDIT = 0.6
"""What a term in the title or heading path counts, against 1 in the sentence itself."""
PASSAGE_CREDIT = 0.2
"""What a term elsewhere in the passage counts."""
RANK_CREDIT = 0.15
"""What the passage's fused score, relative to the first one's, adds."""
LONG_UNIT_WORDS = 60
LONG_UNIT_MALUS = 0.1


@dataclass(frozen=True, slots=True)
class PartQuery:
    """A part of the question as synthesis needs it."""

    text: str
    terms: tuple[QuestionTerm, ...]
    answer_type: AnswerType


@dataclass(frozen=True, slots=True)
class Unit:
    """A quotable unit: [start, end) of its passage's text, the terms it covers itself (`mask`), those of title and
    headings (`context`), and those of the whole passage.
    """

    passage: int
    start: int
    end: int
    kind: UnitKind
    mask: int
    context: int
    passage_mask: int
    score: float


@dataclass(frozen=True, slots=True)
class _Read:
    """A passage with its hits, before it is split."""

    position: int
    passage: Passage
    hits: list[tuple[int, int]]
    mask: int
    context: int
    value: float


def best_units(part: PartQuery, position: int, passages: Sequence[Passage]) -> list[Unit]:
    """The units that may answer a part, best first; ties by passage, then offset."""
    reads = _most_promising(part, position, passages)
    top = max((read.passage.candidate.score for read in reads), default=0.0) or 1.0
    units = [unit for read in reads for unit in _units_of(read, part, top)]
    units.sort(key=lambda unit: (-unit.score, unit.passage, unit.start))
    return units


def opening_unit(passage: Passage, position: int) -> Unit | None:
    """The first quotable unit of a passage: what a reader is shown when nothing matches."""
    text = passage.chunk.text
    for start, end in sentence_spans(text):
        kind = kind_of(text[start:end])
        if kind in QUOTABLE:
            return Unit(position, start, end, kind, 0, 0, 0, 0.0)
    return None


def _most_promising(part: PartQuery, position: int, passages: Sequence[Passage]) -> list[_Read]:
    reads: list[_Read] = []
    for place, passage in enumerate(passages):
        if position not in passage.parts:
            continue
        chunk = passage.chunk
        found = hits(lowered(chunk.text), part.terms)
        if not found:
            continue
        mask = 0
        for _, bit in found:
            mask |= bit
        context = mask_of(lowered(" ".join((chunk.document_title, *chunk.heading_path))), part.terms)
        value = weight_of(mask | context, part.terms) + 0.5 * passage.candidate.score
        reads.append(_Read(place, passage, found, mask, context, round(value, 6)))
    reads.sort(key=lambda read: (-read.value, read.position))
    return reads[:READ_PASSAGES]


def _units_of(read: _Read, part: PartQuery, top: float) -> list[Unit]:
    text = read.passage.chunk.text
    rank_bonus = RANK_CREDIT * read.passage.candidate.score / top
    units: list[Unit] = []
    for block_start, block_end, block_hits in _best_blocks(text, read.hits, part.terms):
        spans = _spans(text, block_start, block_end)
        masks = _masks(spans, block_hits)
        by_weight = sorted(masks.items(), key=lambda item: (-round(weight_of(item[1], part.terms), 6), item[0]))
        for place, mask in by_weight[:UNITS_PER_BLOCK]:
            unit = _unit(read, part, spans, masks, place, mask, rank_bonus)
            if unit is not None:
                units.append(unit)
    return units


def _best_blocks(
    text: str, found: list[tuple[int, int]], terms: Sequence[QuestionTerm]
) -> list[tuple[int, int, list[tuple[int, int]]]]:
    """The paragraphs (start, end, hits) that cover most of the question: no sentence crosses a blank line, and only
    what may be quoted is worth splitting.
    """
    ends: list[int] = []
    at = text.find(BLANK_LINE)
    while at >= 0:
        ends.append(at)
        at = text.find(BLANK_LINE, at + len(BLANK_LINE))
    ends.append(len(text))
    held: dict[int, list[tuple[int, int]]] = {}
    for hit in found:
        held.setdefault(bisect_right(ends, hit[0]), []).append(hit)
    weights: list[tuple[float, int]] = []
    for block, hits_of in held.items():
        mask = 0
        for _, bit in hits_of:
            mask |= bit
        weights.append((-round(weight_of(mask, terms), 6), block))
    weights.sort()
    blocks: list[tuple[int, int, list[tuple[int, int]]]] = []
    for _, block in weights[:BLOCKS_PER_PASSAGE]:
        end = ends[block]
        if text[:end].endswith(":") and block + 1 < len(ends):
            end = ends[block + 1]
        blocks.append((ends[block - 1] if block else 0, end, held[block]))
    return blocks


def _spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    block = text[start:end]
    return [(start + first, start + last) for first, last in row_spans(block, sentence_spans(block))]


def _masks(spans: list[tuple[int, int]], found: list[tuple[int, int]]) -> dict[int, int]:
    """The terms of each sentence that has any."""
    starts = [start for start, _ in spans]
    masks: dict[int, int] = {}
    for at, bit in found:
        place = bisect_right(starts, at) - 1
        if place >= 0 and at < spans[place][1]:
            masks[place] = masks.get(place, 0) | bit
    return masks


def _unit(
    read: _Read,
    part: PartQuery,
    spans: list[tuple[int, int]],
    masks: dict[int, int],
    place: int,
    mask: int,
    rank_bonus: float,
) -> Unit | None:
    """The quotable unit at a place of a block, scored; None for headings, fragments, boilerplate, header rows."""
    text = read.passage.chunk.text
    start, end = spans[place]
    kind = kind_of(text[start:end], cut_off=start == 0 and read.passage.chunk.start > 0)
    if kind is UnitKind.LEAD_IN:
        end, mask = _with_list(text, spans, masks, place)
    if kind is UnitKind.HEADING and _has_value(text, spans, place):
        kind, end = UnitKind.LABELLED, spans[place + 1][1]
    if kind not in QUOTABLE:
        return None
    context = read.context
    if kind is UnitKind.TABLE_ROW:
        header = header_span(text, start)
        if header is None and _is_header(text, end):
            return None
        if header is not None:
            context |= mask_of(lowered(text[header[0] : header[1]]), part.terms)
    score = _score(text[start:end], mask, context, read.mask, part) + rank_bonus
    return Unit(read.position, start, end, kind, mask, context, read.mask, round(score, 6))


def _has_value(text: str, spans: list[tuple[int, int]], place: int) -> bool:
    """True when a label without figures is followed by a line that is a figure with its unit."""
    if place + 1 >= len(spans):
        return False
    start, end = spans[place]
    value_start, value_end = spans[place + 1]
    label, value = text[start:end], text[value_start:value_end]
    return (
        text[end:value_start].strip(" ") == "\n"
        and len(value) <= MAX_VALUE_CHARACTERS
        and value[:2].strip("£$€~≈-")[:1].isdigit()
        and label[0] != "#"
        and not any(letter.isdigit() for letter in label)
    )


def _with_list(text: str, spans: list[tuple[int, int]], masks: dict[int, int], place: int) -> tuple[int, int]:
    """The end and terms of a lead-in together with the list items that follow it."""
    start, end = spans[place]
    mask = masks.get(place, 0)
    for after in range(place + 1, len(spans)):
        item_start, item_end = spans[after]
        if kind_of(text[item_start:item_end]) is not UnitKind.LIST_ITEM or item_end - start > MAX_LIST_CHARACTERS:
            break
        end = item_end
        mask |= masks.get(after, 0)
    return end, mask


def _is_header(text: str, end: int) -> bool:
    """True when a row of cells that has none above it has one below it."""
    following = text[end : end + 200].lstrip("\n\r ")
    return is_row(following.split("\n", 1)[0])


def _score(sentence: str, mask: int, context: int, passage: int, part: PartQuery) -> float:
    own = weight_of(mask, part.terms)
    above = weight_of(context & ~mask, part.terms)
    rest = weight_of(passage & ~mask & ~context, part.terms)
    malus = LONG_UNIT_MALUS if sentence.count(" ") >= LONG_UNIT_WORDS else 0.0
    return own + CONTEXT_CREDIT * above + PASSAGE_CREDIT * rest + fit(sentence, part.answer_type, part.text) - malus


def starts_midway(sentence: str) -> bool:
    """True when a sentence leans on the one before it."""
    return _DANGLING.match(sentence) is not None


_DANGLING = re.compile(
    r"^(?:It|Its|This|These|They|Their|Those|He|She|His|Her|Such|However|Therefore|Thus|But|Also|Otherwise|Instead|"
    r"In addition|Moreover|Furthermore|Hence|So|Then|Both|The (?:former|latter|same))\b"
)

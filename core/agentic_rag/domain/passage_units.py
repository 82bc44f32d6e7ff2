"""The quotable units of retrieved passages, scored against a question's content terms."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from agentic_rag.domain.answer_fit import fit, holds
from agentic_rag.domain.answers import AnswerType
from agentic_rag.domain.chunk_reading import READINGS, ChunkReading, Span
from agentic_rag.domain.evidence import Passage
from agentic_rag.domain.sentence_units import QUOTABLE, UnitKind
from agentic_rag.domain.tables import header_span, is_header, is_row
from agentic_rag.domain.term_match import QuestionTerm, hits, lowered, mask_of, weight_of

BLOCKS_PER_PASSAGE = 4
UNITS_PER_BLOCK = 4
"""Paragraphs of a passage that are split, and units of one that are looked at closely."""
MAX_LIST_CHARACTERS = 700
"""A list is quoted whole up to this length, else item by item."""
MAX_VALUE_CHARACTERS = 60

CONTEXT_CREDIT = 0.75
"""What a term in the title, a heading or the table's header counts, against 1 in the sentence itself."""
NEAR_CREDIT = 0.25
"""What a term in the sentence before or after counts."""
PASSAGE_CREDIT = 0.2
"""What a term elsewhere in the passage counts."""
RANK_CREDIT = 0.35
"""What the passage's fused score, relative to the first one's, adds."""
BEST_FIT = 0.2
"""The most that `answer_fit.fit` adds."""
WORTH_READING = 0.8
"""What cannot reach this share of the best unit's score is not read any further."""
LONG_UNIT_WORDS = 60
LONG_UNIT_MALUS = 0.1


@dataclass(frozen=True, slots=True)
class PartQuery:
    """A part of the question as synthesis needs it. `marks` are the figures and identifiers it names, lower case;
    `names` are the bits of the terms that it writes as names, `asked` that of the noun it asks for.
    """

    text: str
    terms: tuple[QuestionTerm, ...]
    answer_type: AnswerType
    marks: tuple[str, ...] = ()
    names: int = 0
    asked: int = 0
    found: tuple[str, ...] = ()
    """Names that an earlier part found, lower case: evidence for this one must name one of them."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A quotable unit: [start, end) of its passage's text, the terms it covers itself (`mask`), those of title,
    headings and table header (`context`), of the sentences beside it (`near`), and of the whole passage.
    """

    passage: int
    start: int
    end: int
    kind: UnitKind
    mask: int
    context: int
    near: int
    passage_mask: int
    fits: bool
    """It has the figure, date or name that is asked for."""
    around: Span
    """Where the unit stands with the sentences beside it."""
    heading: Span | None
    score: float


@dataclass(frozen=True, slots=True)
class _Read:
    """A passage with its hits, before it is split; no unit of it scores more than `bound`."""

    position: int
    passage: Passage
    reading: ChunkReading
    hits: list[tuple[int, int]]
    mask: int
    context: int
    rank_bonus: float
    bound: float


def best_units(part: PartQuery, position: int, passages: Sequence[Passage]) -> list[Unit]:
    """The units that may answer a part, best first; ties by passage, then offset."""
    units: list[Unit] = []
    best = 0.0
    for read in _most_promising(part, position, passages):
        if read.bound < WORTH_READING * best:
            break
        found = _units_of(read, part, best)
        best = max(best, max((unit.score for unit in found), default=0.0))
        units += found
    units.sort(key=lambda unit: (-unit.score, unit.passage, unit.start))
    return units


def reading_of(passage: Passage) -> ChunkReading:
    """The reading of a passage's text."""
    return READINGS.of(passage.chunk.text, passage.chunk.start > 0)


def opening_unit(passage: Passage, position: int) -> Unit | None:
    """The first quotable unit of a passage: what a reader is shown when nothing matches."""
    reading = reading_of(passage)
    for place in range(len(reading.ends)):
        for span in reading.sentences(reading.block(place))[0]:
            kind = reading.kind(span)
            if kind in QUOTABLE:
                return Unit(position, *span, kind, 0, 0, 0, 0, False, span, None, 0.0)
    return None


def _most_promising(part: PartQuery, position: int, passages: Sequence[Passage]) -> list[_Read]:
    top = max((passage.candidate.score for passage in passages if position in passage.parts), default=0.0) or 1.0
    contexts: dict[tuple[str, tuple[str, ...]], int] = {}
    reads: list[_Read] = []
    for place, passage in enumerate(passages):
        if position not in passage.parts:
            continue
        chunk = passage.chunk
        reading = reading_of(passage)
        found = hits(reading.low, part.terms)
        if not found:
            continue
        mask = 0
        for _, bit in found:
            mask |= bit
        named = (chunk.document_title, chunk.heading_path)
        if named not in contexts:
            contexts[named] = mask_of(lowered(" ".join((chunk.document_title, *chunk.heading_path))), part.terms)
        context = contexts[named]
        rank_bonus = RANK_CREDIT * passage.candidate.score / top
        above = weight_of(context & ~mask, part.terms)
        bound = weight_of(mask, part.terms) + CONTEXT_CREDIT * above + rank_bonus + BEST_FIT
        reads.append(_Read(place, passage, reading, found, mask, context, rank_bonus, round(bound, 6)))
    reads.sort(key=lambda read: (-read.bound, read.position))
    return reads


def _units_of(read: _Read, part: PartQuery, best: float) -> list[Unit]:
    units: list[Unit] = []
    for place, mask, found in _best_blocks(read, part.terms):
        rest = read.mask & ~mask
        bound = weight_of(mask, part.terms) + CONTEXT_CREDIT * weight_of(rest | read.context & ~mask, part.terms)
        if bound + read.rank_bonus + BEST_FIT < WORTH_READING * best:
            continue
        block = read.reading.block(place)
        spans, starts = read.reading.sentences(block)
        masks = _masks(spans, starts, found)
        heading = read.reading.heading(place)
        by_weight = sorted(masks.items(), key=lambda item: (-round(weight_of(item[1], part.terms), 6), item[0]))
        for at, _ in by_weight[:UNITS_PER_BLOCK]:
            unit = _unit(read, part, _Block(spans, masks, heading), at)
            if unit is not None:
                units.append(unit)
                best = max(best, unit.score)
    return units


@dataclass(frozen=True, slots=True)
class _Block:
    """A paragraph's sentences, the terms of those that have any, and its heading."""

    spans: list[Span]
    masks: dict[int, int]
    heading: Span | None


def _best_blocks(read: _Read, terms: Sequence[QuestionTerm]) -> list[tuple[int, int, list[tuple[int, int]]]]:
    """The paragraphs (place, terms, hits) that cover most of the question: no sentence crosses a blank line, and only
    what may be quoted is worth splitting.
    """
    held: dict[int, list[tuple[int, int]]] = {}
    for hit in read.hits:
        held.setdefault(read.reading.block_of(hit[0]), []).append(hit)
    weighed: list[tuple[float, int, int]] = []
    for place, found in held.items():
        mask = 0
        for _, bit in found:
            mask |= bit
        weighed.append((-round(weight_of(mask, terms), 6), place, mask))
    weighed.sort()
    blocks: list[tuple[int, int, list[tuple[int, int]]]] = []
    for _, place, mask in weighed[:BLOCKS_PER_PASSAGE]:
        found = held[place]
        if read.reading.block(place)[1] > read.reading.ends[place]:
            found = found + held.get(place + 1, [])
        blocks.append((place, mask, found))
    return blocks


def _masks(spans: list[Span], starts: list[int], found: list[tuple[int, int]]) -> dict[int, int]:
    """The terms of each sentence that has any."""
    masks: dict[int, int] = {}
    for at, bit in found:
        place = bisect_right(starts, at) - 1
        if place >= 0 and at < spans[place][1]:
            masks[place] = masks.get(place, 0) | bit
    return masks


def _unit(read: _Read, part: PartQuery, block: _Block, place: int) -> Unit | None:
    """The quotable unit at a place of a block, scored; None for headings, fragments, boilerplate, header rows."""
    text, spans, mask = read.passage.chunk.text, block.spans, block.masks[place]
    (start, end), last = spans[place], place
    kind = read.reading.kind(spans[place])
    if kind is UnitKind.LEAD_IN:
        last, mask = _with_list(read.reading, block, place)
        end = spans[last][1]
    label = _label_start(text, spans, place) if kind in (UnitKind.HEADING, UnitKind.TABLE_ROW) else None
    if label is not None:
        start, kind, last = label, UnitKind.LABELLED, place + 1
        end = spans[last][1]
    if kind not in QUOTABLE:
        return None
    around = (spans[max(0, place - 1)][0], spans[min(len(spans) - 1, last + 1)][1])
    if part.found and not _names_one_of(part.found, read, around, block.heading):
        return None
    context = read.context
    if block.heading is not None:
        context |= mask_of(read.reading.low[slice(*block.heading)], part.terms)
    if kind is UnitKind.TABLE_ROW and is_row(text[start:end]):
        if is_header(text, start, end):
            return None
        header = header_span(text, start)
        if header is not None:
            context |= mask_of(read.reading.low[slice(*header)], part.terms)
    near = block.masks.get(place - 1, 0) | block.masks.get(last + 1, 0)
    sentence = text[start:end]
    fits = holds(sentence, part.answer_type, part.text)
    score = _score(sentence, (mask, context, near, read.mask), part, fits=fits) + read.rank_bonus
    return Unit(
        read.position, start, end, kind, mask, context, near, read.mask, fits, around, block.heading, round(score, 6)
    )


def _names_one_of(names: tuple[str, ...], read: _Read, around: Span, heading: Span | None) -> bool:
    """True when a name stands in a stretch of the passage, its heading, or the title or headings of the chunk."""
    low, chunk = read.reading.low, read.passage.chunk
    above = lowered(" ".join((chunk.document_title, *chunk.heading_path)))
    headed = "" if heading is None else low[slice(*heading)]
    return any(name in low[slice(*around)] or name in headed or name in above for name in names)


def _label_start(text: str, spans: list[Span], place: int) -> int | None:
    """Where the label starts that is the last line of a unit without figures in it and is followed by a line that is a
    figure with its unit; None when there is none.
    """
    if place + 1 >= len(spans):
        return None
    end = spans[place][1]
    start = max(spans[place][0], text.rfind("\n", 0, end) + 1)
    value_start, value_end = spans[place + 1]
    label, value = text[start:end], text[value_start:value_end]
    labelled = (
        text[end:value_start].strip(" ") == "\n"
        and len(value) <= MAX_VALUE_CHARACTERS
        and value[:2].strip("£$€~≈-")[:1].isdigit()
        and label[0] != "#"
        and label[-1] not in ".:;|"
        and not any(letter.isdigit() for letter in label)
    )
    return start if labelled else None


def _with_list(reading: ChunkReading, block: _Block, place: int) -> tuple[int, int]:
    """The last place and the terms of a lead-in together with the list items that follow it."""
    spans, last = block.spans, place
    mask = block.masks.get(place, 0)
    for after in range(place + 1, len(spans)):
        too_long = spans[after][1] - spans[place][0] > MAX_LIST_CHARACTERS
        if too_long or reading.kind(spans[after]) is not UnitKind.LIST_ITEM:
            break
        last = after
        mask |= block.masks.get(after, 0)
    return last, mask


def _score(sentence: str, masks: tuple[int, int, int, int], part: PartQuery, *, fits: bool) -> float:
    mask, context, near, passage = masks
    credit = (
        weight_of(mask, part.terms)
        + CONTEXT_CREDIT * weight_of(context & ~mask, part.terms)
        + NEAR_CREDIT * weight_of(near & ~mask & ~context, part.terms)
        + PASSAGE_CREDIT * weight_of(passage & ~mask & ~context & ~near, part.terms)
    )
    malus = LONG_UNIT_MALUS if sentence.count(" ") >= LONG_UNIT_WORDS else 0.0
    return credit + fit(sentence, part.answer_type, part.text, fits=fits) - malus


def starts_midway(sentence: str) -> bool:
    """True when a sentence leans on the one before it."""
    return _DANGLING.match(sentence) is not None


_DANGLING = re.compile(
    r"^(?:It|Its|This|These|They|Their|Those|He|She|His|Her|Such|However|Therefore|Thus|But|Also|Otherwise|Instead|"
    r"In addition|Moreover|Furthermore|Hence|So|Then|Both|The (?:former|latter|same))\b"
)

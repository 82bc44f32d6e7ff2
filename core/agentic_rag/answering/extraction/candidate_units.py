"""The quotable units of retrieved passages, scored against a question's content terms."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agentic_rag.answering.extraction.answer_type_match import answer_type_bonus, max_type_bonus, states_answer
from agentic_rag.answering.extraction.segmented_text import SegmentedText, Span, segment_text
from agentic_rag.answering.extraction.term_matching import QuestionTerm, lower_text, mask_of, weight_of
from agentic_rag.answering.extraction.text_units import QUOTABLE, UnitKind, label_start
from agentic_rag.answering.plan import AnswerType
from agentic_rag.language.tables import CELL_SEPARATOR, caption_span, header_span, is_header, is_page_foot, is_row
from agentic_rag.language.words.word_tables import table_of
from agentic_rag.retrieval.candidates import Passage

MAX_PARAGRAPHS = 16
MIN_PASSAGE_RATIO = 0.65
"""Passages whose fused score is below this share of the first passage's are skipped."""
UNITS_PER_BLOCK = 4
"""Paragraphs that are split at most, and units of one that are looked at closely."""
ROWS_PER_BLOCK = 12
"""The same where a list is asked for and the paragraph holds a table: its rows may answer by what heads them."""
MAX_LIST_CHARACTERS = 700
"""A list is quoted whole up to this length, else item by item."""

CONTEXT_CREDIT = 0.75
"""Weight of a term in the title, a heading or the table's header; a term in the sentence itself weighs 1."""
NEAR_CREDIT = 0.25
"""Weight of a term in the sentence before or after."""
PASSAGE_CREDIT = 0.2
"""Weight of a term elsewhere in the passage."""
RANK_CREDIT = 0.35
"""What the passage's fused score, relative to the first one's, adds."""
MIN_READING_RATIO = 0.8
"""Paragraphs and units that cannot reach this share of the best unit's score are skipped."""
LONG_UNIT_WORDS = 60
LONG_UNIT_PENALTY = 0.1
FRONT_PENALTY = 0.3
"""What a line loses that names its document (title, number, date, owner), unless the document is asked about."""
_ABOUT_DOCUMENT = re.compile(
    r"\b(?:version|edition|revision|issue|owner|author|approved|in force|dated|document|wrote|written|maintain\w*|"
    r"responsible|stand|ausgabe|fassung|versión|edición)\b",
    re.IGNORECASE,
)
UNNAMED_PENALTY = 0.15
"""What a unit loses whose passage has none of the names in the question; in proportion for some of them."""


@dataclass(frozen=True, slots=True)
class Subquery:
    """A part of the question as synthesis needs it. `marks` are the figures and identifiers it names, lower case;
    `names` are the bits of the terms that it writes as names, `asked` that of the noun it asks for.
    """

    text: str
    terms: tuple[QuestionTerm, ...]
    answer_type: AnswerType
    literals: tuple[str, ...] = ()
    name_mask: int = 0
    target_mask: int = 0
    earlier_names: tuple[str, ...] = ()
    """Names that an earlier part found, lower case: evidence for this one must name one of them."""


@dataclass(frozen=True, slots=True)
class CandidateUnit:
    """A quotable unit: [start, end) of its passage's text, the terms it covers itself (`mask`), those of title,
    headings and table header (`context`), of the sentences beside it (`near`), and of the whole passage.
    """

    passage: int
    start: int
    end: int
    kind: UnitKind
    mask: int
    context_mask: int
    near_mask: int
    passage_mask: int
    fits: bool
    """It has the figure, date or name that is asked for."""
    near_span: Span
    """Where the unit stands with the sentences beside it."""
    heading: Span | None
    score: float


@dataclass(frozen=True, slots=True)
class _ScannedPassage:
    """A passage with the terms that stand in it and in its title and headings."""

    position: int
    passage: Passage
    reading: SegmentedText
    mask: int
    context_mask: int
    rank_bonus: float


@dataclass(slots=True)
class _Paragraph:
    """A paragraph with its hits, before it is split; no unit of it scores more than `bound`. Not frozen: many are made
    for one question, and few are read.
    """

    scan: _ScannedPassage
    place: int
    mask: int
    hits: list[tuple[int, int]]
    bound: float


def best_units(
    part: Subquery, position: int, passages: Sequence[Passage], *, whole: bool = False
) -> list[CandidateUnit]:
    """The units that may answer a part, best first; ties by passage, then offset.

    Paragraphs are read in the order of the score that a unit of them could have at most, until none can come close to
    the best one found; `whole`: all of them, and sentences without a term of the question, too.
    """
    weigh = _Weigher(part.terms)
    waiting = _paragraphs(part, weigh, position, passages, whole=whole)
    units: list[CandidateUnit] = []
    best = 0.0
    for paragraph in waiting:
        if not whole and paragraph.bound < MIN_READING_RATIO * best:
            break
        for unit in _units_of(paragraph, part, weigh, best, whole=whole):
            units.append(unit)
            best = max(best, unit.score)
    units.sort(key=lambda unit: (-unit.score, unit.passage, unit.start))
    return list({(unit.passage, unit.start): unit for unit in reversed(units)}.values())[::-1] if whole else units


class _Weigher:
    """`weight_of` for one question's terms, each mask once."""

    __slots__ = ("_known", "_terms")

    def __init__(self, terms: Sequence[QuestionTerm]) -> None:
        self._terms = terms
        self._known: dict[int, float] = {0: 0.0}

    def __call__(self, mask: int) -> float:
        weight = self._known.get(mask)
        if weight is None:
            weight = self._known[mask] = weight_of(mask, self._terms)
        return weight


def segment_passage(passage: Passage) -> SegmentedText:
    """The segmentation of a passage's text."""
    return segment_text(passage.chunk.text, passage.chunk.start > 0)


def passages_of_part(
    position: int, passages: Sequence[Passage], least: float = MIN_PASSAGE_RATIO
) -> Iterator[tuple[int, Passage, float]]:
    """The passages that a part is answered from: place, passage, and its score relative to the part's best one."""
    # A passage that several parts found carries the best of their scores, which says little about this part.
    top = max((passage.candidate.score for passage in passages if passage.parts == (position,)), default=0.0)
    for place, passage in enumerate(passages):
        if position in passage.parts and passage.candidate.score >= least * top:
            yield place, passage, min(1.0, passage.candidate.score / top) if top > 0 else 1.0


def opening_unit(passage: Passage, position: int) -> CandidateUnit | None:
    """The first quotable unit of a passage: what a reader is shown when nothing matches."""
    reading = segment_passage(passage)
    for place in range(len(reading.ends)):
        for span in reading.sentences(reading.block(place))[0]:
            kind = reading.kind(span)
            if kind in QUOTABLE:
                return CandidateUnit(position, *span, kind, 0, 0, 0, 0, False, span, None, 0.0)
    return None


def other_units(part: Subquery, passage: Passage, known: Sequence[CandidateUnit]) -> list[CandidateUnit]:
    """The quotable sentences of a passage that are not among the units `known`, in reading order, scored 0."""
    reading = segment_passage(passage)
    found: list[CandidateUnit] = []
    for place in range(len(reading.ends)):
        for start, end in reading.sentences(reading.block(place))[0]:
            kind = reading.kind((start, end))
            if kind not in QUOTABLE or any(unit.start <= start < unit.end for unit in known):
                continue
            fits = states_answer(passage.chunk.text[start:end], part.answer_type, part.text)
            found.append(CandidateUnit(0, start, end, kind, 0, 0, 0, 0, fits, (start, end), None, 0.0))
    return found


def _paragraphs(
    part: Subquery, weigh: _Weigher, position: int, passages: Sequence[Passage], *, whole: bool
) -> list[_Paragraph]:
    """The paragraphs with terms of the question (`whole`: all), most promising first; ties by passage, then place."""
    most = max_type_bonus(part.answer_type)
    contexts: dict[tuple[str, tuple[str, ...]], int] = {}
    found: list[_Paragraph] = []
    for place, passage, share in passages_of_part(position, passages, 0.0 if whole else MIN_PASSAGE_RATIO):
        chunk = passage.chunk
        reading = segment_passage(passage)
        held: dict[int, list[tuple[int, int]]] = {}
        masks: dict[int, int] = {}
        everywhere = 0
        for hit in reading.hits(part.terms):
            block = reading.block_of(hit[0])
            held.setdefault(block, []).append(hit)
            masks[block] = masks.get(block, 0) | hit[1]
            everywhere |= hit[1]
        named = (chunk.document_title, chunk.heading_path)
        if held and named not in contexts:
            contexts[named] = mask_of(lower_text(" ".join((chunk.document_title, *chunk.heading_path))), part.terms)
        read = _ScannedPassage(place, passage, reading, everywhere, contexts.get(named, 0), RANK_CREDIT * share)
        if whole:
            masks = dict.fromkeys(range(len(reading.ends)), 0) | masks
        for block, mask in masks.items():
            spots = held.get(block, [])
            if reading.block(block)[1] > reading.ends[block]:
                spots = spots + held.get(block + 1, [])
                mask |= masks.get(block + 1, 0)
            above = (read.context_mask | everywhere) & ~mask
            bound = weigh(mask) + CONTEXT_CREDIT * weigh(above) + read.rank_bonus + most
            found.append(_Paragraph(read, block, mask, spots, round(bound, 6)))
    found.sort(key=lambda one: (-one.bound, one.scan.position, one.place))
    return found if whole else found[:MAX_PARAGRAPHS]


def _units_of(
    paragraph: _Paragraph, part: Subquery, weigh: _Weigher, best: float, *, whole: bool
) -> list[CandidateUnit]:
    """The units of a paragraph that can come close to the best one so far."""
    read, reading = paragraph.scan, paragraph.scan.reading
    most = read.rank_bonus + max_type_bonus(part.answer_type)
    heading = reading.heading(paragraph.place)
    context = read.context_mask
    if heading is not None and read.mask & ~paragraph.mask:
        context |= mask_of(reading.low[slice(*heading)], part.terms)
    rest = NEAR_CREDIT * weigh(read.mask & ~context & ~paragraph.mask)
    if (
        not whole
        and most + weigh(paragraph.mask) + CONTEXT_CREDIT * weigh(context & ~paragraph.mask) + rest
        < MIN_READING_RATIO * best
    ):
        return []
    spans, starts = reading.sentences(reading.block(paragraph.place))
    masks = _masks(spans, starts, paragraph.hits)
    looked_at = len(spans) if whole else UNITS_PER_BLOCK
    if whole:
        masks = dict.fromkeys(range(len(spans)), 0) | masks
    if part.answer_type is AnswerType.LIST and CELL_SEPARATOR in reading.text:
        looked_at = max(looked_at, ROWS_PER_BLOCK)
        for at, (start, end) in enumerate(spans):
            if CELL_SEPARATOR in reading.text[start:end]:
                masks.setdefault(at, 0)
    block = _ParagraphUnits(spans, masks, heading, context, paragraph.mask)
    units: list[CandidateUnit] = []
    for weight, at in sorted((-round(weigh(mask), 6), at) for at, mask in masks.items())[:looked_at]:
        if not whole and most - weight + _max_surroundings_score(read, block, at, weigh) < MIN_READING_RATIO * best:
            continue
        unit = _unit(read, part, block, at, weigh)
        if unit is not None:
            units.append(unit)
            best = max(best, unit.score)
    return units


def _max_surroundings_score(read: _ScannedPassage, block: _ParagraphUnits, place: int, weigh: _Weigher) -> float:
    """The most that a unit's surroundings can add to what it covers itself."""
    mask = block.masks[place]
    kind = read.reading.kind(block.spans[place])
    above = block.context_mask if kind is UnitKind.PROSE else block.context_mask | block.mask
    credit = 1.0 if kind is UnitKind.LEAD_IN else CONTEXT_CREDIT
    return credit * weigh(above & ~mask) + NEAR_CREDIT * weigh(read.mask & ~above & ~mask)


@dataclass(frozen=True, slots=True)
class _ParagraphUnits:
    """A paragraph's sentences, the terms of those that have any, its heading, and the terms of title and headings and
    of all its sentences.
    """

    spans: list[Span]
    masks: dict[int, int]
    heading: Span | None
    context_mask: int
    mask: int


def _masks(spans: list[Span], starts: list[int], found: list[tuple[int, int]]) -> dict[int, int]:
    """The terms of each sentence that has any."""
    masks: dict[int, int] = {}
    for at, bit in found:
        place = bisect_right(starts, at) - 1
        if place >= 0 and at < spans[place][1]:
            masks[place] = masks.get(place, 0) | bit
    return masks


def _unit(
    read: _ScannedPassage, part: Subquery, block: _ParagraphUnits, place: int, weigh: _Weigher
) -> CandidateUnit | None:
    """The quotable unit at a place of a block, scored; None for headings, fragments, boilerplate, header rows."""
    text, spans, mask = read.passage.chunk.text, block.spans, block.masks[place]
    (start, end), last = spans[place], place
    kind = read.reading.kind(spans[place])
    if kind is UnitKind.LEAD_IN:
        last, mask = _list_extent(read.reading, block, place)
        end = spans[last][1]
    label = label_start(text, spans, place) if kind in (UnitKind.HEADING, UnitKind.TABLE_ROW) else None
    if label is not None:
        start, kind, last = label, UnitKind.LABELLED, place + 1
        end = spans[last][1]
    if kind not in QUOTABLE:
        return None
    around = (spans[max(0, place - 1)][0], spans[min(len(spans) - 1, last + 1)][1])
    if part.earlier_names and not _names_one_of(part.earlier_names, read, around, block.heading):
        return None
    context = block.context_mask
    if kind is UnitKind.TABLE_ROW and is_row(text[start:end]):
        above = len(read.passage.table_head)
        whole = read.passage.text_with_table_head if above else text
        if is_header(whole, above + start, above + end) or is_page_foot(text, start, end):
            return None
        if read.reading.kind(spans[0]) is UnitKind.HEADING:
            context |= block.masks.get(0, 0)
        header = header_span(whole, above + start)
        if header is not None:
            caption = caption_span(whole, header[0])
            named = (header[0] if caption is None else caption[0], header[1])
            context |= mask_of((lower_text(whole) if above else read.reading.low)[slice(*named)], part.terms)
    near = block.masks.get(place - 1, 0) | block.masks.get(last + 1, 0)
    sentence = text[start:end]
    fits = states_answer(sentence, part.answer_type, part.text)
    score = _score(sentence, (mask, context, near, read.mask), part, weigh, fits=fits) + read.rank_bonus
    if end <= read.reading.front_end() and not _ABOUT_DOCUMENT.search(part.text):
        score -= FRONT_PENALTY
    return CandidateUnit(
        read.position, start, end, kind, mask, context, near, read.mask, fits, around, block.heading, round(score, 6)
    )


def _names_one_of(names: tuple[str, ...], read: _ScannedPassage, around: Span, heading: Span | None) -> bool:
    """True when a name stands in a stretch of the passage, its heading, or the title or headings of the chunk."""
    low, chunk = read.reading.low, read.passage.chunk
    above = lower_text(" ".join((chunk.document_title, *chunk.heading_path)))
    headed = "" if heading is None else low[slice(*heading)]
    return any(name in low[slice(*around)] or name in headed or name in above for name in names)


def _list_extent(reading: SegmentedText, block: _ParagraphUnits, place: int) -> tuple[int, int]:
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


def _score(sentence: str, masks: tuple[int, int, int, int], part: Subquery, weigh: _Weigher, *, fits: bool) -> float:
    mask, context, near, passage = masks
    credit = (
        weigh(mask)
        + CONTEXT_CREDIT * weigh(context & ~mask)
        + NEAR_CREDIT * weigh(near & ~mask & ~context)
        + PASSAGE_CREDIT * weigh(passage & ~mask & ~context & ~near)
    )
    malus = LONG_UNIT_PENALTY if sentence.count(" ") >= LONG_UNIT_WORDS else 0.0
    if part.name_mask:
        unnamed = part.name_mask & ~(mask | context | near | passage)
        malus += UNNAMED_PENALTY * unnamed.bit_count() / part.name_mask.bit_count()
    return credit + answer_type_bonus(sentence, part.answer_type, part.text, fits=fits) - malus


def depends_on_previous(sentence: str) -> bool:
    """True when a sentence leans on the one before it."""
    table = table_of(sentence)
    return (_DANGLING if table is None else table.leaning).match(sentence) is not None


_DANGLING = re.compile(
    r"^(?:It|Its|This|These|They|Their|Those|He|She|His|Her|Such|However|Therefore|Thus|But|Also|Otherwise|Instead|"
    r"In addition|Moreover|Furthermore|Hence|So|Then|Both|The (?:former|latter|same))\b"
)

"""The units of the passages that one part of a question is answered from, scored against its content terms."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from agentic_rag.answering.extraction.answer_type_match import answer_type_bonus, max_type_bonus
from agentic_rag.answering.extraction.candidate_units import (
    CONTEXT_CREDIT,
    MIN_PASSAGE_RATIO,
    MIN_READING_RATIO,
    CandidateUnit,
    Subquery,
    column_names,
    is_heading_row,
    passages_of_part,
    segment_passage,
    unit_states_answer,
)
from agentic_rag.answering.extraction.segmented_text import SegmentedText, Span
from agentic_rag.answering.extraction.subquery import terms_of
from agentic_rag.answering.extraction.term_matching import holds_phrase, lower_text, mask_of, weight_of
from agentic_rag.answering.extraction.text_units import QUOTABLE, UnitKind, label_start
from agentic_rag.answering.plan import AnswerType
from agentic_rag.language.programming import name_set, names_above
from agentic_rag.language.tables import CELL_SEPARATOR, is_row, split_cells
from agentic_rag.retrieval.candidates import SCORE_DIGITS, Passage

MAX_PARAGRAPHS = 16
UNITS_PER_BLOCK = 4
"""Paragraphs that are split for `close_units` at most, and units of one that are looked at closely."""
ROWS_PER_BLOCK = 12
"""The same where a list is asked for and the paragraph holds a table: its rows may answer by what heads them."""
MAX_LIST_CHARACTERS = 700
"""A list is quoted whole up to this length, else item by item."""

NEAR_CREDIT = 0.25
"""Weight of a term in the sentence before or after."""
PASSAGE_CREDIT = 0.2
"""Weight of a term elsewhere in the passage."""
RANK_CREDIT = 0.35
"""What the passage's fused score, relative to the first one's, adds."""
LONG_UNIT_WORDS = 60
LONG_UNIT_PENALTY = 0.1
ASKED_ROW_CREDIT = 0.15
"""What a row adds that the question names by a cell of it."""
FRONT_PENALTY = 0.3
"""What a line loses that names its document (title, number, date, owner), unless the document is asked about."""
_ABOUT_DOCUMENT = re.compile(
    r"\b(?:versions?|editions?|revisions?|issue|owners?|authors?|approved|in force|dated|documents?|wrote|written|"
    r"maintain\w*|responsible|stand|ausgabe|fassung|versión|edición)\b",
    re.IGNORECASE,
)
UNNAMED_PENALTY = 0.15
"""What a unit loses whose passage has none of the names in the question; in proportion for some of them."""


@dataclass(frozen=True, slots=True)
class _ScannedPassage:
    """A passage with the terms that stand in it and in its title and headings."""

    position: int
    passage: Passage
    reading: SegmentedText
    mask: int
    named: str
    """Its title and headings in lower case."""
    context_mask: int
    rank_bonus: float
    is_close: bool
    """Its score is at least `MIN_PASSAGE_RATIO` of the best one's."""


class _Paragraph:
    """A paragraph, its terms, and the most that a unit of it can score. Many are made for one question and few are
    split into sentences: what comes of that is None until then.
    """

    __slots__ = ("bound", "context_mask", "has_hits", "heading", "hits", "mask", "place", "scan", "split")

    def __init__(
        self, scan: _ScannedPassage, place: int, mask: int, hits: list[tuple[int, int]], bound: float, *, has_hits: bool
    ) -> None:
        self.scan = scan
        self.place = place
        self.mask = mask
        self.hits = hits
        """With `mask`, also those of the next paragraph that it brings along; `has_hits` is of itself."""
        self.bound = bound
        self.has_hits = has_hits
        self.heading: Span | None = None
        self.context_mask: int | None = None
        """The terms of title, headings and its own heading."""
        self.split: _SplitParagraph | None = None


@dataclass(frozen=True, slots=True)
class _SplitParagraph:
    """The sentences of a paragraph, the terms of those that have any, and the units made of them so far; a unit is None
    where a sentence is not quotable.
    """

    spans: list[Span]
    masks: dict[int, int]
    units: dict[int, CandidateUnit | None]


class PartUnits:
    """The units of a part over its passages. Each is made once, whoever asks for it."""

    def __init__(self, part: Subquery, position: int, passages: Sequence[Passage]) -> None:
        self._part = part
        self._about_document = _ABOUT_DOCUMENT.search(part.text) is not None
        self._said = lower_text(part.text)
        self._weights: dict[int, float] = {0: 0.0}
        self._paragraphs = self._scan(position, passages)

    def close_units(self) -> list[CandidateUnit]:
        """The units that come close to the best one, best first; ties by passage, then offset.

        Paragraphs are read in the order of the score that a unit of them could have at most, until none can come close
        to the best one found.
        """
        units: list[CandidateUnit] = []
        best = 0.0
        waiting = [one for one in self._paragraphs if one.has_hits and one.scan.is_close]
        for paragraph in waiting[:MAX_PARAGRAPHS]:
            if paragraph.bound < MIN_READING_RATIO * best:
                break
            for unit in self._likely_units(paragraph, best):
                units.append(unit)
                best = max(best, unit.score)
        return sorted(units, key=_by_score)

    def all_units(self, least: float = 0.0, places: Collection[int] | None = None) -> list[CandidateUnit]:
        """The units that cover at least this share of the question themselves, each once; in the same order. `places`:
        only those of the passages at these positions.
        """
        found: dict[tuple[int, int], CandidateUnit] = {}
        for paragraph in self._paragraphs:
            if self._weigh(paragraph.mask) < least or not (places is None or paragraph.scan.position in places):
                continue
            split = self._split(paragraph)
            for place, span in enumerate(split.spans):
                # A list is quoted with its lead-in, which may have no term itself.
                own = self._weigh(split.masks.get(place, 0))
                if own < least and paragraph.scan.reading.kind(span) is not UnitKind.LEAD_IN:
                    continue
                unit = self._unit(paragraph, place)
                if unit is not None and self._weigh(unit.mask) >= least:
                    known = found.get((unit.passage, unit.start))
                    if known is None or known.score < unit.score:
                        found[unit.passage, unit.start] = unit
        return sorted(found.values(), key=_by_score)

    def _weigh(self, mask: int) -> float:
        """`weight_of`, each mask once."""
        weight = self._weights.get(mask)
        if weight is None:
            weight = self._weights[mask] = weight_of(mask, self._part.terms)
        return weight

    def _scan(self, position: int, passages: Sequence[Passage]) -> list[_Paragraph]:
        """All paragraphs, most promising first; ties by passage, then place."""
        terms = self._part.terms
        contexts: dict[str, int] = {}
        found: list[_Paragraph] = []
        close = {place for place, _, _ in passages_of_part(position, passages, MIN_PASSAGE_RATIO)}
        for at, passage, share in passages_of_part(position, passages, 0.0):
            chunk = passage.chunk
            reading = segment_passage(passage)
            held: dict[int, list[tuple[int, int]]] = {}
            masks: dict[int, int] = {}
            for hit in reading.hits(terms):
                block = reading.block_of(hit[0])
                held.setdefault(block, []).append(hit)
                masks[block] = masks.get(block, 0) | hit[1]
            everywhere = reading.mask(terms)
            named = lower_text(" ".join((chunk.document_title, *chunk.heading_path)))
            if held and named not in contexts:
                contexts[named] = mask_of(named, terms)
            bonus = RANK_CREDIT * share
            read = _ScannedPassage(at, passage, reading, everywhere, named, contexts.get(named, 0), bonus, at in close)
            for block in range(len(reading.ends)):
                spots, mask = held.get(block, []), masks.get(block, 0)
                if block + 1 in held and reading.block(block)[1] > reading.ends[block]:
                    spots = spots + held[block + 1]
                    mask |= masks[block + 1]
                above = (read.context_mask | everywhere) & ~mask
                bound = self._weigh(mask) + CONTEXT_CREDIT * self._weigh(above) + self._most(read, block)
                bound = round(bound, SCORE_DIGITS)
                found.append(_Paragraph(read, block, mask, spots, bound, has_hits=block in held))
        found.sort(key=lambda one: (-one.bound, one.scan.position, one.place))
        return found

    def _likely_units(self, paragraph: _Paragraph, best: float) -> list[CandidateUnit]:
        """The units of a paragraph that can come close to the best one so far."""
        read, context = paragraph.scan, self._look_above(paragraph)
        most = self._most(read, paragraph.place)
        rest = NEAR_CREDIT * self._weigh(read.mask & ~context & ~paragraph.mask)
        above = CONTEXT_CREDIT * self._weigh(context & ~paragraph.mask)
        if most + self._weigh(paragraph.mask) + above + rest < MIN_READING_RATIO * best:
            return []
        split, text = self._split(paragraph), read.reading.text
        masks, looked_at = split.masks, UNITS_PER_BLOCK
        if self._part.answer_type is AnswerType.LIST and CELL_SEPARATOR in text:
            looked_at = ROWS_PER_BLOCK
            rows = (at for at, (start, end) in enumerate(split.spans) if CELL_SEPARATOR in text[start:end])
            masks = dict.fromkeys(rows, 0) | masks
        units: list[CandidateUnit] = []
        likeliest = sorted(
            (-round(self._weigh(mask), SCORE_DIGITS), -self._row_credit(read, split.spans[at]), at)
            for at, mask in masks.items()
        )
        for weight, _, at in likeliest[:looked_at]:
            if most - weight + self._max_surroundings_score(paragraph, at) < MIN_READING_RATIO * best:
                continue
            unit = self._unit(paragraph, at)
            if unit is not None:
                units.append(unit)
                best = max(best, unit.score)
        return units

    def _most(self, read: _ScannedPassage, block: int) -> float:
        """The most that a unit of a paragraph gets beside what its terms are worth."""
        text = read.reading.text
        may_hold_rows = "|" in text and "|" in text[slice(*read.reading.block(block))]
        return max_type_bonus(self._part.answer_type) + read.rank_bonus + ASKED_ROW_CREDIT * may_hold_rows

    def _row_credit(self, read: _ScannedPassage, span: Span) -> float:
        """The credit of a row one of whose cells stands in the question, word for word; what names the whole document
        names no row.
        """
        row = read.reading.low[slice(*span)]
        if not is_row(row):
            return 0.0
        for cell in split_cells(row):
            if any(map(str.isalpha, cell)) and cell not in read.named and holds_phrase(self._said, cell):
                return ASKED_ROW_CREDIT
        return 0.0

    def _max_surroundings_score(self, paragraph: _Paragraph, place: int) -> float:
        """The most that a unit's surroundings can add to what it covers itself."""
        split, context = self._split(paragraph), self._look_above(paragraph)
        mask, kind = split.masks.get(place, 0), paragraph.scan.reading.kind(split.spans[place])
        above = context if kind is UnitKind.PROSE else context | paragraph.mask
        credit = 1.0 if kind is UnitKind.LEAD_IN else CONTEXT_CREDIT
        rest = paragraph.scan.mask & ~above & ~mask
        return credit * self._weigh(above & ~mask) + NEAR_CREDIT * self._weigh(rest)

    def _look_above(self, paragraph: _Paragraph) -> int:
        """The terms of title, headings and the paragraph's own heading, which is found here."""
        context = paragraph.context_mask
        if context is None:
            read = paragraph.scan
            context = read.context_mask
            above = read.reading.headings(paragraph.place)
            paragraph.heading = above[-1] if above else None
            if above and read.mask & ~context:
                for at, bit in read.reading.hits(self._part.terms):
                    if at < above[-1][1] and any(start <= at < end for start, end in above):
                        context |= bit
            paragraph.context_mask = context
        return context

    def _split(self, paragraph: _Paragraph) -> _SplitParagraph:
        """The sentences of a paragraph; which terms they have is found here."""
        if paragraph.split is None:
            reading = paragraph.scan.reading
            spans, starts = reading.sentences(reading.block(paragraph.place))
            masks: dict[int, int] = {}
            for at, bit in paragraph.hits:
                place = bisect_right(starts, at) - 1
                if place >= 0 and at < spans[place][1]:
                    masks[place] = masks.get(place, 0) | bit
            paragraph.split = _SplitParagraph(spans, masks, {})
        return paragraph.split

    def _unit(self, paragraph: _Paragraph, place: int) -> CandidateUnit | None:
        """The quotable unit at a place of a paragraph, scored; None for headings, fragments, boilerplate, header
        rows, and lines of front matter that say what the question says.
        """
        split = self._split(paragraph)
        if place not in split.units:
            split.units[place] = self._make_unit(paragraph, split, place)
        return split.units[place]

    def _make_unit(self, paragraph: _Paragraph, split: _SplitParagraph, place: int) -> CandidateUnit | None:
        part, read, reading = self._part, paragraph.scan, paragraph.scan.reading
        text, spans, masks, context = reading.text, split.spans, split.masks, self._look_above(paragraph)
        (start, end), last, mask = spans[place], place, masks.get(place, 0)
        kind = reading.kind(spans[place])
        if kind is UnitKind.LEAD_IN:
            last, mask, end = _announced(reading, split, place)
            if last == place:
                return None
        label = label_start(text, spans, place) if kind in (UnitKind.HEADING, UnitKind.TABLE_ROW) else None
        if label is not None:
            start, kind, last = label, UnitKind.LABELLED, place + 1
            end = spans[last][1]
        is_quotable = kind in QUOTABLE or kind is UnitKind.LEAD_IN
        if not is_quotable or (start < reading.front_matter_end and _is_said(part, text[start:end])):
            return None
        name = name_set(text, start)
        around = (spans[max(0, place - 1)][0], spans[min(len(spans) - 1, last + 1)][1])
        if part.earlier_names and not _names_one_of(part.earlier_names, read, around, paragraph.heading):
            return None
        if kind is UnitKind.TABLE_ROW and is_row(text[start:end]):
            if is_heading_row(read.passage, start, end):
                return None
            context |= mask_of(lower_text(column_names(read.passage, start)), part.terms)
            if reading.kind(spans[0]) is UnitKind.HEADING:
                context |= masks.get(0, 0)
        elif name is not None and (above := names_above(text, start)):
            context |= mask_of(lower_text(" ".join(above)), part.terms)
        near = masks.get(place - 1, 0) | masks.get(last + 1, 0)
        sentence = text[start:end]
        fits = unit_states_answer(part, read.passage, start, end)
        score = self._score(sentence, (mask, context, near, read.mask), fits=fits) + read.rank_bonus
        score += self._row_credit(read, (start, end))
        is_named = name is not None and mask_of(lower_text(name), part.terms) != 0
        if end <= reading.front_end() and not (self._about_document or is_named):
            score -= FRONT_PENALTY
        score = round(score, SCORE_DIGITS)
        return CandidateUnit(
            read.position, start, end, kind, mask, context, near, read.mask, fits, around, paragraph.heading, score
        )

    def _score(self, sentence: str, masks: tuple[int, int, int, int], *, fits: bool) -> float:
        part, weigh = self._part, self._weigh
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


def _is_said(part: Subquery, text: str) -> bool:
    """True for a text that has content terms, all of them in a question for more than a yes."""
    terms = terms_of(text) if part.answer_type is not AnswerType.YES_NO else []
    return bool(terms) and set(terms) <= set(terms_of(part.text))


def _by_score(unit: CandidateUnit) -> tuple[float, int, int]:
    return -unit.score, unit.passage, unit.start


def _names_one_of(names: tuple[str, ...], read: _ScannedPassage, around: Span, heading: Span | None) -> bool:
    """True when a name stands in a stretch of the passage, its heading, or the title or headings of the chunk."""
    low = read.reading.low
    headed = "" if heading is None else low[slice(*heading)]
    return any(name in low[slice(*around)] or name in headed or name in read.named for name in names)


def _announced(reading: SegmentedText, split: _SplitParagraph, place: int) -> tuple[int, int, int]:
    """The last place, the terms and the end of a lead-in together with the list items, or the code, that it
    announces.
    """
    spans, last, mask = split.spans, place, split.masks.get(place, 0)
    most = spans[place][0] + MAX_LIST_CHARACTERS
    code_end = reading.code_end(spans[place][1])
    for after in range(place + 1, len(spans)):
        start, end = spans[after]
        if end > most or not (start < code_end or reading.kind(spans[after]) is UnitKind.LIST_ITEM):
            break
        last = after
        mask |= split.masks.get(after, 0)
    return last, mask, max(spans[last][1], code_end if last > place else 0)

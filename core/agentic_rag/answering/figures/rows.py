"""The rows of tables, and the sentences with figures, that a question about a measure is answered by.

A row says what it is in two or three words, so it is not matched like a sentence: what counts is how much of the
measure its label and the lines above it name, and how little else.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from uuid import UUID

from agentic_rag.answering.extraction.segmented_text import Span, segment_text
from agentic_rag.answering.extraction.term_matching import holds_phrase
from agentic_rag.answering.extraction.text_units import UnitKind
from agentic_rag.answering.figures.borderless_tables import BorderlessRow, parse_borderless_row, split_borderless_row
from agentic_rag.answering.figures.measures import (
    COMMON_CONCEPTS,
    CONTRASTING_CONCEPTS,
    GENERIC_CONCEPTS,
    Measure,
    concept,
    concept_weight,
    periods_of,
)
from agentic_rag.documents.document import Chunk
from agentic_rag.language.english import FUNCTION_WORDS
from agentic_rag.language.tokenizer import tokenize

MIN_LABEL_COVERAGE = 0.34
"""Of a label's words, by worth, those that the question must ask for."""
SECTION_FACTOR = 0.6
"""What is left of a label whose section line says that it is of a part: the sales of a region."""
OTHER_KIND_FACTOR = 0.6
"""What is left of a label that names another kind of measure: of sales, the cost of sales."""
ABOVE_CREDIT = 0.6
"""What a concept in the section line or caption above a row counts, against 1 in its label."""
HEADING_CREDIT = 0.3
ASKED_CREDIT = 0.15
"""What a label, or the section line above it, adds that stands in the question word for word."""
MAX_WORD_GAP = 4
"""Words between which two words of a measure may be said of one thing."""
NEAR, FAR = 0.9, 0.75
"""What is left of a measure whose words stand that close, or further away, or of which only one is said."""
LEAST_ROW, LEAST_SENTENCE = 0.3, 0.4
"""Worth below which a row or a sentence is of something else."""
MIN_MEASURE_COVERAGE = 0.45
"""Of the measure, what a sentence must name."""
CLOSE_TO_BEST = 0.5
"""Of the worth of the best of its kind for the same measure."""
MAX_QUOTES_PER_DOCUMENT = 3
"""Rows, and sentences, that one document gives for one measure."""
LONGEST_SENTENCE = 900
"""Code points; longer ones are tables that were read as text."""
LONGEST_TITLE = 4
"""Words of a line above a sentence that is a title, not its beginning."""
MIN_BREAKDOWN_ROWS = 3
USUAL_BREAKDOWN_ROWS = 7
"""Rows of a table that breaks something down."""

_FIGURE = re.compile(r"[$€£]\s?\d|\d\s?%|\b\d[\d,.]* (?:percent|million|billion|basis points)\b")
_AMOUNT = re.compile(r"\d{3}|[$€£]")
_PERIOD = re.compile(
    r"\b(?:quarters?|(?:months|weeks|year) ended|Q[1-4]|half|(?:first )?(?:three|six|nine|twelve) months)\b",
    re.IGNORECASE,
)
"""Says that a figure is one of a period, not a plan or an authorisation."""
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_BRACKETS = re.compile(r"\([^()]*\)")


@dataclass(frozen=True, slots=True)
class FigureQuote:
    """A row or a sentence that states a figure asked for: [start, end) of the chunk's text."""

    chunk: Chunk
    start: int
    end: int
    kind: UnitKind
    score: float


@dataclass(frozen=True, slots=True)
class _Row:
    span: Span
    row: BorderlessRow
    label: frozenset[str]
    bracket_terms: frozenset[str]
    """What the label says in brackets only: it explains what it names, and names nothing else."""
    section: frozenset[str]
    above: frozenset[str]
    """The concepts of the section line and the caption."""
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Sentence:
    span: Span
    text: str
    concepts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _FigureMatch:
    quote: FigureQuote
    measure: int
    said: tuple[str, ...]
    """What it says: rows of two tables with the same first figures say the same."""


class FigureIndex:
    """Chunks of the documents that a question means, read for their figures. `rarity` is that of the terms of the
    chunks' labels (`label_terms`), as from the lexical store.
    """

    def __init__(self, chunks: Sequence[Chunk], question: str = "") -> None:
        self._chunks = chunks
        self._question = question.lower()
        self._periods = periods_of(question)
        self._rarity: dict[str, float] = {}

    @cached_property
    def label_terms(self) -> frozenset[str]:
        """The terms of all labels."""
        return frozenset(term for rows in self._rows.values() for row in rows for term in tokenize(row.row.label))

    def set_rarity(self, rarity: Mapping[str, float]) -> None:
        """Say how rare the terms of the labels are."""
        for term, share in rarity.items():
            one = concept(term)
            self._rarity[one] = min(share, self._rarity.get(one, 1.0))

    def quotes(
        self, measures: Sequence[Measure], years: frozenset[str], rows: int, sentences: int
    ) -> list[FigureQuote]:
        """The best rows and sentences, at most so many of each: one of every document for each measure before a second
        one. Nothing of a year that the question does not name, if it names any.
        """
        found = [
            one
            for place, measure in enumerate(measures)
            for chunk in self._chunks
            for one in (*self._matching_rows(chunk, measure, place), *self._matching_sentences(chunk, measure, place))
            if self._matches_years(one.quote, years)
        ]
        return _pick_across_documents(found, {UnitKind.TABLE_ROW: rows, UnitKind.PROSE: sentences})

    def table(
        self, measures: Sequence[Measure], by: frozenset[str], years: frozenset[str], most: int
    ) -> list[FigureQuote]:
        """The first rows of the table that best breaks the measures down by something, in its order; none without."""
        asked: dict[str, float] = dict.fromkeys(by, 1.0)
        for measure in measures:
            asked = (
                {one: 0.5 * weight for one, weight in measure.context_weights.items()} | asked | dict(measure.weights)
            )
        own = {one for measure in measures for one in measure.weights} - GENERIC_CONCEPTS
        best: tuple[float, list[FigureQuote]] = (0.0, [])
        for chunk in self._chunks:
            for rows in _tables(self._rows[chunk.ordinal]):
                named = rows[0].above | _heading(chunk)
                labels = frozenset[str]().union(*(row.label for row in rows)) - named
                quotes = [self._quote(chunk, row.span, UnitKind.TABLE_ROW, 1.0) for row in rows]
                if (
                    len(rows) < MIN_BREAKDOWN_ROWS
                    or not own & (named | labels)
                    or not self._matches_years(quotes[0], years)
                ):
                    continue
                amounts = sum(any(_AMOUNT.search(value) for value in row.values) for row in rows)
                worth = (
                    (_sum(asked, named) + 0.7 * _sum(asked, labels)) / (sum(asked.values()) or 1.0)
                    + 0.1 * (rows[0].row.header is not None)
                    + 0.1 * amounts / len(rows)
                    - 0.01 * abs(len(rows) - USUAL_BREAKDOWN_ROWS)
                    - _position_penalty(chunk)
                )
                if worth > best[0]:
                    best = (worth, quotes)
        return best[1][:most]

    @cached_property
    def _rows(self) -> dict[int, list[_Row]]:
        return {chunk.ordinal: list(_rows_of(chunk)) for chunk in self._chunks}

    @cached_property
    def _sentences(self) -> dict[int, list[_Sentence]]:
        return {chunk.ordinal: list(_sentences_of(chunk)) for chunk in self._chunks}

    def _matching_rows(self, chunk: Chunk, measure: Measure, place: int) -> Iterator[_FigureMatch]:
        for row in self._rows[chunk.ordinal]:
            own = row.label & measure.weights.keys()
            if not own - GENERIC_CONCEPTS:
                continue
            asked = own | (row.label & measure.context_weights.keys())
            share = self._concept_weight(asked) / (self._concept_weight(row.label - row.bracket_terms | asked) or 1.0)
            if own <= COMMON_CONCEPTS and CONTRASTING_CONCEPTS & (row.label - own):
                share *= OTHER_KIND_FACTOR
            if (
                measure.is_generic
                and row.section
                - COMMON_CONCEPTS
                - CONTRASTING_CONCEPTS
                - measure.weights.keys()
                - measure.context_weights.keys()
            ):
                share *= SECTION_FACTOR
            if share < MIN_LABEL_COVERAGE:
                continue
            named = (
                _sum(measure.weights, own)
                + ABOVE_CREDIT * _sum(measure.weights, row.above - own)
                + HEADING_CREDIT * _sum(measure.weights, _heading(chunk) - row.above - own)
            ) / measure.total_weight
            worth = (
                named * (0.4 + 0.6 * share)
                + 0.12 * bool(row.row.columns)
                + 0.05 * any(_AMOUNT.search(value) or "%" in value for value in row.values)
                + 0.15 * _sum(measure.context_weights, row.label | row.above)
                + ASKED_CREDIT * self._count_asked(chunk, row)
                - _position_penalty(chunk)
            )
            if worth >= LEAST_ROW:
                said = tuple(value.lstrip("$€£ ") for value in row.values[:2])
                yield _FigureMatch(self._quote(chunk, row.span, UnitKind.TABLE_ROW, worth), place, said)

    def _count_asked(self, chunk: Chunk, row: _Row) -> int:
        """Whether the label stands in the question, word for word, and whether the section line does."""
        section = chunk.text[slice(*row.row.section)] if row.row.section else ""
        said = (_BRACKETS.sub("", text).strip(" :.\n").lower() for text in (row.row.label, section))
        return sum(holds_phrase(self._question, one) for one in said)

    def _matching_sentences(self, chunk: Chunk, measure: Measure, place: int) -> Iterator[_FigureMatch]:
        for one in self._sentences[chunk.ordinal]:
            held = frozenset(one.concepts)
            named = _sum(measure.weights, held) / measure.total_weight
            if named < MIN_MEASURE_COVERAGE:
                continue
            named *= _closeness(measure, one.concepts)
            if measure.is_generic and CONTRASTING_CONCEPTS & held - measure.weights.keys():
                named *= OTHER_KIND_FACTOR
            often = sum(spoken in measure.weights for spoken in one.concepts)
            worth = (
                0.8 * named
                + 0.15 * _sum(measure.context_weights, held)
                + 0.08 * (_PERIOD.search(one.text) is not None)
                + 0.03 * any(year in one.text for year in _years_of(chunk))
                + 0.02 * min(3, often)
                - 0.002 * max(0, one.text.count(" ") - 44)
                - _position_penalty(chunk)
            )
            if worth >= LEAST_SENTENCE:
                yield _FigureMatch(self._quote(chunk, one.span, UnitKind.PROSE, worth), place, (one.text,))

    def _concept_weight(self, concepts: frozenset[str]) -> float:
        return sum(concept_weight(one, self._rarity) for one in concepts)

    def _matches_years(self, quote: FigureQuote, years: frozenset[str]) -> bool:
        """The years asked for stand in the title, the quote, or what names the row's columns; periods in the latter."""
        text, span = quote.chunk.text, (quote.start, quote.end)
        row = parse_borderless_row(text, *span) if quote.kind is UnitKind.TABLE_ROW else None
        above = (row.header, row.caption) if row is not None else ()
        named = " ".join(text[slice(*one)] for one in above if one is not None)
        if row is not None and row.header is not None and not self._periods <= periods_of(named):
            return False
        return years <= frozenset(_YEAR.findall(f"{quote.chunk.document_title} {text[slice(*span)]} {named}"))

    def _quote(self, chunk: Chunk, span: Span, kind: UnitKind, worth: float) -> FigureQuote:
        return FigureQuote(chunk, *span, kind, round(worth, 6))


def years_of(question: str) -> frozenset[str]:
    """The years that a question names."""
    return frozenset(_YEAR.findall(question))


def _pick_across_documents(found: Sequence[_FigureMatch], most: Mapping[UnitKind, int]) -> list[FigureQuote]:
    ranked = sorted(found, key=lambda one: (-one.quote.score, one.quote.chunk.ordinal, one.quote.start))
    best: dict[tuple[UnitKind, int], float] = {}
    said: set[tuple[UUID, tuple[str, ...]]] = set()
    turns: Counter[tuple[UnitKind, int, UUID]] = Counter()
    placed: list[tuple[int, int, FigureQuote]] = []
    for rank, one in enumerate(ranked):
        quote = one.quote
        top = best.setdefault((quote.kind, one.measure), quote.score)
        document = quote.chunk.document_id
        turn = turns[quote.kind, one.measure, document]
        if quote.score < CLOSE_TO_BEST * top or turn >= MAX_QUOTES_PER_DOCUMENT or (document, one.said) in said:
            continue
        said.add((document, one.said))
        turns[quote.kind, one.measure, document] += 1
        placed.append((turn, rank, quote))
    left = dict(most)
    chosen: list[FigureQuote] = []
    for _, _, quote in sorted(placed, key=lambda one: one[:2]):
        if left[quote.kind] > 0:
            left[quote.kind] -= 1
            chosen.append(quote)
    first = chosen[0].kind if chosen else None
    return sorted(chosen, key=lambda quote: quote.kind is not first)


def _rows_of(chunk: Chunk) -> Iterator[_Row]:
    text = chunk.text
    at = 0
    for line in text.split("\n"):
        stripped = line.strip()
        start = at + line.find(stripped) if stripped else at
        at += len(line) + 1
        held = split_borderless_row(stripped) if stripped else None
        if held is None or held[0].startswith("%") or len(held[1]) == held[1].count("—"):
            continue
        row = parse_borderless_row(text, start, start + len(stripped))
        if row is None:
            continue
        section, caption = (
            _concepts(text[slice(*span)]) if span is not None else frozenset[str]()
            for span in (row.section, row.caption)
        )
        span = (start, start + len(stripped))
        label = _concepts(held[0])
        aside = label - _concepts(_BRACKETS.sub(" ", held[0]))
        yield _Row(span, row, label, aside if aside < label else frozenset(), section, section | caption, held[1])


def _sentences_of(chunk: Chunk) -> Iterator[_Sentence]:
    text = chunk.text
    reading = segment_text(text, chunk.start > 0)
    for place in range(len(reading.ends)):
        for start, end in reading.sentences(reading.block(place))[0]:
            kind = reading.kind((start, end))
            first = _after_table(text, start, end)
            quote = text[first:end]
            if end - first > LONGEST_SENTENCE or _FIGURE.search(quote) is None:
                continue
            if kind in (UnitKind.PROSE, UnitKind.LIST_ITEM) and text[first].isupper():
                yield _Sentence((first, end), quote, tuple(concept(term) for term in tokenize(quote)))


def _after_table(text: str, start: int, end: int) -> int:
    """Where a sentence begins that was read together with the rows of a table, or the head of a page, above it."""
    at = start
    while (line_end := text.find("\n", at, end)) >= 0:
        line = text[at:line_end].strip()
        if split_borderless_row(line) is None and not line.isupper() and len(line.split()) > LONGEST_TITLE:
            break
        at = line_end + 1
    while text[at].isspace():
        at += 1
    return at


def _tables(rows: Sequence[_Row]) -> Iterator[list[_Row]]:
    """The rows that stand under the same lines."""
    table: list[_Row] = []
    for row in rows:
        if table and (row.row.section, row.row.header) != (table[-1].row.section, table[-1].row.header):
            yield table
            table = []
        table.append(row)
    if table:
        yield table


def _closeness(measure: Measure, spoken: Sequence[str]) -> float:
    """In (0, 1]: how close to each other the words of the measure stand in a sentence, its missing words left out."""
    places: dict[str, list[int]] = {}
    for place, one in enumerate(spoken):
        if one in measure.weights:
            places.setdefault(one, []).append(place)
    held = [one for one in measure.weights if one in places]
    gaps = [min(abs(a - b) for a in places[one] for b in places[other]) for one, other in pairwise(held)]
    if not gaps:
        return 1.0 if len(measure.weights) == 1 else FAR
    return sum(1.0 if gap <= 1 else NEAR if gap <= MAX_WORD_GAP else FAR for gap in gaps) / len(gaps)


def _concepts(text: str) -> frozenset[str]:
    return frozenset(concept(term) for term in tokenize(text) if not term.isdigit() and term not in FUNCTION_WORDS)


def _heading(chunk: Chunk) -> frozenset[str]:
    return _concepts(" ".join(chunk.heading_path[-1:]))


def _years_of(chunk: Chunk) -> list[str]:
    return _YEAR.findall(chunk.document_title)[:1]


def _position_penalty(chunk: Chunk) -> float:
    """Statements come before the notes on them."""
    return min(0.05, 0.0005 * chunk.index)


def _sum(weights: Mapping[str, float], concepts: frozenset[str]) -> float:
    return sum(weight for one, weight in weights.items() if one in concepts)

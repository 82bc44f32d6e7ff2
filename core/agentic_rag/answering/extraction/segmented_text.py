"""The segmentation of a chunk into paragraphs and sentences with their kinds, the same for every question.

It is a pure function of the text, computed as far as questions need it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from agentic_rag.answering.extraction.term_matching import QuestionTerm, find_hits, lower_text
from agentic_rag.answering.extraction.text_units import (
    FENCES,
    UnitKind,
    classify_unit,
    heads_paragraph,
    is_numbered_title,
    is_valued_row,
    join_terms,
    may_be_heading,
    split_labelled_lines,
    split_section_lines,
    stands_among_labels,
)
from agentic_rag.documents.front_matter import front_matter_end
from agentic_rag.language.sentences import sentence_spans
from agentic_rag.language.tables import CELL_SEPARATOR, line_spans, row_spans, split_properties
from agentic_rag.language.words.word_tables import table_of

BLANK_LINE = "\n\n"
_CACHED_TEXTS = 256
"""The passages of about a dozen questions, some 3 MB. The stages of one question segment the same passages again."""

LONGEST_FRONT = 600
"""Characters of the lines that name a document."""
SHORTEST_SENTENCE = 5
"""Spaces in a sentence that is more than a name or a date."""
LONGEST_HEADING = 120
"""Characters."""

_REFERENCE_OPENS = re.compile(r"\[\d{1,3}\]\s+(?=[^\W\d_])")
_REFERENCE_CLOSES = re.compile(r"\n(?:\s*\n|\[\d{1,3}\]\s)")
_INITIAL = re.compile(r"\b[A-Z]\.(?:\s?[A-Z]\.)?\s?[A-Z][a-z]|\b[A-Z][a-z]+,? [A-Z]\.")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_NAMED_COLUMNS = re.compile(r"\|?(?: ?:?-{3,}:? ?\|){2,}(?: ?:?-{3,}:? ?)?")
"""The rule of a table of three columns and more: two hold what names a document, and its values."""

_OF_ITS_OWN, _IN_PARAGRAPH = 8, 9
"""The levels of headings without a mark: deeper than those with one."""
_HEADS = frozenset({UnitKind.PROSE, UnitKind.LIST_ITEM, UnitKind.FRAGMENT})
"""What a heading is taken for where its neighbours are not looked at."""
_SHORT_LINES = frozenset({UnitKind.HEADING, UnitKind.FRAGMENT})
"""What a line with a label is taken for where its neighbours are not looked at."""

Span = tuple[int, int]


class SegmentedText:
    """A chunk's text in lower case (same offsets), the ends of its paragraphs, and on demand its sentences."""

    __slots__ = (
        "_asked",
        "_front",
        "_kinds",
        "_sentences",
        "_starts",
        "cut_off",
        "ends",
        "front_matter_end",
        "low",
        "text",
    )

    def __init__(self, text: str, cut_off: bool) -> None:
        self.text = text
        self.cut_off = cut_off
        self.low = lower_text(text)
        self.ends = _paragraph_ends(text)
        self.front_matter_end = front_matter_end(text)
        self._sentences: dict[Span, list[Span]] = {}
        self._starts: dict[Span, list[int]] = {}
        self._kinds: dict[Span, UnitKind] = {}
        self._front: int | None = 0 if cut_off else None
        self._asked: tuple[tuple[QuestionTerm, ...], list[tuple[int, int]], int] = ((), [], 0)

    def hits(self, terms: tuple[QuestionTerm, ...]) -> list[tuple[int, int]]:
        """`term_match.hits` in the text; those of the terms asked for last are kept. Not to be changed."""
        return self._match(terms)[1]

    def mask(self, terms: tuple[QuestionTerm, ...]) -> int:
        """The bits of the terms that occur in the text."""
        return self._match(terms)[2]

    def _match(self, terms: tuple[QuestionTerm, ...]) -> tuple[tuple[QuestionTerm, ...], list[tuple[int, int]], int]:
        known = self._asked
        if known[0] != terms:
            found = find_hits(self.low, terms)
            mask = 0
            for _, bit in found:
                mask |= bit
            known = self._asked = (terms, found, mask)
        return known

    def block_of(self, at: int) -> int:
        """The paragraph that holds the offset `at`."""
        return bisect_right(self.ends, at)

    def block(self, place: int) -> Span:
        """Where a paragraph lies; one that announces a list, or is a line that heads a table, brings the next along."""
        start, end = (self.ends[place - 1] if place else 0), self.ends[place]
        if place + 1 < len(self.ends):
            following = self.ends[place + 1]
            if self.text[start:end].rstrip().endswith(":") or self._heads_table(start, end, following):
                end = following
        return start, end

    def _heads_table(self, start: int, end: int, following: int) -> bool:
        one_line = self.text.find("\n", start + len(BLANK_LINE) if start else 0, end) < 0
        return one_line and end - start < LONGEST_HEADING and self.text.find(CELL_SEPARATOR, end, following) >= 0

    def headings(self, place: int) -> tuple[Span, ...]:
        """The headings that a paragraph stands under within this chunk, outermost first."""
        return find_headings(self.text).above[place]

    def front_end(self) -> int:
        """Where the paragraphs end that name the document: those before its second heading and its first sentence."""
        if self._front is None:
            self._front = 0
            for place, end in enumerate(self.ends):
                start = self.ends[place - 1] if place else 0
                if end > LONGEST_FRONT or self.text.startswith("##", start + len(BLANK_LINE)):
                    break
                if any(_NAMED_COLUMNS.fullmatch(line) for line in self.text[start:end].split("\n")):
                    break
                if any(self._is_sentence(span) for span in self.sentences((start, end))[0]):
                    break
                self._front = end
        return self._front

    def _is_reference(self, at: int) -> bool:
        """Whether the entry of a list of references holds the place: a number in brackets at the beginning of a line,
        the initials of an author, a year.
        """
        opened = _REFERENCE_OPENS.match(self.text, self.text.rfind("\n[", 0, at + 1) + 1)
        if opened is None or opened.start() > at:
            return False
        closed = _REFERENCE_CLOSES.search(self.text, opened.end())
        end = len(self.text) if closed is None else closed.start()
        entry = self.text[opened.end() : min(end, opened.end() + LONGEST_FRONT)]
        return at < end and _INITIAL.search(entry) is not None and _YEAR.search(entry) is not None

    def _is_sentence(self, span: Span) -> bool:
        said = self.text[slice(*span)]
        return said[-1] in ".!?" and said.count(" ") >= SHORTEST_SENTENCE and self.kind(span) is UnitKind.PROSE

    def sentences(self, block: Span) -> tuple[list[Span], list[int]]:
        """The sentences and table rows of a paragraph, and where they start."""
        spans = self._sentences.get(block)
        if spans is None:
            start, end = block
            held = self.text[start:end]
            cut = split_section_lines(held, sentence_spans(held, table_of(self.text)))
            cut = split_properties(held, cut)
            cut = join_terms(held, row_spans(held, split_labelled_lines(held, cut)))
            spans = [(start + first, start + last) for first, last in cut]
            self._sentences[block] = spans
            self._starts[block] = [first for first, _ in spans]
        return spans, self._starts[block]

    def code_end(self, at: int) -> int:
        """Where the fenced code ends that is the next text from `at` on; `at` without such code."""
        opened = len(self.text) - len(self.text[at:].lstrip())
        fence = self.text[opened : opened + 3]
        closed = self.text.find(f"\n{fence}", opened) if fence in FENCES else -1
        return at if closed < 0 else closed + 1 + len(fence)

    def kind(self, span: Span) -> UnitKind:
        """The kind of a sentence."""
        kind = self._kinds.get(span)
        if kind is None:
            kind = classify_unit(self.text[span[0] : span[1]], cut_off=span[0] == 0 and self.cut_off)
            if kind in _HEADS and span in find_headings(self.text).lines:
                kind = UnitKind.HEADING
            if kind is UnitKind.PROSE and self._is_reference(span[0]):
                kind = UnitKind.BOILERPLATE
            if kind in _SHORT_LINES and stands_among_labels(self.text, *span):
                kind = UnitKind.LIST_ITEM
            if kind is UnitKind.QUESTION and is_valued_row(self.text, *span):
                kind = UnitKind.TABLE_ROW
            self._kinds[span] = kind
        return kind


@lru_cache(_CACHED_TEXTS)
def segment_text(text: str, cut_off: bool) -> SegmentedText:
    """The segmentation of a text; `cut_off` says that it opens in the middle of a document."""
    return SegmentedText(text, cut_off)


@dataclass(frozen=True, slots=True)
class Headings:
    """The lines of a text that head what stands below them, and for each paragraph those above it, outermost first."""

    lines: frozenset[Span]
    above: tuple[tuple[Span, ...], ...]


@lru_cache(_CACHED_TEXTS)
def find_headings(text: str) -> Headings:
    """Lines marked as headings count by their level; under them the last line of its own that is one, and the first
    line of a paragraph that heads it.
    """
    paragraphs = _paragraph_lines(text)
    levels: list[tuple[int, Span]] = []
    heads: set[Span] = set()
    paths: list[tuple[Span, ...]] = []
    for place, lines in enumerate(paragraphs):
        path = tuple(span for _, span in levels)
        opening = 0
        for at, span in enumerate(lines):
            level = _level(text, paragraphs, place, at, opens=opening == at)
            if level is None:
                continue
            heads.add(span)
            levels = [*(one for one in levels if one[0] < level), (level, span)]
            if opening == at:
                opening += 1
                path = path if opening == len(lines) else tuple(one for _, one in levels)
        paths.append(path)
    return Headings(frozenset(heads), tuple(paths))


def _level(text: str, paragraphs: Sequence[Sequence[Span]], place: int, at: int, *, opens: bool) -> int | None:
    """How deep a line stands as a heading; None where it is none."""
    lines = paragraphs[place]
    line = text[slice(*lines[at])]
    if line.startswith("#"):
        return len(line) - len(line.lstrip("#"))
    if at or not opens:
        return None
    if len(lines) > 1:
        return _IN_PARAGRAPH if heads_paragraph(line, text[slice(*lines[1])]) else None
    if not may_be_heading(line) or line[-1] in ".!?":
        return None
    before = text[slice(*paragraphs[place - 1][-1])] if place and paragraphs[place - 1] else ""
    after = text[slice(*paragraphs[place + 1][0])] if place + 1 < len(paragraphs) and paragraphs[place + 1] else ""
    is_alone = classify_unit(line) in (UnitKind.HEADING, UnitKind.QUESTION) or is_numbered_title(line, before, after)
    return _OF_ITS_OWN if is_alone else None


def _paragraph_lines(text: str) -> list[list[Span]]:
    """The lines of each paragraph without the white space around them."""
    found: list[list[Span]] = []
    at = 0
    for end in _paragraph_ends(text):
        found.append(line_spans(text, at, end))
        at = end
    return found


def _paragraph_ends(text: str) -> list[int]:
    ends: list[int] = []
    at = text.find(BLANK_LINE)
    while at >= 0:
        ends.append(at)
        at = text.find(BLANK_LINE, at + len(BLANK_LINE))
    ends.append(len(text))
    return ends

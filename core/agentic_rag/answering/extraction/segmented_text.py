"""The segmentation of a chunk into paragraphs and sentences with their kinds, the same for every question.

It is a pure function of the text, computed as far as questions need it.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache

from agentic_rag.answering.extraction.term_matching import QuestionTerm, find_hits, lower_text
from agentic_rag.answering.extraction.text_units import (
    SECTION_LINE,
    UnitKind,
    classify_unit,
    join_terms,
    may_be_heading,
    split_section_lines,
)
from agentic_rag.language.sentences import sentence_spans
from agentic_rag.language.tables import CELL_SEPARATOR, row_spans

BLANK_LINE = "\n\n"
_CACHED_TEXTS = 256
"""The passages of about a dozen questions, some 3 MB. The stages of one question segment the same passages again."""

LONGEST_FRONT = 600
"""Characters of the lines that name a document."""
SHORTEST_SENTENCE = 5
"""Spaces in a sentence that is more than a name or a date."""
LONGEST_HEADING = 120
"""Characters."""

Span = tuple[int, int]


class SegmentedText:
    """A chunk's text in lower case (same offsets), the ends of its paragraphs, and on demand its sentences."""

    __slots__ = ("_asked", "_front", "_headings", "_kinds", "_sentences", "_starts", "cut_off", "ends", "low", "text")

    def __init__(self, text: str, cut_off: bool) -> None:
        self.text = text
        self.cut_off = cut_off
        self.low = lower_text(text)
        self.ends = _paragraph_ends(text)
        self._sentences: dict[Span, list[Span]] = {}
        self._starts: dict[Span, list[int]] = {}
        self._kinds: dict[Span, UnitKind] = {}
        self._headings: dict[int, Span | None] = {}
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

    def heading(self, place: int) -> Span | None:
        """The heading that a paragraph stands under within this chunk: the nearest line above that is marked as one,
        or the short line that is the paragraph before it.
        """
        if place in self._headings:
            return self._headings[place]
        start = self.ends[place - 1] if place else 0
        found = self._headings[place] = self._section_line(start) or self._line_above(place, start)
        return found

    def _line_above(self, place: int, start: int) -> Span | None:
        marked = self.text.rfind("\n#", 0, start) + 1
        if marked or (start and self.text.startswith("#")):
            line_end = self.text.find("\n", marked)
            return marked, start if line_end < 0 else min(line_end, start)
        if place:
            before = (self.ends[place - 2] if place > 1 else 0, start)
            if may_be_heading(self.text[slice(*before)].strip()):
                spans, _ = self.sentences(before)
                if len(spans) == 1 and self.kind(spans[0]) is UnitKind.HEADING:
                    return spans[0]
        return None

    def _section_line(self, start: int) -> Span | None:
        """The line at `start` where it heads the paragraph that it opens."""
        start += len(self.text[start:]) - len(self.text[start:].lstrip("\n")) if start else 0
        end = self.text.find("\n", start)
        return (start, end) if end > start and SECTION_LINE.match(self.text[start:end]) else None

    def front_end(self) -> int:
        """Where the paragraphs end that name the document: those before its second heading and its first sentence."""
        if self._front is None:
            self._front = 0
            for place, end in enumerate(self.ends):
                start = self.ends[place - 1] if place else 0
                if end > LONGEST_FRONT or self.text.startswith("##", start + len(BLANK_LINE)):
                    break
                if any(self._is_sentence(span) for span in self.sentences((start, end))[0]):
                    break
                self._front = end
        return self._front

    def _is_sentence(self, span: Span) -> bool:
        said = self.text[slice(*span)]
        return said[-1] in ".!?" and said.count(" ") >= SHORTEST_SENTENCE and self.kind(span) is UnitKind.PROSE

    def sentences(self, block: Span) -> tuple[list[Span], list[int]]:
        """The sentences and table rows of a paragraph, and where they start."""
        spans = self._sentences.get(block)
        if spans is None:
            start, end = block
            held = self.text[start:end]
            cut = join_terms(held, row_spans(held, split_section_lines(held, sentence_spans(held))))
            spans = [(start + first, start + last) for first, last in cut]
            self._sentences[block] = spans
            self._starts[block] = [first for first, _ in spans]
        return spans, self._starts[block]

    def kind(self, span: Span) -> UnitKind:
        """The kind of a sentence."""
        kind = self._kinds.get(span)
        if kind is None:
            kind = classify_unit(self.text[span[0] : span[1]], cut_off=span[0] == 0 and self.cut_off)
            self._kinds[span] = kind
        return kind


@lru_cache(_CACHED_TEXTS)
def segment_text(text: str, cut_off: bool) -> SegmentedText:
    """The segmentation of a text; `cut_off` says that it opens in the middle of a document."""
    return SegmentedText(text, cut_off)


def _paragraph_ends(text: str) -> list[int]:
    ends: list[int] = []
    at = text.find(BLANK_LINE)
    while at >= 0:
        ends.append(at)
        at = text.find(BLANK_LINE, at + len(BLANK_LINE))
    ends.append(len(text))
    return ends

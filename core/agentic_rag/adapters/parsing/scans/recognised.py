"""What an engine recognised on a page: its words with their places and how sure it is, and the page that they make."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, cast

from agentic_rag.adapters.parsing.pdf.page_words import PageLine, PdfPage, Word

ILLEGIBLE = "[…]"
"""Stands for words that the engine is not sure of, so that nothing is quoted which may be misread, and no sentence is
closed over a gap.
"""
_SURE = 0.7
"""The least confidence in a word that is shown. On clean and on bad scans of seven pages, words below it are right in 6
of 10 cases, above it in 997 of 1,000 (docs/formats.md).
"""
_SURE_FIGURE = 0.75
"""That in a word with a figure, of which nobody sees that it is wrong: on bad scans 984 of 1,000 above it are right."""
_MOST_ILLEGIBLE = 0.5
"""The share of a page's words from which on the page counts as unread."""
_SAME_SIZE = 0.25
"""Lines whose letters differ less from those of most lines, by their size, are of the size of most: the height of a
recognised word depends on its letters.
"""

FlatPage = list[Any]
"""A page as JSON carries it."""


@dataclass(frozen=True, slots=True)
class RecognisedWord:
    """A word and its box, in points from the lower left of the page as it is read. `confidence` is in [0, 1]."""

    text: str
    left: float
    bottom: float
    right: float
    top: float
    confidence: float

    @property
    def is_sure(self) -> bool:
        least = _SURE_FIGURE if any(sign.isdigit() for sign in self.text) else _SURE
        return self.confidence >= least


@dataclass(frozen=True, slots=True)
class RecognisedLine:
    """The words of a line, from left to right. `base`: the height of its base line at the first one. `slope`: by how
    much it rises a point.
    """

    words: tuple[RecognisedWord, ...]
    base: float
    slope: float = 0.0
    begins_paragraph: bool = False


@dataclass(frozen=True, slots=True)
class RecognisedPage:
    """The lines of a page in reading order. `width` and `height` are in points, of the page as it is read; `turns`
    quarter turns to the left make it of the page as it is shown.
    """

    lines: tuple[RecognisedLine, ...]
    width: float
    height: float
    turns: int = 0
    is_blank: bool = False
    """Whether nothing is on it, so that no word is missing."""

    @property
    def is_read(self) -> bool:
        """Whether most of its words are sure; a page without words is read only where it is blank."""
        words = [word for line in self.lines for word in line.words]
        return sum(not word.is_sure for word in words) <= _MOST_ILLEGIBLE * len(words) if words else self.is_blank

    def page(self) -> PdfPage:
        """The page as loaders lay it out: base lines level, one size for lines of about one size."""
        slope = median([line.slope for line in self.lines] or [0.0])
        usual = median([_height(line) for line in self.lines] or [0.0])
        lines: list[PageLine] = []
        for line in self.lines:
            if line.begins_paragraph and lines:
                lines.append(PageLine(""))
            lines.append(_page_line(line, slope, usual))
        return PdfPage(lines)

    def flat(self) -> FlatPage:
        """What `recognised_page` reads."""
        lines = [
            [
                round(line.base, 2),
                round(line.slope, 5),
                line.begins_paragraph,
                [
                    (one.text, *(round(at, 2) for at in (one.left, one.bottom, one.right, one.top)), one.confidence)
                    for one in line.words
                ],
            ]
            for line in self.lines
        ]
        return [self.width, self.height, self.turns, self.is_blank, lines]


def recognised_page(flat: FlatPage) -> RecognisedPage:
    """The page that `RecognisedPage.flat` wrote."""
    width, height, turns, is_blank, lines = flat
    read = tuple(
        RecognisedLine(tuple(RecognisedWord(*word) for word in words), base, slope, begins)
        for base, slope, begins, words in cast(list[FlatPage], lines)
    )
    return RecognisedPage(read, width, height, turns, is_blank)


def shown_words(line: RecognisedLine) -> Iterator[RecognisedWord]:
    """The words of a line as its text shows them: unsure ones beside each other are one `ILLEGIBLE`."""
    unsure: list[RecognisedWord] = []
    for word in line.words:
        if not word.is_sure:
            unsure.append(word)
            continue
        if unsure:
            yield _illegible(unsure)
            unsure = []
        yield word
    if unsure:
        yield _illegible(unsure)


def _illegible(words: Sequence[RecognisedWord]) -> RecognisedWord:
    return RecognisedWord(
        ILLEGIBLE,
        min(word.left for word in words),
        min(word.bottom for word in words),
        max(word.right for word in words),
        max(word.top for word in words),
        min(word.confidence for word in words),
    )


def _height(line: RecognisedLine) -> float:
    return median(word.top - word.bottom for word in line.words)


def _page_line(line: RecognisedLine, slope: float, usual: float) -> PageLine:
    shown = [*shown_words(line)]
    base = line.base - slope * line.words[0].left
    size = _height(line)
    size = usual if abs(size - usual) <= _SAME_SIZE * usual else size
    words = [Word(word.text, word.left, word.right, base) for word in shown]
    return PageLine(" ".join(word.text for word in shown), words, round(size, 1))

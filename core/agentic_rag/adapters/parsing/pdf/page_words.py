"""Words and lines of a PDF page with their places, in points from the lower left of the page as it is looked at."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_WRITTEN_DOWN = re.compile("[\u3041-\u30ff\u3400-\u9fff]")
_LONG_WORD = 4
"""Letters of a word that is wider than high."""


AttachedFile = tuple[str, Callable[[], bytes]]
"""The name of a file in a file, and what reads it."""


@dataclass(slots=True)
class Word:
    """Text between `left` and `right` on the baseline `base`. Treat it as immutable: every word of a file makes one,
    and creating a frozen one takes six times as long.
    """

    text: str
    left: float
    right: float
    base: float


@dataclass(frozen=True, slots=True)
class PageLine:
    """A line as its page orders it. `words` is empty and `size` 0 where the reader tells no places."""

    text: str
    words: Sequence[Word] = ()
    size: float = 0.0
    """The size of its letters, in points."""
    is_row: bool = False
    """A line of a table: cells between bars."""

    @property
    def base(self) -> float:
        return self.words[0].base


@dataclass(frozen=True, slots=True)
class PdfPage:
    """The lines of a page. `is_drawn`: what it says is drawn in pictures or curves, which nobody here reads."""

    lines: Sequence[PageLine]
    is_drawn: bool = False
    notes: Sequence[str] = ()
    """Remarks that people pinned to the page."""
    files: Sequence[AttachedFile] = ()
    """Files that people pinned to the page."""
    pictures: int = 0
    """Pictures that show words which the lines lack."""

    @property
    def text(self) -> str:
        return "\n".join(line.text for line in self.lines)

    @property
    def runs_down(self) -> bool:
        """Whether it is written from top to bottom, as Japanese may be: PDFium orders such lines wrongly, and loses
        some.
        """
        lines = [line for line in self.lines if _WRITTEN_DOWN.search(line.text)]
        long = [(line.size, word) for line in lines for word in line.words if len(word.text) >= _LONG_WORD]
        down = sum(len(word.text) for size, word in long if word.right - word.left < size)
        return down * 2 > sum(len(word.text) for _, word in long)


def plain_page(text: str) -> PdfPage:
    """A page by a reader that tells no places."""
    return PdfPage([PageLine(line) for line in text.split("\n")])

"""Where a quote stands on a PDF page: boxes of its lines, found letter by letter, or nothing.

A stored text and a page write the same letters with other blanks, hyphens at the ends of lines, and bars between
cells. So both are compared without them. A quote that stands several times is told apart by the letters beside it;
where that does not decide, there is no box: a box in the wrong place is worse than none.
"""

from __future__ import annotations

import ctypes
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import pypdfium2.raw  # pyright: ignore[reportMissingTypeStubs] - it ships none

from agentic_rag.answering.runs.page_image import MarkedLine, QuotedPlace

pdfium = cast(Any, pypdfium2.raw)

_DROPPED = re.compile(r"[\s|\x00-\x1f\u00ad\u2010\u2011\ufffe^_-]+")
"""Blanks, bars of tables, hyphens (PDFium writes some as control characters), and the signs that a text puts before
raised and lowered figures.
"""
_CONTEXTS = (0, 12, 40, 120, 400)
"""Letters beside the quote that are compared, as few as decide."""
_BESIDE = 6
_LEAST_LETTERS = 2
_LINE_SHARE = 0.5
"""Boxes that share so much of the smaller height stand on one line."""
_WIDEST_GAP = 6.0
"""By the height of a line: behind a wider gap on it another box begins, as beside a column."""
_BELOW = 0.2
"""The part of a font's size that lies below the baseline: as with the fonts that browsers take for a PDF's text, DejaVu
(ascent 0.928, descent 0.236), Liberation Sans (0.905, 0.212), and Times (0.891, 0.216).
"""
_ASKEW = 0.05
"""A baseline that rises more, by the tangent of its angle, lies along no side of the page."""


@dataclass(frozen=True, slots=True)
class _Letters:
    """The letters of a page, each with the number of its character."""

    text: str
    numbers: Sequence[int]


def quoted_lines(textpage: object, place: QuotedPlace) -> tuple[MarkedLine, ...]:
    """The boxes of a quote, one for each line that it covers; empty where its place is not sure."""
    page = _letters_of(textpage)
    return lines_at(page.text, page.numbers, place, lambda number: _box(textpage, number))


def lines_at(
    text: str, numbers: Sequence[int], place: QuotedPlace, box_of: Callable[[int], MarkedLine | None]
) -> tuple[MarkedLine, ...]:
    """The boxes of a quote in the letters of a page, each of which has a number, by the box of each number."""
    found = _find(text, *(letters(part) for part in (place.before, place.quote, place.after)))
    if found is None:
        return ()
    boxes = [box_of(number) for number in dict.fromkeys(numbers[found[0] : found[1]])]
    if any(box is None for box in boxes):
        return ()
    return tuple(_lines(box for box in boxes if box is not None))


def letters(text: str) -> str:
    """What of a text is compared: compatibility forms of its letters, figures and signs."""
    return _DROPPED.sub("", unicodedata.normalize("NFKC", _DROPPED.sub("", text)))


def _find(page: str, before: str, quote: str, after: str) -> tuple[int, int] | None:
    """The one place of the quote, or None. Where the stored text has the quote more often than the page, the page
    writes one of them in other letters, and that may be the one that is meant.
    """
    if len(quote) < _LEAST_LETTERS:
        return None
    kept = [*_places(page, quote)]
    if len(kept) < sum(1 for _ in _places(before + quote + after, quote)):
        return None
    for length in _CONTEXTS:
        heads, tails = before[-length:] if length else "", after[:length]
        kept = [at for at in kept if page[:at].endswith(heads) and page.startswith(tails, at + len(quote))]
        if len(kept) <= 1:
            break
    if len(kept) != 1 or not _stands_beside(page, kept[0], before, quote, after):
        return None
    return kept[0], kept[0] + len(quote)


def _stands_beside(page: str, at: int, before: str, quote: str, after: str) -> bool:
    """Whether on one side of the place at least the page goes on as the stored text does."""
    head, tail = before[-_BESIDE:], after[:_BESIDE]
    if not head or not tail:
        return page[:at].endswith(head) and page.startswith(tail, at + len(quote))
    return page[:at].endswith(head) or page.startswith(tail, at + len(quote))


def _places(page: str, quote: str) -> Iterator[int]:
    at = page.find(quote)
    while at >= 0:
        yield at
        at = page.find(quote, at + 1)


def _letters_of(textpage: object) -> _Letters:
    parts: list[str] = []
    numbers: list[int] = []
    for number in range(pdfium.FPDFText_CountChars(textpage)):
        code = pdfium.FPDFText_GetUnicode(textpage, number)
        if not code or 0xD800 <= code < 0xE000 or pdfium.FPDFText_IsGenerated(textpage, number) == 1:
            # A character beyond the first plane takes two places; quotes that hold one get no box.
            continue
        for letter in letters(chr(code)):
            parts.append(letter)
            numbers.append(number)
    return _Letters("".join(parts), numbers)


def _box(textpage: object, number: int) -> MarkedLine | None:
    """The box of a character, as wide as its advance and as high as its font's size, so that words on one line have one
    height; None without extent.
    """
    area = pdfium.FS_RECTF()
    if not pdfium.FPDFText_GetLooseCharBox(textpage, number, area):
        return None
    loose = _line_between(area.left, area.bottom, area.right, area.top)
    tight = _glyph(textpage, number)
    if not _has_extent(loose):
        return tight if tight and _has_extent(tight) else None
    high = _as_high_as_its_size(textpage, number, loose)
    return high if high and (tight is None or _holds_middle(high, tight)) else loose


def _as_high_as_its_size(textpage: object, number: int, loose: MarkedLine) -> MarkedLine | None:
    """The box on the character's own baseline; None where the baseline is askew, or nothing tells it."""
    form = pdfium.FS_MATRIX()
    x, y = ctypes.c_double(), ctypes.c_double()
    if not pdfium.FPDFText_GetMatrix(textpage, number, form):
        return None
    if not pdfium.FPDFText_GetCharOrigin(textpage, number, x, y):
        return None
    size = pdfium.FPDFText_GetFontSize(textpage, number)
    if abs(form.b) < _ASKEW * abs(form.a):
        up = form.d * size
        return _line_between(loose.left, y.value - _BELOW * up, loose.right, y.value + (1 - _BELOW) * up)
    if abs(form.a) < _ASKEW * abs(form.b):
        up = form.c * size
        return _line_between(x.value - _BELOW * up, loose.bottom, x.value + (1 - _BELOW) * up, loose.top)
    return None


def _glyph(textpage: object, number: int) -> MarkedLine | None:
    """The box of what is drawn of a character."""
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    if not pdfium.FPDFText_GetCharBox(textpage, number, left, right, bottom, top):
        return None
    return _line_between(left.value, bottom.value, right.value, top.value)


def _line_between(left: float, bottom: float, right: float, top: float) -> MarkedLine:
    return MarkedLine(min(left, right), min(bottom, top), max(left, right), max(bottom, top))


def _has_extent(box: MarkedLine) -> bool:
    return box.right > box.left and box.top > box.bottom


def _holds_middle(box: MarkedLine, inner: MarkedLine) -> bool:
    across, along = (inner.left + inner.right) / 2, (inner.bottom + inner.top) / 2
    return box.left <= across <= box.right and box.bottom <= along <= box.top


def _lines(boxes: Iterator[MarkedLine]) -> Iterator[MarkedLine]:
    line: MarkedLine | None = None
    for box in boxes:
        if line is not None and _on_one_line(line, box):
            line = MarkedLine(
                min(line.left, box.left),
                min(line.bottom, box.bottom),
                max(line.right, box.right),
                max(line.top, box.top),
            )
            continue
        if line is not None:
            yield line
        line = box
    if line is not None:
        yield line


def _on_one_line(line: MarkedLine, box: MarkedLine) -> bool:
    shared = min(line.top, box.top) - max(line.bottom, box.bottom)
    height = min(line.top - line.bottom, box.top - box.bottom)
    gap = max(box.left - line.right, line.left - box.right)
    return shared >= _LINE_SHARE * height and gap <= _WIDEST_GAP * height

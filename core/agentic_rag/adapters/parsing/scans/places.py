"""Where a quote stands on a page whose words were recognised, and the page with it marked."""

from __future__ import annotations

import ctypes
from typing import Any, cast

import pypdfium2.raw  # pyright: ignore[reportMissingTypeStubs] - it ships none

from agentic_rag.adapters.parsing.pdf.quoted_lines import letters, lines_at
from agentic_rag.adapters.parsing.scans.recognised import RecognisedPage, RecognisedWord, shown_words
from agentic_rag.answering.runs.page_image import MarkedLine, QuotedPlace

pdfium = cast(Any, pypdfium2.raw)

_STEPS = 20
"""Parts of a point that PDFium's whole numbers count."""


def recognised_lines(page: Any, recognised: RecognisedPage, place: QuotedPlace) -> tuple[MarkedLine, ...]:
    """The boxes of a quote in the page's own coordinates, whole words; empty where its place is not sure."""
    words = [word for line in recognised.lines for word in shown_words(line)]
    text: list[str] = []
    numbers: list[int] = []
    for number, word in enumerate(words):
        for letter in letters(word.text):
            text.append(letter)
            numbers.append(number)
    return lines_at("".join(text), numbers, place, lambda number: _on_page(page, recognised, words[number]))


def _on_page(page: Any, recognised: RecognisedPage, word: RecognisedWord) -> MarkedLine:
    corners = (word.left, word.bottom), (word.right, word.top)
    width, height = recognised.width, recognised.height
    for _ in range(recognised.turns):
        corners = cast(tuple[tuple[float, float], tuple[float, float]], tuple((y, width - x) for x, y in corners))
        width, height = height, width
    across, up = ctypes.c_double(), ctypes.c_double()
    found: list[tuple[float, float]] = []
    for x, y in corners:
        sizes = round(width * _STEPS), round(height * _STEPS)
        shown = round(x * _STEPS), round((height - y) * _STEPS)
        pdfium.FPDF_DeviceToPage(page.raw, 0, 0, *sizes, 0, *shown, across, up)
        found.append((across.value, up.value))
    (left, right), (bottom, top) = (sorted(one[axis] for one in found) for axis in (0, 1))
    return MarkedLine(left, bottom, right, top)

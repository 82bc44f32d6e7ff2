"""Marked lines beside two other engines: the words of poppler's `pdftotext -bbox`, and pdf.js' text layer.

Quotes are drawn from the product's own text of each page. What the other engines read is searched for the same
letters, by itself. Poppler takes other heights for a letter (the font's), so its boxes are compared along the line, and
each mark has to lie on the line of its words. Boxes of pdf.js are compared in both directions.
"""

from __future__ import annotations

import random
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import unescape
from itertools import groupby
from pathlib import Path

from pypdfium2 import PdfDocument

from agentic_rag.adapters.parsing.dispatch import load
from agentic_rag.adapters.parsing.pdf import quoted_lines
from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.adapters.parsing.text_builder import LoadedText
from agentic_rag.answering.runs.page_image import CONTEXT_CHARACTERS, MarkedLine, QuotedPlace
from agentic_rag.kernel.errors import ParseFailed
from tests.console.boxes import Box, Letters, merged
from tests.console.text_layer import Overlaps, TextLayers

QUOTES_OF_A_PAGE = 4
MOST_PAGES = 40
ENOUGH = 0.9
_WORD = re.compile(r'<word xMin="([-\d.]+)" yMin="([-\d.]+)" xMax="([-\d.]+)" yMax="([-\d.]+)">(.*?)</word>')
_PAGE = re.compile(r'<page width="([\d.]+)" height="([\d.]+)">(.*?)</page>', re.S)
_QUOTE = re.compile(r"[^\s|][^\n|]{20,140}[^\s|](?=\s)")


@dataclass(frozen=True, slots=True)
class DrawnQuote:
    """A quote of a page, and what the product marks of it."""

    place: QuotedPlace
    marks: Sequence[MarkedLine]
    corner: tuple[float, float]
    """Left and top of what is shown of the page."""

    def __str__(self) -> str:
        return f"page {self.place.page}: {self.place.quote[:60]}"


@dataclass
class Marks:
    """What was compared with poppler's words. A quote is `near` when both share 0.9 of their union along the line."""

    quotes: int = 0
    unmarked: int = 0
    """Not found at one place by the product: no box."""
    unjudged: int = 0
    """Marked, and not found at one place in the other engine's words."""
    near: int = 0
    far: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    """Marks of which some lies on no line of the other engine's words."""

    @property
    def judged(self) -> int:
        return self.near + len(self.far) + len(self.wrong)


def drawn_quotes(path: Path, seed: int = 23) -> Iterator[DrawnQuote]:
    """Quotes of a file, page by page; none of one that the product does not read."""
    reading = _reading(path)
    if reading is None:
        return
    document = PdfDocument(path)
    if document.get_formtype():
        document.init_forms()
    drawn = random.Random(seed)
    spans = [one for one in reading.pages if one.end > one.start]
    for span in sorted(drawn.sample(spans, min(MOST_PAGES, len(spans))), key=lambda one: one.number):
        page = document[span.number - 1]
        if page.get_rotation():
            continue
        left, _, _, top = page.get_cropbox() or (0.0, 0.0, *page.get_size())
        text = reading.text[span.start : span.end]
        textpage = page.get_textpage()
        for start, end in _quotes(text, drawn):
            before, after = text[max(0, start - CONTEXT_CHARACTERS) : start], text[end : end + CONTEXT_CHARACTERS]
            place = QuotedPlace(span.number, text[start:end], before, after)
            yield DrawnQuote(place, quoted_lines.quoted_lines(textpage.raw, place), (left, top))
        textpage.close()
        page.close()
    document.close()


def compare_words(path: Path, marks: Marks) -> None:
    """Compare a file's drawn quotes with poppler's words."""
    pages = _poppler_pages(path)
    for page, quotes in groupby(drawn_quotes(path), lambda one: (one.place.page, one.corner)):
        number, corner = page
        read = pages[number - 1] if number <= len(pages) else []
        words = Letters([(word, box.moved(*corner)) for word, box in read])
        for one in quotes:
            marks.quotes += 1
            _judge(one.marks, words.writing(one.place), marks, f"{path.name} {one}")


def compare_layers(path: Path, overlaps: Overlaps, layers: TextLayers) -> None:
    """Compare a file's drawn quotes with pdf.js' text layer."""
    for number, quotes in groupby(drawn_quotes(path), lambda one: one.place.page):
        layer = layers.letters(path, number)
        for one in quotes:
            if one.marks:
                overlaps.add(one.marks, layer.writing(one.place) if layer else None, f"{path.name} {one}")


@cache
def _reading(path: Path) -> LoadedText | None:
    try:
        return load(path.read_bytes(), path.name, None, ParserLimits(), None, careful=False)[1]
    except ParseFailed:
        return None


def _quotes(text: str, drawn: random.Random) -> list[tuple[int, int]]:
    found = [one.span() for one in _QUOTE.finditer(text)]
    whole = [(s, e) for s, e in found if s == 0 or text[s - 1].isspace()]
    return drawn.sample(whole, min(QUOTES_OF_A_PAGE, len(whole)))


def _judge(found: Sequence[MarkedLine], words: Sequence[Box] | None, marks: Marks, where: str) -> None:
    if not found:
        marks.unmarked += 1
        return
    if words is None:
        marks.unjudged += 1
        return
    lines = [*merged(words)]
    shared = whole = 0.0
    for mark in found:
        on = [line for line in lines if min(mark.top, line.top) > max(mark.bottom, line.bottom)]
        over = [max(0.0, min(mark.right, line.right) - max(mark.left, line.left)) for line in on]
        if not any(over):
            marks.wrong.append(where)
            return
        shared += max(over)
    whole = sum(one.right - one.left for one in (*found, *lines)) - shared
    if shared >= ENOUGH * whole:
        marks.near += 1
    else:
        marks.far.append(f"{shared / whole:.2f} {where}")


def _poppler_pages(path: Path) -> list[list[tuple[str, Box]]]:
    with tempfile.NamedTemporaryFile(suffix=".html") as out:
        done = subprocess.run(["pdftotext", "-bbox", str(path), out.name], capture_output=True, timeout=120)
        if done.returncode:
            return []
        told = Path(out.name).read_text(encoding="utf-8", errors="replace")
    return [
        [(unescape(w), Box(float(a), -float(d), float(c), -float(b))) for a, b, c, d, w in _WORD.findall(body)]
        for _, _, body in _PAGE.findall(told)
    ]

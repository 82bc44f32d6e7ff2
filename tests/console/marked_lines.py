"""Marked lines beside the words of another engine: poppler's `pdftotext -bbox`.

Quotes are drawn from the product's own text of each page. Poppler's words are searched for the same letters, by
themselves. Engines take other heights for a letter (the font's, the glyph's, the size's), so boxes are compared along
the line, and each mark has to lie on the line of the other engine's words.
"""

from __future__ import annotations

import random
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path

from pypdfium2 import PdfDocument

from agentic_rag.adapters.parsing.dispatch import load
from agentic_rag.adapters.parsing.pdf import quoted_lines
from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.answering.runs.page_image import CONTEXT_CHARACTERS, MarkedLine, QuotedPlace
from agentic_rag.kernel.errors import ParseFailed

QUOTES_OF_A_PAGE = 4
MOST_PAGES = 40
ENOUGH = 0.9
_WORD = re.compile(r'<word xMin="([-\d.]+)" yMin="([-\d.]+)" xMax="([-\d.]+)" yMax="([-\d.]+)">(.*?)</word>')
_PAGE = re.compile(r'<page width="([\d.]+)" height="([\d.]+)">(.*?)</page>', re.S)
_QUOTE = re.compile(r"[^\s|][^\n|]{20,140}[^\s|](?=\s)")


@dataclass
class Marks:
    """What was compared. A quote is `near` when its marks and the other engine's words share 0.9 of their union."""

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


@dataclass(frozen=True)
class Box:
    left: float
    bottom: float
    right: float
    top: float


def compare(path: Path, marks: Marks, seed: int = 23) -> None:
    """Compare drawn quotes of a file; one that no engine opens adds nothing."""
    content = path.read_bytes()
    try:
        _, reading = load(content, path.name, None, ParserLimits(), None, careful=False)
    except ParseFailed:
        return
    pages = _poppler_pages(path)
    document = PdfDocument(content)
    if document.get_formtype():
        document.init_forms()
    drawn = random.Random(seed)
    spans = [one for one in reading.pages if one.end > one.start]
    for span in sorted(drawn.sample(spans, min(MOST_PAGES, len(spans))), key=lambda one: one.number):
        page = document[span.number - 1]
        if page.get_rotation() or span.number > len(pages):
            continue
        crop = page.get_cropbox() or (0.0, 0.0, *page.get_size())
        text = reading.text[span.start : span.end]
        textpage = page.get_textpage()
        for start, end in _quotes(text, drawn):
            marks.quotes += 1
            before, after = text[max(0, start - CONTEXT_CHARACTERS) : start], text[end : end + CONTEXT_CHARACTERS]
            place = QuotedPlace(span.number, text[start:end], before, after)
            found = quoted_lines.quoted_lines(textpage.raw, place)
            where = f"{path.name} page {span.number}: {place.quote[:60]}"
            _judge(found, _words_of(pages[span.number - 1], place, (crop[0], crop[3])), marks, where)
        textpage.close()
        page.close()
    document.close()


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
    lines = [*_merge(words)]
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


def _merge(words: Sequence[Box]) -> Iterator[Box]:
    """The words of a line as one box."""
    line: Box | None = None
    for word in words:
        height = word.top - word.bottom
        if line is not None:
            shared = min(line.top, word.top) - max(line.bottom, word.bottom)
            if shared >= height / 2 and max(word.left - line.right, line.left - word.right) <= 6 * height:
                left, bottom = min(line.left, word.left), min(line.bottom, word.bottom)
                line = Box(left, bottom, max(line.right, word.right), max(line.top, word.top))
                continue
            yield line
        line = word
    if line is not None:
        yield line


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


def _words_of(page: Sequence[tuple[str, Box]], place: QuotedPlace, corner: tuple[float, float]) -> list[Box] | None:
    """The boxes of the words that write the quote, in the page's own coordinates; None where they are not at one
    place. `corner`: left and top of what is shown of the page.
    """
    text, owners = "", list[int]()
    for number, (word, _) in enumerate(page):
        said = quoted_lines.letters(word)
        text += said
        owners += [number] * len(said)
    before, quote, after = (quoted_lines.letters(part) for part in (place.before, place.quote, place.after))
    places = [one.start() for one in re.finditer(f"(?={re.escape(quote)})", text)]
    for length in (0, 12, 40, 120):
        head, tail = before[-length:] if length else "", after[:length]
        kept = [at for at in places if text[:at].endswith(head) and text.startswith(tail, at + len(quote))]
        if len(kept) == 1:
            numbers = dict.fromkeys(owners[kept[0] : kept[0] + len(quote)])
            left, top = corner
            boxes = [page[number][1] for number in numbers]
            return [Box(b.left + left, b.bottom + top, b.right + left, b.top + top) for b in boxes]
        if not kept:
            return None
    return None

"""The first reader of PDF pages: PDFium, which also tells where every word stands."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from math import hypot
from typing import Any, cast

import pypdfium2.raw  # pyright: ignore[reportMissingTypeStubs] - it ships none
from pypdfium2 import PdfDocument, PdfiumError  # pyright: ignore[reportMissingTypeStubs]

from agentic_rag.adapters.parsing.pdf.outline import OutlineEntry
from agentic_rag.adapters.parsing.pdf.page_words import PageLine, PdfPage, Word
from agentic_rag.kernel.errors import ParseFailed
from agentic_rag.kernel.text import strip_unstorable

pdfium = cast(Any, pypdfium2.raw)
"""PDFium's own functions."""
_HYPHEN = "\ufffe"
"""PDFium writes it for a hyphen at the end of a line, and leaves the line break out."""
_WORD = re.compile(rf"[^\s{_HYPHEN}]+{_HYPHEN}?|{_HYPHEN}")
_SURROGATE = re.compile("[\ud800-\udfff]")
_MOST_BOOKMARKS = 2_000
_DEEPEST_BOOKMARK = 6


class PdfiumPages:
    """The pages of a file; a file that PDFium cannot open has none. Errors: `ParseFailed` code PARSE_ENCRYPTED."""

    def __init__(self, content: bytes) -> None:
        self._document: Any = None
        try:
            self._document = PdfDocument(content)
        except PdfiumError as error:
            if cast(Any, error).err_code == pdfium.FPDF_ERR_PASSWORD:
                raise password_error() from error

    @property
    def count(self) -> int:
        """How many pages the file has; 0 when it cannot be opened."""
        return 0 if self._document is None else len(self._document)

    def page(self, number: int) -> PdfPage | None:
        """A page, counted from 0; None when it cannot be read."""
        if self._document is None:
            return None
        try:
            page = self._document[number]
            textpage = page.get_textpage()
        except (PdfiumError, IndexError):
            return None
        try:
            return PdfPage([*_lines(textpage.raw, page.get_rotation())], page.get_size()[1])
        finally:
            textpage.close()
            page.close()

    @property
    def own_name(self) -> str:
        """The title in the file's properties; empty when there is none."""
        return "" if self._document is None else strip_unstorable(self._document.get_metadata_value("Title"))

    def outline(self) -> list[OutlineEntry]:
        """The bookmarks that name a page, the first two thousand of them."""
        found: list[OutlineEntry] = []
        if self._document is None:
            return found
        for bookmark in self._document.get_toc(max_depth=_DEEPEST_BOOKMARK):
            target = bookmark.get_dest()
            page = None if target is None else target.get_index()
            if page is not None:
                found.append(OutlineEntry(bookmark.get_title(), page, bookmark.level + 1))
            if len(found) >= _MOST_BOOKMARKS:
                break
        return found


def password_error() -> ParseFailed:
    """The error for a file that a password closes."""
    return ParseFailed("the PDF is protected by a password; save it without one", code="PARSE_ENCRYPTED")


def _units(textpage: object) -> str:
    """The UTF-16 units of a page, one for each that PDFium counts: a character beyond the first plane takes two."""
    count = pdfium.FPDFText_CountChars(textpage)
    if count <= 0:
        return ""
    buffer = (ctypes.c_ushort * (count + 1))()
    if pdfium.FPDFText_GetText(textpage, 0, count, buffer) == count + 1:
        return "".join(map(chr, buffer[:count]))
    return "".join(chr(pdfium.FPDFText_GetUnicode(textpage, at)) for at in range(count))


def _text(units: str) -> str:
    if _SURROGATE.search(units):
        units = units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
    return strip_unstorable(units.replace(_HYPHEN, "-"))


def _lines(textpage: object, rotation: int) -> Iterator[PageLine]:
    text = _units(textpage)
    words: list[Word] = []
    first = done = 0
    for found in _WORD.finditer(text):
        start, end = found.span()
        if words and ("\n" in text[done:start] or text[done - 1] == _HYPHEN):
            yield _line(textpage, words, first)
            words = []
        if not words:
            first = start
        words.append(_word(textpage, text, start, end, rotation))
        done = end
    if words:
        yield _line(textpage, words, first)


def _word(textpage: object, text: str, start: int, end: int, rotation: int) -> Word:
    x, y = ctypes.c_double(), ctypes.c_double()
    left, right, bottom, top = ctypes.c_double(), ctypes.c_double(), ctypes.c_double(), ctypes.c_double()
    pdfium.FPDFText_GetCharOrigin(textpage, start, x, y)
    pdfium.FPDFText_GetCharBox(textpage, end - 1, left, right, bottom, top)
    word = _text(text[start:end])
    if rotation == 0:
        return Word(word, x.value, right.value, y.value)
    if rotation == 90:
        return Word(word, -y.value, -bottom.value, x.value)
    if rotation == 180:
        return Word(word, -x.value, -left.value, -y.value)
    return Word(word, y.value, top.value, -x.value)


def _line(textpage: object, words: list[Word], first: int) -> PageLine:
    matrix = pdfium.FS_MATRIX()
    size = pdfium.FPDFText_GetFontSize(textpage, first)
    if pdfium.FPDFText_GetMatrix(textpage, first, matrix):
        size *= hypot(matrix.c, matrix.d)
    return PageLine(" ".join(word.text for word in words if word.text), words, round(size, 1))

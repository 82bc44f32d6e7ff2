"""The first reader of PDF pages: PDFium, which also tells where every word stands."""

from __future__ import annotations

import ctypes
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from math import hypot, pi
from typing import Any, cast

import pypdfium2.raw  # pyright: ignore[reportMissingTypeStubs] - it ships none
from pypdfium2 import PdfDocument, PdfiumError  # pyright: ignore[reportMissingTypeStubs]

from agentic_rag.adapters.parsing.pdf.drawn_texts import drawn_texts
from agentic_rag.adapters.parsing.pdf.form_values import FilledField, place_fields
from agentic_rag.adapters.parsing.pdf.lettered_pictures import count_lettered_pictures
from agentic_rag.adapters.parsing.pdf.notes import attached_files, page_notes, pinned_files
from agentic_rag.adapters.parsing.pdf.outline import OutlineEntry
from agentic_rag.adapters.parsing.pdf.page_words import AttachedFile, PageLine, PdfPage, Word
from agentic_rag.adapters.parsing.pdf.pictures import Box, draws_words
from agentic_rag.adapters.parsing.text.raised_text import Shift, shifted_text
from agentic_rag.kernel.errors import ParseFailed
from agentic_rag.kernel.text import strip_unstorable

pdfium = cast(Any, pypdfium2.raw)
"""PDFium's own functions."""
_HYPHEN = "\ufffe"
"""PDFium writes it for a hyphen at the end of a line, and leaves the line break out."""
_WORD = re.compile(rf"[^\s{_HYPHEN}]+{_HYPHEN}?|{_HYPHEN}")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SHIFTABLE = re.compile(r".\d")
_FIGURES = re.compile(r"[+−-]?\d|[^\d+−-]+|[+−-]")
_SMALL, _RISE, _SPACE = 0.85, 0.1, 0.15
"""By the size of the letters of a line: that of raised and lowered figures, how far they stand off the line, and the
least gap between words.
"""
_TICKED = "☒"
_TYPED = frozenset({pdfium.FPDF_FORMFIELD_TEXTFIELD, pdfium.FPDF_FORMFIELD_COMBOBOX, pdfium.FPDF_FORMFIELD_LISTBOX})
_PASSWORD_FIELD = 1 << 13
"""Flag of a text field whose value nobody shows (ISO 32000-1, table 228)."""
_MARGIN = 0.08
"""The share of a page's height at its top and its bottom where scanners and archives stamp their numbers."""
_LOOKED_AT = 9
"""Letters of a page that tell how it is turned."""
_MOST_BOOKMARKS = 2_000
_DEEPEST_BOOKMARK = 6


class PdfiumPages:
    """The pages of a file; a file that PDFium cannot open has none. Errors: `ParseFailed` code PARSE_ENCRYPTED."""

    def __init__(self, content: bytes) -> None:
        self._document: Any = open_document(content)
        if self._document is not None and self._document.get_formtype() != pdfium.FORMTYPE_NONE:
            self._document.init_forms()

    @property
    def _form(self) -> Any:
        return None if self._document.formenv is None else self._document.formenv.raw

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
            text = _units(textpage.raw)
            turns = _turns(textpage.raw, text)
            lines = [*_lines(textpage.raw, text, turns)]
            fields = [*_fields(page.raw, self._form, turns)]
            box = page.get_cropbox()
            is_drawn = not (fields or _says_something(lines, box, turns)) and draws_words(page.raw, box)
            notes = page_notes(page.raw, _annotation_entry, "\n".join(one.text for one in (*lines, *fields)))
            pictures = 0 if is_drawn else count_lettered_pictures(page, textpage.raw)
            files = pinned_files(page)
            # Last: drawing what is pinned to a page into it ends what is pinned there.
            fields += [
                _upright_field(text, area, turns)
                for text, area in drawn_texts(page, textpage, self._form, lambda: self._document[number])
            ]
            placed = place_fields(lines, fields) if fields else lines
            return PdfPage(placed, is_drawn, notes, files, pictures)
        finally:
            textpage.close()
            page.close()

    @property
    def is_drawn_by_program(self) -> bool:
        """Whether a form makes the pages when a program shows them (XFA): those of the file only ask to wait."""
        return self._document is not None and self._document.get_formtype() == pdfium.FORMTYPE_XFA_FULL

    @property
    def has_form_of_program(self) -> bool:
        """Whether the file holds a form of that kind beside its pages."""
        return self._document is not None and self._document.get_formtype() == pdfium.FORMTYPE_XFA_FOREGROUND

    @property
    def own_name(self) -> str:
        """The title in the file's properties; empty when there is none."""
        return "" if self._document is None else strip_unstorable(self._document.get_metadata_value("Title"))

    def attached_files(self) -> list[AttachedFile]:
        """The files that the file holds."""
        return [] if self._document is None else [*attached_files(self._document)]

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


def open_document(content: bytes) -> Any:
    """The document; None when PDFium cannot open it, or finds no page. Errors: `ParseFailed` code PARSE_ENCRYPTED."""
    try:
        return PdfDocument(content)
    except PdfiumError as error:
        if _needs_password(content):
            raise password_error() from error
        return None


def _needs_password(content: bytes) -> bool:
    """pypdfium2 also refuses a file that PDFium opened and that has no page; the error that it tells then is that of an
    earlier file of this process.
    """
    raw = pdfium.FPDF_LoadMemDocument64(content, len(content), None)
    if raw:
        pdfium.FPDF_CloseDocument(raw)
        return False
    return bool(pdfium.FPDF_GetLastError() == pdfium.FPDF_ERR_PASSWORD)


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


def _lines(textpage: object, text: str, turns: int) -> Iterator[PageLine]:
    words: list[Word] = []
    size = 0.0
    done = 0
    for found in _WORD.finditer(text):
        start, end = found.span()
        word = _word(textpage, text, start, end, turns)
        if words and ("\n" in text[done:start] or text[done - 1] == _HYPHEN):
            gap = word.left - words[-1].right
            if word.base == words[0].base and text[done - 1].isdigit() and 0 <= gap < size:
                # PDFium ends a line behind a raised or lowered figure, and this one goes on.
                if gap < _SPACE * size:
                    word = Word(words[-1].text + word.text, words[-1].left, word.right, word.base)
                    words.pop()
            else:
                yield _line(words, size)
                words = []
        if not words:
            size = _size(textpage, start)
        words.append(word)
        done = end
    if words:
        yield _line(words, size)


def _word(textpage: object, text: str, start: int, end: int, turns: int) -> Word:
    x, base = _origin(textpage, start, turns)
    left, right, bottom, top = ctypes.c_double(), ctypes.c_double(), ctypes.c_double(), ctypes.c_double()
    pdfium.FPDFText_GetCharBox(textpage, end - 1, left, right, bottom, top)
    edge = max(_turn(left.value, bottom.value, turns)[0], _turn(right.value, top.value, turns)[0])
    word = text[start:end]
    if _SHIFTABLE.search(word) is not None:
        word = "".join(_mark_shift(textpage, found, start, base, turns) for found in _FIGURES.finditer(word))
    return Word(_text(word), x, edge, base)


def _mark_shift(textpage: object, found: re.Match[str], start: int, base: float, turns: int) -> str:
    """A part of the word that begins at `start`; figures smaller than its first letter are raised or lowered ones."""
    part, at = found.group(), start + found.start()
    if at == start or not part[-1].isdigit():
        return part
    size, size_here = _size(textpage, start), _size(textpage, at)
    rise = _origin(textpage, at, turns)[1] - base
    if size_here > _SMALL * size or abs(rise) < _RISE * size:
        return part
    return shifted_text(part, Shift.RAISED if rise > 0 else Shift.LOWERED, found.string[: found.start()])


def _origin(textpage: object, at: int, turns: int) -> tuple[float, float]:
    """Where a letter begins, along its line and across it."""
    x, y = ctypes.c_double(), ctypes.c_double()
    pdfium.FPDFText_GetCharOrigin(textpage, at, x, y)
    return _turn(x.value, y.value, turns)


def _turns(textpage: object, text: str) -> int:
    """By how many quarters most letters of a page are turned."""
    places = [at for at in range(0, len(text), len(text) // _LOOKED_AT + 1) if not text[at].isspace()]
    quarters = Counter(round(pdfium.FPDFText_GetCharAngle(textpage, at) / (pi / 2)) % 4 for at in places)
    return quarters.most_common(1)[0][0] if quarters else 0


def _turn(x: float, y: float, turns: int) -> tuple[float, float]:
    """A point where the letters of the page stand upright."""
    return ((x, y), (-y, x), (-x, -y), (y, -x))[turns]


def _upright_field(text: str, area: Any, turns: int) -> FilledField:
    """A text and its rectangle where the letters of the page stand upright."""
    corners = _turn(area.left, area.bottom, turns), _turn(area.right, area.top, turns)
    (left, right), (bottom, top) = (sorted(one) for one in zip(*corners, strict=True))
    return FilledField(text, left, bottom, right, top)


def _fields(page: object, form: object, turns: int) -> Iterator[FilledField]:
    for number in range(pdfium.FPDFPage_GetAnnotCount(page)):
        annotation = pdfium.FPDFPage_GetAnnot(page, number)
        if not annotation:
            continue
        try:
            area = pdfium.FS_RECTF()
            hidden = pdfium.FPDFAnnot_GetFlags(annotation) & pdfium.FPDF_ANNOT_FLAG_HIDDEN
            text = "" if hidden else " ".join(_filled_text(annotation, form).split())
            if text and pdfium.FPDFAnnot_GetRect(annotation, area):
                yield _upright_field(text, area, turns)
        finally:
            pdfium.FPDFPage_CloseAnnot(annotation)


def _filled_text(annotation: object, form: object) -> str:
    kind = pdfium.FPDFAnnot_GetSubtype(annotation)
    if kind == pdfium.FPDF_ANNOT_WIDGET and form:
        field = pdfium.FPDFAnnot_GetFormFieldType(form, annotation)
        if field in (pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON):
            return _TICKED if pdfium.FPDFAnnot_IsChecked(form, annotation) else ""
        secret = pdfium.FPDFAnnot_GetFormFieldFlags(form, annotation) & _PASSWORD_FIELD
        if field in _TYPED and not secret:
            return _buffer_text(pdfium.FPDFAnnot_GetFormFieldValue, form, annotation)
    if kind not in (pdfium.FPDF_ANNOT_FREETEXT, pdfium.FPDF_ANNOT_STAMP):
        return ""
    return _annotation_entry(annotation, b"Contents")


def _annotation_entry(annotation: object, key: bytes) -> str:
    return _buffer_text(pdfium.FPDFAnnot_GetStringValue, annotation, key)


def _buffer_text(read: Callable[..., int], *place: object) -> str:
    """What one of PDFium's functions writes into a buffer: UTF-16 with a NUL at its end."""
    size = read(*place, None, 0)
    if size <= 2:
        return ""
    buffer = (ctypes.c_ushort * (size // 2))()
    read(*place, buffer, size)
    return _text("".join(map(chr, buffer[: size // 2 - 1])))


def _size(textpage: object, at: int) -> float:
    """The size of a letter, in points."""
    matrix = pdfium.FS_MATRIX()
    size = pdfium.FPDFText_GetFontSize(textpage, at)
    if pdfium.FPDFText_GetMatrix(textpage, at, matrix):
        size *= hypot(matrix.c, matrix.d)
    return size


def _says_something(lines: Sequence[PageLine], box: Box, turns: int) -> bool:
    """Whether a line stands between the margins of the page."""
    bottom, top = sorted((_turn(box[0], box[1], turns)[1], _turn(box[2], box[3], turns)[1]))
    margin = _MARGIN * (top - bottom)
    return any(bottom + margin < line.base < top - margin for line in lines)


def _line(words: list[Word], size: float) -> PageLine:
    return PageLine(" ".join(word.text for word in words if word.text), words, round(size, 1))

"""PDF by pypdf, page by page, and by PDFium where pypdf reads none or no letters; a blank line joins the pages.

A page's text is pypdf's `extract_text()` to the letter (but for NUL and lone surrogates, which no database stores), so
that anyone can find a quoted span on the cited page again. A page that neither reads costs the page, not the document,
and is told.
"""

from __future__ import annotations

import io
import re
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, cast

from pypdf import PasswordType, PdfReader, apply_configuration
from pypdf.errors import (
    DependencyError,
    FileNotDecryptedError,
    LimitReachedError,
    PdfReadError,
    PyPdfError,
    WrongPasswordError,
)

from agentic_rag.adapters.parsing.file_types import SourceFile
from agentic_rag.adapters.parsing.pdf.outline import OutlineEntry, heading_levels
from agentic_rag.adapters.parsing.pdf.pdfium import PdfiumPages
from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.adapters.parsing.text.legibility import count_glyph_names, is_poor
from agentic_rag.adapters.parsing.text_builder import LoadedText, first_heading, tidy_title
from agentic_rag.documents.document import Block, BlockKind, PageSpan
from agentic_rag.kernel.errors import ParseFailed
from agentic_rag.kernel.text import strip_unstorable

_PAGE_JOIN = "\n\n"
_DAMAGE = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NotImplementedError,
    RecursionError,
    TypeError,
    ValueError,
    struct.error,
    zlib.error,
)
"""What pypdf raises on damaged pages beside its own errors."""
_EARNING_CHARACTERS = 500
"""A page of this much text has been worth its time."""
_LEAST_OF_POOR = 0.4
"""The share of a poor text's characters that a better one has at least: a character of two bytes may count twice."""
_MOST_BOOKMARKS = 2_000
_DEEPEST_BOOKMARK = 6
_POOR_TITLE = re.compile(
    r"(?:microsoft (?:word|powerpoint|excel)\b.*|untitled.*|document\d*|presentation\d*|(?:paper )?title\b.*"
    r"|.*\.(?:docx?|pptx?|xlsx?|indd|tex|dvi|pdf|qxd|rtf|odt)|[\W\d_]*|slide \d+|layout \d+)",
    re.IGNORECASE,
)
"""Titles that programs write by themselves."""
_PROGRAM_AHEAD = re.compile(r"(?:microsoft|openoffice|libreoffice)\s+\w+\s+-\s+", re.IGNORECASE)
_FILE_EXTENSION = re.compile(r"\.(?:docx?|pptx?|xlsx?|indd|tex|dvi|pdf|qxd|rtf|odt)$", re.IGNORECASE)
_SPOKEN = re.compile(r"[^\W\d_]{2,}")
_MOST_LOST_GLYPHS = 200
"""Glyphs without letters that a title makes up for: a slide or a cover. Of more text too much would be lost in silence.
"""
_MOST_LOST_CHARACTERS = 2_000
"""No name of a glyph is longer than nine characters."""
_TITLE_WITHIN = 5
"""Blocks from the start among which a heading is the document's title."""
_SENTENCE_END = re.compile(r"""[.!?:]["'”’)\]]{0,2}$""")
_SHORT_OF_LONGEST = 0.8
"""A line that ends a sentence before this share of its page's longer lines ends a paragraph too."""


SAMPLE = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj
4 0 obj<</Length 30>>stream
BT /F 9 Tf (warm enough) Tj ET
endstream endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
xref
0 0
trailer<</Root 1 0 R/Size 6>>
startxref
0
%%EOF
"""


def load(source: SourceFile) -> LoadedText:
    """Text, pages, headings and title of a PDF.

    Raises ParseFailed: PARSE_ENCRYPTED, PARSE_TOO_LARGE, PARSE_UNSUPPORTED, PARSE_CORRUPT.
    """
    try:
        with _widen_limits(source.limits):
            reader = PdfReader(io.BytesIO(source.content))
            if reader.is_encrypted and reader.decrypt("") == PasswordType.NOT_DECRYPTED:
                raise _password_error()
            texts, unread = _page_texts(reader, source)
            outline = _outline(reader)
            own_name = _own_name(reader)
    except (FileNotDecryptedError, WrongPasswordError) as error:
        raise _password_error() from error
    except DependencyError as error:
        raise ParseFailed(f"the PDF needs an unsupported feature: {error}", code="PARSE_UNSUPPORTED") from error
    except LimitReachedError as error:
        raise ParseFailed(f"the PDF decompresses to too much data: {error}", code="PARSE_TOO_LARGE") from error
    except (PyPdfError, *_DAMAGE) as error:
        texts, unread = _by_pdfium_alone(source, error)
        outline, own_name = [], None
    text = _PAGE_JOIN.join(texts)
    lost = count_glyph_names(text) if len(text) <= _MOST_LOST_CHARACTERS else 0
    if own_name and 0 < lost <= _MOST_LOST_GLYPHS and (spoken := _without_program(own_name)):
        # The fonts of a slide or cover name no letters: the few words lost are those that its title says.
        texts = [spoken, *("" for _ in texts[1:])]
        text = _PAGE_JOIN.join(texts)
    pages, blocks = _structure(texts, outline)
    named = None if own_name is None or _POOR_TITLE.fullmatch(own_name) else own_name
    title = named or first_heading(text, blocks[:_TITLE_WITHIN])
    return LoadedText(text, tuple(blocks), tuple(pages), title, unread_pages=unread)


def _widen_limits(limits: ParserLimits) -> AbstractContextManager[object]:
    """pypdf's own limits of elements refuse ordinary tagged filings; the child's walls bear more."""
    return apply_configuration(
        array_maximum_element_count=limits.elements,
        dictionary_maximum_element_count=limits.elements,
        stream_parsing_work_maximum_count=limits.elements,
    )


def _password_error() -> ParseFailed:
    return ParseFailed("the PDF is protected by a password; save it without one", code="PARSE_ENCRYPTED")


def _page_texts(reader: PdfReader, source: SourceFile) -> tuple[list[str], tuple[int, ...]]:
    """The text of every page, and the numbers of those that cannot be read. Errors: the first page's where none can."""
    second = PdfiumPages(source.content)
    errors: list[Exception] = []

    def text_of(number: int) -> str | None:
        try:
            text = reader.pages[number].extract_text()
        except (FileNotDecryptedError, DependencyError, LimitReachedError):
            raise
        except (PyPdfError, *_DAMAGE) as error:
            errors.append(error)
            return second.text(number) or None
        return _better(text, second.text(number)) if is_poor(text) else text

    texts, unread = _read_pages(source, len(reader.pages), text_of)
    if errors and len(unread) == len(texts):
        raise errors[0]
    return texts, unread


def _by_pdfium_alone(source: SourceFile, error: Exception) -> tuple[list[str], tuple[int, ...]]:
    """The pages of a file that pypdf cannot open. Errors: `ParseFailed` code PARSE_CORRUPT where PDFium cannot, too."""
    pages = PdfiumPages(source.content)
    texts, unread = _read_pages(source, pages.count, lambda number: pages.text(number) or None)
    if len(unread) == len(texts):
        raise ParseFailed(f"the PDF is damaged: {error}", code="PARSE_CORRUPT") from error
    return texts, unread


def _read_pages(
    source: SourceFile, count: int, text_of: Callable[[int], str | None]
) -> tuple[list[str], tuple[int, ...]]:
    """The pages' texts as they are stored, and the numbers of those without one. A page that gives text earns time.

    Errors: `ParseFailed` code PARSE_TOO_LARGE.
    """
    source.limits.require_pages(count, "PDF")
    texts: list[str] = []
    unread: list[int] = []
    total = 0
    for number in range(count):
        found = text_of(number)
        if found is None:
            unread.append(number + 1)
        text = strip_unstorable(found or "")
        texts.append(text)
        total += len(text)
        source.limits.require_characters(total, "PDF")
        if source.page_read is not None and len(text) >= _EARNING_CHARACTERS:
            source.page_read()
    return texts, tuple(unread)


def _better(poor: str, other: str | None) -> str:
    """The other reading of a page where it is legible and no fragment of what the poor one found."""
    if other is None or is_poor(other) or len(other) < _LEAST_OF_POOR * len(poor):
        return poor
    return other


def _own_name(reader: PdfReader) -> str | None:
    try:
        title = reader.metadata.title if reader.metadata else None
    except (PyPdfError, AttributeError, ValueError, TypeError, KeyError):
        # A damaged information dictionary costs the title, not the document.
        return None
    return tidy_title(strip_unstorable(title)) if title else None


def _without_program(name: str) -> str | None:
    """A title without the program and the extension that a printer driver adds; None when no two words are left."""
    rest = _FILE_EXTENSION.sub("", _PROGRAM_AHEAD.sub("", name))
    return rest if len(_SPOKEN.findall(rest)) >= 2 else None


def _outline(reader: PdfReader) -> list[OutlineEntry]:
    entries: list[OutlineEntry] = []
    try:
        stack: list[tuple[Iterator[Any], int]] = [(iter(cast(Sequence[Any], reader.outline)), 1)]
        while stack and len(entries) < _MOST_BOOKMARKS:
            items, level = stack[-1]
            item = next(items, None)
            if item is None:
                stack.pop()
            elif isinstance(item, list):
                if level < _DEEPEST_BOOKMARK:
                    stack.append((iter(cast(Sequence[Any], item)), level + 1))
            else:
                page = reader.get_destination_page_number(item)
                if page is not None:
                    entries.append(OutlineEntry(str(item.title), page, level))
    except (PdfReadError, AttributeError, ValueError, TypeError, KeyError, IndexError, RecursionError):
        # Damaged bookmarks cost headings, not the document.
        return entries
    return entries


def _structure(texts: Sequence[str], outline: Sequence[OutlineEntry]) -> tuple[list[PageSpan], list[Block]]:
    lines_by_page = [text.split("\n") for text in texts]
    trimmed = [[line.strip() for line in lines] for lines in lines_by_page]
    levels = heading_levels(trimmed, outline)
    pages: list[PageSpan] = []
    blocks: list[Block] = []
    start = 0
    for index, (text, lines) in enumerate(zip(texts, lines_by_page, strict=True)):
        pages.append(PageSpan(index + 1, start, start + len(text)))
        page_levels = [levels.get((index, number), 0) for number in range(len(lines))]
        blocks += _page_blocks(lines, trimmed[index], page_levels, start)
        start += len(text) + len(_PAGE_JOIN)
    return pages, blocks


def _page_blocks(lines: Sequence[str], trimmed: Sequence[str], levels: Sequence[int], start: int) -> Iterator[Block]:
    lengths = sorted(len(line) for line in trimmed if line)
    long_line = lengths[len(lengths) * 3 // 4] * _SHORT_OF_LONGEST if lengths else 0
    first: int | None = None
    at = start
    end = start
    for line, plain, level in zip(lines, trimmed, levels, strict=True):
        if first is not None and (level or not plain):
            yield Block(BlockKind.PARAGRAPH, first, end)
            first = None
        if level:
            yield Block(BlockKind.HEADING, at, at + len(line), level)
        elif plain:
            first = at if first is None else first
            end = at + len(line)
            if len(plain) < long_line and _SENTENCE_END.search(plain):
                yield Block(BlockKind.PARAGRAPH, first, end)
                first = None
        at += len(line) + 1
    if first is not None:
        yield Block(BlockKind.PARAGRAPH, first, end)

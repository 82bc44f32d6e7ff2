"""PDF by PDFium, page by page, and by pypdf where PDFium reads none, no letters or right-to-left ones; a blank line
joins the pages.

A page's text holds the page's words to the letter (but for NUL and lone surrogates, which no database stores), so that
anyone can find a quoted span on the cited page again; a table's words stand between bars, and the names of its columns
above each part of it. Remarks on a page stand at its end, attached files behind the last page. A page that neither
reads, such as a scan, costs the page, not the document, and is told, unless its words were recognised; so are pictures
that show words beside the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from agentic_rag.adapters.parsing.file_types import SourceFile
from agentic_rag.adapters.parsing.held_files import HeldFiles
from agentic_rag.adapters.parsing.pdf.page_words import AttachedFile, PdfPage, plain_page
from agentic_rag.adapters.parsing.pdf.pdfium import PdfiumPages
from agentic_rag.adapters.parsing.pdf.pypdf_pages import PypdfPages
from agentic_rag.adapters.parsing.pdf.structure import PAGE_JOIN, StructuredText, structure
from agentic_rag.adapters.parsing.pdf.tables import lay_tables
from agentic_rag.adapters.parsing.scans.recognised_pages import with_recognised
from agentic_rag.adapters.parsing.text.legibility import count_glyph_names, is_garbled, is_poor
from agentic_rag.adapters.parsing.text_builder import LoadedText, TextBuilder, tidy_title
from agentic_rag.adapters.parsing.unread import PAGE, PICTURE, UnreadParts, none_of, with_unread
from agentic_rag.documents.document import BlockKind
from agentic_rag.kernel.errors import ParseFailed
from agentic_rag.language.parted_words import join_parted_words

_EARNING_CHARACTERS = 500
"""A page of this much text has been worth its time."""
_LEAST_OF_POOR = 0.4
"""The share of a poor text's letters and figures that a better one has at least: a character of two bytes may count
twice.
"""
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]{2}")
"""Hebrew, Arabic and their neighbours: PDFium swaps the parts of their ligatures.
"""
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


_ASKS_TO_WAIT = re.compile(r"^\W*please wait\b|adobe\.com/go/(?:acr)?reader", re.IGNORECASE)
"""The one page of such a form, in any language: Acrobat puts the form in its place."""


def load(source: SourceFile) -> LoadedText:
    """Text, pages, headings and title of a PDF.

    Raises ParseFailed: PARSE_ENCRYPTED, PARSE_TOO_LARGE, PARSE_UNSUPPORTED, PARSE_CORRUPT.
    """
    first = PdfiumPages(b"" if source.careful else source.content)
    if first.is_drawn_by_program:
        raise _program_form()
    second = PypdfPages(source.content, source.limits)
    read, unread = _read_pages(source, first, second)
    if first.has_form_of_program and len(read) == 1 and _ASKS_TO_WAIT.search(read[0].text):
        raise _program_form()
    read, unread, recognised = with_recognised(read, unread, source.recognised)
    own_name = tidy_title(first.own_name)
    if own_name and 0 < _count_lost_glyphs(read) <= _MOST_LOST_GLYPHS and (spoken := _without_program(own_name)):
        # The fonts of a slide or cover name no letters: the few words lost are those that its title says.
        read = [plain_page(spoken), *(plain_page("") for _ in read[1:])]
    made = structure(lay_tables(read), first.outline())
    named = None if own_name is None or _POOR_TITLE.fullmatch(own_name) else own_name
    title = named or _title(made)
    files = first.attached_files() if first.count else second.attached_files()
    files += [file for page in read for file in page.files]
    loaded = _with_attachments(source, made, title, unread, files)
    loaded = replace(loaded, recognised_pages=recognised)
    return with_unread(loaded, none_of(sum(page.pictures for page in read), PICTURE))


def _program_form() -> ParseFailed:
    return ParseFailed(
        "the PDF is an XFA form, which only Adobe Acrobat draws; print it to a PDF there", code="PARSE_UNSUPPORTED"
    )


def _with_attachments(
    source: SourceFile, made: StructuredText, title: str | None, unread: Sequence[int], files: Sequence[AttachedFile]
) -> LoadedText:
    """The text of the pages, and behind it that of each attached file."""
    built = TextBuilder()
    held = HeldFiles(source, built, "attachment", is_aside=True)
    for name, content in files:
        held.attach_file(" ".join(name.split()), content, None)
    loaded = held.finish(title)
    start = len(made.text) + len(PAGE_JOIN)
    text = PAGE_JOIN.join((made.text, loaded.text)) if files else made.text
    blocks = (*made.blocks, *(replace(one, start=start + one.start, end=start + one.end) for one in loaded.blocks))
    loaded = replace(loaded, text=text, blocks=blocks, pages=made.pages)
    return with_unread(loaded, UnreadParts(unread, len(made.pages), PAGE))


def _title(made: StructuredText) -> str | None:
    """The highest heading near the start, all its lines."""
    headings = [block for block in made.blocks[:_TITLE_WITHIN] if block.kind is BlockKind.HEADING]
    highest = min(headings, key=lambda block: block.level, default=None)
    return None if highest is None else tidy_title(join_parted_words(made.text[highest.start : highest.end]))


def _count_lost_glyphs(pages: Sequence[PdfPage]) -> int:
    text = PAGE_JOIN.join(page.text for page in pages)
    return count_glyph_names(text) if len(text) <= _MOST_LOST_CHARACTERS else 0


def _read_pages(source: SourceFile, first: PdfiumPages, second: PypdfPages) -> tuple[list[PdfPage], tuple[int, ...]]:
    """The pages, and the numbers of those whose words nobody reads: neither reader can, its fonts name no letters, or
    they are drawn. A page that gives text earns time.

    Errors: `ParseFailed` of the second reader where no page can be read, else code PARSE_TOO_LARGE.
    """
    count = first.count or second.count
    source.limits.require_pages(count, "PDF")
    pages: list[PdfPage] = []
    unread: list[int] = []
    failed = total = 0
    for number in range(count):
        page = _more_legible(first.page(number), partial(second.text, number))
        if page is None or page.is_drawn or is_garbled(page.text):
            unread.append(number + 1)
        failed += page is None
        page = page or plain_page("")
        pages.append(page)
        length = sum(len(line.text) for line in page.lines)
        total += length
        source.limits.require_characters(total, "PDF")
        if source.page_read is not None and length >= _EARNING_CHARACTERS:
            source.page_read()
    if second.failure is not None and failed == count:
        raise second.failure
    return pages, tuple(unread)


def _more_legible(page: PdfPage | None, other: Callable[[], str | None]) -> PdfPage | None:
    """The page, or its other reading where the page is poor or runs from right to left: that one must be as legible
    and no fragment.
    """
    text = "" if page is None else page.text
    poor = is_poor(text) or (page is not None and page.runs_down)
    if not poor and _RIGHT_TO_LEFT.search(text) is None:
        return page
    second = other()
    if second is None:
        return page if text else None
    if page is not None and not second.strip():
        return page
    if (is_poor(second) and not poor) or len(second) < _LEAST_OF_POOR * sum(map(str.isalnum, text)):
        return page
    if page is None:
        return plain_page(second)
    return replace(plain_page(second), notes=page.notes, files=page.files, pictures=page.pictures)


def _without_program(name: str) -> str | None:
    """A title without the program and the extension that a printer driver adds; None when no two words are left."""
    rest = _FILE_EXTENSION.sub("", _PROGRAM_AHEAD.sub("", name))
    return rest if len(_SPOKEN.findall(rest)) >= 2 else None

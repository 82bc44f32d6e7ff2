"""What people said beside the text of a PDF: sticky notes and remarks on marked words, and the files it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import pypdfium2.raw  # pyright: ignore[reportMissingTypeStubs] - it ships none
from pypdfium2 import PdfAttachment, PdfiumError  # pyright: ignore[reportMissingTypeStubs]

from agentic_rag.adapters.parsing.office.comments import comment_line
from agentic_rag.adapters.parsing.pdf.page_words import AttachedFile
from agentic_rag.kernel.errors import ParseFailed
from agentic_rag.kernel.text import strip_unstorable

pdfium = cast(Any, pypdfium2.raw)
_REMARKS = frozenset({
    pdfium.FPDF_ANNOT_TEXT, pdfium.FPDF_ANNOT_LINE, pdfium.FPDF_ANNOT_SQUARE, pdfium.FPDF_ANNOT_CIRCLE,
    pdfium.FPDF_ANNOT_POLYGON, pdfium.FPDF_ANNOT_POLYLINE, pdfium.FPDF_ANNOT_HIGHLIGHT, pdfium.FPDF_ANNOT_UNDERLINE,
    pdfium.FPDF_ANNOT_SQUIGGLY, pdfium.FPDF_ANNOT_STRIKEOUT, pdfium.FPDF_ANNOT_CARET, pdfium.FPDF_ANNOT_INK,
    pdfium.FPDF_ANNOT_FILEATTACHMENT,
})  # fmt: skip
"""Annotations that people write (ISO 32000-1, 12.5.6); free text and stamps are read where they stand."""


def page_notes(page: object, value: Callable[[object, bytes], str], text: str) -> Sequence[str]:
    """The remarks of a page with their authors, in their order; `value` reads an entry of an annotation. One that only
    repeats words of the page's `text`, as some programs write of marked words, is left out.
    """
    known = " ".join(text.split())
    notes: list[str] = []
    for annotation in _annotations(page):
        said = " ".join(value(annotation, b"Contents").split())
        if said and said not in known:
            notes.append(comment_line(said, value(annotation, b"T")))
    return notes


def attached_files(document: Any) -> Iterator[AttachedFile]:
    """The files that a PDF holds as a whole."""
    for number in range(document.count_attachments()):
        yield _file(pdfium.FPDFDoc_GetAttachment(document, number), document)


def pinned_files(page: Any) -> list[AttachedFile]:
    """The files that are pinned to a page; they can be read as long as its document is open."""
    held = [pdfium.FPDFAnnot_GetFileAttachment(annotation) for annotation in _annotations(page)]
    return [_file(one, page.pdf) for one in held if one]


def _file(raw: object, document: object) -> AttachedFile:
    attachment: Any = PdfAttachment(raw, document)
    try:
        name = strip_unstorable(attachment.get_name()) if raw else ""
    except (PdfiumError, UnicodeError):
        name = ""
    return name, lambda: _content(attachment)


def _content(attachment: Any) -> bytes:
    try:
        return bytes(attachment.get_data())
    except PdfiumError as error:
        raise ParseFailed(f"it is damaged: {error}", code="PARSE_CORRUPT") from error


def _annotations(page: object) -> Iterator[object]:
    for number in range(pdfium.FPDFPage_GetAnnotCount(page)):
        annotation = pdfium.FPDFPage_GetAnnot(page, number)
        if not annotation:
            continue
        try:
            hidden = pdfium.FPDFAnnot_GetFlags(annotation) & pdfium.FPDF_ANNOT_FLAG_HIDDEN
            if not hidden and pdfium.FPDFAnnot_GetSubtype(annotation) in _REMARKS:
                yield annotation
        finally:
            pdfium.FPDFPage_CloseAnnot(annotation)

"""A page of a PDF as a PNG, with marks behind the words of a quote. Runs in the child that reads files."""

from __future__ import annotations

import ctypes
import struct
import zlib
from collections.abc import Sequence
from typing import Any, cast

import pypdfium2.raw  # pyright: ignore[reportMissingTypeStubs] - it ships none
from pypdfium2 import PdfiumError  # pyright: ignore[reportMissingTypeStubs]

from agentic_rag.adapters.parsing.pdf.pdfium import open_document
from agentic_rag.adapters.parsing.pdf.quoted_lines import quoted_lines
from agentic_rag.answering.runs.page_image import MarkedLine, PageImage, QuotedPlace
from agentic_rag.kernel.errors import ParseFailed

pdfium = cast(Any, pypdfium2.raw)

_LONGEST_SIDE = 1600
"""Pixels of the longer side; a page is never drawn larger than three times its size at 72 dots an inch."""
_MOST_SCALE = 3.0
_MARK = (255, 214, 64)
_LEAST_SIDE = 1.0
_EFFORT = 3
"""Of zlib: packs a page of text in 28 ms instead of the 63 of the default, into 6 % more bytes."""
_STEPS = 10_000


def render(content: bytes, place: QuotedPlace) -> PageImage:
    """The page. Errors: `ParseFailed` codes PARSE_ENCRYPTED, PARSE_CORRUPT (also for a page that is not there)."""
    document = open_document(content)
    if document is None:
        raise ParseFailed("the PDF cannot be opened", code="PARSE_CORRUPT")
    try:
        if not 1 <= place.page <= len(document):
            raise ParseFailed(f"the PDF has {len(document)} pages; {place.page} is none of them", code="PARSE_CORRUPT")
        if document.get_formtype() != pdfium.FORMTYPE_NONE:
            document.init_forms()
        page = document[place.page - 1]
        textpage = page.get_textpage()
        lines = quoted_lines(textpage.raw, place)
        textpage.close()
        return marked(page, lines)
    except PdfiumError as error:
        raise ParseFailed("the page cannot be drawn", code="PARSE_CORRUPT") from error
    finally:
        document.close()


def marked(page: Any, lines: tuple[MarkedLine, ...]) -> PageImage:
    """A page with marks over these places of it."""
    for line in lines:
        _mark(page.raw, line)
    return PageImage(_draw(page), lines, _first(page.raw, lines))


def _mark(page: object, line: MarkedLine) -> None:
    """Put a coloured box over the words, through which they are seen as through a marker's ink."""
    mark = pdfium.FPDFPageObj_CreateNewRect(line.left, line.bottom, line.right - line.left, line.top - line.bottom)
    pdfium.FPDFPageObj_SetFillColor(mark, *_MARK, 255)
    pdfium.FPDFPath_SetDrawMode(mark, pdfium.FPDF_FILLMODE_WINDING, False)
    pdfium.FPDFPageObj_SetBlendMode(mark, b"Multiply")
    pdfium.FPDFPage_InsertObject(page, mark)


def _first(page: object, lines: Sequence[MarkedLine]) -> float:
    """Where the first mark begins on the page as it is looked at, by its height."""
    x, y = ctypes.c_int(), ctypes.c_int()
    tops: list[int] = []
    for line in lines:
        for corner in ((line.left, line.top), (line.right, line.bottom)):
            pdfium.FPDF_PageToDevice(page, 0, 0, _STEPS, _STEPS, 0, *corner, x, y)
            tops.append(y.value)
    return max(0.0, min(tops, default=0) / _STEPS)


def _draw(page: Any) -> bytes:
    width, height = page.get_size()
    scale = min(_MOST_SCALE, _LONGEST_SIDE / max(width, height, _LEAST_SIDE))
    bitmap = page.render(scale=scale, rev_byteorder=True, prefer_bgrx=False, may_draw_forms=True)
    if bitmap.n_channels != 3:
        raise ParseFailed("the page has no colours that can be drawn", code="PARSE_CORRUPT")
    return png(bitmap.width, bitmap.height, bitmap.stride, memoryview(bitmap.buffer).cast("B"))


def png(width: int, height: int, stride: int, pixels: Sequence[int]) -> bytes:
    """A PNG of rows of red, green and blue bytes (RFC 2083). `stride`: bytes from one row to the next."""
    rows = b"".join(b"\0" + bytes(pixels[at : at + 3 * width]) for at in range(0, height * stride, stride))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    packed = zlib.compress(rows, _EFFORT)
    return b"".join((b"\x89PNG\r\n\x1a\n", _chunk(b"IHDR", header), _chunk(b"IDAT", packed), _chunk(b"IEND", b"")))


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

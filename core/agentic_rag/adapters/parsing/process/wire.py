"""What the parser and its child say to each other: frames of a JSON header and raw bytes, never pickles.

A frame is two big-endian 32-bit lengths, the header in UTF-8 JSON, and the body. A request's body is the file, a
reply's
body the text.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, cast

from agentic_rag.adapters.parsing.scans.recognised import FlatPage, RecognisedPage, recognised_page
from agentic_rag.adapters.parsing.scans.recognised_pages import DrawnPages
from agentic_rag.adapters.parsing.text_builder import LoadedText
from agentic_rag.answering.runs.page_image import MarkedLine, PageImage, QuotedPlace
from agentic_rag.documents.document import Block, BlockKind, PageSpan, ParsedDocument
from agentic_rag.kernel.errors import ParseFailed, Retryable
from agentic_rag.language.symbols import Definition

LENGTHS = struct.Struct(">II")
OUT_OF_MEMORY_STATUS = 71
"""Exit status of a child that could not even reply for lack of memory (EX_OSERR of sysexits.h)."""
_KINDS = tuple(BlockKind)
_KIND_NUMBERS = {kind: number for number, kind in enumerate(_KINDS)}


def frame(header: object, body: bytes) -> bytes:
    """A frame of `header` and `body`."""
    head = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    return b"".join((LENGTHS.pack(len(head), len(body)), head, body))


def reading_frame(media_type: str, reading: LoadedText) -> bytes:
    """The reply that carries a file's text and structure."""
    blocks = [number for b in reading.blocks for number in (_KIND_NUMBERS[b.kind], b.start, b.end, b.level)]
    pages = [number for page in reading.pages for number in (page.number, page.start, page.end)]
    header = {
        "media_type": media_type,
        "title": reading.title,
        "language": reading.language,
        "blocks": blocks,
        "pages": pages,
        "unread_pages": reading.unread_pages,
        "parts": reading.parts,
        "unit": reading.unit,
        "recognised": reading.recognised_pages,
        "published": None if reading.published is None else reading.published.isoformat(),
    }
    return frame(header, reading.text.encode())


def page_request(place: QuotedPlace, content: bytes) -> bytes:
    """The request for the image of a page."""
    header = {"page": place.page, "quote": place.quote, "before": place.before, "after": place.after}
    return frame(header, content)


def place_of(header: Mapping[str, Any]) -> QuotedPlace:
    """The place that a request for an image names."""
    return QuotedPlace(header["page"], header["quote"], header["before"], header["after"])


def image_frame(image: PageImage) -> bytes:
    """The reply that carries the image of a page."""
    lines = [(one.left, one.bottom, one.right, one.top) for one in image.lines]
    return frame({"lines": lines, "first": image.first}, image.png)


def decode_image(head: bytes, body: bytes) -> PageImage:
    """What a reply says. Errors: those of `decode_document`."""
    header = _header_of(head)
    return PageImage(body, tuple(MarkedLine(*line) for line in header["lines"]), header["first"])


def failure_frame(failure: ParseFailed) -> bytes:
    """The reply that says why a file cannot be read, or on which of its pages words are to be recognised first."""
    if isinstance(failure, DrawnPages):
        return frame({"drawn": failure.numbers}, b"")
    return frame({"code": failure.code, "message": failure.message}, b"")


def count_frame(count: int) -> bytes:
    """The reply that says how many pages a picture file has."""
    return frame({"count": count}, b"")


def decode_count(head: bytes, body: bytes) -> int:
    """What a reply says. Errors: those of `decode_document`."""
    return cast(int, _header_of(head)["count"])


def recognised_frame(page: RecognisedPage) -> bytes:
    """The reply that carries what was recognised on a page."""
    return frame({}, json.dumps(page.flat(), ensure_ascii=False).encode())


def decode_recognised(head: bytes, body: bytes) -> FlatPage:
    """What a reply says, as it is sent on. Errors: those of `decode_document`."""
    _header_of(head)
    return cast(FlatPage, json.loads(body))


def definitions_frame(definitions: Sequence[Definition] | None) -> bytes:
    """The reply that carries what source code defines."""
    flat = None if definitions is None else [(one.name, one.start, one.end) for one in definitions]
    return frame({}, json.dumps(flat, ensure_ascii=False).encode())


def decode_definitions(head: bytes, body: bytes) -> tuple[Definition, ...] | None:
    """What a reply says. Errors: those of `decode_document`."""
    _header_of(head)
    flat = cast(list[tuple[str, int, int]] | None, json.loads(body))
    return None if flat is None else tuple(Definition(*one) for one in flat)


def recognised_of(header: Mapping[str, Any]) -> Mapping[int, RecognisedPage | None] | None:
    """The recognised pages that a request carries; None where nobody recognises any."""
    carried = cast(dict[str, FlatPage | None] | None, header.get("recognised"))
    if carried is None:
        return None
    return {int(number): None if page is None else recognised_page(page) for number, page in carried.items()}


def broken_frame(error: ImportError | ParseFailed) -> bytes:
    """The reply that says that this machine, not the file, is at fault."""
    return frame({"broken": str(error)}, b"")


def require_ready(head: bytes) -> tuple[str, ...]:
    """The walls that a child's first frame names. Raises Retryable when it cannot read files on this machine."""
    header = cast(dict[str, Any], json.loads(head))
    if "broken" in header:
        raise _broken(header)
    return tuple(header["walls"])


def _broken(header: dict[str, Any]) -> Retryable:
    return Retryable(f"the parser's own installation is broken: {header['broken']}")


def _header_of(head: bytes) -> dict[str, Any]:
    header = cast(dict[str, Any], json.loads(head))
    if "broken" in header:
        raise _broken(header)
    if "drawn" in header:
        raise DrawnPages(header["drawn"])
    if "code" in header:
        raise ParseFailed(header["message"], code=header["code"])
    return header


def decode_document(head: bytes, body: bytes, parser: str, version: str) -> ParsedDocument:
    """What a reply says. Raises the ParseFailed that it carries, Retryable when the child is at fault."""
    header = _header_of(head)
    flat: list[int] = header["blocks"]
    pages: list[int] = header["pages"]
    return ParsedDocument(
        text=body.decode(),
        blocks=tuple(
            Block(_KINDS[kind], start, end, level)
            for kind, start, end, level in zip(flat[::4], flat[1::4], flat[2::4], flat[3::4], strict=True)
        ),
        pages=tuple(
            PageSpan(number, start, end)
            for number, start, end in zip(pages[::3], pages[1::3], pages[2::3], strict=True)
        ),
        title=header["title"],
        media_type=header["media_type"],
        parser=parser,
        parser_version=version,
        language=header["language"],
        unread_pages=tuple(header["unread_pages"]),
        parts=header["parts"],
        unread_unit=header["unit"],
        recognised_pages=tuple(header["recognised"]),
        published=None if header["published"] is None else date.fromisoformat(header["published"]),
    )

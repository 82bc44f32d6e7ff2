"""Reads `multipart/form-data` part by part, as it arrives: a file is never held in memory or spooled to disk here."""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from typing import Any

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect, Request

from agentic_rag.kernel.errors import ContentUnsupported, InvalidInput, UploadTooLarge
from agentic_rag.kernel.formatting import format_bytes

MEDIA_TYPE = "multipart/form-data"
MAX_BOUNDARY_CHARACTERS = 70
"""RFC 2046 §5.1.1."""

MAX_PARTS = 16
MAX_FIELD_BYTES = 16 * 1024


class _Event(enum.Enum):
    BEGIN = enum.auto()
    NAME = enum.auto()
    VALUE = enum.auto()
    HEADERS = enum.auto()
    DATA = enum.auto()
    END = enum.auto()
    CLOSE = enum.auto()


@dataclass(frozen=True, slots=True)
class Part:
    """One part. Its content must be read before the next part is asked for, or is skipped."""

    name: str
    file_name: str | None
    """None for a plain field."""
    content: AsyncIterator[bytes]

    async def text(self, most: int = MAX_FIELD_BYTES) -> str:
        """A field's value. Errors: `InvalidInput` when it is longer than `most` bytes or not UTF-8."""
        value = b""
        async for piece in self.content:
            value += piece
            if len(value) > most:
                raise InvalidInput(f"The field `{self.name}` may have {most} bytes at most.", path=(self.name,))
        try:
            return value.decode()
        except UnicodeDecodeError as wrong:
            raise InvalidInput(f"The field `{self.name}` is not UTF-8.", path=(self.name,)) from wrong


def is_multipart(request: Request) -> bool:
    """Whether the request says that its body is `multipart/form-data`."""
    return request.headers.get("content-type", "").split(";", 1)[0].strip().lower() == MEDIA_TYPE


class MultipartBody:
    """The parts of one request, whose whole body may have `most` bytes. Nothing that it holds refers back to it: a
    request is freed with its last user, whenever cyclic garbage is collected next.
    """

    def __init__(self, request: Request, most: int) -> None:
        """Errors: `ContentUnsupported` code UNSUPPORTED_MEDIA_TYPE, `UploadTooLarge` when the body says it is."""
        self._events = _arriving(request, most)
        self._parts = 0
        self._in_part = False
        declared = request.headers.get("content-length", "")
        if declared.isascii() and declared.isdigit() and int(declared[:20]) > most:
            raise _too_large(most)

    async def parts(self) -> AsyncIterator[Part]:
        """Each part in turn. Errors: `InvalidInput` code MULTIPART_INVALID, also for a body that breaks off;
        `UploadTooLarge`.
        """
        while True:
            event, _ = await anext(self._events)
            if event is _Event.CLOSE:
                await self._events.aclose()
                return
            if event is _Event.BEGIN:
                self._parts += 1
                if self._parts > MAX_PARTS:
                    raise _invalid(f"it has more than {MAX_PARTS} parts")
                yield await self._part()

    async def _part(self) -> Part:
        headers: dict[bytes, bytes] = {}
        name = value = b""
        while True:
            event, data = await anext(self._events)
            if event is _Event.NAME:
                if value:
                    headers[name.lower()], name, value = value, b"", b""
                name += data
            elif event is _Event.VALUE:
                value += data
            elif event is _Event.HEADERS:
                headers[name.lower()] = value
                break
        kind, options = parse_options_header(headers.get(b"content-disposition", b""))
        field = options.get(b"name")
        if kind != b"form-data" or field is None:
            raise _invalid("a part has no name")
        file_name = options.get(b"filename")
        self._in_part = True
        return Part(
            field.decode("utf-8", "replace"),
            None if file_name is None else file_name.decode("utf-8", "replace"),
            self._content(),
        )

    async def _content(self) -> AsyncIterator[bytes]:
        while self._in_part:
            event, data = await anext(self._events)
            if event is _Event.END:
                self._in_part = False
            elif event is _Event.DATA:
                yield data


def _arriving(request: Request, most: int) -> AsyncGenerator[tuple[_Event, bytes]]:
    """The events of a body, as it arrives. Errors: as of `MultipartBody`."""
    waiting: deque[tuple[_Event, bytes]] = deque()
    return _events(request, _parser_into(waiting, request), waiting, most)


async def _events(
    request: Request, parser: MultipartParser, waiting: deque[tuple[_Event, bytes]], most: int
) -> AsyncGenerator[tuple[_Event, bytes]]:
    size = 0
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size > most:
                raise _too_large(most)
            if chunk:
                parser.write(chunk)
            while waiting:
                yield waiting.popleft()
    except FormParserError as wrong:
        raise _invalid("it does not follow RFC 7578") from wrong
    except ClientDisconnect as gone:
        raise InvalidInput("The request ended before its body did.", code="CLIENT_GONE") from gone
    raise _invalid("it ends before its last boundary")


def _parser_into(waiting: deque[tuple[_Event, bytes]], request: Request) -> MultipartParser:
    if not is_multipart(request):
        raise ContentUnsupported(f"Send the file as `{MEDIA_TYPE}`.", code="UNSUPPORTED_MEDIA_TYPE")
    _, options = parse_options_header(request.headers["content-type"])
    boundary = options.get(b"boundary", b"")
    if not 1 <= len(boundary) <= MAX_BOUNDARY_CHARACTERS:
        raise _invalid("its Content-Type names no boundary")

    def note(event: _Event, data: bytes = b"") -> None:
        waiting.append((event, data))

    callbacks: Any = {
        "on_part_begin": lambda: note(_Event.BEGIN),
        "on_header_field": lambda data, start, end: note(_Event.NAME, data[start:end]),
        "on_header_value": lambda data, start, end: note(_Event.VALUE, data[start:end]),
        "on_headers_finished": lambda: note(_Event.HEADERS),
        "on_part_data": lambda data, start, end: note(_Event.DATA, data[start:end]),
        "on_part_end": lambda: note(_Event.END),
        "on_end": lambda: note(_Event.CLOSE),
    }
    return MultipartParser(boundary, callbacks)


def _too_large(most: int) -> UploadTooLarge:
    return UploadTooLarge(f"A request may have {format_bytes(most)} at most: split the file.")


def _invalid(why: str) -> InvalidInput:
    return InvalidInput(f"The multipart body cannot be read: {why}.", code="MULTIPART_INVALID")

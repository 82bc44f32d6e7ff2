"""MSG ([MS-OXMSG]): the head that people see, the text, and every attachment that can be read, under its name."""

from __future__ import annotations

import base64
import io
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import olefile  # pyright: ignore[reportMissingTypeStubs] - it ships none

from agentic_rag.adapters.parsing.file_types import SourceFile, ole_failure
from agentic_rag.adapters.parsing.held_files import HeldFiles
from agentic_rag.adapters.parsing.loaders.email_message import body_text
from agentic_rag.adapters.parsing.loaders.rich_text import load as load_rtf
from agentic_rag.adapters.parsing.office.compressed_rtf import rtf_of
from agentic_rag.adapters.parsing.office.encapsulated_html import html_of
from agentic_rag.adapters.parsing.text.encoding import decode_as
from agentic_rag.adapters.parsing.text_builder import LoadedText, TextBuilder
from agentic_rag.adapters.parsing.unread import UnreadParts, with_unread
from agentic_rag.documents.document import BlockKind
from agentic_rag.kernel.errors import ParseFailed
from agentic_rag.kernel.text import strip_unstorable

_PROPERTIES = "__properties_version1.0"
_ATTACHMENT = "__attach_version1.0_"
_SUBJECT, _BODY, _RTF, _HTML, _SENT = 0x0037, 0x1000, 0x1009, 0x1013, 0x0039
_PEOPLE = (("From", 0x0C1A), ("To", 0x0E04), ("Cc", 0x0E03))
_DATA, _SHORT_NAME, _LONG_NAME, _SHOWN_NAME, _MEDIA_TYPE = 0x3701, 0x3704, 0x3707, 0x3001, 0x370E
_CODE_PAGES = (0x3FFD, 0x3FDE)
"""The code page of the message's strings, and that of its HTML."""
_UNICODE, _BYTES, _BINARY, _OBJECT = 0x001F, 0x001E, 0x0102, 0x000D
"""Types of properties ([MS-OXCDATA] 2.11.1)."""
_TOP_HEAD, _INNER_HEAD = 32, 24
"""Bytes before the properties of a message, and of one in another."""
_FILE_TIME_ZERO = datetime(1601, 1, 1, tzinfo=UTC)
SAMPLE = zlib.decompress(
    base64.b85decode(
        b"c-p&gUhu)fjZzO8(10BSGsD0CoD6J8VvIn{1mg%m_#pi6|Ns9WA!Z={KMIBvC}&7yC}PNE7zHB}fb#CY(QGhcK@dYe5SB0~Ft{@0"
        b"0qG)!N|Mr#7y~OK%q&I{^ff@~cpxlhC}l_jk|hl342BGP3<f|k10XbJFbC6y3~o5h(PCf%+s_28dx*841IhjZps(|RWGav@VaNp1"
        b"#X!+AFuxec&j*GK#9f%c0BS!B5MwteoD>FG{s-Z|quF7^0RYsH=T8"
    )
)
"""A message with a subject and nothing else."""


def load(source: SourceFile) -> LoadedText:
    """A message and its attachments. An attachment that cannot be read is named with the reason.

    Errors: `ParseFailed` codes PARSE_CORRUPT, PARSE_TOO_LARGE, PARSE_UNSUPPORTED.
    """
    try:
        with cast(Any, olefile).OleFileIO(io.BytesIO(source.content)) as ole:
            message = _Item(ole, ())
            if not message.holds(_PROPERTIES):
                raise ole_failure(source.content, None)
            return _read(source, message, _TOP_HEAD)
    except (OSError, ValueError, IndexError, struct.error) as error:
        raise ParseFailed(f"the message is damaged: {error}", code="PARSE_CORRUPT") from error


@dataclass(frozen=True, slots=True)
class _Item:
    """A storage of a compound file: a message or an attachment."""

    file: Any
    path: tuple[str, ...]

    def holds(self, name: str) -> bool:
        return cast(bool, self.file.exists([*self.path, name]))

    def stream(self, number: int, kind: int) -> bytes | None:
        return self._stream(f"__substg1.0_{number:04X}{kind:04X}")

    def inner(self, name: str) -> _Item:
        return _Item(self.file, (*self.path, name))

    def attachments(self) -> Iterator[_Item]:
        depth = len(self.path)
        names = {path[depth] for path in self.file.listdir() if path[:depth] == [*self.path] and len(path) > depth + 1}
        return (self.inner(name) for name in sorted(names) if name.startswith(_ATTACHMENT))

    def text(self, number: int, code_page: int) -> str:
        """A string, in UTF-16 or in the message's code page; empty without it."""
        wide = self.stream(number, _UNICODE)
        if wide is not None:
            return strip_unstorable(wide.decode("utf-16-le", "replace"))
        return strip_unstorable(decode_as(self.stream(number, _BYTES) or b"", f"cp{code_page}"))

    def figures(self, head: int) -> dict[int, int]:
        """The properties of fixed length by number."""
        held = self._stream(_PROPERTIES) or b""
        rows = (held[at : at + 16] for at in range(head, len(held) - 15, 16))
        return {number: value for _, number, _, value in (struct.unpack("<HHIQ", row) for row in rows)}

    def _stream(self, name: str) -> bytes | None:
        if not self.holds(name):
            return None
        return cast(bytes, self.file.openstream([*self.path, name]).read())


def _read(source: SourceFile, message: _Item, head: int) -> LoadedText:
    """A message and those in it."""
    figures = message.figures(head)
    code_page, html_page = (figures.get(number, 1252) & 0xFFFF for number in _CODE_PAGES)
    built = TextBuilder()
    subject = " ".join(message.text(_SUBJECT, code_page).split())
    built.add(BlockKind.HEADING, subject, level=1)
    lines = [
        f"{name}: {value}" for name, number in _PEOPLE if (value := " ".join(message.text(number, code_page).split()))
    ]
    built.add(BlockKind.PARAGRAPH, "\n".join([*lines, *_date_line(figures.get(_SENT, 0))]))
    body = _body(source, message, code_page, html_page)
    built.append(body, deeper=1)
    held = HeldFiles(source, built, "attachment")
    for attachment in message.attachments():
        _attach(source, held, attachment, code_page)
    source.limits.require_characters(built.length)
    return with_unread(held.finish(subject or None), UnreadParts(body.unread_pages, body.parts, body.unit))


def _date_line(file_time: int) -> list[str]:
    """The time of sending, kept as tenths of microseconds since 1601."""
    if not 0 < file_time < 1 << 60:
        return []
    return [f"Date: {_FILE_TIME_ZERO + timedelta(microseconds=file_time // 10):%Y-%m-%d %H:%M} UTC"]


def _body(source: SourceFile, message: _Item, code_page: int, html_page: int) -> LoadedText:
    """The plain text, else the HTML, else the RTF."""
    plain = message.text(_BODY, code_page)
    if plain.strip():
        return body_text(plain, is_html=False)
    html = message.stream(_HTML, _BINARY)
    page = message.text(_HTML, code_page) if html is None else strip_unstorable(decode_as(html, f"cp{html_page}"))
    if page.strip():
        return body_text(page, is_html=True)
    packed = message.stream(_RTF, _BINARY)
    if packed is None:
        return LoadedText("", ())
    rtf = rtf_of(packed, source.limits.text_characters)
    page = html_of(rtf.decode("latin-1"))
    return load_rtf(replace(source, content=rtf)) if page is None else body_text(strip_unstorable(page), is_html=True)


def _attach(source: SourceFile, held: HeldFiles, item: _Item, code_page: int) -> None:
    names = (item.text(number, code_page) for number in (_LONG_NAME, _SHORT_NAME, _SHOWN_NAME))
    name = next((tidy for one in names if (tidy := " ".join(one.split()))), "")
    inner = item.inner(f"__substg1.0_{_DATA:04X}{_OBJECT:04X}")
    if inner.holds(_PROPERTIES):
        held.attach_message(name, lambda nesting: _read(replace(source, nesting=nesting), inner, _INNER_HEAD))
        return
    media_type = item.text(_MEDIA_TYPE, code_page) or None
    held.attach_file(name, lambda: item.stream(_DATA, _BINARY) or b"", media_type)

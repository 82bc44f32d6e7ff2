"""EML (RFC 5322): the head that people see, the text, and every attachment that can be read, under its name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from email import policy
from email.message import EmailMessage, Message
from email.parser import BytesParser
from typing import cast

from agentic_rag.adapters.parsing.file_types import SourceFile
from agentic_rag.adapters.parsing.held_files import HeldFiles
from agentic_rag.adapters.parsing.loaders.html import read_html
from agentic_rag.adapters.parsing.text.encoding import decode_as, decode_page, decode_text
from agentic_rag.adapters.parsing.text_builder import LoadedText, TextBuilder, paragraphs_of
from agentic_rag.adapters.parsing.unread import PICTURE, none_of, with_unread
from agentic_rag.documents.document import BlockKind
from agentic_rag.kernel.text import strip_unstorable

SAMPLE = b"Subject: warm\n\nwarm\n"
_MESSAGE = "message/rfc822"
_TEXTS = ("text/plain", "text/html")
_LEAST_OF_ALTERNATIVES = 0.5
"""By the letters of the fullest alternative: a plain text with fewer only says that there is another."""
_SHOWN = ("From", "To", "Cc", "Date")


def load(source: SourceFile) -> LoadedText:
    """A message and its attachments. An attachment that cannot be read is named with the reason.

    Errors: `ParseFailed` code PARSE_TOO_LARGE.
    """
    return _read(source, BytesParser(policy=policy.default).parsebytes(source.content))


def _read(source: SourceFile, message: EmailMessage) -> LoadedText:
    """A message and those in it."""
    built = TextBuilder()
    subject = _header(message, "Subject")
    built.add(BlockKind.HEADING, subject, level=1)
    head = [f"{name}: {value}" for name in _SHOWN if (value := _header(message, name))]
    built.add(BlockKind.PARAGRAPH, "\n".join(head))
    held = HeldFiles(source, built, "attachment")
    parts = [*_parts(message)]
    pictures = 0
    for part in filter(_is_body, parts):
        body = _body(part)
        built.append(body, deeper=1)
        pictures += len(body.unread_pages)
    for part in parts:
        if not _is_body(part):
            _attach(source, held, part)
    source.limits.require_characters(built.length)
    return with_unread(held.finish(subject or None), none_of(pictures, PICTURE))


def _parts(message: Message) -> Iterator[Message]:
    """The parts of a message that are read, in their order; of alternatives the one that says most, and calendars."""
    if message.get_content_maintype() != "multipart" or not message.is_multipart():
        yield message
        return
    inner = [[*_parts(part)] for part in _held(message)]
    if message.get_content_subtype() != "alternative":
        yield from (part for held in inner for part in held)
        return
    texts = [held for held in inner if any(map(_is_body, held))]
    chosen = _fullest(texts)
    yield from (part for held in inner if held is chosen or held not in texts for part in held)


def _fullest(alternatives: Sequence[list[Message]]) -> list[Message] | None:
    """The plain text, which comes first, unless another alternative says much more than it."""
    lengths = [sum(len(_body(part).text) for part in held if _is_body(part)) for held in alternatives]
    if not lengths:
        return None
    fullest = lengths.index(max(lengths))
    return alternatives[fullest if lengths[0] < _LEAST_OF_ALTERNATIVES * lengths[fullest] else 0]


def _is_body(part: Message) -> bool:
    return (
        part.get_content_type() in _TEXTS
        and part.get_content_disposition() != "attachment"
        and part.get_filename() is None
    )


def _attach(source: SourceFile, held: HeldFiles, part: Message) -> None:
    name = " ".join(strip_unstorable(part.get_filename() or "").split())
    if part.get_content_type() != _MESSAGE:
        held.attach_file(name, lambda: _payload(part), part.get_content_type())
        return
    inner = next((one for one in part.walk() if one is not part and isinstance(one, EmailMessage)), None)
    if inner is not None:
        held.attach_message(name, lambda nesting: _read(replace(source, nesting=nesting), inner))


def _header(message: EmailMessage, name: str) -> str:
    try:
        value = message[name]
    except (ValueError, IndexError, AttributeError, TypeError):
        # Damaged address and date fields: the parser of the standard library raises any of these.
        return ""
    return " ".join(strip_unstorable(str(value or "")).split())


def _payload(part: Message) -> bytes:
    content = part.get_payload(decode=True)
    if isinstance(content, bytes):
        return content
    # Reports of delivery hold heads of messages.
    return b"\n".join(one.as_bytes() for one in _held(part))


def _held(part: Message) -> list[Message]:
    return cast(list[Message], part.get_payload()) if part.is_multipart() else []


def _body(part: Message) -> LoadedText:
    content, charset, is_html = _payload(part), part.get_content_charset(), part.get_content_type() == "text/html"
    if charset is not None:
        text = decode_as(content, charset)
    else:
        text = decode_page(content) if is_html else decode_text(content)
    return body_text(strip_unstorable(text), is_html=is_html)


def body_text(text: str, *, is_html: bool) -> LoadedText:
    """The text of a mail: its paragraphs, or a page without its title."""
    text = text.replace("\r\n", "\n")
    if is_html:
        return replace(read_html(text), title=None)
    built = TextBuilder()
    for start, end in paragraphs_of(text):
        built.add(BlockKind.PARAGRAPH, text[start:end])
    return LoadedText(built.text(), tuple(built.blocks))

"""EML (RFC 5322): the head that people see, the text, and every attachment that can be read, under its name."""

from __future__ import annotations

from dataclasses import replace
from email import policy
from email.message import EmailMessage, Message
from email.parser import BytesParser

from agentic_rag.adapters.parsing.file_types import SourceFile
from agentic_rag.adapters.parsing.held_files import HeldFiles
from agentic_rag.adapters.parsing.loaders.html import read_html
from agentic_rag.adapters.parsing.text.encoding import decode_as, decode_page, decode_text
from agentic_rag.adapters.parsing.text_builder import LoadedText, TextBuilder, paragraphs_of
from agentic_rag.documents.document import BlockKind
from agentic_rag.kernel.text import strip_unstorable

SAMPLE = b"Subject: warm\n\nwarm\n"
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
    body = message.get_body(("plain", "html")) if message.is_multipart() else message
    if body is not None:
        built.append(_body(body), deeper=1)
    held = HeldFiles(source, built, "attachment")
    for part in message.iter_attachments() if message.is_multipart() else ():
        if part is not body:
            _attach(source, held, part)
    source.limits.require_characters(built.length)
    return held.finish(subject or None)


def _attach(source: SourceFile, held: HeldFiles, part: Message) -> None:
    name = " ".join(strip_unstorable(part.get_filename() or "").split())
    if part.get_content_type() != "message/rfc822":
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
    return content if isinstance(content, bytes) else b""


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

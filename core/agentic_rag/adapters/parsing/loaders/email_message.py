"""EML (RFC 5322): the head that people see, the text, and every attachment that can be read, under its name."""

from __future__ import annotations

from dataclasses import replace
from email import policy
from email.message import EmailMessage, Message
from email.parser import BytesParser

from agentic_rag.adapters.parsing.dispatch import load as load_file
from agentic_rag.adapters.parsing.file_types import SourceFile
from agentic_rag.adapters.parsing.loaders.html import read_html
from agentic_rag.adapters.parsing.text.encoding import decode_text
from agentic_rag.adapters.parsing.text_builder import LoadedText, TextBuilder, paragraphs_of
from agentic_rag.documents.document import BlockKind
from agentic_rag.kernel.errors import ParseFailed
from agentic_rag.kernel.text import strip_unstorable

SAMPLE = b"Subject: warm\n\nwarm\n"
_SHOWN = ("From", "To", "Cc", "Date")
_MOST_ATTACHMENTS = 200
_DEEPEST = 3
"""Mails inside mails that are opened."""


def load(source: SourceFile) -> LoadedText:
    """A message and its attachments. An attachment that cannot be read is named with the reason.

    Errors: `ParseFailed` code PARSE_TOO_LARGE.
    """
    return _Reading(source).read(_parsed(source.content), 0)


def _parsed(content: bytes) -> EmailMessage:
    return BytesParser(policy=policy.default).parsebytes(content)


class _Reading:
    """Reads a message and the messages in it; the attachments of all are counted together."""

    def __init__(self, source: SourceFile) -> None:
        self._source = source
        self._left = _MOST_ATTACHMENTS

    def read(self, message: EmailMessage, depth: int) -> LoadedText:
        built = TextBuilder()
        subject = _header(message, "Subject")
        built.add(BlockKind.HEADING, subject, level=1)
        head = [f"{name}: {value}" for name in _SHOWN if (value := _header(message, name))]
        built.add(BlockKind.PARAGRAPH, "\n".join(head))
        body = message.get_body(("plain", "html")) if message.is_multipart() else message
        if body is not None:
            built.append(_body(body), deeper=1)
        for part in message.iter_attachments() if message.is_multipart() else ():
            if part is not body:
                self._attach(built, part, depth)
        self._source.limits.require_characters(built.length)
        return LoadedText(built.text(), tuple(built.blocks), title=subject or None)

    def _attach(self, built: TextBuilder, part: Message, depth: int) -> None:
        self._left -= 1
        name = " ".join(strip_unstorable(part.get_filename() or "without a name").split())
        if self._left < 0 or depth == _DEEPEST:
            raise ParseFailed(
                f"the mail holds more than {_MOST_ATTACHMENTS} attachments, or mails nested deeper than {_DEEPEST}",
                code="PARSE_TOO_LARGE",
            )
        if part.get_content_type() == "message/rfc822":
            built.add(BlockKind.HEADING, f"Attached message: {name}" if part.get_filename() else "Attached message", 1)
            for inner in part.walk():
                if inner is not part and isinstance(inner, EmailMessage):
                    built.append(self.read(inner, depth + 1), deeper=1)
                    break
            return
        content = part.get_payload(decode=True)
        built.add(BlockKind.HEADING, f"Attachment: {name}", level=1)
        try:
            _, loaded = load_file(
                content if isinstance(content, bytes) else b"", name, part.get_content_type(), self._source.limits
            )
        except ParseFailed as failure:
            built.add(BlockKind.PARAGRAPH, f"This attachment was not read: {failure.message}.")
        else:
            built.append(loaded, deeper=1)


def _header(message: EmailMessage, name: str) -> str:
    try:
        value = message[name]
    except (ValueError, IndexError, AttributeError, TypeError):
        # Damaged address and date fields: the parser of the standard library raises any of these.
        return ""
    return " ".join(strip_unstorable(str(value or "")).split())


def _body(part: Message) -> LoadedText:
    content = part.get_payload(decode=True)
    raw = content if isinstance(content, bytes) else b""
    try:
        text = raw.decode(part.get_content_charset() or "utf-8")
    except (LookupError, UnicodeDecodeError):
        text = decode_text(raw)
    text = strip_unstorable(text).replace("\r\n", "\n")
    if part.get_content_type() == "text/html":
        return replace(read_html(text), title=None)
    built = TextBuilder()
    for start, end in paragraphs_of(text):
        built.add(BlockKind.PARAGRAPH, text[start:end])
    return LoadedText(built.text(), tuple(built.blocks))

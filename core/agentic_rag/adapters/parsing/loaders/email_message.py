"""EML (RFC 5322): the head that people see, the text, and every attachment that can be read, under its name. The mails
of a mailbox file (RFC 4155), and a page of the web that a browser or an office program saved as a mail (RFC 2557).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence
from dataclasses import replace
from email import policy
from email.errors import InvalidBase64LengthDefect
from email.message import EmailMessage, Message
from email.parser import BytesParser
from functools import partial
from typing import cast

from agentic_rag.adapters.parsing.file_types import SourceFile, refuse_encrypted
from agentic_rag.adapters.parsing.held_files import HeldFiles
from agentic_rag.adapters.parsing.loaders.html import read_html, read_whole
from agentic_rag.adapters.parsing.text.alternatives import add_what_is_new, words_of
from agentic_rag.adapters.parsing.text.encoding import decode_as, decode_page, decode_text
from agentic_rag.adapters.parsing.text.mail_text import is_mailbox, joined_lines, split_mailbox
from agentic_rag.adapters.parsing.text.uuencoded import split_uuencoded
from agentic_rag.adapters.parsing.text_builder import LoadedText, TextBuilder, paragraphs_of
from agentic_rag.adapters.parsing.unread import FILE, PICTURE, none_of, with_unread
from agentic_rag.documents.document import BlockKind
from agentic_rag.kernel.errors import ParseFailed
from agentic_rag.kernel.text import strip_unstorable

SAMPLE = b"Subject: warm\n\nwarm\n"
_MESSAGE, _SAVED = "message/rfc822", "multipart/related"
_TEXTS = ("text/plain", "text/html")
_LEAST_OF_ALTERNATIVES = 0.5
"""By the letters of the fullest alternative: a plain text with fewer only says that there is another."""
_SHOWN = ("From", "To", "Cc", "Bcc", "Reply-To", "Date")
_BEHIND_PAGES = re.compile(
    r"image/.*|font/.*|text/(?:html|plain|css|javascript|xml)"
    r"|application/(?:(?:x-)?javascript|json|xml|octet-stream|x-mso|vnd\.ms-officetheme|(?:x-)?font-.*)"
)
"""What of a saved page is read or told with it, or says nothing: styles, scripts, fonts, what Word keeps."""
_ENCRYPTION_VERSION = "application/pgp-encrypted"
_BASE64 = re.compile(r"[A-Za-z0-9+/]{4,}={0,2}")


def load(source: SourceFile) -> LoadedText:
    """A message and its attachments, all messages of a mailbox, or a saved page. What cannot be read of them is named
    with the reason.

    Errors: `ParseFailed` codes PARSE_TOO_LARGE, PARSE_ENCRYPTED; that of the first message when no message of a mailbox
    can be read.
    """
    if is_mailbox(source.content):
        return _read_mailbox(source)
    message = _parse(source.content)
    return _read_saved(message) if _is_saved_page(message) else _read(source, message)


def _parse(content: bytes) -> EmailMessage:
    parser = BytesParser(policy=policy.default)
    message = parser.parsebytes(content)
    if message.get_unixfrom() is None or "From" in message or "MIME-Version" in message:
        return message
    # A text that begins "From 1 May the fee is …": the parser takes this line, and "Note: …" below it, for a head.
    return parser.parsebytes(b"\n" + content)


def _read_mailbox(source: SourceFile) -> LoadedText:
    held = HeldFiles(source, TextBuilder(), "message")
    for number, content in enumerate(split_mailbox(source.content), 1):
        held.add(
            f"Message {number}",
            lambda nesting, content=content: _read(replace(source, nesting=nesting), _parse(content)),
        )
    failure = held.first_failure
    if failure is not None and held.none_was_read:
        raise ParseFailed(f"no message can be read; of the first: {failure.message}", code=failure.code)
    return held.finish(None)


def _is_saved_page(message: EmailMessage) -> bool:
    """Whether it was never sent: a page with its pictures, as programs save it, and no draft of a mail."""
    return (
        message.get_content_type() == _SAVED
        and not message.get("To")
        and "X-Unsent" not in message
        and all(part.get_content_disposition() != "attachment" for part in message.walk())
        and (not message.get("From") or str(message.get("From")).lower().lstrip('<"').startswith("saved by"))
    )


def _read_saved(message: EmailMessage) -> LoadedText:
    """The page, and those in its frames; its pictures stand in it, so that they are told as those of other pages."""
    parts = [part for part in message.walk() if not part.is_multipart()]
    pages = [_text(part) for part in parts if part.get_content_type() in _TEXTS]
    for part in parts:
        if part.get_content_maintype() != "image":
            continue
        inline = f"data:{part.get_content_type()};base64,{base64.b64encode(_payload(part)).decode()}"
        for place in _places(part):
            pages = [re.sub(rf"(?<=[\"']){re.escape(place)}(?=[\"'])", inline, page) for page in pages]
    built = TextBuilder()
    read = [read_whole(page.replace("\r\n", "\n")) for page in pages]
    for one in read:
        built.append(one)
    loaded = LoadedText(built.text(), tuple(built.blocks), title=read[0].title if read else None)
    held = sum(_BEHIND_PAGES.fullmatch(part.get_content_type()) is None for part in parts)
    pictures = sum(len(one.unread_pages) for one in read)
    return with_unread(loaded, none_of(held, FILE), none_of(pictures, PICTURE))


def _places(part: Message) -> list[str]:
    """How the page names a picture: by its address, or by its number in the mail."""
    address, number = str(part.get("Content-Location", "")).strip(), str(part.get("Content-ID", "")).strip(" <>")
    return [one for one in (address, f"cid:{number}" if number else "") if one]


def _read(source: SourceFile, message: EmailMessage) -> LoadedText:
    """A message and those in it."""
    built = TextBuilder()
    subject = _header(message, "Subject")
    built.add(BlockKind.HEADING, subject, level=1)
    head = [f"{name}: {value}" for name in _SHOWN if (value := _header(message, name))]
    built.add(BlockKind.PARAGRAPH, "\n".join(head))
    held = HeldFiles(source, built, "attachment")
    parts, others = _parts(message)
    pictures = 0
    bodies = [_body(part) for part in filter(_is_body, parts)]
    for body in bodies:
        built.append(body, deeper=1)
        pictures += len(body.unread_pages)
    known = words_of("\n".join(body.text for body in bodies))
    for part in filter(_is_body, others):
        add_what_is_new(built, _body(part), known)
    for part in parts:
        if not _is_body(part):
            _attach(source, held, part)
            continue
        for name, content in split_uuencoded(_text(part))[1]:
            held.attach_file(name, partial(bytes, content), None)
    source.limits.require_characters(built.length)
    return with_unread(held.finish(subject or None), none_of(pictures, PICTURE))


def _parts(message: Message) -> tuple[list[Message], list[Message]]:
    """The parts of a message that are read, in their order; of alternatives the one that says most, and calendars. And
    the parts of the other alternatives.
    """
    if message.get_content_maintype() != "multipart" or not message.is_multipart():
        return [message], []
    inner = [_parts(part) for part in _inner_messages(message)]
    others = [part for _, beside in inner for part in beside]
    held = [parts for parts, _ in inner]
    if message.get_content_subtype() != "alternative":
        return [part for parts in held for part in parts], others
    texts = [parts for parts in held if any(map(_is_body, parts))]
    chosen = _fullest(texts)
    left = [part for parts in texts if parts is not chosen for part in parts]
    return [part for parts in held if parts is chosen or parts not in texts for part in parts], [*others, *left]


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
    if part.get_content_type() == _ENCRYPTION_VERSION:
        return  # It stands beside an encrypted text, and says nothing.
    if part.get_content_type() != _MESSAGE:
        held.attach_file(name, lambda: _payload(part), part.get_content_type())
        return
    inner = next((one for one in part.walk() if one is not part and isinstance(one, EmailMessage)), None)
    encoded = None if inner is None or inner.keys() else _decode(part, inner)
    if encoded is not None:
        inner = _parse(encoded)
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
        is_left = any(isinstance(one, InvalidBase64LengthDefect) for one in part.defects)
        return (_decode(part, part) if is_left else None) or content
    # Reports of delivery hold heads of messages.
    return b"\n".join(one.as_bytes() for one in _inner_messages(part))


def _decode(part: Message, holder: Message) -> bytes | None:
    """The bytes that `holder` holds in the encoding that `part` states: base64 that breaks off, or of a whole message,
    which the parser of the standard library leaves as it is; None for any other text.
    """
    written = holder.get_payload()
    if str(part.get("Content-Transfer-Encoding", "")).strip().lower() != "base64" or not isinstance(written, str):
        return None
    letters = "".join(written.split())
    if _BASE64.fullmatch(letters) is None:
        return None
    return binascii.a2b_base64(letters[: len(letters) - len(letters) % 4])


def _inner_messages(part: Message) -> list[Message]:
    return cast(list[Message], part.get_payload()) if part.is_multipart() else []


def _body(part: Message) -> LoadedText:
    is_html = part.get_content_type() == "text/html"
    text = _text(part)
    return body_text(text if is_html else split_uuencoded(text)[0], is_html=is_html)


def _text(part: Message) -> str:
    content, charset = _payload(part), part.get_content_charset()
    is_html = part.get_content_type() == "text/html"
    refuse_encrypted(content)
    if charset is not None:
        text = decode_as(content, charset)
    else:
        text = decode_page(content) if is_html else decode_text(content)
    if not is_html and str(part.get_param("format", "")).lower() == "flowed":
        text = joined_lines(text, deletes_space=str(part.get_param("delsp", "")).lower() == "yes")
    return strip_unstorable(text)


def body_text(text: str, *, is_html: bool) -> LoadedText:
    """The text of a mail: its paragraphs, or a page without its title."""
    text = text.replace("\r\n", "\n")
    if is_html:
        return replace(read_html(text), title=None)
    built = TextBuilder()
    for start, end in paragraphs_of(text):
        built.add(BlockKind.PARAGRAPH, text[start:end])
    return LoadedText(built.text(), tuple(built.blocks))

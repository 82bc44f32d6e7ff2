"""Reports as mails and archives."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Mapping, Sequence
from email.message import EmailMessage

from tests.documents.formats.compound_file import Tree, compound_file
from tests.documents.formats.made_office import open_sheets, slides, word, workbook
from tests.documents.formats.made_texts import Made, markdown, page, plain, text, web_page, words_of
from tests.documents.formats.wording import LANGUAGES, report

_CHARSETS = {
    "en": "us-ascii", "de": "iso-8859-1", "fr": "windows-1252", "es": "iso-8859-15", "pl": "iso-8859-2",
    "ru": "koi8-r", "el": "iso-8859-7", "ar": "utf-8", "ja": "iso-2022-jp", "zh": "gb18030",
}  # fmt: skip
_HTML_BODY, _BODY, _SUBJECT, _FROM, _TO = 0x1013, 0x1000, 0x0037, 0x0C1A, 0x0E04
_FILE_NAME, _CONTENT, _METHOD = 0x3707, 0x3701, 0x3705
_STRING, _BINARY, _OBJECT = 0x001F, 0x0102, 0x000D


def mail(language: str) -> Made:
    """A text with a table in an attachment; every other text is HTML beside a shorter plain text."""
    said = report(language)
    made = EmailMessage()
    made["Subject"] = said.title
    made["From"] = "Ann Lee <ann@harbour.example>"
    charset = _CHARSETS[language]
    body = plain(said)
    if LANGUAGES.index(language) % 2:
        made.set_content(page(said), subtype="html", charset="utf-8")
    else:
        try:
            made.set_content(body, charset=charset, cte="base64")
        except UnicodeEncodeError:
            made.set_content(body, charset="utf-8")
    sheet, rows = workbook(language)
    made.add_attachment(sheet, maintype="application", subtype="octet-stream", filename="quays.xlsx")
    inner = EmailMessage()
    inner["Subject"] = report(language, 1).title
    inner.set_content(plain(report(language, 1)), charset="utf-8")
    made.add_attachment(inner)
    # A web page states its title as the first heading, which the subject already is.
    expected = [said.title, "Ann Lee", *words_of(said), "quays.xlsx", *rows, *words_of(report(language, 1))]
    return made.as_bytes(), expected


def archive(language: str) -> Made:
    """Files of several formats in folders, and an archive in it."""
    held = {
        "notes/first.txt": text(language),
        "notes/page.html": web_page(language),
        "sheets/quays.ods": open_sheets(language),
        "talk.pptx": slides(language),
    }
    inner = {"deep/report.docx": word(language), "deep/more.md": markdown(language)}
    content = _packed({name: made for name, (made, _) in held.items()} | {
        "inner.zip": _packed({name: made for name, (made, _) in inner.items()})
    })  # fmt: skip
    expected = [one for name, (_, words) in {**held, **inner}.items() for one in (name, *words)]
    return content, expected


def _packed(parts: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, part in parts.items():
            made.writestr(name, part)
    return out.getvalue()


def outlook(language: str) -> Made:
    """A message as Outlook saves it, with a table and a message attached."""
    said = report(language)
    sheet, rows = workbook(language)
    is_html = LANGUAGES.index(language) % 2
    inner = report(language, 1)
    made = compound_file(
        _message(said.title, "" if is_html else plain(said), page(said) if is_html else "")
        | {
            "__attach_version1.0_#00000000": _attachment("quays.xlsx", sheet),
            "__attach_version1.0_#00000001": _attachment(
                inner.title, _message(inner.title, plain(inner), "", is_top=False)
            ),
        }
    )
    return made, [said.title, "Ann Lee", *words_of(said), "quays.xlsx", *rows, *words_of(inner)]


def _message(subject: str, body: str, html: str, *, is_top: bool = True) -> dict[str, bytes | Tree]:
    """The streams of a message ([MS-OXMSG] 2.2)."""
    held: dict[str, bytes | Tree] = {
        _stream(_SUBJECT, _STRING): subject.encode("utf-16-le"),
        _stream(_FROM, _STRING): "Ann Lee".encode("utf-16-le"),
        _stream(_TO, _STRING): "Harbour office".encode("utf-16-le"),
    }
    if body:
        held[_stream(_BODY, _STRING)] = body.replace("\n", "\r\n").encode("utf-16-le")
    if html:
        held[_stream(_HTML_BODY, _BINARY)] = html.encode()
    # Attachments and recipients are counted in the head; 65001 is UTF-8 as the internet code page.
    head = struct.pack("<8xIIII8x" if is_top else "<8xIIII", 0, 2, 0, 2)
    fixed = [(0x340D, 0x0003, 0x0004_0000), (0x3FDE, 0x0003, 65001)]
    held["__properties_version1.0"] = head + _properties(held, fixed)
    if is_top:
        held["__nameid_version1.0"] = {_stream(2, _BINARY): b"", _stream(3, _BINARY): b"", _stream(4, _BINARY): b""}
    return held


def _attachment(name: str, held: bytes | Tree) -> Tree:
    made: dict[str, bytes | Tree] = {_stream(_FILE_NAME, _STRING): name.encode("utf-16-le")}
    if isinstance(held, bytes):
        made[_stream(_CONTENT, _BINARY)] = held
    else:
        made[_stream(_CONTENT, _OBJECT)] = held
    made["__properties_version1.0"] = bytes(8) + _properties(
        made, [(_METHOD, 0x0003, 1 if isinstance(held, bytes) else 5)]
    )
    return made


def _stream(number: int, kind: int) -> str:
    return f"__substg1.0_{number:04X}{kind:04X}"


def _properties(held: Mapping[str, bytes | Tree], fixed: Sequence[tuple[int, int, int]]) -> bytes:
    """An entry of sixteen bytes for every property ([MS-OXMSG] 2.4.2)."""
    entries = b"".join(struct.pack("<HHIQ", kind, number, 6, value) for number, kind, value in fixed)
    for name, value in held.items():
        tag = int(name[-8:], 16)
        size = len(value) + (2 if tag & 0xFFFF == _STRING else 0) if isinstance(value, bytes) else 0xFFFF_FFFF
        entries += struct.pack("<HHIII", tag & 0xFFFF, tag >> 16, 6, size, 0)
    return entries

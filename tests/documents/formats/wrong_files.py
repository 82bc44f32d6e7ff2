"""Files that cannot be read, each with the codes of its refusal, and texts in other code pages."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from email.message import EmailMessage
from typing import Any, cast

import xlwt  # pyright: ignore[reportMissingTypeStubs] - it ships none

from tests.documents.formats import made_mail, made_office, made_texts
from tests.documents.formats.compound_file import compound_file, streams
from tests.documents.formats.wording import report

_MEBIBYTE = 1 << 20
_BINARY = (
    ("docx", made_office.word), ("xlsx", made_office.workbook), ("pptx", made_office.slides),
    ("odt", made_office.open_text), ("ods", made_office.open_sheets), ("epub", made_office.book),
    ("zip", made_mail.archive), ("msg", made_mail.outlook),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wrong:
    """A file, its name, and the code (without its prefix PARSE_) that is right for it. A file that is only named
    wrongly may also be read with its words.
    """

    name: str
    code: str
    build: Callable[[], bytes]
    words: Sequence[str] = ()


def wrong_files() -> Sequence[Wrong]:
    """Old, encrypted, cut, mislabelled and blown-up files."""
    half = [Wrong(f"half.{name}", "CORRUPT", _half(make)) for name, make in _BINARY]
    locked = [Wrong(f"locked.{name}", "ENCRYPTED", _locked(make)) for name, make in _BINARY if name != "msg"]
    as_pdf = [_misnamed(f"{name}.pdf", make) for name, make in _BINARY]
    package = ["EncryptionInfo", "EncryptedPackage"]
    return (
        *half,
        *locked,
        *as_pdf,
        Wrong("old.xls", "UNSUPPORTED", _old_sheet),
        Wrong("old", "UNSUPPORTED", _old_sheet),
        Wrong("old.doc", "UNSUPPORTED", lambda: streams(["WordDocument", "1Table"])),
        Wrong("old.ppt", "UNSUPPORTED", lambda: streams(["PowerPoint Document", "Current User"])),
        Wrong("doc-named.docx", "TYPE_MISMATCH", lambda: streams(["WordDocument", "1Table"])),
        Wrong("password.docx", "ENCRYPTED", lambda: streams(package)),
        Wrong("password.xlsx", "ENCRYPTED", lambda: streams(package)),
        Wrong("password.pptx", "ENCRYPTED", lambda: streams(package)),
        Wrong("unknown.ole", "UNSUPPORTED", lambda: compound_file({"Contents": bytes(9_000)})),
        _misnamed("docx-named.xlsx", made_office.word),
        Wrong("text-named.docx", "TYPE_MISMATCH", lambda: made_texts.text("fr")[0]),
        Wrong("bomb.docx", "TOO_LARGE", lambda: _with(made_office.word("en")[0], "word/media/a.bin")),
        Wrong("bomb.zip", "TOO_LARGE", lambda: _with(made_mail.archive("en")[0], "a.txt")),
        Wrong("bomb.epub", "TOO_LARGE", lambda: _with(made_office.book("en")[0], "OEBPS/a.bin")),
        Wrong("empty.txt", "EMPTY", lambda: b""),
        Wrong("picture.txt", "TYPE_MISMATCH", lambda: b"\x89PNG\r\n\x1a\n" + bytes(500)),
        Wrong("blank.txt", "NO_TEXT", lambda: b" \n" * 500),
        Wrong("half.ipynb", "CORRUPT", _half(made_texts.notebook)),
    )


def _misnamed(name: str, make: Callable[[str], made_texts.Made]) -> Wrong:
    content, words = make("de")
    return Wrong(name, "TYPE_MISMATCH", lambda: content, words)


def _half(make: Callable[[str], made_texts.Made]) -> Callable[[], bytes]:
    def build() -> bytes:
        whole = make("pl")[0]
        return whole[: len(whole) // 2]

    return build


def _locked(make: Callable[[str], made_texts.Made]) -> Callable[[], bytes]:
    """Every part says that it is encrypted, in both places."""

    def build() -> bytes:
        made = bytearray(make("en")[0])
        for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            at = made.find(mark)
            while at >= 0:
                made[at + place] |= 1
                at = made.find(mark, at + 4)
        return bytes(made)

    return build


def _with(package: bytes, part: str) -> bytes:
    out = io.BytesIO(package)
    with zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED) as made:
        made.writestr(part, bytes(64 * _MEBIBYTE))
    return out.getvalue()


def _old_sheet() -> bytes:
    book = cast(Any, xlwt).Workbook()
    sheet = book.add_sheet("quays")
    for number, row in enumerate(report("en").table):
        for column, cell in enumerate(row):
            sheet.write(number, column, cell)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


CODE_PAGES = (
    ("de", "cp1252"), ("fr", "cp1252"), ("es", "iso-8859-15"), ("de", "cp850"), ("fr", "mac-roman"),
    ("pl", "cp1250"), ("pl", "iso-8859-2"), ("ru", "cp1251"), ("ru", "koi8-r"), ("ru", "cp866"), ("el", "cp1253"),
    ("ar", "cp1256"), ("ja", "shift_jis"), ("ja", "euc-jp"), ("ja", "iso-2022-jp"), ("zh", "gb18030"),
    ("de", "utf-16-le"), ("ru", "utf-16-le"), ("ja", "utf-16-be"), ("zh", "utf-16-le"), ("ar", "utf-16-be"),
    ("en", "utf-7"), ("en", "cp037"),
)  # fmt: skip
"""Languages with the code pages that programs still write them in, without a mark that says so."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """A text in a code page. `states`: the file itself names its code page."""

    name: str
    content: bytes
    words: Sequence[str]
    states: bool


def encoded_files() -> Sequence[Encoded]:
    """Texts, tables, pages and mails in every code page; half of the pages and mails state it."""
    found = list[Encoded]()
    for language, code_page in CODE_PAGES:
        said = report(language)
        words = made_texts.words_of(said)
        table = "\n".join(",".join(row) for row in said.table)
        label = f"{language}-{code_page}"
        stated = f'<meta http-equiv="Content-Type" content="text/html; charset={code_page}">'
        for name, text, expected in (
            (f"{label}.txt", made_texts.plain(said), words),
            (f"{label}.csv", table, [cell for row in said.table for cell in row]),
            (f"{label}.html", made_texts.page(said), words),
            (f"{label}-stated.html", made_texts.page(said, stated), words),
        ):
            # Only a code page that holds ASCII can be stated in its own letters.
            states = "-stated" in name and "<".encode(code_page) == b"<"
            found.append(Encoded(name, text.encode(code_page), expected, states))
        found += [_mail(label, code_page, states=states) for states in (False, True)]
    return found


def _mail(label: str, code_page: str, *, states: bool) -> Encoded:
    said = report(label[:2])
    made = EmailMessage()
    made["Subject"] = "Report"
    made.set_content(made_texts.plain(said).encode(code_page), "text", "plain")
    made.set_param("charset", code_page) if states else made.del_param("charset")
    name = f"{label}-stated.eml" if states else f"{label}.eml"
    return Encoded(name, made.as_bytes(), made_texts.words_of(said), states)

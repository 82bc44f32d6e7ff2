"""Hostile archives of any files, and mails that hold them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from email.message import EmailMessage

from tests.documents.formats.compound_file import Tree, compound_file
from tests.hostile.case import Hostile, failed, ready
from tests.hostile.word_files import MIB, WORDS, docx, laughs, nested_zips, outside, zipped

SAID = f"{WORDS}.".encode()


def deep(levels: int) -> bytes:
    """Archives within archives."""
    inner = zipped({"note.txt": SAID})
    for _ in range(levels):
        inner = zipped({"note.txt": SAID, "inner.zip": inner})
    return inner


def fan(levels: int) -> bytes:
    """Archives within archives, a hundred at each level: a million files in a few kilobytes."""
    inner = zipped({f"{number}.txt": SAID for number in range(100)})
    for _ in range(levels):
        inner = zipped({f"{number}.zip": inner for number in range(100)})
    return inner


def marked(parts: Mapping[str, bytes], flag: int, name: str = "") -> bytes:
    """An archive whose members, or the one called `name`, have a flag set in both places."""
    made = bytearray(zipped(parts))
    for mark, place, at_name in ((b"PK\x03\x04", 6, 30), (b"PK\x01\x02", 8, 46)):
        at = made.find(mark)
        while at >= 0:
            if made[at + at_name :].startswith(name.encode()):
                made[at + place] |= flag
            at = made.find(mark, at + 4)
    return bytes(made)


def overlapping() -> bytes:
    """A hundred names for the same bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("0.txt", SAID)
        (first,) = made.filelist
        for number in range(1, 100):
            again = zipfile.ZipInfo(f"{number}.txt")
            again.header_offset, again.CRC = first.header_offset, first.CRC
            again.file_size, again.compress_size = first.file_size, first.compress_size
            made.filelist.append(again)
            made.NameToInfo[again.filename] = again
    return out.getvalue()


def mail_of(name: str, content: bytes) -> bytes:
    made = EmailMessage()
    made["Subject"] = "Winch"
    made.set_content(WORDS)
    made.add_attachment(content, maintype="application", subtype="octet-stream", filename=name)
    return made.as_bytes()


def nested_message(levels: int) -> bytes:
    """Outlook messages within messages."""
    held: dict[str, bytes | Tree] = {
        "__substg1.0_1000001F": WORDS.encode("utf-16-le"),
        "__properties_version1.0": bytes(24),
    }
    for _ in range(levels):
        attachment: Tree = {"__substg1.0_3701000D": held, "__properties_version1.0": bytes(8)}
        held = {"__attach_version1.0_#00000000": attachment, "__properties_version1.0": bytes(32)}
    return compound_file(held)


NESTED_FILES: tuple[Hostile, ...] = (
    ready("mixed.zip", WORDS, lambda: zipped({"a.txt": SAID, "b.docx": docx()[:-200], "c.png": b"\x89PNG\r\n\x1a\n"})),
    ready(
        "leaving-names.zip",
        WORDS,
        lambda: zipped({"../../up.txt": SAID, "/etc/passwd": b"root", "C:\\boot.ini": b"x", "..": b"y", "\x07n": b"z"}),
    ),
    ready("one-locked.zip", WORDS, lambda: marked({"a.txt": SAID, "b.txt": SAID}, 1, "b.txt")),
    failed("all-locked.zip", "ENCRYPTED", lambda: marked({"a.txt": SAID, "b.txt": SAID}, 1)),
    failed("ten-thousand.zip", "TOO_LARGE", lambda: zipped({f"{n}.txt": SAID for n in range(10_000)})),
    failed("bomb.zip", "TOO_LARGE", lambda: zipped({"a.txt": SAID, "b.txt": bytes(100 * MIB)})),
    failed("bomb-of-many.zip", "TOO_LARGE", lambda: zipped({f"{n}.bin": bytes(MIB) for n in range(200)})),
    ready("three-deep.zip", WORDS, lambda: deep(2)),
    failed("eight-deep.zip", "TOO_LARGE", lambda: deep(8)),
    failed("fan.zip", "TOO_LARGE", lambda: fan(2)),
    ready("nested-bombs.zip", WORDS, lambda: zipped({"a.zip": nested_zips(5)})),
    ready(
        "bombs-inside.zip",
        WORDS,
        lambda: zipped(
            {
                "a.txt": SAID,
                "laughs.docx": docx({"word/document.xml": laughs()}),
                "outside.docx": docx({"word/document.xml": outside()}),
                "zeros.docx": docx({"word/media/a.bin": bytes(40 * MIB)}),
            }
        ),
    ),
    ready("overlapping.zip", WORDS, overlapping),
    failed(
        "nothing-readable.zip", "UNSUPPORTED", lambda: zipped({"a.png": b"\x89PNG\r\n\x1a\n", "b.exe": b"MZ\x90\x00"})
    ),
    failed("only-folders.zip", "NO_TEXT", lambda: zipped({"a/": b"", "a/b/": b"", "__MACOSX/._a": b"x"})),
    failed("cut.zip", "CORRUPT", lambda: zipped({"a.txt": SAID})[:-30]),
    ready("bomb.eml", WORDS, lambda: mail_of("bomb.zip", zipped({"b.txt": bytes(100 * MIB)}))),
    ready("two-deep.msg", WORDS, lambda: nested_message(2)),
    failed("ten-deep.msg", "TOO_LARGE", lambda: nested_message(10)),
    failed("half.msg", "CORRUPT", lambda: nested_message(2)[:1_500]),
    failed("noise.msg", "CORRUPT UNSUPPORTED", lambda: nested_message(2)[:520] + bytes(range(256)) * 20),
    failed("fan.eml", "TOO_LARGE", lambda: mail_of("fan.zip", fan(2))),
)

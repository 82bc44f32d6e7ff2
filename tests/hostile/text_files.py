"""Texts in wrong, broken or missing encodings, and files that only say they are texts."""

from __future__ import annotations

import gzip
import random

from tests.hostile.case import Hostile, failed, ready

GERMAN = "Die Straße führt über die alte Brücke nach Görlitz, und größere Schiffe müssen dort für Stunden anhalten. "
ENGLISH = (
    "The harbour master signs the log at every change of the watch, and the engineer on duty checks that it was done. "
)
PASSAGE = ENGLISH + (
    "Visitors report at the gatehouse, receive a badge, and remain with their host until they leave. Cranes stop when "
    "wind exceeds fifteen metres each second; operators secure hooks, switch off drives, and wait for permission "
    "before lifting anything again. Spare parts older than twelve months return to the supplier unless inspection "
    "shows them sound. "
)


def misread(text: str, times: int, encoding: str = "latin-1") -> bytes:
    """UTF-8 that was read as another encoding and saved as UTF-8, `times` over."""
    for _ in range(times):
        text = text.encode("utf-8").decode(encoding, "replace")
    return text.encode("utf-8")


def shifted(text: str, by: int) -> bytes:
    """Every letter moved on by `by` places of the alphabet."""
    moved = {
        ord(letter): chr((ord(letter) - first + by) % 26 + first)
        for first in (65, 97)
        for letter in map(chr, range(first, first + 26))
    }
    return text.translate(moved).encode("utf-8")


def substituted(text: str) -> bytes:
    """Every letter replaced by another one, in no order: what a font map of glyph numbers leaves."""
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    return text.lower().translate(str.maketrans(alphabet, "qxzjkvbpygfwmucldrhsntoiea"[::-1])).encode("utf-8")


def noise(size: int) -> bytes:
    """Bytes without meaning."""
    return random.Random(7).randbytes(size)


TEXT_FILES: tuple[Hostile, ...] = (
    failed("zero.txt", "EMPTY", lambda: b""),
    failed("zero.pdf", "EMPTY", lambda: b""),
    ready("one-byte.txt", "a", lambda: b"a"),
    failed("one-nul.txt", "NO_TEXT GARBLED UNSUPPORTED ENCODING", lambda: b"\x00"),
    failed("white-space.txt", "NO_TEXT", lambda: b" \r\n\t\x0c" * 100_000),
    failed("only-a-mark.txt", "NO_TEXT", lambda: b"\xef\xbb\xbf"),
    ready("utf16-without-mark.txt", "über die alte Brücke", lambda: (GERMAN * 5).encode("utf-16-le")),
    ready("utf16-big-endian.md", "über die alte Brücke", lambda: (GERMAN * 5).encode("utf-16-be")),
    ready("utf32-without-mark.txt", "über die alte Brücke", lambda: (GERMAN * 5).encode("utf-32-le")),
    failed("half-utf16.txt", "ENCODING", lambda: GERMAN.encode("utf-16")[:-1]),
    failed(
        "surrogates.txt", "ENCODING", lambda: (ENGLISH * 3).encode() + "\ud800\udfff".encode("utf-8", "surrogatepass")
    ),
    failed("broken-utf8.txt", "ENCODING", lambda: GERMAN.encode()[:-30] + b"\xc3\x28\xa0\xa1" + GERMAN.encode()),
    failed("overlong-utf8.txt", "ENCODING", lambda: ENGLISH.encode() + b"\xc0\xaf\xe0\x80\xaf\xf0\x80\x80\xaf\xfe"),
    failed("mojibake.md", "GARBLED", lambda: misread(GERMAN * 5, 1)),
    failed("mojibake-twice.txt", "GARBLED", lambda: misread(GERMAN * 5, 2)),
    failed("mojibake-cyrillic.txt", "GARBLED", lambda: misread("Корабль стоит у причала до утра. " * 9, 1, "cp1251")),
    failed("mojibake-mac.txt", "GARBLED", lambda: misread(GERMAN * 5, 1, "mac_roman")),
    failed("shifted-letters.txt", "GARBLED", lambda: shifted(ENGLISH * 4, 3)),
    failed("shifted-german.txt", "GARBLED", lambda: shifted(GERMAN * 4, 13)),
    failed("substituted-letters.txt", "GARBLED", lambda: substituted(PASSAGE)),
    failed("shifted-codes.txt", "GARBLED", lambda: "".join(chr(ord(c) + 1) for c in ENGLISH * 4).encode()),
    failed("private-use.txt", "GARBLED", lambda: ("\ue041\ue042\ue043 " * 200).encode()),
    failed("controls.txt", "GARBLED UNSUPPORTED", lambda: b"\x01\x02\x03\x04a\x05\x06 \x0e\x0f" * 200),
    failed("replacement-characters.txt", "GARBLED", lambda: ("\ufffd\ufffd\ufffd a \ufffd " * 200).encode()),
    ready("nul-between.txt", "harbour master", lambda: ENGLISH.encode() * 20 + b"\x00" + ENGLISH.encode()),
    ready("one-line-of-10-mb.txt", "harbour master", lambda: (ENGLISH * 90_000).encode()[:10_000_000]),
    ready("no-spaces.txt", "aaaaaaaaaa", lambda: b"a" * 2_000_000),
    ready(
        "bidi.txt",
        "الميناء",
        lambda: ("\u202eesrever\u202c \u2067الميناء\u2069 \u200bzero\u200dwidth\ufeff " * 200).encode(),
    ),
    ready("stacked-marks.txt", "harbour", lambda: ("harbour H" + "\u0301\u0316\u0489" * 200).encode()),
    ready(
        "line-breaks.md",
        "second part",
        lambda: b"\r\r\n\n\r# A\r\n\n\r\rfirst\x0b\x0c part\r\r\nsecond part\n\r\x85"[:-1],
    ),
    failed("noise.txt", "ENCODING GARBLED UNSUPPORTED", lambda: noise(100_000)),
    failed("noise.pdf", "TYPE_MISMATCH CORRUPT", lambda: noise(100_000)),
    failed("noise.docx", "TYPE_MISMATCH CORRUPT", lambda: noise(100_000)),
    failed("program.txt", "TYPE_MISMATCH", lambda: b"\x7fELF\x02\x01\x01" + bytes(500)),
    failed("gzip.md", "TYPE_MISMATCH", lambda: gzip.compress(ENGLISH.encode(), mtime=0)),
    failed("picture.txt", "TYPE_MISMATCH", lambda: b"\x89PNG\r\n\x1a\n" + bytes(100)),
    failed("text.pdf", "TYPE_MISMATCH", lambda: ENGLISH.encode()),
    failed("text.docx", "TYPE_MISMATCH", lambda: ENGLISH.encode()),
)

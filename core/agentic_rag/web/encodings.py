"""The encodings of texts that servers send."""

from __future__ import annotations

import codecs
import re

MARKS = (
    # UTF-32 first: its little-endian mark begins with that of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
WIDE_STARTS = (
    (b"<\0\0\0", "utf-32-le"), (b"\0\0\0<", "utf-32-be"), (b"<\0", "utf-16-le"), (b"\0<", "utf-16-be"),
)  # fmt: skip
ENCODINGS = frozenset(
    codecs.lookup(name).name
    for name in (
        "ascii utf-8 utf-8-sig utf-16 utf-16-le utf-16-be utf-32 utf-32-le utf-32-be shift_jis cp932 euc-jp iso2022-jp "
        "gb2312 gbk gb18030 big5 big5hkscs euc-kr cp949 koi8-r koi8-u cp866 cp437 cp850 cp874 mac-roman mac-cyrillic "
        + " ".join(f"cp{1250 + number}" for number in range(9))
        + " "
        + " ".join(f"iso8859-{number}" for number in (*range(1, 12), *range(13, 17)))
    ).split()
)
"""Those of texts: Python has others, some of which take long to read."""

_STATED = re.compile(rb"<meta\b[^>]{0,200}?charset\s{0,20}=\s{0,20}[\"']?\s{0,20}([\w.:-]{1,40})", re.IGNORECASE)
_STATED_WITHIN = 1_024
"""Bytes of a page, as browsers read them for it."""


def encoding_by_mark(body: bytes) -> str | None:
    """The encoding that a byte order mark tells, by which the mark is no part of the text."""
    return next((encoding for mark, encoding in MARKS if body.startswith(mark)), None)


def wide_encoding(body: bytes) -> str | None:
    """UTF-16 of a text without a byte order mark whose first letters are Latin ones: every second byte is zero."""
    head = body[:16]
    first, second = head[::2], head[1::2]
    if len(head) < 4 or any(first) == any(second):
        return None
    return "utf-16-be" if any(second) else "utf-16-le"


def decode_page(body: bytes, charset: str = "") -> str:
    """A page by its byte order mark, else as UTF-8 where that fits, else by what its server states, then by what it
    states itself. Bytes that fit nowhere are replaced.
    """
    marked = encoding_by_mark(body)
    if marked is not None:
        return body.decode(marked, "replace")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        stated = _STATED.search(body[:_STATED_WITHIN])
        names = (charset, "" if stated is None else stated[1].decode("ascii", "replace"))
        return body.decode(next((name for name in names if _is_text(name)), "utf-8"), "replace")


def _is_text(name: str) -> bool:
    try:
        return codecs.lookup(name).name in ENCODINGS
    except (LookupError, ValueError):
        return False

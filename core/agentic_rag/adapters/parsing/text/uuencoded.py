"""Files that old mail programs wrote into the text itself (uuencode, POSIX.1-2017 `uuencode`)."""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator

_FILE = re.compile(r"^begin [0-7]{3,4} (\S[^\n]*)\n((?:[ -`]{1,90}\n)+?)(?:[ `]?\n)?end[ \t]*$", re.MULTILINE)


def split_uuencoded(text: str) -> tuple[str, list[tuple[str, bytes]]]:
    """The text without the files in it, and their names and contents. What cannot be decoded stays in the text."""
    files: list[tuple[str, bytes]] = []

    def take(found: re.Match[str]) -> str:
        try:
            content = b"".join(_decode(found[2]))
        except binascii.Error:
            return found[0]
        files.append((found[1].strip(), content))
        return ""

    return _FILE.sub(take, text.replace("\r\n", "\n")), files


def _decode(lines: str) -> Iterator[bytes]:
    """The bytes of each line. A program that drops spaces at the end of a line leaves it too short, one that fills
    lines up leaves it too long: only its stated length counts.
    """
    for line in lines.splitlines():
        length = (ord(line[0]) - 32) & 63
        letters = (length + 2) // 3 * 4
        yield binascii.a2b_uu(line[0] + line[1 : 1 + letters].ljust(letters))

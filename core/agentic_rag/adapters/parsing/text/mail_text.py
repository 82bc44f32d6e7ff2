"""Texts of mails as they were before they were sent: mails of a mailbox file, and lines that were broken on the way."""

from __future__ import annotations

import re
from collections.abc import Iterator

_POSTMARK = re.compile(
    rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\r\n]{1,400}? [A-Z][a-z]{2},? {1,2}[A-Z][a-z]{2} {1,2}\d{1,2} {1,2}"
    rb"\d{1,2}:\d\d(?::\d\d)?(?: [\w+-]{1,6}){0,2} \d{4}(?!\d)[^\r\n]{0,80}\r?\n"
    rb"(?=(?:>?From [^\r\n]*\r?\n)?[A-Za-z][\w-]*:)"
)
"""The line above each mail of a mailbox, behind a blank line: sender, day and time (RFC 4155, `asctime`). A sentence
("From 1 June 2024 the fee is ...") states no time.
"""
_MARKED_FROM = re.compile(rb"^>(>*From )", re.MULTILINE)
_HEAD = re.compile(rb"(?:[A-Za-z][\w-]*:[^\n]*\n(?:[ \t][^\n]*\n)*)+(?=\r?\n)")
_STATED = tuple(re.compile(rb"^" + name + rb":", re.I | re.M) for name in (rb"MIME-Version", rb"Content-Type"))
_QUOTES = re.compile(r">*")
_SIGNATURE = "-- "


def is_mail(start: bytes) -> bool:
    """Whether a file of which nothing else tells the format begins as a mail or a mailbox does."""
    head = _HEAD.match(start)
    return is_mailbox(start) or (head is not None and all(one.search(head[0]) for one in _STATED))


def is_mailbox(content: bytes) -> bool:
    """Whether a file begins as a mailbox does."""
    return _POSTMARK.match(content) is not None


def split_mailbox(content: bytes) -> Iterator[bytes]:
    """The mails of a mailbox, in its order."""
    marks = [*_POSTMARK.finditer(content)]
    for mark, after in zip(marks, [*marks[1:], None], strict=True):
        yield _MARKED_FROM.sub(rb"\1", content[mark.end() : len(content) if after is None else after.start()])


def joined_lines(text: str, *, deletes_space: bool) -> str:
    """A text of `format=flowed` (RFC 3676) with its soft line breaks taken back; `deletes_space` is its DelSp."""
    pieces: list[str] = []
    flows, depth = False, 0
    for line in text.replace("\r\n", "\n").split("\n"):
        quotes = _QUOTES.match(line)
        level = len(quotes[0]) if quotes else 0
        own = line[level:].removeprefix(" ")
        goes_on = own.endswith(" ") and own != _SIGNATURE
        if flows and level == depth and own != _SIGNATURE:
            pieces[-1] = pieces[-1].removesuffix(" ") if deletes_space else pieces[-1]
            pieces.append(own)
        else:
            pieces += "\n" if pieces else "", f"{'>' * level} {own}" if level else own
        flows, depth = goes_on, level
    return "".join(pieces)

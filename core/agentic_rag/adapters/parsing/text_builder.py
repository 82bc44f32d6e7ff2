"""What a loader hands back, and the text that loaders build up block by block."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date

from agentic_rag.documents.document import Block, BlockKind, PageSpan

_BLANK_LINES = re.compile(r"\n[^\S\n]*(?:\n[^\S\n]*)+")
_TITLE_LENGTH = 300


@dataclass(frozen=True, slots=True)
class LoadedText:
    """Text and structure of one file, as `ParsedDocument` holds them."""

    text: str
    blocks: tuple[Block, ...]
    pages: tuple[PageSpan, ...] = ()
    title: str | None = None
    language: str | None = None
    unread_pages: tuple[int, ...] = ()
    parts: int = 0
    unit: str = "file"
    """What `unread_pages` and `parts` count; pages where there are no parts."""
    published: date | None = None
    """When the text was published, as it says itself."""
    recognised_pages: tuple[int, ...] = ()
    """Pages whose words an engine recognised in a picture of them."""


class TextBuilder:
    """Joins blocks by blank lines and remembers where each stands."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._parts: list[str] = []
        self._length = 0

    def add(self, kind: BlockKind, text: str, level: int = 0) -> None:
        """Append a block; blank ones are dropped. List items follow each other without a blank line."""
        text = text.strip()
        if not text:
            return
        if self.blocks:
            in_list = kind is BlockKind.LIST_ITEM and self.blocks[-1].kind is BlockKind.LIST_ITEM
            joint = "\n" if in_list else "\n\n"
            self._parts.append(joint)
            self._length += len(joint)
        self._parts.append(text)
        self.blocks.append(Block(kind, self._length, self._length + len(text), level))
        self._length += len(text)

    def add_section(self, heading: str, lines: Iterable[str], level: int = 1) -> None:
        """Append paragraphs under a heading, where there are any; an empty heading is none."""
        for number, line in enumerate(lines):
            if number == 0:
                self.add(BlockKind.HEADING, heading, level)
            self.add(BlockKind.PARAGRAPH, line)

    def append(self, other: LoadedText, deeper: int = 0) -> None:
        """Append the blocks of another text, its headings `deeper` levels down."""
        for block in other.blocks:
            level = min(block.level + deeper, 6) if block.kind is BlockKind.HEADING else 0
            self.add(block.kind, other.text[block.start : block.end], level)

    @property
    def length(self) -> int:
        """The length of the text so far, in code points."""
        return self._length

    def text(self) -> str:
        return "".join(self._parts)


def lines_of(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of every line, without its line break."""
    start, size = 0, len(text)
    while start < size:
        end = text.find("\n", start)
        if end < 0:
            end = size
        yield start, end
        start = end + 1


def paragraphs_of(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """(start, end) of the parts between blank lines, trimmed; none is empty."""
    stop = len(text) if end is None else end
    at = start
    for gap in _BLANK_LINES.finditer(text, start, stop):
        yield from _trim(text, at, gap.start())
        at = gap.end()
    yield from _trim(text, at, stop)


def _trim(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    part = text[start:end]
    if part.strip():
        yield start + len(part) - len(part.lstrip()), start + len(part.rstrip())


def tidy_title(title: str | None) -> str | None:
    """A title on one line of at most 300 characters; None when nothing is left."""
    return " ".join((title or "").split())[:_TITLE_LENGTH] or None


def first_heading(text: str, blocks: list[Block], deepest: int = 6) -> str | None:
    """The text of the first heading not deeper than `deepest`, without Markdown's marks."""
    for block in blocks:
        if block.kind is BlockKind.HEADING and block.level <= deepest:
            return tidy_title(text[block.start : block.end].split("\n", 1)[0].strip("# \t"))
    return None

"""Markdown: the source is the document's text; its blocks are recognised by CommonMark's and GitHub's line rules.

Front matter, fenced and indented code, ATX and setext headings, tables, list items and paragraphs; inline marks stay.
"""

from __future__ import annotations

import re

from agentic_rag.adapters.parsing.file_types import SourceFile
from agentic_rag.adapters.parsing.text_builder import LoadedText, first_heading, lines_of, tidy_title
from agentic_rag.documents.document import Block, BlockKind

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]|$)")
_SETEXT = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_FENCE = re.compile(r"\s{0,12}(`{3,}|~{3,})")
_LIST_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])(?:\s|$)")
_RULE_CELL = re.compile(r":?-+:?")
_THEMATIC = re.compile(r" {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$")
_FRONT_MATTER_TITLE = re.compile(r"^title\s*[:=]\s*(.+)$", re.IGNORECASE | re.MULTILINE)
_FRONT_MATTER_LINES = 200


SAMPLE = b"# warm"


def load(source: SourceFile) -> LoadedText:
    """Read a file of this format."""
    return read_markdown(source.text)


def read_markdown(text: str) -> LoadedText:
    """Blocks of a Markdown text; the title comes from its front matter, else from its first heading."""
    scan = _Scan(text)
    title = scan.front_matter()
    scan.body()
    return LoadedText(text, tuple(scan.blocks), title=title or first_heading(text, scan.blocks))


class _Scan:
    """One pass over the lines; `_open` is the block being read."""

    def __init__(self, text: str) -> None:
        self.blocks: list[Block] = []
        self._text = text
        self._lines = list(lines_of(text))
        self._at = 0
        self._kind: BlockKind | None = None
        self._start = 0
        self._end = 0

    def front_matter(self) -> str | None:
        """Reads YAML (---) or TOML (+++) front matter as a code block and gives the title in it."""
        if not self._lines:
            return None
        fence = self._line(0).rstrip()
        if fence not in ("---", "+++"):
            return None
        for number in range(1, min(len(self._lines), _FRONT_MATTER_LINES)):
            if self._line(number).rstrip() == fence:
                self.blocks.append(Block(BlockKind.CODE, self._lines[0][0], self._lines[number][1]))
                self._at = number + 1
                found = _FRONT_MATTER_TITLE.search(self._text, 0, self._lines[number][0])
                return tidy_title(found[1].strip().strip("\"'")) if found else None
        return None

    def body(self) -> None:
        """Reads all lines that are left."""
        while self._at < len(self._lines):
            line = self._line(self._at)
            if not line.strip():
                self._blank()
            elif fence := _FENCE.match(line):
                self._read_code_fence(fence[1])
            elif heading := _ATX.match(line):
                self._close()
                self._put(BlockKind.HEADING, self._at, self._at, len(heading[1]))
            elif self._kind is BlockKind.PARAGRAPH and (underline := _SETEXT.match(line)):
                self._end = self._lines[self._at][1]
                self._close(BlockKind.HEADING, 1 if underline[1][0] == "=" else 2)
                self._at += 1
            elif self._is_table():
                self._table()
            else:
                self._text_line(line)
        self._close()

    def _line(self, number: int) -> str:
        start, end = self._lines[number]
        return self._text[start:end]

    def _blank(self) -> None:
        # A list item goes on when the next line of text is indented below it.
        following = self._at + 1
        while following < len(self._lines) and not self._line(following).strip():
            following += 1
        goes_on = (
            following < len(self._lines)
            and self._line(following)[:2] in ("  ", "\t")
            and not _LIST_ITEM.match(self._line(following))
        )
        if not (self._kind is BlockKind.LIST_ITEM and goes_on):
            self._close()
        self._at = following

    def _read_code_fence(self, fence: str) -> None:
        self._close()
        closing = re.compile(rf"\s{{0,12}}{re.escape(fence[0])}{{{len(fence)},}}\s*$")
        last = self._at + 1
        while last < len(self._lines) and not closing.match(self._line(last)):
            last += 1
        self._put(BlockKind.CODE, self._at, min(last, len(self._lines) - 1))

    def _is_table(self) -> bool:
        if self._at + 1 >= len(self._lines) or "|" not in self._line(self._at):
            return False
        rule = self._line(self._at + 1)
        # Cell by cell: one expression for the whole line takes quadratic time over long white space.
        cells = rule.strip().removeprefix("|").removesuffix("|").split("|")
        return "|" in rule and all(_RULE_CELL.fullmatch(cell.strip()) for cell in cells)

    def _table(self) -> None:
        self._close()
        last = self._at + 1
        while last + 1 < len(self._lines) and "|" in self._line(last + 1):
            last += 1
        self._put(BlockKind.TABLE, self._at, last)

    def _text_line(self, line: str) -> None:
        start, end = self._lines[self._at]
        if _LIST_ITEM.match(line) and not _THEMATIC.match(line):
            self._close()
            self._kind, self._start = BlockKind.LIST_ITEM, start
        elif self._kind is None:
            indented = line.startswith(("    ", "\t"))
            self._kind, self._start = BlockKind.CODE if indented else BlockKind.PARAGRAPH, start
        self._end = end
        self._at += 1

    def _put(self, kind: BlockKind, first: int, last: int, level: int = 0) -> None:
        self.blocks.append(Block(kind, self._lines[first][0], self._lines[last][1], level))
        self._at = last + 1

    def _close(self, kind: BlockKind | None = None, level: int = 0) -> None:
        if self._kind is not None:
            self.blocks.append(Block(kind or self._kind, self._start, self._end, level))
            self._kind = None

"""Markdown: the source is the document's text; its blocks are recognised by CommonMark's and GitHub's line rules.

Front matter, fenced and indented code, ATX and setext headings, tables, list items and paragraphs; inline marks stay,
but what they strike out (`~~40~~`) is left out.
Comments that begin a line are asides: no reader of the page sees them. A list of links to the text's own headings is
no content.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from agentic_rag.adapters.parsing.file_types import SourceFile
from agentic_rag.adapters.parsing.text_builder import LoadedText, first_heading, lines_of, tidy_title
from agentic_rag.documents.document import Block, BlockKind

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]|$)")
_SETEXT = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_FENCE = re.compile(r"\s{0,12}(`{3,}|~{3,})")
_LIST_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])(?:\s|$)")
_RULE_CELL = re.compile(r":?-+:?")
_PARTS = re.compile(
    # Code, formulas, tags, addresses and what a backslash escapes hold no marks. In LaTeX `~` is a space.
    r"(?<!`)(?P<ticks>`+)(?!`)[\s\S]{1,2000}?(?<!`)(?P=ticks)(?!`)"
    r"|(?P<raw><(?P<tag>(?i:pre|script|style|textarea))(?=[\s>]))|<[a-zA-Z/][^<>\n]{0,2000}>"
    r"|\$\$[\s\S]{1,2000}?\$\$|(?<![\w$])\$(?![\s$])[^$\n]{1,500}(?<!\s)\$(?![\d$])"
    r"|\\{1,2}\([^\n]{1,300}?\\\)|\\{1,2}\[[\s\S]{1,300}?\\\]"
    r"|\\begin\{(?P<room>\w+\*?)\}[\s\S]{1,2000}?\\end\{(?P=room)\}|\\."
    r"|\b(?:[a-zA-Z][a-zA-Z+.-]{1,15}://|www\.)[^\s<>|]+|\](?:\([^\s)]+|:[ \t]*\S+)"
    # Indented code of a list item.
    r"|\n[ \t]*(?:\n(?:[ \t]*|(?: {6}|\t {2}|\t\t)[^\n]*)(?=\n|\Z))+"
    # CommonMark's flanking: a mark opens before a word or behind none, and closes behind a word or before none.
    r"|(?P<struck>(?<!~)(?:~~(?=\w)|(?<!\w)~~(?![~\s]))(?:(?!\n\s*\n|\||~~)[\s\S]){1,2000}"
    r"(?:(?<=\w)~~(?!~)|(?<!\s)~~(?![~\w])))(?P<space> ?)"
)
"""Of a block that is no code. What is struck out ends in its paragraph and in its cell of a table."""
_UNMARKED = (BlockKind.CODE, BlockKind.FRONT_MATTER, BlockKind.ASIDE)
_NO_HEADING = re.compile(r"\s*(?:#*|=*|-*)\s*")
_COMMENT_OPENS, _COMMENT_CLOSES = "<!--", "-->"
_CONTENTS_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+\[(?P<name>[^\]\n]+)\]\(#[^)\s]*\)\s*")
_ITEM = BlockKind.LIST_ITEM
_LEAST_CONTENTS = 3
"""Items of a table of contents."""
_NOT_OF_A_NAME = re.compile(r"[^\w]+")
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
    text, blocks = _without_strikes(text, scan.blocks)
    blocks = _without_contents(text, blocks)
    return LoadedText(text, tuple(blocks), title=title or first_heading(text, blocks))


def _without_strikes(text: str, blocks: Sequence[Block]) -> tuple[str, Sequence[Block]]:
    """The text without what is struck out of its lines; each keeps its number. Each block keeps its kind, whatever its
    first line begins with then; one of which nothing is left goes.
    """
    cuts = list(_strikes(text, blocks)) if "~~" in text else []
    if not cuts:
        return text, blocks
    kept: list[str] = []
    ends, lost = [0], [0]
    for start, end, instead in cuts:
        kept += (text[ends[-1] : start], instead)
        lost.append(lost[-1] + end - start - len(instead))
        ends.append(end)
    left = "".join((*kept, text[ends[-1] :]))

    def new_place(at: int) -> int:
        return at - lost[bisect_right(ends, at) - 1]

    return left, [one for block in blocks for one in _trim(left, block, new_place(block.start), new_place(block.end))]


def _strikes(text: str, blocks: Sequence[Block]) -> Iterator[tuple[int, int, str]]:
    """(start, end, what stands there instead) of what is struck out."""
    raw_until = 0
    for block in blocks:
        for part in _PARTS.finditer(text, block.start, block.end) if block.kind not in _UNMARKED else ():
            if part.start() < raw_until:
                continue
            if part["raw"] is not None:
                closing = re.compile(rf"</{part['tag']}\s*>", re.IGNORECASE).search(text, part.end())
                raw_until = len(text) if closing is None else closing.end()
            elif part["struck"] is not None:
                ends_word = part.start() > block.start and not text[part.start() - 1].isspace()
                lines = "\n" * part["struck"].count("\n")
                yield part.start(), part.end(), lines + (part["space"] if ends_word else "")


def _trim(text: str, block: Block, start: int, end: int) -> Iterator[Block]:
    held = text[start:end]
    is_empty = not held.strip() or (block.kind is BlockKind.HEADING and _NO_HEADING.fullmatch(held))
    if not is_empty:
        yield replace(block, start=start + len(held) - len(held.lstrip("\n")), end=end)


def _without_contents(text: str, blocks: Sequence[Block]) -> list[Block]:
    """The blocks, the items of each table of contents as running text: a list of links, each to a place in the text,
    most of them by the name of a heading.
    """
    headings = {_name(text[one.start : one.end]) for one in blocks if one.kind is BlockKind.HEADING}
    found: list[Block] = []
    for kind, group in groupby(blocks, key=lambda one: one.kind):
        held = list(group)
        items = [_CONTENTS_ITEM.fullmatch(text, one.start, one.end) for one in held] if kind is _ITEM else []
        known = [item for item in items if item is not None and _name(item["name"]) in headings]
        if len(items) >= _LEAST_CONTENTS and None not in items and 2 * len(known) > len(items):
            held = [replace(one, kind=BlockKind.RUNNING) for one in held]
        found += held
    return found


def _name(text: str) -> str:
    return _NOT_OF_A_NAME.sub(" ", text).strip().casefold()


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
        self._last_close = text.rfind(_COMMENT_CLOSES)

    def front_matter(self) -> str | None:
        """Reads YAML (---) or TOML (+++) front matter as a block and gives the title in it."""
        if not self._lines:
            return None
        fence = self._line(0).rstrip()
        if fence not in ("---", "+++"):
            return None
        for number in range(1, min(len(self._lines), _FRONT_MATTER_LINES)):
            if self._line(number).rstrip() == fence:
                self.blocks.append(Block(BlockKind.FRONT_MATTER, self._lines[0][0], self._lines[number][1]))
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
            elif line.lstrip().startswith(_COMMENT_OPENS) and self._comment():
                continue
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

    def _comment(self) -> bool:
        """Reads a comment, which may end within a line; False where it never ends, so that it is text."""
        start, end = self._lines[self._at]
        start += len(self._text[start:end]) - len(self._text[start:end].lstrip())
        inside = start + len("<!")  # `<!-->` is a whole comment.
        if self._last_close < inside:
            return False
        closed = self._text.index(_COMMENT_CLOSES, inside) + len(_COMMENT_CLOSES)
        self._close()
        self.blocks.append(Block(BlockKind.ASIDE, start, closed))
        while self._at < len(self._lines) and self._lines[self._at][1] <= closed:
            self._at += 1
        if self._at < len(self._lines) and self._lines[self._at][0] < closed:
            self._lines[self._at] = (closed, self._lines[self._at][1])
        return True

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

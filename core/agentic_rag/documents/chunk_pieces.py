"""Pieces that chunks are packed from: sentences, table rows, code lines; words where these are too long.

The packer never cuts a piece. Its `strength` ranks it as the beginning of a chunk.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from agentic_rag.documents.document import BESIDE_TEXT, Block, BlockKind, ParsedDocument
from agentic_rag.language.sentences import sentence_spans
from agentic_rag.language.words.word_table import WordTable
from agentic_rag.language.words.word_tables import table_of

HEADING_BOUNDARY = -1
"""The first piece below a heading or front matter: a cut there would separate these from their text."""
WORD, SENTENCE, LIST_ITEM, PARAGRAPH = 0, 1, 2, 3
_DEEPEST_SECTION = 4
_APART = _DEEPEST_SECTION + 6
"""Strengths of a heading of level 6 (level 1 has 9), and of what no chunk reaches across."""

_LINE = re.compile(r"[^\n]+")
_WORD = re.compile(r"(?:\S*[^\W\d_]-\n(?=[^\W\d_]))*\S+")
"""A word that a line's end parts is one."""
_HEADING_LENGTH = 200
"""Code points of a heading that a heading path keeps."""


@dataclass(slots=True)
class ChunkPiece:
    """Text [start, end), without white space at its ends, costing `cost` units. `path`: the headings above it.

    Treat it as immutable. It is not frozen because every sentence makes one, and creating a frozen one takes six times
    as long.
    """

    start: int
    end: int
    cost: int
    strength: int
    path: tuple[str, ...]

    @property
    def opens_section(self) -> bool:
        return self.strength >= _DEEPEST_SECTION

    @property
    def stands_apart(self) -> bool:
        """Whether no chunk holds it with what stands before: a file in an archive or a mail begins with it, or between
        them stands text that is in no chunk.
        """
        return self.strength >= _APART


def split_pieces(parsed: ParsedDocument, size: int, cost_of: Callable[[str], int]) -> Iterator[ChunkPiece]:
    """All pieces of a document, in order. None costs more than `size`; together they hold all text but white space and
    running lines.
    """
    text, table = parsed.text, table_of(parsed.text)
    headings: list[tuple[int, str]] = []
    path = _first_path(parsed)
    holds_next = False
    for block, following_item, is_apart in _every_block(parsed):
        strength = _APART if is_apart else LIST_ITEM if following_item else PARAGRAPH
        if block.kind is BlockKind.HEADING:
            while headings and headings[-1][0] >= block.level:
                headings.pop()
            headings.append((block.level, _heading_title(text[block.start : block.end])))
            path = tuple(title for _, title in headings)
            strength = max(strength, _APART - min(max(block.level, 0), 6))
        if holds_next and strength < _APART:
            strength = HEADING_BOUNDARY
        holds_next = block.kind in (BlockKind.HEADING, BlockKind.FRONT_MATTER)
        for start, end, cost in _pieces(text, block, table, size, cost_of):
            yield ChunkPiece(start, end, cost, strength, path)
            strength = SENTENCE


def _first_path(parsed: ParsedDocument) -> tuple[str, ...]:
    """The headings above the first block: of front matter the heading right below it, with which it is in a chunk."""
    if len(parsed.blocks) < 2 or parsed.blocks[0].kind is not BlockKind.FRONT_MATTER:
        return ()
    below = parsed.blocks[1]
    return (_heading_title(parsed.text[below.start : below.end]),) if below.kind is BlockKind.HEADING else ()


def _every_block(parsed: ParsedDocument) -> Iterator[tuple[Block, bool, bool]]:
    """The blocks, and as paragraphs the text that no block covers; with each, whether it continues a list, and whether
    text that is in no chunk stands before it.
    """
    done = 0
    before: BlockKind | None = None
    is_apart = False
    text = parsed.text
    for block in parsed.blocks:
        if text[done : block.start].strip():
            yield Block(BlockKind.PARAGRAPH, done, block.start), False, is_apart
            before, is_apart = None, False
        if block.kind in BESIDE_TEXT:
            is_apart = True
        elif text[block.start : block.end].strip():
            yield block, block.kind is BlockKind.LIST_ITEM and before is BlockKind.LIST_ITEM, is_apart
            before, is_apart = block.kind, False
        done = max(done, block.end)
    if text[done:].strip():
        yield Block(BlockKind.PARAGRAPH, done, len(text)), False, is_apart


def _heading_title(text: str) -> str:
    lines = (line.strip("# \t") for line in text.strip().split("\n"))
    return " ".join(" ".join(line for line in lines if line.strip("=-")).split())[:_HEADING_LENGTH]


def _pieces(
    text: str, block: Block, table: WordTable | None, size: int, cost_of: Callable[[str], int]
) -> Iterator[tuple[int, int, int]]:
    whole = text[block.start : block.end]
    lead = len(whole) - len(whole.lstrip())
    start, end = block.start + lead, block.start + len(whole.rstrip())
    if block.kind in (BlockKind.TABLE, BlockKind.CODE, BlockKind.FRONT_MATTER):
        # A table or code block that leaves room for its heading stays whole.
        cost = cost_of(text[start:end]) if end - start <= size * 16 else size
        if cost <= size - size // 8:
            yield start, end, cost
            return
        spans = (_trim(text, line.start(), line.end()) for line in _LINE.finditer(text, start, end))
    else:
        inner = text[start:end]
        spans = ((start + a, start + b) for a, b in sentence_spans(inner, table))
    for a, b in spans:
        if a == b:
            continue
        cost = cost_of(text[a:b])
        if cost <= size // 2:
            yield a, b, cost
        else:
            yield from _words(text, a, b, max(1, size // 8), cost_of)


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    line = text[start:end]
    lead = len(line) - len(line.lstrip())
    return (start + lead, start + len(line.rstrip())) if lead < len(line) else (start, start)


def _words(
    text: str, start: int, end: int, limit: int, cost_of: Callable[[str], int]
) -> Iterator[tuple[int, int, int]]:
    """Words of an over-long sentence; a word above `limit` is halved until its parts fit."""
    for word in _WORD.finditer(text, start, end):
        parts = [word.span()]
        while parts:
            a, b = parts.pop()
            cost = cost_of(text[a:b])
            if cost <= limit or b - a == 1:
                yield a, b, cost
            else:
                middle = (a + b) // 2
                parts += [(middle, b), (a, middle)]

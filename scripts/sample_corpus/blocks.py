"""Reads a source text into blocks that both renderers understand.

The notation is the smallest that serves: a header of ``key: value`` lines between two ``---`` lines, then
``#`` and ``##`` headings, paragraphs, ``- `` bullets, ``| a | b |`` tables, ``Table:`` and ``Chart:`` captions
standing directly above their rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Heading:
    """A section title; ``level`` counts from 1."""

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text."""

    text: str


@dataclass(frozen=True, slots=True)
class Bullets:
    """An unordered list."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells, the first being the header row."""

    caption: str
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """A bar chart: one label and one number per row, after a header row that names both axes."""

    caption: str
    rows: tuple[tuple[str, ...], ...]


Block = Heading | Paragraph | Bullets | Table | Chart


@dataclass(frozen=True, slots=True)
class Source:
    """One document before rendering; ``output`` is its file name in the corpus folder."""

    output: str
    title: str
    author: str
    issued: date
    blocks: tuple[Block, ...]


class MalformedSourceError(ValueError):
    """The source text breaks the notation; the message names the file and what is wrong."""


def read_source(path: Path) -> Source:
    """Parse one source file.

    Raises:
        MalformedSourceError: when the header is missing or incomplete, or a table is ragged.
    """
    text = path.read_text(encoding="utf-8")
    if not text.startswith("---\n") or "\n---\n" not in text:
        raise MalformedSourceError(f"{path.name}: starts without a header between two '---' lines")
    head, body = text[4:].split("\n---\n", 1)
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    missing = {"output", "title", "author", "date"} - fields.keys()
    if missing:
        raise MalformedSourceError(f"{path.name}: the header lacks {', '.join(sorted(missing))}")
    groups = (group.splitlines() for group in body.strip().split("\n\n"))
    try:
        blocks = tuple(_block(lines) for lines in groups)
    except MalformedSourceError as error:
        raise MalformedSourceError(f"{path.name}: {error}") from error
    issued = date.fromisoformat(fields["date"])
    return Source(fields["output"], fields["title"], fields["author"], issued, blocks)


def _block(lines: list[str]) -> Block:
    first = lines[0]
    if first.startswith("#"):
        marks, _, text = first.partition(" ")
        return Heading(len(marks), text)
    if first.startswith("- "):
        items = "\n".join(lines).removeprefix("- ").split("\n- ")
        return Bullets(tuple(item.replace("\n", " ") for item in items))
    if first.startswith("Table: "):
        return Table(first.removeprefix("Table: "), _rows(lines[1:]))
    if first.startswith("Chart: "):
        return Chart(first.removeprefix("Chart: "), _rows(lines[1:]))
    if first.startswith("|"):
        raise MalformedSourceError(f"a table needs a 'Table:' or 'Chart:' caption line above {first!r}")
    return Paragraph(" ".join(lines))


def _rows(lines: list[str]) -> tuple[tuple[str, ...], ...]:
    rows = tuple(tuple(cell.strip() for cell in line.strip().strip("|").split("|")) for line in lines)
    if len(rows) < 2 or len({len(row) for row in rows}) != 1:
        raise MalformedSourceError(f"a table needs a header and rows of equal length, got {rows!r}")
    return rows

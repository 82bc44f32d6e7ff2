"""The rows of the tables of a chunk, each with the names of its columns and what stands above it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from agentic_rag.language.tables import RULE_ROW, fit_cells, header_span, is_row, split_cells, split_names

_CAPTION_LINES = 2
"""Lines above a table that may say what it is of."""
_LONGEST_CAPTION = 160
"""Code points; longer lines are text."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row [start, end) of a text, as many names as cells or none, the line that heads its section, and those above
    the table.
    """

    start: int
    end: int
    cells: tuple[str, ...]
    names: tuple[str, ...]
    section: str
    caption: str


def table_rows(text: str) -> Iterator[TableRow]:
    """The rows between bars, with the names of their columns where a line says them. A part of a table that repeats the
    names of the part before it goes on under the same section and lines.
    """
    names: tuple[str, ...] | None = None
    before: tuple[str, ...] | None = None
    section = ""
    above: list[str] = []
    in_table = False
    at = 0
    lines = text.split("\n")
    for place, line in enumerate(lines):
        start, said = at + len(line) - len(line.lstrip()), line.strip()
        at += len(line) + 1
        if not is_row(said):
            in_table = False
            if said:
                above = [*above, said][-_CAPTION_LINES:] if len(said) <= _LONGEST_CAPTION else []
                before = None
            continue
        if not in_table:
            in_table, names = True, None
            if _is_followed_by_rule(lines, place) or _names_what_follows(text, lines, place, at):
                names = tuple(split_names(said))
                section = section if names == before else ""
                before = names
                continue
        if RULE_ROW.match(said):
            continue
        cells = tuple(split_cells(said) if names is None else fit_cells(said, len(names)))
        if names is not None and len(cells) != len(names):
            continue
        if cells[0] and not any(cells[1:]):
            section = cells[0]
            continue
        yield TableRow(start, start + len(said), cells, names or (), section, "\n".join(above))
        if cells[0].startswith("Total"):
            section = ""


def _is_followed_by_rule(lines: list[str], place: int) -> bool:
    return place + 1 < len(lines) and RULE_ROW.match(lines[place + 1].strip()) is not None


def _names_what_follows(text: str, lines: list[str], place: int, after: int) -> bool:
    """Whether the first row of a table without a rule names the columns of the next."""
    if place + 1 >= len(lines) or not is_row(lines[place + 1].strip()):
        return False
    return header_span(text, after) is not None

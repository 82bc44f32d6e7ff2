"""Tables as text: one row a line, cells between bars, and a rule under the row that names the columns.

A long table is written in parts, and each part repeats the names of its columns and the label of its section: a chunk
or a quote that holds a row also holds what its cells mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.adapters.parsing.text.number_formats import CURRENCY_SIGN
from agentic_rag.adapters.parsing.text_builder import TextBuilder
from agentic_rag.documents.document import BlockKind

Row = Sequence[str]

_PART = 1_200
"""Code points of a part of a table: about 300 tokens, less than a chunk."""
_LEAST_ROWS = 4
"""Rows of a part however wide they are, so that the repeated names do not outweigh them."""
_FIGURE = re.compile(
    rf"[(+−-]?\s?(?:[A-Z]{{0,2}}{CURRENCY_SIGN})?\s?\d[\d.,'’ \u00a0\u202f]*\s?"
    rf"(?:%|{CURRENCY_SIGN}(?:/[\w ]{{1,8}})?)?\)?"
    r"|\d{4}-\d\d-\d\d\b.*"
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_SUM = "Total"
_LEAST_FIGURES = 3
"""Rows of figures from which the row above two columns names them; fewer are keys and their values."""


def add_table(built: TextBuilder, rows: Sequence[Row], header_rows: int, caption: str = "") -> None:
    """Append a table whose first `header_rows` rows name its columns; rows may differ in length."""
    for _, _, text in table_parts(_level(rows), header_rows) if rows else ():
        built.add(BlockKind.TABLE, f"{caption}\n{text}" if caption else text)
    if not rows:
        built.add(BlockKind.PARAGRAPH, caption)


def add_grid(
    built: TextBuilder, rows: Iterable[tuple[int, Row]], limits: ParserLimits, *, has_merged: bool = True
) -> None:
    """Append a sheet: its tables stand apart by blank rows. Rows come with their number in the sheet; each part of a
    table stands under a heading that says which rows it holds. `has_merged`: equal cells side by side may be one.

    Errors: `ParseFailed` code PARSE_TOO_LARGE.
    """
    for region in _regions(rows):
        numbers, cells = [number for number, _ in region], _trim_columns([row for _, row in region])
        if len(cells[0]) == 1:
            for row in cells:
                built.add(BlockKind.PARAGRAPH, row[0])
            continue
        above = 0
        while above + 1 < len(cells) and (_count_texts(cells[above]) == 1 or _is_preamble(cells[above:])):
            built.add(BlockKind.PARAGRAPH, ": ".join(filter(None, cells[above])))
            above += 1
        numbers, cells = numbers[above:], _trim_columns(cells[above:])
        spread = _spread_names(cells)
        for first, last, text in table_parts(spread, _grid_header(spread, has_merged or spread is not cells)):
            rows_held = f"Row {numbers[first]}" if first == last else f"Rows {numbers[first]}–{numbers[last]}"
            built.add(BlockKind.HEADING, rows_held, level=2)
            built.add(BlockKind.TABLE, text)
        limits.require_characters(built.length)


def count_names(rows: Sequence[Row]) -> int:
    """How many rows at the top name the columns of a table that does not say so; none where few rows hold figures,
    unless the corner above the labels is empty.
    """
    level = _level(rows)
    count = _header_rows(level) if level else 0
    below = level[count:]
    has_corner = count > 0 and not level[0][0] and all(row[0] for row in below)
    return count if has_corner or _holds_figures(below) else 0


def table_parts(rows: Sequence[Row], header_rows: int) -> Iterator[tuple[int, int, str]]:
    """The parts of a table: the index of the first and of the last row in it, and its text, which begins with the names
    of the columns and the label of the section that its rows go on with.
    """
    header_rows = min(header_rows, len(rows) - 1)
    head: list[str] = []
    if header_rows:
        columns = zip(*rows[:header_rows], strict=True)
        names = [" ".join(dict.fromkeys(name for name in column if name)) for column in columns]
        head = [_line(names), _line(["---"] * len(names))]
    head_length = sum(len(line) + 1 for line in head)
    first, lines, length = header_rows, list[str](), head_length
    above, section = list[str](), list[str]()
    for at in range(header_rows, len(rows)):
        line = _line(rows[at])
        if _is_section(rows[at]):
            section = [line]
        if len(lines) >= _LEAST_ROWS and length + len(line) > _PART:
            yield first, at - 1, "\n".join([*head, *above, *lines])
            above = section if section != [line] else []
            first, lines, length = at, [], head_length + sum(map(len, above))
        lines.append(line)
        length += len(line) + 1
        if rows[at][0].startswith(_SUM):
            section = []
    yield first, len(rows) - 1, "\n".join([*head, *above, *lines])


def _is_section(row: Row) -> bool:
    """Whether a row is a label alone, which says what the rows below it are of until a sum closes them."""
    return len(row) > 2 and bool(row[0]) and not any(row[1:])


def _line(cells: Row) -> str:
    """A row as a line. Outer bars keep an empty first or last cell in its column."""
    inner = " | ".join(cells)
    return inner if cells[0] and cells[-1] else f"| {inner} |"


def _level(rows: Sequence[Row]) -> list[Row]:
    width = max(map(len, rows), default=0)
    return [[*row, *[""] * (width - len(row))] for row in rows]


def _regions(rows: Iterable[tuple[int, Row]]) -> Iterator[list[tuple[int, Row]]]:
    region: list[tuple[int, Row]] = []
    for number, row in rows:
        if any(row):
            region.append((number, row))
        elif region:
            yield region
            region = []
    if region:
        yield region


def _trim_columns(rows: Sequence[Row]) -> list[Row]:
    """The rows at one length, without the columns that are blank in all of them."""
    level = _level(rows)
    kept = [at for at, column in enumerate(zip(*level, strict=True)) if any(column)]
    return [[row[at] for at in kept] for row in level]


def _count_texts(row: Row) -> int:
    return sum(map(bool, row))


def _grid_header(rows: Sequence[Row], has_merged: bool) -> int:
    """How many rows at the top of a sheet's table name its columns; none where half of the columns would have no name:
    a form has its labels beside its values.
    """
    if 2 * _count_texts(rows[0]) <= len(rows[0]) or _is_form(rows):
        return 0
    count = _header_rows(rows)
    return count if has_merged else min(count, 1)


def _header_rows(rows: Sequence[Row]) -> int:
    """How many rows at the top name the columns; one more where a name of the last spans several of the next. From the
    third on they name figures.
    """
    count = 0
    while _names_columns(rows[count:]) and (
        count == 0 or (_spans(rows[count - 1]) and (count == 1 or _holds_figures(rows[count + 1 :])))
    ):
        count += 1
    return count


def _holds_figures(rows: Sequence[Row]) -> bool:
    """Whether half of the rows have figures behind their labels."""
    return 2 * sum(any(map(_FIGURE.fullmatch, row[1:])) for row in rows) >= len(rows)


def _spread_names(rows: Sequence[Row]) -> Sequence[Row]:
    """The rows with each name of the first over all columns up to the next name, where names of figures stand below the
    gaps: cells that look merged, and are not. A row with a label below the name of the labels is no row of names.
    """
    names, below = rows[0], rows[1:3]
    gaps = [at for at, name in enumerate(names) if at and not name]
    spanned = {one for at in gaps for one in (at - 1, at)}
    if (
        len(below) < 2
        or not gaps
        or gaps[0] == 1
        or not _names_columns(rows)
        or (names[0] and below[0][0])
        or not all(below[0][one] for one in spanned)
        or any(map(_FIGURE.fullmatch, below[0]))
        or not all(_holds_figures([("", row[one]) for row in rows[2:]]) for one in spanned)
    ):
        return rows
    spread = list(names)
    for at in gaps:
        spread[at] = spread[at - 1]
    return [spread, *rows[1:]]


def _is_form(rows: Sequence[Row]) -> bool:
    """Whether half of the rows begin with a label that a value follows."""
    return 2 * sum(row[0].endswith(":") for row in rows) >= len(rows)


def _spans(row: Row) -> bool:
    return any(one and one == after for one, after in pairwise(row))


def _is_preamble(rows: Sequence[Row]) -> bool:
    """Whether the first row stands above a table as its title does: it fills no more than half of the columns, from the
    first on, and the names of all columns follow.
    """

    def is_short(row: Row) -> bool:
        filled = _count_texts(row)
        return 2 * filled <= len(row) and all(row[:filled])

    names = next((row for row in rows if not is_short(row)), None)
    return (
        is_short(rows[0])
        and not _is_form(rows)
        and names is not None
        and all(names)
        and _names_columns([names, *rows[1:]])
    )


def _names_columns(rows: Sequence[Row]) -> bool:
    """Whether the first row names the columns: words over at least three of them, or over two with figures below."""
    names, below = rows[0], rows[1:]
    if (
        not below
        or _count_texts(names) < 2
        or any(_FIGURE.fullmatch(one) and not _YEAR.fullmatch(one) for one in names)
    ):
        return False
    return len(names) > 2 or (len(below) >= _LEAST_FIGURES and all(_FIGURE.fullmatch(row[1]) for row in below))

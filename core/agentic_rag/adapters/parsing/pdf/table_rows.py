"""Rows of a table by the places of its columns: which lines are one row, and which columns go on from a page before."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median

from agentic_rag.adapters.parsing.pdf.page_grid import GridRow

_CLOSE = 0.85
"""Of the usual step from row to row: lines of one label stand closer."""
_LINE_STEP = 2.0
"""Between lines of one cell at most, by the size of its letters."""
_PARTED = re.compile(r"[^\W\d_][-‐]$")
_SECTION_END = (":", "：")

Span = tuple[float, float]


def goes_on_with(before: Sequence[Span], columns: Sequence[Span], bands: Sequence[Span]) -> bool:
    """Whether these are the columns before, some columns of words as one: a long cell reaches into the next column.
    One column of figures is too little to tell.
    """
    held = [[column for column in before if column[0] < right and left < column[1]] for left, right in columns]
    return (
        1 < len(bands) < len(columns) < len(before)
        and [one for some in held for one in some] == list(before)
        and all(len(some) == 1 for some, span in zip(held, columns, strict=True) if span in bands)
    )


def split_row(row: GridRow, columns: Sequence[Span]) -> GridRow:
    """The row, cells that reach over several columns parted where a word begins with one of these."""
    lefts = [left for left, _ in columns]
    return replace(row, cells=tuple(part for cell in row.cells for part in cell.split_at(lefts)))


def parts_words(above: GridRow, below: GridRow) -> bool:
    """Whether a cell ends with a part of a word whose rest stands below it."""
    return any(
        _PARTED.search(cell.text)
        and any(one.text[:1].islower() and one.overlaps(cell.left, cell.right) for one in below.cells)
        for cell in above.cells
    )


def stands_in(row: GridRow, columns: Sequence[Span]) -> bool:
    """Whether a row has cells, all of them in these columns."""
    return bool(row.cells) and all(any(cell.overlaps(*column) for column in columns) for cell in row.cells)


def count_hung(rows: Sequence[GridRow], last: int, prose: Sequence[Span]) -> int:
    """How many lines below the last row with figures go on with its prose."""
    at = last
    while at + 1 < len(rows) and stands_in(rows[at + 1], prose):
        if rows[at].base - rows[at + 1].base > _LINE_STEP * rows[at].size:
            break
        at += 1
    return at - last


def hung_rows(rows: Sequence[GridRow], prose: Sequence[Span], bands: Sequence[Span]) -> list[GridRow]:
    """The rows, lines that stand in columns of prose alone in the row with figures above them. None at all where such a
    line has no such row above it, is nearer to what stands below, or goes on with a part of a word.
    """
    joined: list[GridRow] = []
    for above, row, below in zip((None, *rows), rows, (*rows[1:], None), strict=False):
        if not stands_in(row, prose):
            joined.append(row)
        elif (
            above is None
            or not has_cells(joined[-1], bands)
            or (below is not None and row.base - below.base < _CLOSE * (above.base - row.base))
            or parts_words(above, row)
        ):
            return []
        else:
            joined[-1] = replace(joined[-1], cells=(*joined[-1].cells, *row.cells))
    return joined


def joined_labels(rows: Sequence[GridRow], bands: Sequence[Span]) -> list[list[GridRow]]:
    """The rows, those together that hold one label on several lines."""
    filled = [row for row in rows if has_cells(row, bands)]
    usual = median([above.base - below.base for above, below in pairwise(filled)] or [0.0])
    groups: list[list[GridRow]] = []
    is_open = False
    for row, after in zip(rows, (*rows[1:], None), strict=True):
        is_filled = has_cells(row, bands)
        goes_on = row.cells[0].text[:1].islower()
        before = groups[-1][-1] if groups else row
        if groups and not is_filled and not is_open and _belongs_above(before, row, after):
            groups[-1].append(row)
            continue
        if (is_open and (goes_on or before.base - row.base < _CLOSE * usual)) or (groups and goes_on and not is_filled):
            groups[-1].append(row)
        else:
            groups.append([row])
        is_open = not row.cells[-1].text.endswith(_SECTION_END) and not any(has_cells(one, bands) for one in groups[-1])
    return groups


def _belongs_above(above: GridRow, row: GridRow, below: GridRow | None) -> bool:
    """Whether words below a row with figures are nearer to it than to what follows: the rest of its cells."""
    return (
        below is not None
        and not row.cells[-1].text.endswith(_SECTION_END)
        and above.base - row.base < _CLOSE * (row.base - below.base)
    )


def has_cells(row: GridRow, bands: Sequence[Span]) -> bool:
    return any(cell.is_figure and cell.overlaps(*band) for cell in row.cells for band in bands)

"""Tables of a PDF: rows whose figures stand below one another, with the names of their columns above them.

A table is written as those of other formats are: one row a line, cells between bars, the names of the columns over
each part. Text that stands beside it stays as it is. Conservative: without figures in columns and names above them
lines stay lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from agentic_rag.adapters.parsing.pdf.page_grid import Cell, GridRow, grid_rows
from agentic_rag.adapters.parsing.pdf.page_words import PageLine, PdfPage, Word
from agentic_rag.adapters.parsing.pdf.table_rows import (
    Span,
    count_hung,
    goes_on_with,
    hung_rows,
    joined_labels,
    parts_words,
    split_row,
)
from agentic_rag.adapters.parsing.text.table_text import table_parts

_LEAST_ROWS = 3
"""Rows with figures of a table that has one column of them; two of one that has more."""
_MOST_APART = 4.5
"""Between rows of a table, by the size of their letters: room for a label of three lines."""
_HEADER_ROWS, _HEADER_APART = 5, 3.2
"""Rows above the first one that may name the columns, and how far they stand apart by the size of the letters."""
_LABEL_ROWS = 4
"""Lines below the names of the columns that hold no figures: a section, or the beginning of a label."""
_SMALLER = 0.9
"""Of the size of a table's letters: those of a chart's figures are below it."""
_PROSE_WORDS, _PROSE_FILL, _PROSE_SHARE = 4, 0.7, 0.6
"""A column is prose when this share of its lines have so many words and fill it so far."""
_LONGEST_CAPTION_START = 0.5
_LEADERS = "...."
_NAME = re.compile(r"(?:19|20)\d\d[A-Z]?|[^\d]*[^\W\d_].*|%|\(.*\)")
"""What a cell above figures may say that names them: a year, or words."""
_ASIDE = re.compile(r"\(.*\)")
_MOST_NAME_WORDS = 7
_TOUCHED = 0.3
"""Of the largest share of a column that a name stands over: columns with less are only touched."""
_NAMED_SHARE = 0.75
"""Of the columns of figures, those that must have a name of their own."""
_SMALL = re.compile(r"\d{1,3}")


@dataclass(frozen=True, slots=True)
class _Table:
    """Columns by their places from left to right, the rows of names, and those below them, with the words of each."""

    columns: tuple[Span, ...]
    names: tuple[tuple[str, ...], ...]
    rows: tuple[tuple[str, ...], ...]
    words: tuple[tuple[Word, ...], ...]
    """Of the names together, then of each row."""
    size: float
    """Of its letters."""


def lay_tables(pages: Sequence[PdfPage]) -> list[PdfPage]:
    """The pages with their tables as rows between bars. A table at the top of a page that goes on with the columns of
    the page before has its names.
    """
    laid: list[PdfPage] = []
    last: _Table | None = None
    for page in pages:
        tables = _find_tables(page, last)
        laid.append(_with_tables(page, tables) if tables else page)
        last = tables[-1] if tables else None
    return laid


def _find_tables(page: PdfPage, before: _Table | None) -> list[_Table]:
    if sum(any(sign.isdigit() for sign in line.text) for line in page.lines) < 2:
        return []
    rows = grid_rows(page)
    tables: list[_Table] = []
    for first, last in _runs(rows):
        held = _read_table(rows, first, last, tables[-1] if tables else before)
        if held is not None:
            tables.append(held)
    return tables


def _runs(rows: Sequence[GridRow]) -> Iterator[tuple[int, int]]:
    """The first and the last of rows with figures that follow each other closely, without figures of a chart below."""
    for found in _close_rows(rows):
        size = median(rows[at].size for at in found)
        while len(found) > 1 and _is_of_chart(rows[found[-1]], size):
            found.pop()
        yield found[0], found[-1]


def _close_rows(rows: Sequence[GridRow]) -> Iterator[list[int]]:
    found: list[int] = []
    for at, row in enumerate(rows):
        if not _has_figures(row):
            continue
        if found and rows[found[-1]].base - row.base > _MOST_APART * max(row.size, rows[found[-1]].size):
            yield found
            found = []
        found.append(at)
    if found:
        yield found


def _is_of_chart(row: GridRow, size: float) -> bool:
    """Whether a row is figures alone in smaller letters than the table's."""
    return row.size < _SMALLER * size and all(cell.is_figure for cell in row.cells)


def _has_figures(row: GridRow) -> bool:
    figures = sum(cell.is_figure for cell in row.cells)
    return (
        any(cell.is_figure for cell in row.cells[1:]) and not any(_LEADERS in cell.text for cell in row.cells)
    ) or figures > 1


def _read_table(rows: Sequence[GridRow], first: int, last: int, before: _Table | None) -> _Table | None:
    """The table of the rows with figures from `first` to `last`; None where they are none."""
    while first <= last and _only_names(rows[first]):
        first += 1
    data = [row for row in rows[first : last + 1] if _has_figures(row)]
    bands = _bands(data)
    if len(data) < (_LEAST_ROWS if len(bands) == 1 else 2) or not bands or _counts_pages(data, bands):
        return None
    words = _merged_words(rows[first : last + 1], bands)
    prose = [span for span, cells in words.items() if _is_prose(cells, span)]
    texts = [span for span, cells in words.items() if len(cells) > 1]
    if prose and texts and texts[0] not in prose:
        named = _Columns(tuple(sorted([*texts, *bands])), bands, texts[1:])
        if (held := _laid(rows, first, last, named, before)) is not None:
            return held
    beside = _beside_prose([*words], prose, bands)
    return None if beside is None else _laid(rows, first, last, _Columns(beside, bands, ()), before)


@dataclass(frozen=True, slots=True)
class _Columns:
    """The places of the columns, those of them that hold figures, and those that hold prose or stand beside it: their
    cells may go on below, and each column must have a name.
    """

    all: Sequence[Span]
    figures: Sequence[Span]
    prose: Sequence[Span]


def _laid(rows: Sequence[GridRow], first: int, last: int, places: _Columns, before: _Table | None) -> _Table | None:
    """The table with its columns at these places."""
    columns, bands, prose = places.all, places.figures, places.prose
    data = [row for row in rows[first : last + 1] if _has_figures(row)]
    if any(_share_a_column(row, columns) for row in data):
        return None
    last += count_hung(rows, last, prose)
    size = median(row.size for row in data)
    within = columns[0][0] - 1, columns[-1][1] + size
    rows = [replace(row, cells=tuple(one for one in row.cells if one.overlaps(*within))) for row in rows[: last + 1]]
    opening = _opening_row(rows, first, bands)
    names, taken = _names(rows[:opening], rows[opening].base, columns, bands, size)
    if not _tell_apart(names, columns, bands):
        names, taken, opening = (), [], first
        if before is not None and _same_columns(before.columns, columns):
            names = before.names
        elif before is not None and goes_on_with(before.columns, columns, bands):
            names, columns = before.names, before.columns
            rows = [split_row(row, columns) for row in rows]
    body = hung_rows([row for row in rows[opening:] if row.cells], prose, bands)
    if not names or not body or (prose and not all(map(any, zip(*names, strict=True)))):
        return None
    if any(parts_words(*both) for both in pairwise(body)):
        return None  # Words that a line's end parts are joined in lines, not in cells.
    written, words = _rows(joined_labels(body, bands), columns)
    return _Table(tuple(columns), names, tuple(written), (tuple(taken), *words), size)


def _tell_apart(names: Sequence[Sequence[str]], columns: Sequence[Span], bands: Sequence[Span]) -> bool:
    """Whether most columns of figures have names of their own."""
    held = [tuple(row[columns.index(band)] for row in names) for band in bands] if names else []
    return len({one for one in held if any(one)}) > _NAMED_SHARE * len(bands) - 1


def _opening_row(rows: Sequence[GridRow], first: int, bands: Sequence[Span]) -> int:
    """Where the lines begin that only hold a label, above the first row with figures."""
    at = first
    while at and first - at < _LABEL_ROWS and all(cell.right <= bands[0][0] for cell in rows[at - 1].cells):
        at -= 1
    return at


def _only_names(row: GridRow) -> bool:
    """A row of years, or of words beside them."""
    return all(
        cell.text.count(" ") < _MOST_NAME_WORDS
        and _NAME.fullmatch(cell.text)
        and not (cell.is_figure and len(cell.text) != 4)
        for cell in row.cells
    )


def _bands(data: Sequence[GridRow]) -> list[Span]:
    """The places of the columns of figures: those that overlap are one column."""
    bands = _merge_spans(cell for row in data for cell in row.cells if cell.is_figure)
    counted = [sum(cell.is_figure and cell.overlaps(*band) for row in data for cell in row.cells) for band in bands]
    return [band for band, count in zip(bands, counted, strict=True) if count > 1]


def _merge_spans(cells: Iterable[Cell]) -> list[Span]:
    """The places of cells from left to right, with those that overlap as one."""
    merged: list[Span] = []
    for left, right in sorted((cell.left, cell.right) for cell in cells):
        if merged and left < merged[-1][1]:
            merged[-1] = merged[-1][0], max(right, merged[-1][1])
        else:
            merged.append((left, right))
    return merged


def _counts_pages(data: Sequence[GridRow], bands: Sequence[Span]) -> bool:
    """Whether the figures only count up in small steps: the pages of a table of contents, with or without numbers."""
    is_labelled = any(cell.right <= bands[0][0] for row in data for cell in row.cells)
    if len(bands) > 1 and is_labelled:
        return False
    return all(_counts_up([cell.text for row in data for cell in row.cells if cell.overlaps(*band)]) for band in bands)


def _counts_up(figures: Sequence[str]) -> bool:
    return all(_SMALL.fullmatch(one) for one in figures) and all(
        int(one) <= int(after) for one, after in pairwise(figures)
    )


def _merged_words(rows: Sequence[GridRow], bands: Sequence[Span]) -> dict[Span, list[Cell]]:
    """The columns of words from left to right, with their cells."""
    cells = [cell for row in rows for cell in row.cells if not any(cell.overlaps(*band) for band in bands)]
    return {span: [cell for cell in cells if cell.overlaps(*span)] for span in _merge_spans(cells)}


def _beside_prose(texts: Sequence[Span], prose: Sequence[Span], bands: Sequence[Span]) -> tuple[Span, ...] | None:
    """The columns without those of prose and what stands beyond them; None where prose stands between figures."""
    if len(texts) == len(prose) and texts:
        return None
    left = max((span[1] for span in prose if span[1] <= bands[0][0]), default=0.0)
    right = min((span[0] for span in prose if span[0] >= bands[-1][1]), default=float("inf"))
    if any(left < span[0] < right for span in prose):
        return None
    inside = [span for span in texts if span not in prose and left <= span[0] and span[1] <= right]
    return tuple(sorted([*inside, *bands]))


def _is_prose(cells: Sequence[Cell], span: Span) -> bool:
    long = sum(
        cell.text.count(" ") + 1 >= _PROSE_WORDS and cell.right - cell.left >= _PROSE_FILL * (span[1] - span[0])
        for cell in cells
    )
    return long >= max(_LEAST_ROWS, _PROSE_SHARE * len(cells))


def _share_a_column(row: GridRow, columns: Sequence[Span]) -> bool:
    """Whether two figures of a row share a column."""
    return any(sum(cell.is_figure and cell.overlaps(*column) for cell in row.cells) > 1 for column in columns)


def _names(
    rows: Sequence[GridRow], below: float, columns: Sequence[Span], bands: Sequence[Span], size: float
) -> tuple[tuple[tuple[str, ...], ...], list[Word]]:
    """The last of these rows that name the columns, from the top, and their words; `below` is the first base of what
    they name.
    """
    found: list[tuple[str, ...]] = []
    words: list[Word] = []
    for row in reversed(rows):
        if row.base - below > _HEADER_APART * max(size, row.size) or len(found) == _HEADER_ROWS:
            break
        if not row.cells:
            continue
        if not _only_names(row) or not _names_columns(row.cells, columns, bands):
            break
        found.insert(0, _spread(row.cells, columns, bands))
        words = [word for cell in row.cells for word in cell.words] + words
        below = row.base
    return tuple(found), words


def _names_columns(cells: Sequence[Cell], columns: Sequence[Span], bands: Sequence[Span]) -> bool:
    """Whether cells above figures name them: one stands above a column of figures, and none is a caption, which begins
    where the labels do and reaches over the figures.
    """
    labels = columns[0]
    over = [cell for cell in cells if cell.right > bands[0][0] and cell.overlaps(bands[0][0] - 40, bands[-1][1] + 20)]
    caption = any(
        cell.left < labels[0] + _LONGEST_CAPTION_START * (labels[1] - labels[0]) and cell.right > bands[0][0]
        for cell in cells
        if labels not in bands
    )
    alone = len(over) == 1 and labels not in bands and (over[0].left < labels[1] or _ASIDE.fullmatch(over[0].text))
    return bool(over) and not caption and (not alone or _even_spans(over, bands) is not None)


def _spread(cells: Sequence[Cell], columns: Sequence[Span], bands: Sequence[Span]) -> tuple[str, ...]:
    """The names by column; one that spans several columns stands in each."""
    named: list[list[str]] = [[] for _ in columns]
    over = [cell for cell in cells if cell.right > bands[0][0]]
    spans = _even_spans(over, bands)
    for cell in cells:
        if cell in over and spans is not None:
            places = [columns.index(band) for band in spans[over.index(cell)]]
        else:
            shares = [cell.share_of(*column) for column in columns]
            places = [at for at, share in enumerate(shares) if share > _TOUCHED * max(shares)]
            places = places or [_nearest(cell, columns)]
        for at in places:
            named[at].append(cell.text)
    return tuple(" ".join(texts) for texts in named)


def _even_spans(cells: Sequence[Cell], bands: Sequence[Span]) -> list[Sequence[Span]] | None:
    """The columns that each name spans where all span as many, each standing above the middle of its columns."""
    if not cells or len(bands) % len(cells) or len(cells) == len(bands):
        return None
    share = len(bands) // len(cells)
    spans = [bands[at * share : (at + 1) * share] for at in range(len(cells))]
    pitch = (bands[-1][1] - bands[0][0]) / len(bands)
    for cell, span in zip(cells, spans, strict=True):
        middle = (span[0][0] + span[-1][1]) / 2
        if abs(cell.middle - middle) > 0.6 * pitch:
            return None
    return spans


def _nearest(cell: Cell, columns: Sequence[Span]) -> int:
    return min(range(len(columns)), key=lambda at: max(columns[at][0] - cell.right, cell.left - columns[at][1]))


def _same_columns(before: Sequence[Span], columns: Sequence[Span]) -> bool:
    return len(before) == len(columns) and all(
        one[0] < other[1] and other[0] < one[1] for one, other in zip(before, columns, strict=True)
    )


def _rows(
    groups: Sequence[Sequence[GridRow]], columns: Sequence[Span]
) -> tuple[list[tuple[str, ...]], list[tuple[Word, ...]]]:
    written: list[tuple[str, ...]] = []
    words: list[tuple[Word, ...]] = []
    for group in groups:
        named: list[list[str]] = [[] for _ in columns]
        for row in group:
            for cell in row.cells:
                named[_place(cell, columns)].append(cell.text)
        written.append(tuple(" ".join(texts) for texts in named))
        words.append(tuple(word for row in group for cell in row.cells for word in cell.words))
    return written, words


def _place(cell: Cell, columns: Sequence[Span]) -> int:
    """The column of a cell: of a figure the one around its middle, of words the one in which they begin."""
    if cell.is_figure:
        return _nearest(replace(cell, left=cell.middle, right=cell.middle), columns)
    begun = [at for at, column in enumerate(columns) if column[0] <= cell.left + 1 and cell.overlaps(*column)]
    return begun[-1] if begun else _nearest(cell, columns)


def _with_tables(page: PdfPage, tables: Sequence[_Table]) -> PdfPage:
    """The page with each table where its first word stood, without the words that stand in it."""
    owner = {id(word): number for number, table in enumerate(tables) for words in table.words for word in words}
    lines: list[PageLine] = []
    done: set[int] = set()
    for line in page.lines:
        owners = [owner.get(id(word)) for word in line.words]
        kept = [word for word, number in zip(line.words, owners, strict=True) if number is None]
        for number in dict.fromkeys(one for one in owners if one is not None):
            if number not in done:
                done.add(number)
                lines += _table_lines(tables[number])
        if len(kept) == len(line.words):
            lines.append(line)
        elif kept:
            lines.append(replace(line, text=" ".join(word.text for word in kept if word.text), words=kept))
    return replace(page, lines=lines)


def _table_lines(table: _Table) -> Iterator[PageLine]:
    """The parts of a table, a blank line behind each."""
    rows = [*table.names, *table.rows]
    for first, last, text in table_parts(rows, len(table.names)):
        lines = text.split("\n")
        head = len(lines) - (last - first + 1)
        for at, line in enumerate(lines):
            words = table.words[first - len(table.names) + at - head + 1] if at >= head else ()
            yield PageLine(line, words if at else table.words[0], table.size, is_row=True)
        yield PageLine("")

"""The words of a page by baseline: the rows that a reader sees, and the cells in them, which gaps set apart."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from agentic_rag.adapters.parsing.pdf.page_words import PdfPage, Word

_SAME_BASE = 0.25
_GAP, _FIGURE_GAP = 0.85, 0.45
"""By the size of the letters: how far the baselines of a row may differ, and the least gap between cells, and between
two figures: a space is about 0.28 wide.
"""
_SHIFTED, _NEARER = 0.7, 0.85
"""By the size of the letters: how far a column may stand above or below the others of its row, which is less than any
step between lines. It belongs to the nearer of two rows, by this share of the way to the other.
"""
FIGURE = re.compile(
    r"[$€£¥]?\s?[(+−–-]{0,2}\s?[$€£¥]?\s?\d[\d.,/'’ ]*(?:\(\d\)|\))?\s?(?:%|[$€£¥]|[A-Za-z]{1,2})?\)?|[—–-]"
)
"""A cell that holds a figure, or the dash for none."""
_SAME_LEFT = 1.0
"""Points between the places where the cells of a column begin."""
_CURRENCY = re.compile(r"[$€£¥]")
_BEHIND_FIGURE = re.compile(r"\)?\s?%?\)?")


@dataclass(frozen=True, slots=True)
class Cell:
    """Words of a row that stand close together."""

    text: str
    left: float
    right: float
    words: tuple[Word, ...]

    @property
    def is_figure(self) -> bool:
        return FIGURE.fullmatch(self.text) is not None

    @property
    def middle(self) -> float:
        return (self.left + self.right) / 2

    def split_at(self, lefts: Sequence[float]) -> Sequence[Cell]:
        """The cells that begin where a word begins at one of these places."""
        starts = [
            at for at, word in enumerate(self.words) if at and any(abs(word.left - left) < _SAME_LEFT for left in lefts)
        ]
        return [_cell(self.words[at:end]) for at, end in pairwise((0, *starts, len(self.words)))] if starts else [self]

    def share_of(self, left: float, right: float) -> float:
        """Of the narrower of the cell and a column, the share that stands in the other."""
        shared = min(self.right, right) - max(self.left, left)
        return max(0.0, shared) / (min(self.right - self.left, right - left) or 1.0)

    def overlaps(self, left: float, right: float) -> bool:
        return self.left < right and left < self.right


@dataclass(frozen=True, slots=True)
class GridRow:
    """What stands on one baseline, or a little above or below it, from left to right."""

    base: float
    size: float
    cells: tuple[Cell, ...]


def grid_rows(page: PdfPage) -> list[GridRow]:
    """The rows of a page from top to bottom."""
    placed = sorted(
        ((word.base, word.left, line.size, word) for line in page.lines for word in line.words if word.text),
        key=lambda one: (-one[0], one[1]),
    )
    rows: list[GridRow] = []
    held: list[tuple[float, float, float, Word]] = []
    for one in placed:
        if held and held[0][0] - one[0] > _SAME_BASE * max(held[0][2], 4.0):
            rows.append(_row(held))
            held = []
        held.append(one)
    if held:
        rows.append(_row(held))
    return _with_shifted(rows)


def _with_shifted(rows: Sequence[GridRow]) -> list[GridRow]:
    """The rows, columns that stand a little above or below the others in the row that they are nearer to. One that is
    as near to the next row stays apart.
    """
    joined: list[GridRow] = []
    for at, row in enumerate(rows):
        before, after = joined[-2:-1], rows[at + 1 : at + 2]
        if (
            joined
            and _fit(joined[-1], row)
            and all(_is_nearer(joined[-1], row, row, one) for one in after if not _apart(joined[-1], one))
            and all(_is_nearer(joined[-1], row, one, joined[-1]) for one in before if not _apart(one, row))
        ):
            joined[-1] = _one_row(joined[-1], row)
        else:
            joined.append(row)
    return joined


def _fit(above: GridRow, below: GridRow) -> bool:
    size = min(above.size, below.size)
    return above.base - below.base < _SHIFTED * max(size, 4.0) and _apart(above, below)


def _apart(one: GridRow, other: GridRow) -> bool:
    """Whether each cell of both stands in a column of its own."""
    gap = _GAP * max(one.size, other.size)
    return not any(cell.overlaps(beside.left - gap, beside.right + gap) for cell in one.cells for beside in other.cells)


def _is_nearer(above: GridRow, below: GridRow, other_above: GridRow, other_below: GridRow) -> bool:
    """Whether the first two rows are nearer to each other than the other two, or those cannot be one row."""
    way = other_above.base - other_below.base
    return above.base - below.base < _NEARER * way or not _fit(other_above, other_below)


def _one_row(above: GridRow, below: GridRow) -> GridRow:
    most = above if len(above.cells) >= len(below.cells) else below
    cells = sorted((*above.cells, *below.cells), key=lambda cell: cell.left)
    return replace(most, cells=tuple(_join_cells(iter(cells))))


def _row(placed: Sequence[tuple[float, float, float, Word]]) -> GridRow:
    size = max(size for _, _, size, _ in placed)
    words = sorted((word for _, _, _, word in placed), key=lambda word: word.left)
    return GridRow(placed[0][0], size, tuple(_join_cells(_split(words, max(size, 4.0)))))


def _split(words: Sequence[Word], size: float) -> Iterator[Cell]:
    held: list[Word] = []
    for word in words:
        gap = word.left - held[-1].right if held else 0.0
        if gap > _GAP * size or (gap > _FIGURE_GAP * size and _are_figures(held[-1], word)):
            yield _cell(held)
            held = []
        held.append(word)
    yield _cell(held)


def _are_figures(*words: Word) -> bool:
    return all(FIGURE.fullmatch(word.text) for word in words)


def _join_cells(cells: Iterator[Cell]) -> Iterator[Cell]:
    """The cells, a currency sign that stands apart joined with the figure behind it, and a bracket or a percent sign
    with the one before it.
    """
    before: Cell | None = None
    for cell in cells:
        if before is not None and (
            (_CURRENCY.fullmatch(before.text) and cell.is_figure)
            or (before.is_figure and _BEHIND_FIGURE.fullmatch(cell.text))
        ):
            before = _cell((*before.words, *cell.words))
            continue
        if before is not None:
            yield before
        before = cell
    if before is not None:
        yield before


def _cell(words: Sequence[Word]) -> Cell:
    return Cell(" ".join(word.text for word in words), words[0].left, max(word.right for word in words), tuple(words))

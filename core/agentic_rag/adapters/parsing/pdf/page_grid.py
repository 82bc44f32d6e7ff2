"""The words of a page by baseline: the rows that a reader sees, and the cells in them, which gaps set apart."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agentic_rag.adapters.parsing.pdf.page_words import PdfPage, Word

_SAME_BASE = 0.25
_GAP, _FIGURE_GAP = 0.85, 0.45
"""By the size of the letters: how far the baselines of a row may differ, and the least gap between cells, and between
two figures: a space is about 0.28 wide.
"""
FIGURE = re.compile(
    r"[$€£¥]?\s?[(+−–-]{0,2}\s?[$€£¥]?\s?\d[\d.,/'’ ]*(?:\(\d\)|\))?\s?(?:%|[$€£¥]|[A-Za-z]{1,2})?\)?|[—–-]"
)
"""A cell that holds a figure, or the dash for none."""
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

    def overlaps(self, left: float, right: float) -> bool:
        return self.left < right and left < self.right


@dataclass(frozen=True, slots=True)
class GridRow:
    """What stands on one baseline, from left to right."""

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
    return rows


def _row(placed: Sequence[tuple[float, float, float, Word]]) -> GridRow:
    size = max(size for _, _, size, _ in placed)
    words = sorted((word for _, _, _, word in placed), key=lambda word: word.left)
    return GridRow(placed[0][0], size, tuple(_joined(_split(words, max(size, 4.0)))))


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


def _joined(cells: Iterator[Cell]) -> Iterator[Cell]:
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

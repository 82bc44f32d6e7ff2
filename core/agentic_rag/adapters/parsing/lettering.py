"""Whether a picture shows lines of letters: small marks of like height, one beside the other on a base line. Nobody
here reads them. Photographs, logos, plain charts and drawings hold few such lines or none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
from numpy.typing import NDArray

Grey = NDArray[np.uint8]
"""Rows of pixels, 0 black and 255 white."""

DOTS_AN_INCH = 110
"""At which pictures are looked at."""
_BLOCK = 32
"""Pixels of a square in which the middle grey is that of the paper: ink covers less than half of it."""
_CONTRAST, _PAPER, _LEAST_PAPER = 40, 10, 0.6
"""By how many greys ink differs from the paper at least, and paper from itself at most; and the share of what is no ink
on a line that is paper (the rest are the soft edges of letters).
"""
_MOST_RUNS = 60_000
"""Rows of ink in a picture. A page of small print has 30,000; noise, grass and gravel have more."""
_LOW, _HIGH = 4, 40
"""Pixels of a mark's height; at 110 dots an inch letters of 6 points to headings of 24."""
_WIDEST, _FULL = 12, 0.9
"""Letters may touch: a mark is at most so many times as wide as high. A wide one that is full is a bar."""
_GAP, _TALLER, _STEADY = 1.3, 2.5, 0.6
"""By the height of a mark: the space to the next one on its line; how much taller that may be; and the share of a
line's marks that stand on its base.
"""
_LETTER_WIDTH = 0.7
_LEAST_IN_LINE = 4
_LEAST_LETTERS = 30
"""Of a picture that shows words. Over 93 large pictures in 62 PDFs: scanned texts hold 800 to 1,900, charts
and diagrams with labels 43 to 470, photographs, logos and curves with a few signs up to 20.
"""
_LEAST_VARIED = 0.12
"""The spread of widths over their mean: dots, dashes and bars of a scale are alike, letters are not."""


@dataclass(slots=True)
class Mark:
    """Connected ink, in pixels; `right` and `bottom` are the first ones behind it."""

    left: int
    top: int
    right: int
    bottom: int
    ink: int

    @property
    def height(self) -> int:
        return self.bottom - self.top

    @property
    def width(self) -> int:
        return self.right - self.left


def shows_words(grey: Grey) -> bool:
    """Whether a picture, drawn at `DOTS_AN_INCH`, shows words."""
    return count_letters(grey) >= _LEAST_LETTERS


def count_letters(grey: Grey) -> int:
    """About how many letters stand in lines of a picture."""
    contrast = _contrast(grey)
    marks = [mark for mark in _marks(contrast > _CONTRAST) if _is_letter(mark)]
    return sum(_letters(line) for line in _lines(marks) if _is_text(line) and _is_on_paper(line, contrast))


def _contrast(grey: Grey) -> NDArray[np.int16]:
    """By how much each pixel differs from the paper around it."""
    height, width = grey.shape
    padded = np.pad(grey, ((0, -height % _BLOCK), (0, -width % _BLOCK)), mode="edge")
    rows, columns = padded.shape[0] // _BLOCK, padded.shape[1] // _BLOCK
    blocks = padded.reshape(rows, _BLOCK, columns, _BLOCK).swapaxes(1, 2).reshape(rows, columns, -1)
    paper = np.median(blocks, axis=2).repeat(_BLOCK, axis=0).repeat(_BLOCK, axis=1)[:height, :width]
    return np.abs(grey.astype(np.int16) - paper.astype(np.int16))


def _marks(ink: NDArray[np.bool_]) -> Sequence[Mark]:
    """Connected ink, also across corners; none where there is too much of it."""
    edges = np.diff(np.pad(ink, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    rows, starts = np.nonzero(edges == 1)
    ends = np.nonzero(edges == -1)[1]
    if len(rows) > _MOST_RUNS:
        return ()
    held: list[Mark] = []
    parents: list[int] = []
    above: list[tuple[int, int, int]] = []
    current: list[tuple[int, int, int]] = []
    at, last = 0, -1
    for row, start, end in zip(rows.tolist(), starts.tolist(), ends.tolist(), strict=True):
        if row != last:
            above, current = (current if row == last + 1 else []), []
            at, last = 0, row
        while at < len(above) and above[at][1] < start:
            at += 1
        label, beside = -1, at
        while beside < len(above) and above[beside][0] <= end:
            other = _root(parents, above[beside][2])
            label = other if label < 0 else _join(held, parents, label, other)
            beside += 1
        if label < 0:
            label = len(held)
            parents.append(label)
            held.append(Mark(start, row, end, row + 1, 0))
        mark = held[label]
        mark.left, mark.right, mark.bottom = min(mark.left, start), max(mark.right, end), row + 1
        mark.ink += end - start
        current.append((start, end, label))
    return [mark for number, mark in enumerate(held) if parents[number] == number]


def _root(parents: list[int], label: int) -> int:
    while parents[label] != label:
        parents[label] = label = parents[parents[label]]
    return label


def _join(held: list[Mark], parents: list[int], first: int, second: int) -> int:
    if first == second:
        return first
    kept, other = held[first], held[second]
    kept.left, kept.top = min(kept.left, other.left), min(kept.top, other.top)
    kept.right, kept.bottom = max(kept.right, other.right), max(kept.bottom, other.bottom)
    kept.ink += other.ink
    parents[second] = first
    return first


def _is_letter(mark: Mark) -> bool:
    if not _LOW <= mark.height <= _HIGH or mark.width > _WIDEST * mark.height:
        return False
    return mark.width <= 2 * mark.height or mark.ink < _FULL * mark.width * mark.height


def _lines(marks: Sequence[Mark]) -> Iterator[Sequence[Mark]]:
    """Marks that stand one beside the other, from left to right."""
    open_lines: list[list[Mark]] = []
    for mark in sorted(marks, key=lambda mark: mark.left):
        beside = None
        kept: list[list[Mark]] = []
        for line in open_lines:
            if mark.left - line[-1].right > _GAP * _HIGH:
                yield line
                continue
            kept.append(line)
            if _continues(line[-1], mark) and (beside is None or line[-1].right > beside[-1].right):
                beside = line
        open_lines = kept
        if beside is None:
            open_lines.append([mark])
        else:
            beside.append(mark)
    yield from open_lines


def _continues(last: Mark, mark: Mark) -> bool:
    lower, higher = sorted((last.height, mark.height))
    overlap = min(last.bottom, mark.bottom) - max(last.top, mark.top)
    gap = mark.left - last.right
    return higher <= _TALLER * lower and 2 * overlap >= lower and -lower <= gap <= _GAP * higher


def _is_text(line: Sequence[Mark]) -> bool:
    if len(line) < _LEAST_IN_LINE and _letters(line) < 2 * _LEAST_IN_LINE:
        return False
    base, height = median(mark.bottom for mark in line), median(mark.height for mark in line)
    steady = sum(abs(mark.bottom - base) <= max(1.0, 0.12 * height) for mark in line)
    widths = [mark.width for mark in line]
    varied = len(line) < _LEAST_IN_LINE or float(np.std(widths)) > _LEAST_VARIED * float(np.mean(widths))
    return steady >= _STEADY * len(line) and varied


def _is_on_paper(line: Sequence[Mark], contrast: NDArray[np.int16]) -> bool:
    """Whether what lies between the marks is of one colour, as paper is and grass is not."""
    top, bottom = min(mark.top for mark in line), max(mark.bottom for mark in line)
    around = contrast[top:bottom, line[0].left : max(mark.right for mark in line)]
    between = around[around <= _CONTRAST]
    return bool(between.size) and float(np.mean(between <= _PAPER)) >= _LEAST_PAPER


def _letters(line: Sequence[Mark]) -> int:
    height = median(mark.height for mark in line)
    return sum(max(1, round(mark.width / (_LETTER_WIDTH * height))) for mark in line)

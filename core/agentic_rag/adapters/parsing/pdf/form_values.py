"""What people filled into a PDF (form values, free text, stamps), beside the labels that stand for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agentic_rag.adapters.parsing.pdf.page_words import PageLine, Word

_REACH = 3.0
"""Points by which a label may overlap its field."""
_LINES_ABOVE = 2.0
"""Heights of a field within which a label stands above it."""


@dataclass(frozen=True, slots=True)
class FilledField:
    """A text that was filled in, and its rectangle in points."""

    text: str
    left: float
    bottom: float
    right: float
    top: float


def place_fields(lines: Sequence[PageLine], fields: Sequence[FilledField]) -> list[PageLine]:
    """The lines with every field behind the label to its left, else before the one to its right, else on a line of its
    own below what stands above it.
    """
    placed = list(lines)
    for field in sorted(fields, key=lambda one: (-one.top, one.left)):
        beside = _beside(placed, field)
        word = Word(field.text, field.left, field.right, field.bottom)
        if beside is None:
            placed.insert(_below_label(placed, field), PageLine(field.text, (word,)))
            continue
        line, at = beside
        words = [*placed[line].words[:at], word, *placed[line].words[at:]]
        placed[line] = replace(placed[line], words=words, text=" ".join(one.text for one in words))
    return placed


def _beside(lines: Sequence[PageLine], field: FilledField) -> tuple[int, int] | None:
    """The line and the word in it before which the field stands: the nearest label at its height."""
    best: tuple[float, int, int] | None = None
    for number, line in enumerate(lines):
        if not line.words or not field.bottom - _REACH <= line.base <= field.top:
            continue
        for at, word in enumerate(line.words):
            before, after = field.left - word.right, word.left - field.right
            # A label to the left counts before any to the right.
            if before >= -_REACH and (best is None or before < best[0]):
                best = before, number, at + 1
            elif after >= -_REACH and (best is None or after + 1_000 < best[0]):
                best = after + 1_000, number, at
    return None if best is None else best[1:]


def _below_label(lines: Sequence[PageLine], field: FilledField) -> int:
    """Behind the label right above the field, else behind the nearest line above it."""
    reach = field.top + _LINES_ABOVE * (field.top - field.bottom)
    above = [
        (line.base > reach or line.words[0].left > field.right or line.words[-1].right < field.left, line.base, number)
        for number, line in enumerate(lines)
        if line.words and line.base >= field.top - _REACH
    ]
    return min(above)[2] + 1 if above else len(lines)

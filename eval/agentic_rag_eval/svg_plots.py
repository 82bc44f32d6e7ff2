"""Plots as inline SVG: no script, colours from the page's style sheet, so that they follow light and dark."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _LABEL, _NOTE, _ROW, _AXIS = 760, 190, 190, 24, 26
_PLOT = _WIDTH - _LABEL - _NOTE


class Tone(enum.Enum):
    """The meaning of a mark; the style sheet assigns the colours."""

    PLAIN = "plain"
    GOOD = "good"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class PlotRow:
    """A row of a plot: a value with the ends of its bar or interval, and the text to the right of it."""

    label: str
    value: float
    low: float
    high: float
    note: str
    tone: Tone = Tone.PLAIN


def interval_plot(title: str, marks: Sequence[PlotRow], axis: tuple[float, float]) -> str:
    """A dot for each value on a line from low to high; `axis` is its range, with ticks at its quarters."""
    rows = [
        f'<line class="reach {one.tone.value}" x1="{_x(one.low, axis):.1f}" x2="{_x(one.high, axis):.1f}" '
        f'y1="{_middle(place)}" y2="{_middle(place)}"/>'
        f'<circle class="dot {one.tone.value}" cx="{_x(one.value, axis):.1f}" cy="{_middle(place)}" r="5"/>'
        for place, one in enumerate(marks)
    ]
    return _plot(title, marks, axis, rows)


def bar_plot(title: str, marks: Sequence[PlotRow]) -> str:
    """A bar from 0 to each value, extended by a thin line to its high end."""
    axis = (0.0, max((one.high for one in marks), default=0.0) or 1.0)
    rows = [
        f'<rect class="bar" x="{_LABEL}" width="{_x(one.value, axis) - _LABEL:.1f}" y="{_middle(place) - 6}" '
        f'height="12"/><line class="reach plain" x1="{_x(one.value, axis):.1f}" x2="{_x(one.high, axis):.1f}" '
        f'y1="{_middle(place)}" y2="{_middle(place)}"/>'
        for place, one in enumerate(marks)
    ]
    return _plot(title, marks, axis, rows)


def _plot(title: str, marks: Sequence[PlotRow], axis: tuple[float, float], rows: Sequence[str]) -> str:
    bottom = _ROW * len(marks)
    ticks = [axis[0] + (axis[1] - axis[0]) * quarter / 4 for quarter in range(5)]
    lines = [
        f'<line class="{"zero" if tick == 0 else "tick"}" x1="{_x(tick, axis):.1f}" x2="{_x(tick, axis):.1f}" y1="0" '
        f'y2="{bottom}"/><text class="axis" x="{_x(tick, axis):.1f}" y="{bottom + 17}">{tick:.3g}</text>'
        for tick in ticks
    ]
    texts = [
        f'<text class="label" x="{_LABEL - 10}" y="{_middle(place) + 4}">{escape(one.label)}</text>'
        f'<text class="note" x="{_LABEL + _PLOT + 14}" y="{_middle(place) + 4}">{escape(one.note)}</text>'
        for place, one in enumerate(marks)
    ]
    return (
        f'<svg role="img" viewBox="0 0 {_WIDTH} {bottom + _AXIS}"><title>{escape(title)}</title>'
        f"{''.join(lines)}{''.join(rows)}{''.join(texts)}</svg>"
    )


def _x(value: float, axis: tuple[float, float]) -> float:
    share = (value - axis[0]) / (axis[1] - axis[0])
    return _LABEL + _PLOT * min(1.0, max(0.0, share))


def _middle(place: int) -> int:
    return _ROW * place + _ROW // 2

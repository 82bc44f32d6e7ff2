"""A report as one self-contained HTML page: plots, tables, and each failed question with the commands that show and
repeat it. The plots are inline SVG without a script; their colours come from the style sheet, so that they follow light
and dark.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil

from agentic_rag.kernel.formatting import format_count
from agentic_rag_eval.metrics import HIGHER_IS_WORSE
from agentic_rag_eval.resampling import Interval, format_change, interval_of
from agentic_rag_eval.stored_report import StoredDifference, StoredQuestion, StoredReport

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


_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #5b6672; --line: #d7dce2; --ground: #ffffff; --panel: #f5f7f9;
  --accent: #0b62a8; --good: #1a7a3c; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --soft: #9aa5b1; --line: #3a424b; --ground: #14181c;
  --panel: #1d2329; --accent: #6cb6f5; --good: #6fcf8e; --bad: #ff8a80; } }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem; background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; } h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; }
p, dd { margin: .3rem 0; } .soft, dt { color: var(--soft); }
svg { width: 100%; height: auto; max-width: 52rem; display: block; }
svg text { font-size: 12.5px; fill: var(--ink); } svg .label { text-anchor: end; }
svg .axis { text-anchor: middle; fill: var(--soft); } svg .note { fill: var(--soft); }
.tick { stroke: var(--line); } .zero { stroke: var(--soft); } .bar { fill: var(--accent); opacity: .75; }
.reach { stroke-width: 2.5; stroke: var(--accent); } .dot { fill: var(--accent); }
.reach.good { stroke: var(--good); } .dot.good { fill: var(--good); }
.reach.bad { stroke: var(--bad); } .dot.bad { fill: var(--bad); }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: .92rem; }
th, td { text-align: right; padding: .25rem .7rem; border-bottom: 1px solid var(--line); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } thead th { color: var(--soft); font-weight: 600; }
details { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: .5rem .8rem;
  margin: .5rem 0; } summary { cursor: pointer; }
.outcome { font-size: .8rem; border: 1px solid var(--line); border-radius: 4px; padding: 0 .35rem; color: var(--soft); }
dl { display: grid; grid-template-columns: 8rem 1fr; gap: .15rem .8rem; margin: .6rem 0; } dd { min-width: 0; }
code, pre { font: .85rem/1.5 ui-monospace, monospace; } pre { margin: .3rem 0; white-space: pre-wrap;
  overflow-wrap: anywhere; } @media (max-width: 40rem) { dl { grid-template-columns: 1fr; } body { padding: 1rem; } }
"""


def page(report: StoredReport) -> str:
    """The whole page."""
    title = f"Evaluation of {report.dataset}" if report.dataset else "Evaluation"
    body = [_head(title, report), _figures(report), _types(report), _arms(report), _changes(report), _latency(report)]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>\n"
        f"{''.join(body)}{_failing(report)}</body></html>\n"
    )


def _head(title: str, report: StoredReport) -> str:
    summary, right = report.summary, len(report.questions) - len(report.wrong)
    lines = [
        f"{format_count(len(report.questions), 'question')}, {right} of them answered as wanted; K is {summary.k}."
    ]
    if summary.usage is not None:
        price = "price not known" if summary.usage.usd is None else f"{summary.usage.usd:.6f} USD by list price"
        lines.append(f"About {format_count(summary.usage.tokens, 'token')} embedded to search: {price}.")
    lines.append("Shares are in percent with 95 % bootstrap intervals over questions.")
    return f'<h1>{escape(title)}</h1><p class="soft">{escape(" ".join(lines))}</p>'


def _figures(report: StoredReport) -> str:
    marks = [_share(name, found) for name, found in report.summary.figures.items()]
    return _section("Figures", interval_plot("Figures with intervals", marks, (0.0, 100.0)))


def _types(report: StoredReport) -> str:
    if len(report.summary.by_type) < 2:
        return ""
    marks: list[PlotRow] = []
    for kind in report.summary.by_type:
        found = interval_of([float(one.right) for one in report.questions if one.kind == kind])
        if found is not None:
            marks.append(_share(kind, found))
    names = list(dict.fromkeys(name for figures in report.summary.by_type.values() for name in figures))
    rows = [
        [name, *(_cell(figures.get(name)) for figures in report.summary.by_type.values())]
        for name in names
    ]  # fmt: skip
    return _section(
        "By type",
        "<p>Answered as wanted:</p>",
        interval_plot("Answered as wanted, by type", marks, (0.0, 100.0)),
        _table(["figure", *report.summary.by_type], rows),
    )


def _arms(report: StoredReport) -> str:
    if not report.ablations:
        return ""
    parts = ["<p>All arms against all but one, on the same questions; right of 0 the arm helps.</p>"]
    added = {arm: _differences(figures) for arm, figures in report.ablations.items()}
    reach = _reach([mark for marks in added.values() for mark in marks])
    for arm, every in added.items():
        marks = [one for one in every if one.low or one.high]
        shown = interval_plot(f"What the {arm} arm adds", marks, (-reach, reach)) if marks else "<p>Nothing.</p>"
        parts.append(f"<h3>{escape(arm)}</h3>{shown}")
    return _section("What each arm adds", *parts)


def _changes(report: StoredReport) -> str:
    if not report.comparison.figures:
        return ""
    marks = _differences(report.comparison.figures)
    reach = _reach(marks)
    return _section("Against the baseline", interval_plot("Changes", marks, (-reach, reach)))


def _latency(report: StoredReport) -> str:
    marks = [
        PlotRow(name, 1000 * p50, 0.0, 1000 * p95, f"{1000 * p50:.1f} / {1000 * p95:.1f} ms")
        for name, (p50, p95) in report.latency.items()
    ]
    return _section("Latency, p50 / p95", bar_plot("Milliseconds by stage", marks))


def _failing(report: StoredReport) -> str:
    wrong = report.wrong
    if not wrong:
        return _section("Not as wanted", "<p>None.</p>")
    return _section(f"Not as wanted ({len(wrong)})", *map(_failure_details, wrong))


def _failure_details(one: StoredQuestion) -> str:
    commands = [f"rag run show {one.run_id}", f"rag run replay {one.run_id}"] if one.run_id else []
    rows = [
        ("wanted", "; ".join(one.wanted) or "an abstention"),
        ("answer", one.answer or "–"),
        ("gold", ", ".join(one.gold) or "–"),
        ("cited", ", ".join(dict.fromkeys(one.cited)) or "–"),
        ("figures", ", ".join(f"{name} {value:.2f}" for name, value in one.figures.items())),
        ("took", f"{1000 * one.seconds:.0f} ms"),
    ]
    listed = "".join(f"<dt>{name}</dt><dd>{escape(value)}</dd>" for name, value in rows)
    return (
        f"<details><summary>{escape(one.question)} "
        f'<span class="outcome">{escape(one.outcome)}</span> <span class="soft">{escape(one.question_id)}, '
        f"{escape(one.kind)}</span></summary><dl>{listed}</dl>"
        f"<pre>{escape(chr(10).join(commands))}</pre></details>"
    )


def _section(title: str, *parts: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{''.join(parts)}</section>\n"


def _table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(one)}</th>" for one in headers)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _cell(found: Interval | None) -> str:
    return "–" if found is None else f"{100 * found.mean:.1f} [{100 * found.low:.0f}, {100 * found.high:.0f}]"


def _share(name: str, found: Interval) -> PlotRow:
    return PlotRow(name, 100 * found.mean, 100 * found.low, 100 * found.high, f"{_cell(found)} of {found.questions}")


def _differences(found: Mapping[str, StoredDifference]) -> list[PlotRow]:
    changes = [(name, one.difference) for name, one in found.items()]
    return [
        PlotRow(name, 100 * one.mean, 100 * one.low, 100 * one.high, format_change(one), _tone(name, one))
        for name, one in changes
    ]


def _reach(marks: Sequence[PlotRow]) -> float:
    """The upper end of an axis from 0, in whole tens so that its ticks are round."""
    return 10.0 * max([1, *(ceil(max(abs(one.low), abs(one.high)) / 10) for one in marks)])


def _tone(name: str, one: Interval) -> Tone:
    if one.low <= 0 <= one.high:
        return Tone.PLAIN
    return Tone.GOOD if (one.low > 0) != (name in HIGHER_IS_WORSE) else Tone.BAD

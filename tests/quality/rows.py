"""Rows of the quality table: means with their intervals, and differences on the same questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from agentic_rag_eval.resampling import PairedDifference, compare_pairs, interval_of
from tests.bench.reports import Row


def at_least(name: str, values: Sequence[float], must: float) -> Row:
    row = share(name, values)
    return replace(row, must=f"≥ {must:g}", ok=row.ok and 100 * fmean(values) >= must)


def at_most(name: str, values: Sequence[float], must: float) -> Row:
    row = share(name, values)
    return replace(row, must=f"≤ {must:g}", ok=row.ok and 100 * fmean(values) <= must)


def share(name: str, values: Sequence[float]) -> Row:
    """No verdict: the mean in percent with its interval."""
    found = interval_of(values)
    if found is None:
        return Row(name, "no question", "reported", ok=False)
    shown = f"{100 * found.mean:.1f} [{100 * found.low:.0f}, {100 * found.high:.0f}]"
    return Row(name, shown, "reported", ok=True)


LARGEST_LOSS = 0.02
"""A larger loss is a loss even where few questions leave the interval wide enough to hold zero."""


def not_below(name: str, values: Sequence[float], other: Sequence[float]) -> Row:
    """Misses when the interval of the difference lies below zero, or its mean by more than `LARGEST_LOSS`."""
    compared = compare_pairs(other, values)
    if compared is None:
        return Row(name, "no question", "not below", ok=False)
    found = compared.difference
    ok = found.high >= 0 and found.mean >= -LARGEST_LOSS
    return Row(name, f"{100 * fmean(values):.1f} ({_shown(compared)})", "not below", ok)


def above(name: str, values: Sequence[float], other: Sequence[float]) -> Row:
    compared = compare_pairs(other, values)
    if compared is None:
        return Row(name, "no question", "> 0", ok=False)
    return Row(name, _shown(compared), "> 0", compared.difference.low > 0)


def _shown(compared: PairedDifference) -> str:
    found = compared.difference
    return f"{100 * found.mean:+.1f} [{100 * found.low:.1f}, {100 * found.high:.1f}]"


def reported(name: str, values: Sequence[float], other: Sequence[float]) -> Row:
    """No verdict: what `values` have over `other`, on the same questions."""
    compared = compare_pairs(other, values)
    return Row(name, "no question" if compared is None else _shown(compared), "reported", ok=compared is not None)


def without_verdict(row: Row) -> Row:
    """Its must is for another embedder."""
    return replace(row, must="reported", ok=True)

"""Compares two reports over the same questions and tests the differences for significance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.formatting import format_count
from agentic_rag_eval.metrics import HIGHER_IS_WORSE
from agentic_rag_eval.resampling import PairedDifference, compare_pairs
from agentic_rag_eval.stored_report import read_report_file

ReportFigures = Mapping[str, Mapping[str, float]]
"""The figures of a report's questions, by question id."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The second report against the first, figure by figure; only questions that have the figure in both count."""

    differences: Mapping[str, PairedDifference]
    only_first: int
    only_second: int
    """`only_first` and `only_second` count the questions that the other report lacks."""

    @property
    def losses(self) -> tuple[str, ...]:
        """The figures in which the second report is significantly worse."""
        return tuple(name for name, one in self.differences.items() if _is_worse(name, one))


def read_report(path: Path) -> ReportFigures:
    """A report as `rag eval --json` printed it. Errors: those of `read_report_file`."""
    return read_report_file(path, read_figures)


def read_figures(report: Mapping[str, Any]) -> ReportFigures:
    """The figures of a report's JSON. Errors: `KeyError`, `TypeError`, `ValueError` for malformed input."""
    return {
        str(one["id"]): {str(name): float(value) for name, value in one["figures"].items()}
        for one in report["questions"]
    }


def compare(first: ReportFigures, second: ReportFigures) -> Comparison:
    """Pair the questions of two reports. Errors: `InvalidInput` code REPORTS_DISJOINT when they share none."""
    shared = [one for one in first if one in second]
    if not shared:
        raise InvalidInput("The two reports have no question in common.", code="REPORTS_DISJOINT")
    names = dict.fromkeys(name for one in shared for name in first[one] if name in second[one])
    differences: dict[str, PairedDifference] = {}
    for name in names:
        both = [one for one in shared if name in first[one] and name in second[one]]
        found = compare_pairs([first[one][name] for one in both], [second[one][name] for one in both])
        if found is not None:
            differences[name] = found
    return Comparison(differences, len(first) - len(shared), len(second) - len(shared))


def as_json(comparison: Comparison) -> dict[str, Any]:
    """The comparison as plain JSON values."""
    return {
        "figures": {name: asdict(one) for name, one in comparison.differences.items()},
        "losses": list(comparison.losses),
        "onlyFirst": comparison.only_first,
        "onlySecond": comparison.only_second,
    }


def as_table(comparison: Comparison) -> str:
    """The comparison as lines for a terminal, in points of a hundred."""
    lines = [f"  {'figure':<24}{'change':>8}   95 % interval        p   better   worse   questions"]
    for name, one in comparison.differences.items():
        interval = f"{100 * one.difference.low:+6.1f} – {100 * one.difference.high:+6.1f}"
        verdict = "  LOSS" if _is_worse(name, one) else "  gain" if one.is_gain or one.is_loss else ""
        better, worse = (one.losses, one.wins) if name in HIGHER_IS_WORSE else (one.wins, one.losses)
        lines.append(
            f"  {name:<24}{100 * one.difference.mean:>+8.1f} {interval:>17}{one.p_value:>9.4f}"
            f"{better:>9}{worse:>8}{one.difference.questions:>12}{verdict}"
        )
    if comparison.only_first or comparison.only_second:
        lines.append(
            f"  not compared: {format_count(comparison.only_first, 'question')} of the first report alone, "
            f"{comparison.only_second} of the second"
        )
    return "\n".join(lines)


def _is_worse(name: str, one: PairedDifference) -> bool:
    return one.is_gain if name in HIGHER_IS_WORSE else one.is_loss

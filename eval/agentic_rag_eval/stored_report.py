"""A report of `rag eval --json` as typed values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag_eval.resampling import Interval


@dataclass(frozen=True, slots=True)
class StoredQuestion:
    """One question with its answer and figures. Seconds are wall time."""

    question_id: str
    kind: str
    question: str
    outcome: str
    right: bool
    figures: Mapping[str, float]
    answer: str
    wanted: tuple[str, ...]
    gold: tuple[str, ...]
    cited: tuple[str, ...]
    run_id: str
    seconds: float


@dataclass(frozen=True, slots=True)
class StoredReport:
    """Figures are shares with their intervals, latency is (p50, p95) in seconds by stage."""

    dataset: str
    k: int
    figures: Mapping[str, Interval]
    by_type: Mapping[str, Mapping[str, Interval]]
    latency: Mapping[str, tuple[float, float]]
    tokens: int | None
    usd: float | None
    added: Mapping[str, Mapping[str, Interval]]
    """Arm → figure → what the arm adds; empty without `--ablate`."""
    changed: Mapping[str, Interval]
    """Figure → change against the report given as `--gate`; empty without one."""
    questions: tuple[StoredQuestion, ...]

    @property
    def wrong(self) -> tuple[StoredQuestion, ...]:
        """The questions without a right answer."""
        return tuple(one for one in self.questions if not one.right)


def load_report(path: Path) -> StoredReport:
    """Read a report file. Errors: `InvalidInput` codes REPORT_MISSING, REPORT_INVALID."""
    if not path.is_file():
        raise InvalidInput(f"There is no report at {path}: `rag eval --json` prints one.", code="REPORT_MISSING")
    try:
        return parse_report(json.loads(path.read_bytes()))
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise InvalidInput(f"{path} is no report of `rag eval --json` ({problem}).", code="REPORT_INVALID") from problem


def parse_report(report: Mapping[str, Any]) -> StoredReport:
    """Read the plain JSON values. Errors: `KeyError`, `TypeError`, `ValueError`, `AttributeError` for malformed
    input.
    """
    summary = report["summary"]
    usage = summary.get("usage") or {}
    return StoredReport(
        dataset=str(report.get("dataset", "")),
        k=int(summary["k"]),
        figures=_intervals(summary["figures"]),
        by_type={str(kind): _intervals(figures) for kind, figures in summary["byType"].items()},
        latency={str(name): (float(one["p50"]), float(one["p95"])) for name, one in summary["latency"].items()},
        tokens=usage.get("tokens"),
        usd=usage.get("usd"),
        added={str(arm): _differences(found) for arm, found in report.get("ablations", {}).items()},
        changed=_differences(report.get("comparison", {}).get("figures", {})),
        questions=tuple(_question(one) for one in report["questions"]),
    )


def _intervals(figures: Mapping[str, Mapping[str, Any]]) -> dict[str, Interval]:
    return {
        str(name): Interval(float(one["mean"]), float(one["low"]), float(one["high"]), int(one["questions"]))
        for name, one in figures.items()
    }


def _differences(figures: Mapping[str, Mapping[str, Any]]) -> dict[str, Interval]:
    return _intervals({name: one["difference"] for name, one in figures.items()})


def _question(one: Mapping[str, Any]) -> StoredQuestion:
    return StoredQuestion(
        question_id=str(one["id"]),
        kind=str(one["type"]),
        question=str(one["question"]),
        outcome=str(one["outcome"]),
        right=bool(one["right"]),
        figures={str(name): float(value) for name, value in one["figures"].items()},
        answer=str(one["answer"]),
        wanted=tuple(map(str, one.get("wanted", ()))),
        gold=tuple(map(str, one.get("gold", ()))),
        cited=tuple(map(str, one["cited"])),
        run_id=str(one.get("runId", "")),
        seconds=float(one["seconds"]),
    )

"""A report of `rag eval --json` as typed values."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag_eval.records import EmbeddingUsage
from agentic_rag_eval.resampling import Interval

T = TypeVar("T")


class StoredQuestion(
    msgspec.Struct, frozen=True, kw_only=True, rename={"question_id": "id", "kind": "type", "run_id": "runId"}
):
    """One question with its answer and figures. Seconds are wall time."""

    question_id: str
    kind: str
    question: str
    outcome: str
    right: bool
    figures: dict[str, float]
    answer: str
    wanted: tuple[str, ...] = ()
    gold: tuple[str, ...] = ()
    cited: tuple[str, ...]
    run_id: str = ""
    seconds: float


class StoredDifference(msgspec.Struct, frozen=True):
    """A figure's difference between two runs over the same questions."""

    difference: Interval


class Latency(msgspec.Struct, frozen=True):
    """Seconds of a stage."""

    p50: float
    p95: float


class StoredSummary(msgspec.Struct, frozen=True, rename="camel"):
    """Figures are shares with their intervals."""

    k: int
    figures: dict[str, Interval]
    by_type: dict[str, dict[str, Interval]]
    latency: dict[str, Latency]
    usage: EmbeddingUsage | None = None


class StoredComparison(msgspec.Struct, frozen=True):
    """Figure → change against the report given as `--gate`."""

    figures: dict[str, StoredDifference] = {}


class StoredReport(msgspec.Struct, frozen=True):
    """A report; fields that it does not show are left out."""

    summary: StoredSummary
    questions: tuple[StoredQuestion, ...]
    dataset: str = ""
    ablations: dict[str, dict[str, StoredDifference]] = {}
    """Arm → figure → what the arm adds; empty without `--ablate`."""
    comparison: StoredComparison = StoredComparison()

    @property
    def wrong(self) -> tuple[StoredQuestion, ...]:
        """The questions without a right answer."""
        return tuple(one for one in self.questions if not one.right)

    @property
    def latency(self) -> dict[str, tuple[float, float]]:
        """p50 and p95 in seconds by stage."""
        return {stage: (one.p50, one.p95) for stage, one in self.summary.latency.items()}


def load_report(path: Path) -> StoredReport:
    """Read a report file. Errors: those of `read_report_file`."""
    return read_report_file(path, parse_report)


def parse_report(report: Mapping[str, Any]) -> StoredReport:
    """Read the plain JSON values. Errors: `msgspec.ValidationError` for malformed input."""
    return msgspec.convert(report, StoredReport)


def read_report_file(path: Path, parse: Callable[[Any], T]) -> T:
    """What `parse` makes of a file's JSON. Errors: `InvalidInput` codes REPORT_MISSING, REPORT_INVALID."""
    if not path.is_file():
        raise InvalidInput(f"There is no report at {path}: `rag eval --json` prints one.", code="REPORT_MISSING")
    try:
        return parse(json.loads(path.read_bytes()))
    except (ValueError, KeyError, TypeError, AttributeError, msgspec.ValidationError) as problem:
        raise InvalidInput(
            f"{path} is not a report of `rag eval --json` ({problem}).", code="REPORT_INVALID"
        ) from problem

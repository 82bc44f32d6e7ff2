"""Formats a measured recall."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentic_rag.kernel.formatting import format_count

_NAMES = {
    "space": "space", "passages": "passages", "questions": "questions", "recall": "recall",
    "recall_at_10": "recallAt10", "exact_ms": "exactMs", "searched_ms": "searchedMs",
}  # fmt: skip


def recall_json(report: Mapping[str, Any]) -> dict[str, Any]:
    """A measurement of the API, with the names that scripts know."""
    return {name: report[field] for name, field in _NAMES.items()}


def recall_line(report: Mapping[str, Any]) -> str:
    """One line for people."""
    questions, passages = format_count(report["questions"], "question"), format_count(report["passages"], "passage")
    return (
        f"{report['space']}: recall {report['recall']:.4f} (at 10: {report['recallAt10']:.4f}) over {questions} "
        f"and {passages}; exact {report['exactMs']:.1f} ms, as served "
        f"{report['searchedMs']:.1f} ms"
    )

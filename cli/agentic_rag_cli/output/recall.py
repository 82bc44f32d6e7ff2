"""Formats a measured recall."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentic_rag.kernel.formatting import format_count

if TYPE_CHECKING:
    from agentic_rag.retrieval.measure_recall import RecallReport


def recall_line(report: RecallReport) -> str:
    """One line for people."""
    questions, passages = format_count(report.questions, "question"), format_count(report.passages, "passage")
    return (
        f"{report.space}: recall {report.recall:.4f} (at 10: {report.recall_at_10:.4f}) over {questions} "
        f"and {passages}; exact {report.exact_ms:.1f} ms, as served "
        f"{report.searched_ms:.1f} ms"
    )

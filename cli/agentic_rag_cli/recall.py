"""How a measured recall is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentic_rag.app.recall_check import RecallReport


def recall_line(report: RecallReport) -> str:
    """One line for people."""
    return (
        f"{report.space}: recall {report.recall:.4f} (at 10: {report.recall_at_10:.4f}) over {report.questions} "
        f"questions and {report.passages} passages; exact {report.exact_ms:.1f} ms, as served "
        f"{report.searched_ms:.1f} ms"
    )

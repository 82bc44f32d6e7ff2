"""The threshold of support that a workspace calibrated for questions like the one at hand."""

from __future__ import annotations

from collections.abc import Sequence

from agentic_rag.answering.query.planner import detect_answer_type
from agentic_rag.answering.shapes.question_kind import question_kind


def kind_name(question: str) -> str:
    """The kind by which a question is calibrated and answered."""
    return question_kind(question, detect_answer_type(question)).value


def threshold_for(question: str, pooled: float | None, kinds: Sequence[tuple[str, float]]) -> float | None:
    """The line of the question's kind, else the pooled one."""
    return dict(kinds).get(kind_name(question), pooled) if kinds else pooled

"""Grades of a chat model as figures of an answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from agentic_rag.answering.prompts.grade import Grade, GradeLevel
from agentic_rag.models.chat.request import LlmError
from agentic_rag_eval.records import AskRecord, EvalQuestion

Judge = Callable[[EvalQuestion, AskRecord], Awaitable[Grade | LlmError]]
"""Grades one answer; a failed model call is returned, not raised."""

_SHARE = {GradeLevel.FULL: 1.0, GradeLevel.PART: 0.5, GradeLevel.NONE: 0.0}


def figures_of(question: EvalQuestion, grade: Grade) -> dict[str, float]:
    """`judge_grounded`, and `judge_correct` where the dataset has an answer: 1, 0.5 or 0."""
    figures = {"judge_grounded": _SHARE[grade.grounded]}
    return {"judge_correct": _SHARE[grade.correct], **figures} if question.answers else figures

"""Completes a sub-question with the findings of earlier ones."""

from __future__ import annotations

from collections.abc import Sequence

from agentic_rag.answering.plan import SubQuestion
from agentic_rag.answering.query.planner import FINDING_PLACEHOLDER
from agentic_rag.kernel.text import fold_text


def has_placeholder(part: SubQuestion) -> bool:
    """True for a sub-question that means nothing without the finding of another."""
    return FINDING_PLACEHOLDER in part.text


def mask_placeholder(part: SubQuestion) -> str:
    """A sub-question as text for people, where its finding is missing."""
    return part.text.replace(FINDING_PLACEHOLDER, "what the first part asks for")


def fill_placeholder(part: SubQuestion, findings: Sequence[str]) -> str:
    """A dependent sub-question completed with the names that earlier ones found."""
    names = ", ".join(findings)
    if FINDING_PLACEHOLDER in part.text:
        return fold_text(part.text.replace(FINDING_PLACEHOLDER, names))
    return f"{part.text.rstrip(' ?')} ({names})?" if names else part.text

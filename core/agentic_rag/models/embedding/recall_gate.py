"""The quality gate of an embedding switch: recall on a data set must not fall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from agentic_rag.kernel.errors import InvalidInput

DEFAULT_K = 8
"""The default number of passages per answer (AGENTIC_RAG_TOPK)."""

MAX_K = 50
MAX_QUESTIONS = 1_000
MAX_CHARACTERS = 1_000_000
"""Limit on all questions and gold ids together, since the gate is stored with the space until its switch has ended."""


@dataclass(frozen=True, slots=True)
class RecallQuestion:
    """A question and its gold documents, each by source path or id."""

    question: str
    gold: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecallGate:
    """The gate's requirement: a switch may lower the mean recall@k over the questions by at most `tolerance`."""

    questions: tuple[RecallQuestion, ...]
    k: int = DEFAULT_K
    tolerance: float = 0.0


@dataclass(frozen=True, slots=True)
class RecallComparison:
    """Mean recall@k in the active space and in the target space of the switch."""

    k: int
    questions: int
    before: float
    after: float
    passed: bool


def build_recall_gate(questions: Sequence[RecallQuestion], k: int = DEFAULT_K, tolerance: float = 0.0) -> RecallGate:
    """A gate over the questions with gold documents. Errors: `InvalidInput` code GATE_INVALID."""
    judged = tuple(one for one in questions if one.gold and one.question.strip())
    size = sum(len(one.question) + sum(map(len, one.gold)) for one in judged)
    if not judged:
        raise _invalid("holds no question with gold documents")
    if len(judged) > MAX_QUESTIONS or size > MAX_CHARACTERS:
        raise _invalid(f"is larger than {MAX_QUESTIONS:,} questions or {MAX_CHARACTERS:,} characters")
    if not 1 <= k <= MAX_K or not 0.0 <= tolerance <= 1.0:
        raise _invalid(f"takes k from 1 to {MAX_K} and a tolerance from 0 to 1")
    return RecallGate(judged, k, tolerance)


def recall_at_k(found: Sequence[frozenset[str]], gold: Sequence[str], k: int) -> float:
    """The share of gold documents among the first k distinct documents found. Each found document is the set of its
    names (source path, ids).
    """
    distinct = list(dict.fromkeys(found))[:k]
    return sum(any(name in document for document in distinct) for name in gold) / len(gold)


def compare_recall(gate: RecallGate, before: Sequence[float], after: Sequence[float]) -> RecallComparison:
    """Compare recalls given in the same question order. Equal means pass despite rounding errors."""
    mean_before, mean_after = round(fmean(before), 6), round(fmean(after), 6)
    return RecallComparison(
        gate.k, len(before), mean_before, mean_after, mean_after >= round(mean_before - gate.tolerance, 6)
    )


def _invalid(what: str) -> InvalidInput:
    return InvalidInput(f"The gate's data set {what}.", code="GATE_INVALID", path=("gate",))

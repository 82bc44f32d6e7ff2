"""What the harness knows of one question and of one answer, however it was asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EvalQuestion:
    """A line of a dataset. No gold ids means: the corpus cannot answer it (or a tool must, when answers are given)."""

    question_id: str
    question: str
    answers: tuple[str, ...]
    gold_ids: tuple[str, ...]
    kind: str
    without: tuple[str, ...] = ()
    """Documents that the question is asked without: those that answer it, when an abstention is wanted."""

    @property
    def answerable(self) -> bool:
        """False for questions whose right outcome is an abstention."""
        return bool(self.answers)


@dataclass(frozen=True, slots=True)
class EvalDocument:
    """A line of a corpus. Questions name it by its id, which is its source path once it is ingested."""

    document_id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class CitedSpan:
    """A citation as far as scoring needs it."""

    source_path: str
    snippet: str
    verified: bool


@dataclass(frozen=True, slots=True)
class AskRecord:
    """One answer: the same record from the use case in process and from GraphQL over HTTP.

    `retrieved` are the source paths of the fused candidates, best first, each once. Seconds are wall time.
    """

    answer: str
    outcome: str
    citations: tuple[CitedSpan, ...]
    retrieved: tuple[str, ...]
    citation_coverage: float
    seconds: float
    stage_seconds: Mapping[str, float]


Ask = Callable[[str], Awaitable[AskRecord]]
"""Asks one question. Errors propagate: a failed run is not a wrong answer."""

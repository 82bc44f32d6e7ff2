"""Evaluations that a worker runs: their questions, scores and progress."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from agentic_rag.answering.question import MAX_QUESTION_CHARACTERS
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.tenancy.principals import WorkspaceRef

MAX_QUESTIONS = 10_000
"""Limit of one evaluation. At a tenth of a second per question, that takes a quarter of an hour; a job may take
a day.
"""

MAX_NAME_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class EvalQuestion:
    """A line of a dataset. Without answers and gold ids, the corpus cannot answer it. With gold ids only, retrieval and
    citations are judged. With answers only, a tool must supply the answer.
    """

    question_id: str
    question: str
    answers: tuple[str, ...]
    gold_ids: tuple[str, ...]
    kind: str
    without: tuple[str, ...] = ()
    """Documents hidden from the question. To test abstention, these are the documents that answer it."""
    gold_spans: tuple[tuple[int, int], ...] = ()
    """Where the one gold document states the answer: code points [start, end) of its stored text."""

    @property
    def answerable(self) -> bool:
        """False for questions that should be abstained from."""
        return bool(self.answers or self.gold_ids)


@dataclass(frozen=True, slots=True)
class EvalDataset:
    """The questions of a dataset and the name used in reports."""

    name: str
    questions: tuple[EvalQuestion, ...]


@dataclass(frozen=True, slots=True)
class EvalScore:
    """The result of one question. It contains no text of the corpus: that is in the stored run, where an
    erasure clears it.
    """

    outcome: str
    abstained: bool
    figures: Mapping[str, float]
    cited: tuple[str, ...]
    """Source paths."""
    run_id: str
    """The public id of the stored run."""
    seconds: float
    stage_seconds: Mapping[str, float] = field(default_factory=dict[str, float])
    tokens: int | None = None
    """Estimated tokens sent to the embedder; None if unknown."""
    usd: float | None = None
    unjudged: str | None = None
    """The error that prevented judging."""


@dataclass(frozen=True, slots=True)
class EvalRun:
    """An evaluation; it shares its id with the job that runs it. `report` is the JSON text that `rag eval --json`
    prints, or None until the job is done.
    """

    workspace: WorkspaceRef
    job_id: UUID
    dataset: EvalDataset
    k: int
    """The number of passages per answer: the K in the report's figures."""
    answered: int
    report: str | None
    created_at: datetime


def validate_dataset(asked: EvalDataset) -> EvalDataset:
    """Returns the dataset if an evaluation can run it. Errors: `InvalidInput` code DATASET_INVALID."""
    if not asked.name.strip() or len(asked.name) > MAX_NAME_CHARACTERS:
        raise _invalid(f"Name the dataset with 1 to {MAX_NAME_CHARACTERS} characters.")
    if not 0 < len(asked.questions) <= MAX_QUESTIONS:
        raise _invalid(f"An evaluation takes 1 to {MAX_QUESTIONS} questions; these are {len(asked.questions)}.")
    for one in asked.questions:
        _check(one)
    return asked


def fingerprint(questions: Sequence[EvalQuestion], k: int) -> str:
    """Equal for equal questions and equal k. Only one evaluation per fingerprint runs at a time."""
    return hashlib.sha256(repr((k, tuple(questions))).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class EvalFigure:
    """A mean over questions (0 to 1) with its 95 % interval."""

    mean: float
    low: float
    high: float
    questions: int


def read_figures(report: str) -> dict[str, EvalFigure]:
    """The figures of a report over all questions, by name."""
    return {name: EvalFigure(**values) for name, values in json.loads(report)["summary"]["figures"].items()}


def _check(one: EvalQuestion) -> None:
    if not one.question_id or not one.question.strip() or len(one.question) > MAX_QUESTION_CHARACTERS:
        raise _invalid(f"Question {one.question_id!r} needs an id, and 1 to {MAX_QUESTION_CHARACTERS} characters.")
    if any("\0" in text for text in (one.question_id, one.question, one.kind, *one.answers, *one.gold_ids)):
        raise _invalid(f"Question {one.question_id!r} holds a NUL character, which no database holds.")
    if one.gold_spans and len(one.gold_ids) != 1:
        raise _invalid(f"The gold spans of {one.question_id!r} are places in one document; it has {len(one.gold_ids)}.")
    if any(not 0 <= start < end for start, end in one.gold_spans):
        raise _invalid(f"A gold span of {one.question_id!r} is not [start, end), characters from 0, and not empty.")


def _invalid(message: str) -> InvalidInput:
    return InvalidInput(message, code="DATASET_INVALID")

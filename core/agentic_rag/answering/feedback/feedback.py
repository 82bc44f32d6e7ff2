"""What a caller says of a run: codes and ids only, no text of his own."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from agentic_rag.answering.run import Run

MAX_CHUNKS = 100
"""Of one feedback. A request may ask for at most 50 passages, and an answer cites few beside them."""


class Rating(enum.Enum):
    """Whether the answer helped."""

    GOOD = "GOOD"
    BAD = "BAD"


class FeedbackReason(enum.Enum):
    """What is wrong with an answer."""

    WRONG = "WRONG"
    """It states what is not so."""
    INCOMPLETE = "INCOMPLETE"
    OUTDATED = "OUTDATED"
    OFF_TOPIC = "OFF_TOPIC"
    WRONG_SOURCE = "WRONG_SOURCE"
    """It cites what does not establish it."""
    NO_ANSWER = "NO_ANSWER"
    """It abstains although the documents hold the answer."""
    OTHER = "OTHER"


class TaskOutcome(enum.Enum):
    """How the task ended that the answer was for."""

    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    ABANDONED = "ABANDONED"


@dataclass(frozen=True, slots=True)
class Feedback:
    """What one caller says of one run; a later one of the same caller takes its place."""

    run_id: UUID
    subject: str
    given_at: datetime
    rating: Rating
    reason: FeedbackReason | None = None
    task_outcome: TaskOutcome | None = None
    chunk_ids: tuple[UUID, ...] = ()
    """The surfaced chunks that were of use, in the order in which they were surfaced."""
    precision: float | None = None
    """The share of the surfaced chunks that were of use (precision@k; k is their number); None where the caller names
    none.
    """


def surfaced_chunks(run: Run) -> tuple[UUID, ...]:
    """The chunks that a run handed to synthesis, best first, and those that it cites beside them."""
    answer = run.answer
    handed = [one.chunk_id for one in answer.debug.candidates if one.dropped_because is None]
    nearest = () if answer.abstention is None else answer.abstention.nearest
    cited = [one.chunk_id for one in (*answer.citations, *nearest)]
    return tuple(dict.fromkeys([*handed, *cited]))


def precision_at_k(surfaced: Sequence[UUID], useful: Iterable[UUID]) -> float | None:
    """The share of the surfaced chunks that were of use; None without any surfaced or named."""
    named = frozenset(useful)
    if not named or not surfaced:
        return None
    return sum(one in named for one in surfaced) / len(surfaced)

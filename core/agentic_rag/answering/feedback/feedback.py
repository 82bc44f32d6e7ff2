"""What a caller says of a run: codes and ids only, no text of his own."""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from uuid import UUID

from agentic_rag.answering.run import Run

_DIGITS = 6
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


class FeedbackKind(enum.Enum):
    """How it is known what a caller thinks of a run."""

    SAID = "said"
    """In so many words."""
    REPEATED = "repeated"
    """The caller asked the same again soon after: BAD."""
    OPENED = "opened"
    """The caller opened what the run cites: GOOD."""
    FOLLOWED = "followed"
    """The caller asked on from the answer: GOOD."""


WEIGHTS: Mapping[FeedbackKind, float] = MappingProxyType(
    {FeedbackKind.SAID: 1.0, FeedbackKind.REPEATED: 0.25, FeedbackKind.OPENED: 0.25, FeedbackKind.FOLLOWED: 0.125}
)
"""What a word of each kind counts beside one that was said. Set by hand, measured on nobody: who opens a citation may
doubt it, and who asks on may have got nothing.
"""


@dataclass(frozen=True, slots=True)
class Feedback:
    """What one caller says of one run; a later one of the same caller and kind takes its place."""

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
    kind: FeedbackKind = FeedbackKind.SAID

    @property
    def weight(self) -> float:
        """What it counts."""
        return WEIGHTS[self.kind]


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


def by_run(feedback: Iterable[Feedback]) -> Mapping[UUID, Sequence[Feedback]]:
    """Feedback by the run that it is of, each in the order given."""
    found: dict[UUID, list[Feedback]] = {}
    for one in feedback:
        found.setdefault(one.run_id, []).append(one)
    return found


def weight_of_all(said: Iterable[Feedback]) -> float:
    """What feedback counts together."""
    return math.fsum(one.weight for one in said)


def satisfaction_of(said: Sequence[Feedback]) -> float | None:
    """The share of feedback, by weight, that is good; None without any."""
    whole = weight_of_all(said)
    good = weight_of_all(one for one in said if one.rating is Rating.GOOD)
    return round(good / whole, _DIGITS) if whole else None


def mean_precision(said: Iterable[Feedback]) -> float | None:
    """The mean of the precisions that are known; None without any."""
    known = [one.precision for one in said if one.precision is not None]
    return round(math.fsum(known) / len(known), _DIGITS) if known else None

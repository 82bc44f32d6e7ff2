"""A question that a subject has asked again after each publish."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from agentic_rag.tenancy.principals import Principal, WorkspaceRef

MOST_SAVED = 50
"""Of a workspace, all subjects together: each costs a run after each publish."""
MOST_OF_ONE = 20
"""Of them, those of one subject: nobody takes the places of all others."""
RIGHTS_DAYS = 7
"""So long after their owner was seen last, the groups of an issuer's token are taken to be its own. Set by hand."""


class SavedState(enum.Enum):
    """What became of a question."""

    WAITING = "WAITING"
    """It was not asked again yet."""
    SAME = "SAME"
    CHANGED = "CHANGED"
    """The answer, or what it cites, is another than in the run that it is compared with."""
    NOT_COMPARED = "NOT_COMPARED"
    """It could not be told; `SavedQuestion.reason` says why."""


class NotCompared(enum.Enum):
    """Why it could not be told whether an answer changed."""

    RIGHTS_UNKNOWN = "RIGHTS_UNKNOWN"
    """Its owner has no valid API key with its rights, may not enter, or was not seen for `RIGHTS_DAYS` days."""
    RUN_GONE = "RUN_GONE"
    """The run to compare with is past its retention, was deleted, or lost its words to an erasure."""
    DEGRADED = "DEGRADED"
    """A model, its budget or a store was missing, so the answer says nothing of the documents."""
    FAILED = "FAILED"
    """The question could not be answered."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """What asking again told. It holds no words of documents: both runs do, where erasures find them."""

    state: SavedState
    version: int
    """The corpus version that was read."""
    run_id: UUID | None = None
    """The newer run."""
    reason: NotCompared | None = None
    stage: str | None = None
    """The first stage that made something else, as in `StageDifference`, with what."""
    what: str | None = None
    removed: int = 0
    """Sentences of the earlier answer alone."""
    added: int = 0


@dataclass(frozen=True, slots=True)
class SavedQuestion:
    """A question with the run that its answers are compared with."""

    workspace: WorkspaceRef
    saved_id: UUID
    principal: Principal
    """Its owner, with the groups as of `seen_at`."""
    question: str
    run_id: UUID
    saved_at: datetime
    seen_at: datetime
    replayed: Replayed
    checked_at: datetime | None = None

"""Whose turn it is: the organisation that was served longest ago, then its workspace, then the oldest job."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from agentic_rag.jobs.job import JobRef
from agentic_rag.tenancy.principals import WorkspaceRef

REMEMBERED = 10_000
"""Organisations and workspaces whose last turn is kept (1 MB); one that is forgotten counts as never served."""


@dataclass(frozen=True, slots=True)
class WaitingWorkspace:
    """A workspace with due jobs, and the age of its oldest."""

    workspace: WorkspaceRef
    oldest: datetime


@dataclass(slots=True)
class LastTurns:
    """The turn in which an organisation or workspace was last served. Whoever leads keeps it in memory: after a change
    of leaders organisations still alternate.
    """

    turns: dict[UUID, int] = field(default_factory=dict[UUID, int])
    now: int = 0

    def note(self, ref: JobRef) -> None:
        """A job of it was handed over."""
        self.now += 1
        for served in (ref.workspace.org_id, ref.workspace.workspace_id):
            self.turns.pop(served, None)
            self.turns[served] = self.now
        while len(self.turns) > REMEMBERED:
            del self.turns[next(iter(self.turns))]

    def of(self, served: UUID) -> int:
        """Its last turn; 0 for never."""
        return self.turns.get(served, 0)


def take_turns(
    waiting: Sequence[WaitingWorkspace], last: LastTurns, limit: int, known: Mapping[WorkspaceRef, int]
) -> list[WorkspaceRef]:
    """The workspaces in the order in which each gives its next job; `known` says how many jobs those have that do not
    have enough.
    """
    inside: dict[UUID, list[tuple[int, datetime, UUID]]] = {}
    for one in waiting:
        if known.get(one.workspace, 1):
            place = last.of(one.workspace.workspace_id), one.oldest, one.workspace.workspace_id
            inside.setdefault(one.workspace.org_id, []).append(place)
    for places in inside.values():
        heapq.heapify(places)
    organisations = [(last.of(org_id), min(place[1] for place in places), org_id) for org_id, places in inside.items()]
    heapq.heapify(organisations)
    turns: list[WorkspaceRef] = []
    taken: dict[WorkspaceRef, int] = {}
    now = last.now
    while organisations and len(turns) < limit:
        now += 1
        _, age, org_id = heapq.heappop(organisations)
        _, oldest, workspace_id = heapq.heappop(inside[org_id])
        workspace = WorkspaceRef(org_id, workspace_id)
        turns.append(workspace)
        taken[workspace] = taken.get(workspace, 0) + 1
        if taken[workspace] < known.get(workspace, limit):
            heapq.heappush(inside[org_id], (now, oldest, workspace_id))
        if inside[org_id]:
            heapq.heappush(organisations, (now, age, org_id))
    return turns


MOST_COUNTED = 1_000
"""Jobs before a waiting one that are counted; there may be more."""
RATE_MINUTES = 5
FEWEST_FINISHED, MOST_FINISHED = 3, 30
"""Jobs of the last minutes that a rate is made of, the newest: of fewer none is."""


@dataclass(frozen=True, slots=True)
class QueuePlace:
    """Where a due job waits among those of its organisation: at most so many start before it."""

    before: int
    estimated_seconds: float | None
    """Until it is done, at the rate of the jobs of its kind that ended last; None where too few did."""


def place_in_queue(before: int, finished: int, seconds: float) -> QueuePlace:
    """The place of a job with so many before it, where `finished` jobs of its kind ended within the last `seconds`."""
    is_known = finished >= FEWEST_FINISHED and seconds > 0
    return QueuePlace(before, (before + 1) * seconds / finished if is_known else None)

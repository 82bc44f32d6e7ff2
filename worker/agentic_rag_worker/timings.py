"""The durations of a worker."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class WorkerTimings:
    """In seconds."""

    lease: float = 25.0
    """The job of a dead worker is offered again after this time at most, plus one poll of the dispatcher."""
    poll_shortest: float = 0.05
    poll_longest: float = 0.25
    """The dispatcher's pause: the shortest after a poll that found work, doubled up to the longest after others."""
    follow: float = 1.0
    """How often a dispatcher that does not lead tries to."""
    expire: float = 1.0
    counts: float = 5.0
    corpus: float = 20.0
    """How often the leader counts documents: a look at a row of each."""
    upkeep: float = 15.0
    """How often the leader looks for maintenance that is due."""
    grace: float = 25.0
    """How long running jobs may take to finish after SIGTERM; below the 30 s after which orchestrators kill."""
    consumer_poll: float = 0.05
    stall: float | None = None
    """Replaces the stall limit of every job kind."""
    deadline: float | None = None
    """Replaces the deadline of every job kind."""
    outage: float = 1.0
    """The pause after a failed call to Redis or Postgres."""

    @property
    def lease_ttl(self) -> timedelta:
        """The lease as a duration."""
        return timedelta(seconds=self.lease)

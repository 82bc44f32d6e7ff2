"""Worker processes: each has a row that it renews for as long as it lives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

SILENT_LEASES = 2
"""Leases without a sign after which a worker counts as dead: it gives one every third of a lease."""

RECENT = timedelta(hours=1)
"""How long the death of a worker is news: whoever starts workers again does so within seconds, and nobody need act."""


@dataclass(frozen=True, slots=True)
class WorkerIdentity:
    """A worker process. `name` is its own among all that ever ran: a host gives process numbers again."""

    name: str
    host: str
    pid: int
    version: str
    slots: int


@dataclass(frozen=True, slots=True)
class WorkerRecord:
    """A worker as stored. `ended_at` is None while it runs, and for ever when it died."""

    identity: WorkerIdentity
    started_at: datetime
    seen_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class WorkerCensus:
    """Which workers run, and which fell silent without signing off: killed, stopped or cut off."""

    running: tuple[WorkerRecord, ...]
    died: tuple[WorkerRecord, ...]

    @classmethod
    def take(cls, workers: Sequence[WorkerRecord], silent_since: datetime) -> WorkerCensus:
        """Who was not seen since then died."""
        left = [one for one in workers if one.ended_at is None]
        return cls(
            tuple(one for one in left if one.seen_at >= silent_since),
            tuple(one for one in left if one.seen_at < silent_since),
        )

    def died_since(self, time: datetime) -> int:
        """How many were seen last after that time."""
        return sum(one.seen_at >= time for one in self.died)

"""Worker processes: each has a row that it renews for as long as it lives."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


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

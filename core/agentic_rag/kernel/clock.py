"""Time, as a port, so that the core never asks the system; and when work must have ended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol, overload


class Clock(Protocol):
    """Two clocks: one for people, one for durations."""

    def now(self) -> datetime:
        """The current instant, aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back."""
        ...


@overload
def with_zone(instant: datetime) -> datetime: ...
@overload
def with_zone(instant: None) -> None: ...
def with_zone(instant: datetime | None) -> datetime | None:
    """An instant without a zone is one of UTC."""
    return instant if instant is None or instant.tzinfo is not None else instant.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Deadline:
    """A point on the monotonic clock, in seconds."""

    at: float

    def remaining(self, now: float) -> float:
        """Seconds left, never negative."""
        return max(0.0, self.at - now)

"""Time, as a port, so that the core never asks the system; and when work must have ended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Two clocks: one for people, one for durations."""

    def now(self) -> datetime:
        """The current instant, aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back."""
        ...


@dataclass(frozen=True, slots=True)
class Deadline:
    """A point on the monotonic clock, in seconds."""

    at: float

    def remaining(self, now: float) -> float:
        """Seconds left, never negative."""
        return max(0.0, self.at - now)

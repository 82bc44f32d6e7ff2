"""A clock for tests that decide themselves what time it is."""

from __future__ import annotations

from datetime import UTC, datetime


class SetClock:
    """Stands where it is put."""

    seconds = 1000.0

    def now(self) -> datetime:
        return datetime(2026, 11, 22, tzinfo=UTC)

    def monotonic(self) -> float:
        return self.seconds

"""The machine's clocks."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class SystemClock:
    """Implements `kernel.clock.Clock` on the operating system's clocks."""

    def now(self) -> datetime:
        """The current instant, aware, in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back."""
        return time.monotonic()

"""The machine's clocks."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class SystemClock:
    """Implements `kernel.clock.Clock` on the operating system's clocks."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

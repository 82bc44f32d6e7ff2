"""New ids from the operating system's randomness."""

from __future__ import annotations

import os
import random
import time
from uuid import UUID

_VARIANT = 0b10 << 62
_VERSION = 7 << 76


class RandomIds:
    """Implements `kernel.ids.Ids`. UUIDs have the version 7 layout of RFC 9562 §5.7 and increase strictly within a
    process: 48 bits of Unix milliseconds, 12 bits of counter (§6.2, method 1), 62 random bits.
    """

    def __init__(self) -> None:
        self._last = 0
        self._jitter = random.SystemRandom()

    def new(self) -> UUID:
        """A new, time-ordered UUID; later calls sort after earlier ones."""
        tick = time.time_ns() // 1_000_000 << 12
        self._last = max(self._last + 1, tick)
        milliseconds, counter = self._last >> 12, self._last & 0xFFF
        tail = int.from_bytes(os.urandom(8), "big") >> 2
        return UUID(int=milliseconds << 80 | _VERSION | counter << 64 | _VARIANT | tail)

    def trace_id(self) -> str:
        return f"{max(1, int.from_bytes(os.urandom(16), 'big')):032x}"

    def jitter(self) -> float:
        return self._jitter.random()

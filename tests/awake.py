"""How long something took of the time in which this process had a processor."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_TELLS = Path("/proc/self/schedstat")
"""Nanoseconds: at work, ready to work while every processor was somebody else's, and how often it began again."""


@dataclass
class Awake:
    """Seconds in which the main thread was not kept from a processor. Time that it waits by itself counts."""

    seconds: float = 0.0

    @classmethod
    @contextmanager
    def measured(cls) -> Iterator[Awake]:
        """From here to the end of the block."""
        awake, began, kept = cls(), time.monotonic(), _kept_from_processors()
        yield awake
        awake.seconds = time.monotonic() - began - (_kept_from_processors() - kept)


def _kept_from_processors() -> float:
    return int(_TELLS.read_text(encoding="ascii").split()[1]) / 1e9 if _TELLS.exists() else 0.0

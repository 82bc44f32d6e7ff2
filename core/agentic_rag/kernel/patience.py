"""How long the caller of a request waits for its answer, for what is read before the request itself is."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

ORDINARY_SECONDS = 20.0
"""Of a caller that does not say."""

_seconds: ContextVar[float] = ContextVar("caller_seconds", default=ORDINARY_SECONDS)


@contextmanager
def caller_waits(seconds: float) -> Generator[None]:
    """What is read meanwhile is for a caller who waits this long."""
    before = _seconds.set(seconds)
    try:
        yield
    finally:
        _seconds.reset(before)


def caller_seconds() -> float:
    """Seconds that the present caller waits."""
    return _seconds.get()

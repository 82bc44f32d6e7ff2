"""Waiting for what must become true, instead of sleeping and hoping."""

import time
from collections.abc import Callable

_POLL_SECONDS = 0.005


def wait_until(condition: Callable[[], bool], what: str, seconds: float = 20.0) -> None:
    """Return as soon as `condition` holds; fail naming `what` after `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds:.0f} s: {what}")
        time.sleep(_POLL_SECONDS)

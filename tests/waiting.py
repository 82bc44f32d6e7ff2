"""Waiting for what must become true, instead of sleeping and hoping."""

import asyncio
import time
from collections.abc import Awaitable, Callable

_POLL_SECONDS = 0.005


def wait_until(condition: Callable[[], bool], what: str, seconds: float = 20.0) -> None:
    """Return as soon as `condition` holds; fail naming `what` after `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds:.0f} s: {what}")
        time.sleep(_POLL_SECONDS)


async def eventually(condition: Callable[[], Awaitable[bool]], what: str, seconds: float = 20.0) -> None:
    """`wait_until` for a condition that is awaited."""
    deadline = time.monotonic() + seconds
    while not await condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds:.0f} s: {what}")
        await asyncio.sleep(_POLL_SECONDS)

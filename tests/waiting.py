"""Waiting for what must become true, instead of sleeping and hoping."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

from agentic_rag.kernel.errors import DependencyUnavailable

T = TypeVar("T")


def growing_pauses(first: float = 0.005, most: float = 0.1) -> Iterator[float]:
    """Seconds between two looks: a look costs whom one waits for, and a tenth more is not noticed."""
    pause = first
    while True:
        yield pause
        pause = min(most, 1.1 * pause)


def wait_until(condition: Callable[[], bool], what: str, seconds: float = 20.0) -> None:
    """Return as soon as `condition` holds; fail naming `what` after `seconds`."""
    deadline, pauses = time.monotonic() + seconds, growing_pauses()
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds:.0f} s: {what}")
        time.sleep(next(pauses))


async def eventually(condition: Callable[[], Awaitable[bool]], what: str, seconds: float = 20.0) -> None:
    """`wait_until` for a condition that is awaited."""
    deadline, pauses = time.monotonic() + seconds, growing_pauses()
    while not await condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds:.0f} s: {what}")
        await asyncio.sleep(next(pauses))


async def made_good(call: Callable[[], Awaitable[T]], what: str) -> T:
    """The first answer of a call that may fail with `DependencyUnavailable` for a while."""
    got: list[T] = []

    async def tried() -> bool:
        try:
            got.append(await call())
        except DependencyUnavailable:
            return False
        return True

    await eventually(tried, what, seconds=60)
    return got[0]

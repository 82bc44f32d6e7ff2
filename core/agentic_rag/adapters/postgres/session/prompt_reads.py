"""Reads that a request waits for before anything is known of it, such as who calls. They give up soon: nobody can say
yet how long the caller has.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from time import monotonic
from typing import Any, TypeVar

from agentic_rag.adapters.postgres.session.errors import translate
from agentic_rag.kernel.concurrency import detached_task

SILENT_SECONDS = 0.2
"""Of a server that answers nobody, before a read is given up: what it reads takes about 1 ms."""

MOST_LEFT = 32
"""Reads that go on after their callers gave up. Their connections, and what they find, serve the next caller."""

_LATE = 2
"""Times its length that a wait takes in a process which got no processor time: an answer may lie unread meanwhile."""

V = TypeVar("V")


class Pulse:
    """When the server last answered one of the connections of a pool."""

    __slots__ = ("at",)

    def __init__(self) -> None:
        self.at = monotonic()

    def beat(self) -> None:
        """The server has answered."""
        self.at = monotonic()


class PromptReads:
    """Equal reads at one time are one."""

    def __init__(self, pulse: Pulse, seconds: float = SILENT_SECONDS) -> None:
        self._pulse = pulse
        self._seconds = seconds
        self._reads: dict[Hashable, asyncio.Task[Any]] = {}

    async def run(self, key: Hashable, read: Callable[[], Coroutine[Any, Any, V]]) -> V:
        """What the read finds. It is waited for while the server answers others, and after this process stood still: a
        busy process is no outage. Errors: `DependencyUnavailable`, and those of the read.
        """
        task = self._reads.get(key)
        if task is None:
            task = detached_task(read())
            self._reads[key] = task
            task.add_done_callback(lambda done: self._end(key, done))
        while not task.done():
            began = monotonic()
            await asyncio.wait({task}, timeout=self._seconds)
            stood_still = monotonic() - began > _LATE * self._seconds
            if not task.done() and self._pulse.at < began and not stood_still:
                if len(self._reads) > MOST_LEFT:
                    task.cancel()
                raise translate(TimeoutError())
        if task.cancelled():
            raise translate(TimeoutError())
        return task.result()

    async def aclose(self) -> None:
        """End the reads that nobody waits for any more."""
        left = list(self._reads.values())
        for one in left:
            one.cancel()
        if left:
            await asyncio.wait(left)

    def _end(self, key: Hashable, done: asyncio.Task[Any]) -> None:
        self._reads.pop(key, None)
        if not done.cancelled():
            # Whoever waits for it raises its error.
            done.exception()

"""Reads that a request waits for before anything else of it begins, such as who calls. They end while the caller still
waits, so that a server which answers nobody takes a part of its time only.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, TypeVar

from agentic_rag.adapters.postgres.session.errors import translate
from agentic_rag.adapters.postgres.session.silence import Pulse
from agentic_rag.kernel.concurrency import detached_task
from agentic_rag.kernel.errors import DependencyUnavailable
from agentic_rag.kernel.patience import caller_seconds

SILENT_SHARE = 0.1
"""Of the caller's time, in which the server answers nobody, before a read is given up. What it reads takes about 1 ms;
a server without processor time or with a new connection to open was seen to take 0.2 s.
"""

MOST_LEFT = 32
"""Reads that go on after their callers gave up. Their connections, and what they find, serve the next caller."""

V = TypeVar("V")


class PromptReads:
    """Equal reads at one time are one."""

    def __init__(self, pulse: Pulse) -> None:
        self._pulse = pulse
        self._reads: dict[Hashable, asyncio.Task[Any]] = {}

    async def run(self, key: Hashable, read: Callable[[], Coroutine[Any, Any, V]]) -> V:
        """What the read finds. It is waited for while the server answers others, and while this process stands still: a
        busy process is no outage. Errors: `DependencyUnavailable`, and those of the read.
        """
        task = self._reads.get(key)
        if task is None:
            task = detached_task(read())
            self._reads[key] = task
            task.add_done_callback(lambda done: self._end(key, done))
        try:
            async with self._pulse.while_answering(SILENT_SHARE * caller_seconds()):
                await asyncio.wait({task})
        except DependencyUnavailable:
            if len(self._reads) > MOST_LEFT:
                task.cancel()
            raise
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

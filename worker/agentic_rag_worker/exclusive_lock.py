"""Decides which jobs of one worker process run side by side."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator


class ExclusiveLock:
    """Jobs share the process, or one runs exclusively. While an exclusive job runs or waits, new jobs are refused and
    offered again. It waits for `wait_seconds`, then leaves the process to the others for `pause_seconds`: a job of an
    hour would keep all of them waiting. Another worker may have room for it meanwhile.
    """

    def __init__(self, wait_seconds: float = 5.0, pause_seconds: float = 20.0) -> None:
        self.is_exclusive = False
        self._wait_seconds = wait_seconds
        self._pause_seconds = pause_seconds
        self._paused_until = 0.0
        self._sharers = 0
        self._free = asyncio.Event()
        self._free.set()

    @contextlib.contextmanager
    def share(self) -> Iterator[None]:
        """Run beside others. Only while `is_exclusive` is False."""
        self._sharers += 1
        self._free.clear()
        try:
            yield
        finally:
            self._sharers -= 1
            if not self._sharers:
                self._free.set()

    @contextlib.asynccontextmanager
    async def exclusive(self) -> AsyncIterator[bool]:
        """Run alone when running jobs have ended; False where another job is exclusive, or they did not end in time."""
        loop = asyncio.get_running_loop()
        if self.is_exclusive or loop.time() < self._paused_until:
            yield False
            return
        self.is_exclusive = True
        try:
            # `wait_for` of Python 3.11 swallows a cancellation that comes as the lock is free.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._wait_seconds):
                    await self._free.wait()
            if not self._free.is_set():
                self._paused_until = loop.time() + self._pause_seconds
                self.is_exclusive = False
            yield self._free.is_set()
        finally:
            self.is_exclusive = False

"""Decides which jobs of one worker process run side by side."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator


class ExclusiveLock:
    """Jobs share the process, or one runs exclusively. While an exclusive job runs or waits, new jobs are refused and
    offered again.
    """

    def __init__(self) -> None:
        self.is_exclusive = False
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
    async def exclusive(self) -> AsyncIterator[None]:
        """Wait until running jobs have ended, then run alone. Only while `is_exclusive` is False."""
        self.is_exclusive = True
        try:
            await self._free.wait()
            yield
        finally:
            self.is_exclusive = False

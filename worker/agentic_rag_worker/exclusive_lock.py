"""Which jobs run beside each other in one worker process."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator


class ExclusiveLock:
    """Jobs run beside each other, or one alone. While one is alone, or waits until the others have ended, it is closed
    to all others: they go to other workers, or come back later.
    """

    def __init__(self) -> None:
        self.is_closed = False
        self._sharing = 0
        self._left = asyncio.Event()
        self._left.set()

    @contextlib.contextmanager
    def share(self) -> Iterator[None]:
        """Run beside others. Only while it is not closed."""
        self._sharing += 1
        self._left.clear()
        try:
            yield
        finally:
            self._sharing -= 1
            if not self._sharing:
                self._left.set()

    @contextlib.asynccontextmanager
    async def exclusive(self) -> AsyncIterator[None]:
        """Wait until those that run have ended, then run with nobody else. Only while it is not closed."""
        self.is_closed = True
        try:
            await self._left.wait()
            yield
        finally:
            self.is_closed = False

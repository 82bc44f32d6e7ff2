"""How long something took of the time in which this process had a processor."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass


@dataclass
class Awake:
    """Seconds that this process ran. What a tick takes beyond twice its time, without that this process was at work, is
    standing still: the processor was somebody else's.
    """

    seconds: float = 0.0

    @classmethod
    @asynccontextmanager
    async def measured(cls) -> AsyncIterator[Awake]:
        """From here to the end of the block."""
        awake, over = cls(), asyncio.Event()
        ticking = asyncio.create_task(awake._tick(0.01, over))
        try:
            yield awake
        finally:
            over.set()
            await ticking

    async def _tick(self, seconds: float, over: asyncio.Event) -> None:
        while not over.is_set():
            began, worked = time.monotonic(), time.process_time()
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await over.wait()
            self.seconds += min(time.monotonic() - began, max(2 * seconds, time.process_time() - worked))

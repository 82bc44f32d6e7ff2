"""Events that wait for a reader, in bounded memory."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable
from typing import Any, Generic, TypeVar

MOST_WAITING = 64

Event = TypeVar("Event")


class WaitingEvents(Generic[Event]):
    """A queue that never makes the writer wait: from `most` on, events that the reader can do without are dropped,
    oldest first. Of the others there may be a few more, as many as the writer makes.
    """

    def __init__(self, is_spare: Callable[[Event], bool], most: int = MOST_WAITING) -> None:
        self._is_spare = is_spare
        self._most = most
        self._events: deque[Event] = deque()
        self._came = asyncio.Event()

    def __len__(self) -> int:
        return len(self._events)

    def put(self, event: Event) -> None:
        """Add an event."""
        if len(self._events) >= self._most:
            spare = next((one for one in self._events if self._is_spare(one)), None)
            if spare is not None:
                self._events.remove(spare)
            elif self._is_spare(event):
                return
        self._events.append(event)
        self._came.set()

    async def until(self, work: asyncio.Future[Any]) -> AsyncGenerator[Event]:
        """Every event, until the work has ended and none waits."""
        work.add_done_callback(lambda _: self._came.set())
        while True:
            while self._events:
                yield self._events.popleft()
            if work.done():
                return
            self._came.clear()
            await self._came.wait()

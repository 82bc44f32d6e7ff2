"""Reads that many requests ask for at the same time, such as the newest version of a workspace."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

from agentic_rag.kernel.concurrency import detached_task

PATIENCE_SECONDS = 0.02
"""How long a caller waits for an earlier read to end. One takes about 1 ms; that of a connection which is gone, without
saying so, takes a minute.
"""

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class _NextRead(Generic[V]):
    """A read that has not begun, and those who wait for what it finds."""

    read: Callable[[], Coroutine[Any, Any, V]]
    timer: asyncio.TimerHandle
    waiting: list[asyncio.Future[V]] = field(default_factory=list["asyncio.Future[V]"])

    @property
    def is_wanted(self) -> bool:
        """Whether somebody still waits."""
        return not all(one.done() for one in self.waiting)

    def tell(self, ended: asyncio.Task[V]) -> None:
        """Give all who wait the outcome."""
        for one in (one for one in self.waiting if not one.done()):
            if ended.cancelled():
                one.cancel()
            elif (error := ended.exception()) is not None:
                one.set_exception(error)
            else:
                one.set_result(ended.result())


class SharedReads(Generic[V]):
    """A caller that comes while an equal read is under way shares the next one with all others who do. It begins when
    that one ends, or after `patience`. So nobody gets what a read found that began before the caller came, and a caller
    who comes alone makes no task.
    """

    def __init__(self, patience: float = PATIENCE_SECONDS) -> None:
        self._patience = patience
        self._under_way: dict[Hashable, int] = {}
        self._next: dict[Hashable, _NextRead[V]] = {}
        self._tasks: set[asyncio.Task[V]] = set()

    async def run(self, key: Hashable, read: Callable[[], Coroutine[Any, Any, V]]) -> V:
        """What the read finds; the key says all that it depends on. Errors: those of the read."""
        if key in self._under_way:
            return await self._wait_for_next(key, read)
        self._under_way[key] = 1
        try:
            return await read()
        finally:
            self._leave(key)

    def _wait_for_next(self, key: Hashable, read: Callable[[], Coroutine[Any, Any, V]]) -> asyncio.Future[V]:
        loop = asyncio.get_running_loop()
        coming = self._next.get(key)
        if coming is None:
            coming = self._next[key] = _NextRead(read, loop.call_later(self._patience, self._begin_next, key))
        place: asyncio.Future[V] = loop.create_future()
        coming.waiting.append(place)
        return place

    def _begin_next(self, key: Hashable) -> None:
        coming = self._next.pop(key, None)
        if coming is None:
            return
        coming.timer.cancel()
        if coming.is_wanted:
            self._under_way[key] = self._under_way.get(key, 0) + 1
            reading = detached_task(coming.read())
            self._tasks.add(reading)
            reading.add_done_callback(partial(self._end, key, coming))

    def _end(self, key: Hashable, coming: _NextRead[V], ended: asyncio.Task[V]) -> None:
        self._tasks.discard(ended)
        coming.tell(ended)
        self._leave(key)

    def _leave(self, key: Hashable) -> None:
        if self._under_way[key] == 1:
            del self._under_way[key]
        else:
            self._under_way[key] -= 1
        self._begin_next(key)

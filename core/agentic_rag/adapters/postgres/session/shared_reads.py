"""Reads that many requests ask for at the same time, such as the newest version of a workspace."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

from agentic_rag.adapters.postgres.session.errors import translate
from agentic_rag.kernel.concurrency import detached_task

PATIENCE_SECONDS = 0.02
"""How long a caller waits for an earlier read to end, and twice as long for each one more that has not ended. One takes
about 1 ms; that of a connection which is gone, without saying so, takes a minute.
"""

V = TypeVar("V")


@dataclass(slots=True)
class _NextRead(Generic[V]):
    """A read that others share, and those who wait for what it finds."""

    read: Callable[[], Coroutine[Any, Any, V]]
    timer: asyncio.TimerHandle
    waiting: list[asyncio.Future[V]] = field(default_factory=list["asyncio.Future[V]"])
    task: asyncio.Task[V] | None = None
    """Once it has begun."""

    @property
    def is_wanted(self) -> bool:
        """Whether somebody still waits."""
        return not all(one.done() for one in self.waiting)

    def join(self) -> asyncio.Future[V]:
        """A place among those who wait. The read ends with the last who leaves."""
        place: asyncio.Future[V] = asyncio.get_running_loop().create_future()
        place.add_done_callback(self._leave)
        self.waiting.append(place)
        return place

    def _leave(self, _: asyncio.Future[V]) -> None:
        if self.task is not None and not self.is_wanted:
            self.task.cancel()

    def tell(self, ended: asyncio.Task[V]) -> None:
        """Give all who wait the outcome."""
        # Taken where nobody waits too: the event loop logs an error that nobody has taken.
        error = translate(TimeoutError()) if ended.cancelled() else ended.exception()
        if error is not None:
            self.refuse(error)
            return
        for one in (one for one in self.waiting if not one.done()):
            one.set_result(ended.result())

    def refuse(self, error: BaseException) -> None:
        """Give all who wait the error."""
        for one in (one for one in self.waiting if not one.done()):
            one.set_exception(error)


class SharedReads(Generic[V]):
    """A caller that comes while an equal read is under way shares the next one with all others who do. It begins when
    that one ends, or after `patience`. So nobody gets what a read found that began before the caller came, and a caller
    who comes alone makes no task. A read that nobody waits for any more is cancelled.
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

    async def aclose(self) -> None:
        """End the shared reads; those who wait get `DependencyUnavailable`."""
        for coming in self._next.values():
            coming.timer.cancel()
            coming.refuse(translate(TimeoutError()))
        self._next.clear()
        left = list(self._tasks)
        for one in left:
            one.cancel()
        if left:
            await asyncio.wait(left)

    def _wait_for_next(self, key: Hashable, read: Callable[[], Coroutine[Any, Any, V]]) -> asyncio.Future[V]:
        coming = self._next.get(key)
        if coming is None:
            patience = self._patience * 2 ** (self._under_way[key] - 1)
            timer = asyncio.get_running_loop().call_later(patience, self._begin_next, key)
            coming = self._next[key] = _NextRead(read, timer)
        return coming.join()

    def _begin_next(self, key: Hashable) -> None:
        coming = self._next.pop(key, None)
        if coming is None:
            return
        coming.timer.cancel()
        if coming.is_wanted:
            self._under_way[key] = self._under_way.get(key, 0) + 1
            reading = coming.task = detached_task(coming.read())
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

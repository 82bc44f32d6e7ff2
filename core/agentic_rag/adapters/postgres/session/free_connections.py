"""Connections that others give back while a new one is being opened."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any


class FreeConnections:
    """Takes connections of the driver's pool. Whoever waits for a new one gets one that is given back meanwhile, if
    that comes first: to open one takes about 15 ms, and a server whose first process stands still opens none, while it
    answers on those that are open.

    What is being opened when its caller has another connection, or gave up, is opened to its end for the next caller.
    `give_back` returns to the pool what nobody took.
    """

    def __init__(self, give_back: Callable[[Any, Any], None]) -> None:
        self._give_back = give_back
        self._waiting: deque[asyncio.Future[Any]] = deque()
        self._opening: set[asyncio.Task[Any]] = set()

    async def take(self, pool: Any, seconds: float) -> Any:
        """A connection. Errors: those of the driver, and `TimeoutError` after `seconds`."""
        if pool.get_idle_size():
            # The driver's time limit takes a third of an acquisition, and a connection that is idle is not waited for.
            return await pool.acquire(timeout=None)
        opening = self._open(pool, seconds)
        free: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append(free)
        try:
            await asyncio.wait({opening, free}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self._keep(pool, opening)
            if free.done():
                self._give_back(pool, free.result())
            raise
        finally:
            free.cancel()
        if free.cancelled():
            return opening.result()
        self._keep(pool, opening)
        return free.result()

    def hand_on(self, driver: Any) -> bool:
        """Whether somebody waited for the connection, and has it now."""
        while self._waiting and not driver.is_closed():
            one = self._waiting.popleft()
            if not one.done():
                one.set_result(driver)
                return True
        return False

    async def aclose(self) -> None:
        """Open no more."""
        opening = list(self._opening)
        for one in opening:
            one.cancel()
        if opening:
            await asyncio.wait(opening)

    def _open(self, pool: Any, seconds: float) -> asyncio.Task[Any]:
        async def acquire() -> Any:
            return await pool.acquire(timeout=seconds)

        opening = asyncio.create_task(acquire())
        self._opening.add(opening)
        opening.add_done_callback(self._opening.discard)
        return opening

    def _keep(self, pool: Any, opening: asyncio.Task[Any]) -> None:
        """Let it be opened for others. Of more than the pool has places for, this one only waits for one: it ends."""

        def give_back(done: asyncio.Task[Any]) -> None:
            if not done.cancelled() and done.exception() is None:
                self._give_back(pool, done.result())

        opening.add_done_callback(give_back)
        if len(self._opening) > pool.get_max_size():
            opening.cancel()

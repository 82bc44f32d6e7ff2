"""Room for what is held in memory at once: first come, first served."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

TELL_SECONDS = 5.0
"""How often one that waits says that it lives: waiting is no standing still."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    amount: int
    granted: asyncio.Future[None]


class Room:
    """`capacity` units, shared by the tasks of one event loop. The one that came first is never overtaken, so the
    largest gets its turn; what weighs nothing need not wait.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._free = capacity
        self._waiting: deque[_Waiting] = deque()

    @asynccontextmanager
    async def hold(
        self, amount: int, while_waiting: Callable[[], None], every: float = TELL_SECONDS
    ) -> AsyncGenerator[float]:
        """Hold `amount` units, all there are if it is more; calls `while_waiting` every few seconds until it does.
        Gives the seconds it waited.
        """
        if amount == 0:
            yield 0.0
            return
        amount = min(amount, self._capacity)
        loop = asyncio.get_running_loop()
        came = loop.time()
        await self._take(amount, while_waiting, every)
        try:
            yield loop.time() - came
        finally:
            self._give_back(amount)

    async def _take(self, amount: int, while_waiting: Callable[[], None], every: float) -> None:
        if not self._waiting and amount <= self._free:
            self._free -= amount
            return
        entry = _Waiting(amount, asyncio.get_running_loop().create_future())
        self._waiting.append(entry)
        try:
            while not entry.granted.done():
                await asyncio.wait([entry.granted], timeout=every)
                while_waiting()
        except BaseException:
            if entry.granted.done():
                self._give_back(amount)
            else:
                self._waiting.remove(entry)
                self._give_back(0)
            raise

    def _give_back(self, amount: int) -> None:
        self._free += amount
        while self._waiting and self._waiting[0].amount <= self._free:
            entry = self._waiting.popleft()
            self._free -= entry.amount
            entry.granted.set_result(None)

"""Lets concurrent equal requests share one piece of work."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

Result = TypeVar("Result")


@dataclass(slots=True)
class _Flight(Generic[Result]):
    task: asyncio.Task[Result]
    waiting: int


class SingleFlight(Generic[Result]):
    """One task per key at a time. A caller that is cancelled leaves; the task is cancelled with its last caller."""

    def __init__(self) -> None:
        self._flights: dict[Hashable, _Flight[Result]] = {}

    async def run(self, key: Hashable, work: Callable[[], Awaitable[Result]]) -> tuple[Result, bool]:
        """The result of `work`, and whether another caller's was joined. Errors of the work reach every caller."""
        flight = self._flights.get(key)
        joined = flight is not None
        if flight is None:
            flight = _Flight(asyncio.ensure_future(self._fly(work)), 0)
            self._flights[key] = flight
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.task), joined
        finally:
            flight.waiting -= 1
            if flight.waiting == 0:
                if self._flights.get(key) is flight:
                    del self._flights[key]
                if not flight.task.done():
                    flight.task.cancel()
                    await asyncio.wait([flight.task])

    @staticmethod
    async def _fly(work: Callable[[], Awaitable[Result]]) -> Result:
        return await work()

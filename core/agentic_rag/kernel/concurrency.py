"""Lets concurrent equal requests share one piece of work."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Hashable, Iterable
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, contextmanager, nullcontext
from contextvars import Context
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from agentic_rag.kernel.errors import Overloaded

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

    def is_under_way(self, key: Hashable) -> bool:
        """Whether the next caller of the key joins another one's."""
        return key in self._flights

    @staticmethod
    async def _fly(work: Callable[[], Awaitable[Result]]) -> Result:
        return await work()


_Result = TypeVar("_Result")


def detached_task(work: Coroutine[Any, Any, _Result], name: str | None = None) -> asyncio.Task[_Result]:
    """A task that serves several callers: it has nothing of the one that happens to start it, such as who the stores
    and the audit log take for the caller.
    """
    return asyncio.get_running_loop().create_task(work, name=name, context=Context())


@asynccontextmanager
async def background_task(reading: Coroutine[Any, Any, _Result]) -> AsyncGenerator[asyncio.Task[_Result]]:
    """Runs a read as a task beside the block. It starts before the block begins and is cancelled when the block is left
    before it has ended. Awaiting the task raises the errors of the read; nobody hears of them where the block failed
    before.
    """
    task = asyncio.ensure_future(reading)
    try:
        await asyncio.sleep(0)
        yield task
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # The event loop logs an error that nobody has taken.


async def run_side_by_side(work: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Runs all of it at the same time. The first error cancels the rest and is raised as it is, where a `TaskGroup`
    wraps it: callers decide by its type.
    """
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


PROGRESS_SECONDS = 5.0
"""Seconds between progress reports of a waiting task, so that its lease is not taken for stalled."""


@dataclass(frozen=True, slots=True)
class _Waiter:
    amount: int
    granted: asyncio.Future[None]


class WeightedSemaphore:
    """`capacity` units that the tasks of one event loop share, first come, first served, so that large requests get
    their turn. A request of 0 units does not wait.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._free = capacity
        self._waiting: deque[_Waiter] = deque()

    @asynccontextmanager
    async def acquire(
        self, amount: int, while_waiting: Callable[[], None], every: float = PROGRESS_SECONDS
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
        await self._wait_for_units(amount, while_waiting, every)
        try:
            yield loop.time() - came
        finally:
            self._release(amount)

    @asynccontextmanager
    async def lend(
        self, amount: int, while_waiting: Callable[[], None], every: float = PROGRESS_SECONDS
    ) -> AsyncGenerator[None]:
        """Give back what `acquire(amount)` holds during the block, and wait for it again after it. Where the block, or
        that wait, fails, nobody waits: the units are on loan until their holder leaves.
        """
        amount = min(amount, self._capacity)
        has_them = False
        self._release(amount)
        try:
            yield
            if amount:
                await self._wait_for_units(amount, while_waiting, every)
            has_them = True
        finally:
            if not has_them:
                self._free -= amount

    async def _wait_for_units(self, amount: int, while_waiting: Callable[[], None], every: float) -> None:
        if not self._waiting and amount <= self._free:
            self._free -= amount
            return
        entry = _Waiter(amount, asyncio.get_running_loop().create_future())
        self._waiting.append(entry)
        try:
            while not entry.granted.done():
                await asyncio.wait([entry.granted], timeout=every)
                while_waiting()
        except BaseException:
            if entry.granted.done():
                self._release(amount)
            else:
                self._waiting.remove(entry)
                self._release(0)
            raise

    def _release(self, amount: int) -> None:
        self._free += amount
        while self._waiting and self._waiting[0].amount <= self._free:
            entry = self._waiting.popleft()
            self._free -= entry.amount
            entry.granted.set_result(None)


class Turnstile:
    """Knows who is inside, so that what is under way can be waited for while others come."""

    def __init__(self) -> None:
        self._inside: dict[asyncio.Future[None], Hashable] = {}

    @contextmanager
    def inside(self, key: Hashable = None) -> Generator[None]:
        """Be inside during the block."""
        left: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._inside[left] = key
        try:
            yield
        finally:
            del self._inside[left]
            left.set_result(None)

    async def settle(self, is_meant: Callable[[Any], bool] = lambda _: True) -> None:
        """Wait until all who are inside at the call, with a key that is meant, have left."""
        if inside := [left for left, key in self._inside.items() if is_meant(key)]:
            await asyncio.wait(inside)


def untold(_: object) -> AbstractContextManager[None]:
    """A block of which nobody is told."""
    return nullcontext()


class WaitingRoom:
    """Lets in work of `capacity` units; before the door at most `places` callers wait, each for `seconds` at most."""

    def __init__(self, capacity: int, places: int, seconds: float) -> None:
        self._turnstile = Turnstile()
        self._units = WeightedSemaphore(capacity)
        self._free_places = places
        self._seconds = seconds

    @asynccontextmanager
    async def enter(self, amount: int) -> AsyncGenerator[None]:
        """Hold `amount` units. Errors: `Overloaded` when all places are taken, or none got free in time."""
        if self._free_places <= 0:
            raise self._refusal()
        self._free_places -= 1
        async with AsyncExitStack() as inside:
            try:
                async with asyncio.timeout(self._seconds):
                    await inside.enter_async_context(self._units.acquire(amount, lambda: None))
            except TimeoutError as late:
                raise self._refusal() from late
            finally:
                self._free_places += 1
            inside.enter_context(self._turnstile.inside())
            yield

    async def settle(self) -> None:
        """Wait until the work that is inside at the call has left."""
        await self._turnstile.settle()

    def _refusal(self) -> Overloaded:
        return Overloaded(
            f"There are more questions than this process can answer. Ask again in {self._seconds:g} s.",
            retry_after_seconds=self._seconds,
        )

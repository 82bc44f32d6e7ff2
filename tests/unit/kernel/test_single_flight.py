import asyncio

import pytest

from agentic_rag.kernel.concurrency import SingleFlight


class Work:
    """Work that ends when told to."""

    def __init__(self) -> None:
        self.started = 0
        self.cancelled = 0
        self.gate = asyncio.Event()
        self.running = asyncio.Semaphore(0)

    async def __call__(self) -> int:
        self.started += 1
        self.running.release()
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return self.started


async def test_callers_of_one_key_share_the_work_and_others_do_not() -> None:
    flights, work = SingleFlight[int](), Work()
    callers = [asyncio.ensure_future(flights.run(key, work)) for key in ("a", "a", "b")]
    await work.running.acquire()
    await work.running.acquire()
    work.gate.set()
    results = await asyncio.gather(*callers)
    assert [joined for _, joined in results] == [False, True, False]


async def test_a_caller_that_leaves_does_not_end_the_work_of_the_others() -> None:
    flights, work = SingleFlight[int](), Work()
    first, second = (asyncio.ensure_future(flights.run("a", work)) for _ in range(2))
    await work.running.acquire()
    first.cancel()
    await asyncio.wait([first])
    work.gate.set()
    assert (await second)[0] == 1
    assert work.cancelled == 0


async def test_the_last_caller_to_leave_ends_the_work() -> None:
    flights, work = SingleFlight[int](), Work()
    only = asyncio.ensure_future(flights.run("a", work))
    await work.running.acquire()
    only.cancel()
    await asyncio.wait([only])
    assert work.cancelled == 1


async def test_an_error_reaches_every_caller_and_is_not_kept() -> None:
    flights = SingleFlight[int]()

    async def fail() -> int:
        await asyncio.sleep(0)
        raise ValueError("no")

    results = await asyncio.gather(flights.run("a", fail), flights.run("a", fail), return_exceptions=True)
    assert [type(result) for result in results] == [ValueError, ValueError]
    work = Work()
    work.gate.set()
    assert await flights.run("a", work) == (1, False)


@pytest.mark.parametrize("rounds", [3])
async def test_work_that_is_over_is_done_anew(rounds: int) -> None:
    flights, work = SingleFlight[int](), Work()
    work.gate.set()
    assert [await flights.run("a", work) for _ in range(rounds)] == [(1, False), (2, False), (3, False)]

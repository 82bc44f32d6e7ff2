"""Events that wait for a reader."""

import asyncio

from agentic_rag_server.graphql.http.waiting_events import WaitingEvents


def _queue() -> WaitingEvents[int]:
    """Odd numbers are spare."""
    return WaitingEvents(lambda one: one % 2 == 1, most=4)


async def _read(events: WaitingEvents[int]) -> list[int]:
    work = asyncio.get_running_loop().create_future()
    work.set_result(None)
    return [one async for one in events.until(work)]


async def test_a_slow_reader_misses_spare_events_only() -> None:
    events = _queue()
    for number in (1, 2, 3, 4, 6, 5, 8, 7):
        events.put(number)

    assert await _read(events) == [2, 4, 6, 8]


async def test_events_that_nobody_may_miss_are_kept_beyond_the_bound() -> None:
    events = _queue()
    for number in (2, 4, 6, 8, 10, 11):
        events.put(number)

    assert await _read(events) == [2, 4, 6, 8, 10]


async def test_a_reader_waits_for_events_and_ends_with_the_work() -> None:
    events = _queue()

    async def write() -> None:
        for number in (2, 4):
            await asyncio.sleep(0)
            events.put(number)

    work = asyncio.ensure_future(write())
    assert [one async for one in events.until(work)] == [2, 4]

"""Room for what is held in memory at once."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable

import pytest

from agentic_rag.kernel.concurrency import WaitingRoom, WeightedSemaphore, background_task
from agentic_rag.kernel.errors import Overloaded


def nothing() -> None:
    return


class Guest:
    """A task that holds room until it is told to leave."""

    def __init__(
        self, room: WeightedSemaphore, amount: int, while_waiting: Callable[[], None] = nothing, every: float = 5.0
    ) -> None:
        self.inside = False
        self._leave = asyncio.Event()
        self.task = asyncio.create_task(self._stay(room, amount, while_waiting, every))

    async def _stay(
        self, room: WeightedSemaphore, amount: int, while_waiting: Callable[[], None], every: float
    ) -> None:
        async with room.acquire(amount, while_waiting, every):
            self.inside = True
            await self._leave.wait()

    async def leave(self) -> None:
        self._leave.set()
        await self.task
        await settled()


async def settled() -> None:
    """Let every task go as far as it can."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_those_that_fit_hold_room_at_once_and_the_next_one_waits() -> None:
    room = WeightedSemaphore(10)
    guests = [Guest(room, 4), Guest(room, 6), Guest(room, 1)]
    await settled()
    assert [guest.inside for guest in guests] == [True, True, False]

    await guests[0].leave()
    assert guests[2].inside
    await guests[1].leave()
    await guests[2].leave()


async def test_what_is_larger_than_the_room_takes_it_alone() -> None:
    room = WeightedSemaphore(10)
    giant = Guest(room, 1_000)
    small = Guest(room, 1)
    await settled()
    assert (giant.inside, small.inside) == (True, False)

    await giant.leave()
    assert small.inside
    await small.leave()


async def test_a_large_one_is_not_starved_by_small_ones_that_come_after_it() -> None:
    room = WeightedSemaphore(10)
    first = Guest(room, 5)
    await settled()
    large = Guest(room, 10)
    await settled()
    later = [Guest(room, 1) for _ in range(20)]
    await settled()
    assert not large.inside
    assert not any(guest.inside for guest in later)

    await first.leave()
    assert large.inside
    assert not any(guest.inside for guest in later)
    await large.leave()
    assert [guest.inside for guest in later] == [True] * 10 + [False] * 10
    for guest in later:
        await guest.leave()


async def test_room_comes_back_when_its_holder_fails() -> None:
    room = WeightedSemaphore(1)
    with pytest.raises(ValueError, match="broken"):
        async with room.acquire(1, nothing):
            raise ValueError("broken")
    assert await asyncio.wait_for(_through(room, 1), 1)


async def test_room_comes_back_when_its_holder_is_cancelled() -> None:
    room = WeightedSemaphore(1)
    guest = Guest(room, 1)
    await settled()
    guest.task.cancel()
    await asyncio.wait([guest.task])
    assert await asyncio.wait_for(_through(room, 1), 1)


async def test_one_that_is_cancelled_while_it_waits_lets_those_behind_it_in() -> None:
    room = WeightedSemaphore(10)
    holder = Guest(room, 5)
    await settled()
    large, small = Guest(room, 10), Guest(room, 5)
    await settled()
    large.task.cancel()
    await asyncio.wait([large.task])
    await settled()
    assert small.inside
    await holder.leave()
    await small.leave()
    assert await asyncio.wait_for(_through(room, 10), 1)


async def test_one_that_is_cancelled_just_as_its_turn_comes_gives_it_back() -> None:
    room = WeightedSemaphore(1)
    holder = Guest(room, 1)
    await settled()
    waiting = Guest(room, 1)
    await settled()
    holder.task.cancel()
    await asyncio.wait([holder.task])
    waiting.task.cancel()
    await asyncio.wait([waiting.task])
    assert await asyncio.wait_for(_through(room, 1), 1)


async def test_lent_room_serves_others_and_is_waited_for_at_the_end_of_the_loan() -> None:
    room, seen = WeightedSemaphore(10), list[str]()
    other_in, other_out = asyncio.Event(), asyncio.Event()

    async def other() -> None:
        async with room.acquire(10, nothing):
            other_in.set()
            await other_out.wait()
            seen.append("other")

    async with room.acquire(10, nothing):
        async with room.lend(10, nothing):
            beside = asyncio.create_task(other())
            await other_in.wait()
            asyncio.get_running_loop().call_soon(other_out.set)
        seen.append("own")
    await beside

    assert seen == ["other", "own"]
    assert await _through(room, 10)


async def test_lent_room_is_not_given_back_twice_when_the_loan_fails() -> None:
    room = WeightedSemaphore(10)

    with pytest.raises(ValueError, match="failed"):
        async with room.acquire(6, nothing), room.lend(6, nothing):
            raise ValueError("failed")

    async with room.acquire(10, nothing):
        beside = asyncio.create_task(_through(room, 1))
        await settled()
        assert not beside.done()
    assert await beside


async def test_what_weighs_nothing_waits_behind_nobody() -> None:
    room = WeightedSemaphore(1)
    holder, waiting = Guest(room, 1), Guest(room, 1)
    await settled()
    assert await asyncio.wait_for(_through(room, 0), 1)
    await holder.leave()
    await waiting.leave()


async def test_one_that_waits_says_that_it_lives() -> None:
    room = WeightedSemaphore(1)
    holder = Guest(room, 1)
    await settled()
    alive = asyncio.Event()
    waiting = Guest(room, 1, alive.set, every=0.001)
    await asyncio.wait_for(alive.wait(), 5)
    assert not waiting.inside
    await holder.leave()
    await waiting.leave()


async def _through(room: WeightedSemaphore, amount: int) -> bool:
    async with room.acquire(amount, nothing):
        return True


async def test_who_waited_is_told_how_long() -> None:
    room = WeightedSemaphore(1)
    first = Guest(room, 1)
    await settled()
    loop = asyncio.get_running_loop()
    came = loop.time()

    async def second() -> tuple[float, float]:
        async with room.acquire(1, nothing) as waited:
            return waited, loop.time() - came

    task = asyncio.create_task(second())
    await settled()
    await first.leave()
    waited, passed = await task

    assert 0 < waited <= passed
    async with room.acquire(0, nothing) as none:
        assert none == 0


async def test_a_full_room_refuses_at_once_and_one_that_waits_too_long_is_refused() -> None:
    room = WaitingRoom(capacity=2, places=1, seconds=0.05)
    async with room.enter(1), room.enter(1):
        waiting = asyncio.create_task(_enter(room, 1))
        await asyncio.sleep(0)
        with pytest.raises(Overloaded) as full:
            await _enter(room, 1)
        assert not waiting.done(), "who finds no place does not wait"
        with pytest.raises(Overloaded):
            await waiting

    assert full.value.retry_after_seconds == 0.05
    await _enter(room, 2)


async def test_a_caller_that_gives_up_leaves_its_place_and_its_units() -> None:
    room = WaitingRoom(capacity=1, places=1, seconds=30)
    async with room.enter(1):
        waiting = asyncio.create_task(_enter(room, 1))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
        following = asyncio.create_task(_enter(room, 1))
        await asyncio.sleep(0)
        assert waiting.cancelled()
        assert not following.done()

    await asyncio.wait_for(following, 5)


async def _enter(room: WaitingRoom, units: int) -> None:
    async with room.enter(units):
        await asyncio.sleep(0)


async def test_the_event_loop_logs_no_error_of_a_read_beside_a_block_that_failed_too() -> None:
    logged: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, told: logged.append(told["message"]))

    async def fail() -> None:
        raise KeyError

    with pytest.raises(ZeroDivisionError):
        async with background_task(fail()):
            raise ZeroDivisionError
    gc.collect()

    assert logged == []


async def test_awaiting_a_read_beside_a_block_raises_its_error() -> None:
    async def fail() -> None:
        raise KeyError

    with pytest.raises(KeyError):
        async with background_task(fail()) as reading:
            await reading

"""What was read a moment ago is not read again; what was forgotten, or is too old, is."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar

import pytest
from tests.set_clock import SetClock

from agentic_rag.kernel.ttl_cache import TtlCache

SECONDS = 5.0


class Place:
    """What is looked at: counts looks, which may be made to wait or to fail."""

    def __init__(self) -> None:
        self.says = "one"
        self.looks: list[tuple[str, str | None]] = []
        self.fails = False
        self.open = asyncio.Event()
        self.open.set()
        self.begun = asyncio.Event()

    async def look(self, key: str, before: str | None) -> str:
        self.looks.append((key, before))
        said = self.says
        self.begun.set()
        await self.open.wait()
        if self.fails:
            raise OSError("away")
        return f"{key}: {said}"


def fresh(place: Place, clock: SetClock, *, most: int = 10, goes_on: bool = False) -> TtlCache[str, str]:
    return TtlCache(place.look, clock, seconds=SECONDS, most=most, goes_on=goes_on)


async def test_a_key_is_looked_at_again_after_the_seconds_and_told_what_was_found_before() -> None:
    place, clock = Place(), SetClock()
    known = fresh(place, clock)
    assert await known.get("a") == "a: one"
    place.says = "two"

    clock.seconds += SECONDS - 0.1
    assert await known.get("a") == "a: one"
    clock.seconds += 0.1
    assert await known.get("a") == "a: two"

    assert place.looks == [("a", None), ("a", "a: one")]


async def test_callers_of_one_moment_share_a_look_and_its_error() -> None:
    place = Place()
    known = fresh(place, SetClock())
    place.fails = True
    place.open.clear()
    callers = [asyncio.create_task(known.get("a")) for _ in range(3)]
    await place.begun.wait()

    place.open.set()

    assert [type(one) for one in await asyncio.gather(*callers, return_exceptions=True)] == [OSError] * 3
    assert len(place.looks) == 1
    place.fails = False
    assert await known.get("a") == "a: one", "an error is not remembered"


@pytest.mark.parametrize("goes_on", [False, True])
async def test_who_asks_during_a_further_look_waits_or_goes_by_what_was_found(goes_on: bool) -> None:
    place, clock = Place(), SetClock()
    known = fresh(place, clock, goes_on=goes_on)
    await known.get("a")
    clock.seconds += SECONDS
    place.says = "two"
    place.open.clear()
    place.begun.clear()
    first = asyncio.create_task(known.get("a"))
    await place.begun.wait()

    second = asyncio.create_task(known.get("a"))
    await asyncio.sleep(0)
    ended = second.done()
    place.open.set()

    assert ended is goes_on
    assert (await first, await second) == ("a: two", "a: one" if goes_on else "a: two")
    assert len(place.looks) == 2


async def test_a_look_that_began_before_something_was_forgotten_is_not_remembered() -> None:
    place = Place()
    known = fresh(place, SetClock())
    place.open.clear()
    early = asyncio.create_task(known.get("a"))
    await place.begun.wait()

    place.says = "two"
    known.forget("a")
    late = asyncio.create_task(known.get("a"))
    await asyncio.sleep(0)
    place.open.set()

    assert (await early, await late) == ("a: one", "a: two")
    assert await known.get("a") == "a: two"
    assert len(place.looks) == 2


async def test_one_key_or_all_can_be_forgotten() -> None:
    place = Place()
    known = fresh(place, SetClock())
    for key in ("a", "b"):
        await known.get(key)

    known.forget("a")
    assert [key for key, _ in known.items()] == ["b"]
    known.forget()
    assert list(known.items()) == []


async def test_the_keys_asked_for_last_are_kept() -> None:
    place = Place()
    known = fresh(place, SetClock(), most=2)
    for key in ("a", "b", "a", "c"):
        await known.get(key)

    assert [key for key, _ in known.items()] == ["a", "c"]


async def test_a_further_look_that_hangs_holds_nobody_up_where_what_was_found_goes_on() -> None:
    place, clock = Place(), SetClock()
    known = fresh(place, clock, goes_on=True)
    await known.get("a")
    clock.seconds += SECONDS
    place.says = "two"
    place.open.clear()

    async with asyncio.timeout(1):
        assert [await known.get("a"), await known.get("a")] == ["a: one", "a: one"]

    place.open.set()
    for _ in range(5):
        await asyncio.sleep(0)
    assert await known.get("a") == "a: two"
    assert len(place.looks) == 2


async def test_a_look_has_nothing_of_the_caller_that_begins_it() -> None:
    caller: ContextVar[str] = ContextVar("caller", default="nobody")

    async def look(key: str, before: str | None) -> str:
        return caller.get()

    caller.set("ada")

    assert await TtlCache(look, SetClock(), seconds=SECONDS, most=1).get("a") == "nobody"

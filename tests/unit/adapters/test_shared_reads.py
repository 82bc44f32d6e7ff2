"""Equal reads at one time: few of them, and none that began before its caller came."""

from __future__ import annotations

import asyncio
import gc
from contextvars import ContextVar

import pytest

from agentic_rag.adapters.postgres.session.shared_reads import SharedReads
from agentic_rag.kernel.errors import DependencyUnavailable


class Source:
    """A number that grows; a read takes what it is when the read begins, and ends when it is let go."""

    def __init__(self) -> None:
        self.version = 0
        self.begun: list[asyncio.Event] = []
        self.error: Exception | None = None
        self.begun_at: list[float] = []
        self.ended: list[str] = []

    async def read(self) -> int:
        found, let_go = self.version, asyncio.Event()
        self.begun.append(let_go)
        self.begun_at.append(asyncio.get_running_loop().time())
        try:
            await let_go.wait()
        except asyncio.CancelledError:
            self.ended.append("cancelled")
            raise
        self.ended.append("read")
        if self.error is not None:
            raise self.error
        return found


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def begun(reads: SharedReads[int], source: Source, callers: int) -> list[asyncio.Task[int]]:
    tasks = [asyncio.create_task(reads.run("key", source.read)) for _ in range(callers)]
    await settled()
    return tasks


async def test_those_who_come_during_a_read_share_the_next_one_and_see_what_is_new() -> None:
    reads, source = SharedReads[int](patience=60), Source()
    first = await begun(reads, source, 1)
    source.version = 1
    later = await begun(reads, source, 5)
    assert len(source.begun) == 1

    source.begun[0].set()
    await settled()
    assert len(source.begun) == 2
    source.version = 2
    last = await begun(reads, source, 1)
    source.begun[1].set()
    await settled()
    source.begun[2].set()

    assert await asyncio.gather(*first) == [0]
    assert await asyncio.gather(*later) == [1] * 5
    assert await asyncio.gather(*last) == [2]


async def test_a_read_that_hangs_holds_nobody_else_up() -> None:
    reads, source = SharedReads[int](patience=0.01), Source()
    hanging = await begun(reads, source, 1)
    later = await begun(reads, source, 2)
    await asyncio.sleep(0.05)
    source.begun[1].set()

    assert await asyncio.gather(*later) == [0, 0]
    assert not hanging[0].done()
    source.begun[0].set()
    await hanging[0]


async def test_another_key_is_another_read() -> None:
    reads, source = SharedReads[int](), Source()
    await begun(reads, source, 1)
    other = asyncio.create_task(reads.run("other", source.read))
    await settled()

    source.begun[1].set()
    assert await other == 0
    source.begun[0].set()


async def test_an_error_reaches_all_who_share_the_read_and_nobody_after_them() -> None:
    reads, source = SharedReads[int](patience=60), Source()
    first = await begun(reads, source, 1)
    sharing = await begun(reads, source, 2)
    source.begun[0].set()
    await settled()
    source.error = DependencyUnavailable("gone", dependency="postgres")
    source.begun[1].set()
    outcomes = await asyncio.gather(*sharing, return_exceptions=True)
    assert outcomes == [source.error, source.error]

    source.error = None
    after = await begun(reads, source, 1)
    source.begun[2].set()
    assert await asyncio.gather(*first, *after) == [0, 0]


async def test_whoever_is_cancelled_takes_nothing_from_the_others() -> None:
    reads, source = SharedReads[int](patience=60), Source()
    first = await begun(reads, source, 1)
    sharing = await begun(reads, source, 2)
    first[0].cancel()
    sharing[0].cancel()
    await settled()
    source.begun[1].set()

    assert await sharing[1] == 0
    with pytest.raises(asyncio.CancelledError):
        await sharing[0]


async def test_a_read_that_nobody_waits_for_any_more_does_not_begin() -> None:
    reads, source = SharedReads[int](patience=60), Source()
    first = await begun(reads, source, 1)
    gone = await begun(reads, source, 1)
    gone[0].cancel()
    await settled()
    source.begun[0].set()

    assert await first[0] == 0
    await settled()
    assert len(source.begun) == 1


async def test_a_shared_read_has_nothing_of_the_caller_who_happened_to_start_it() -> None:
    caller: ContextVar[str] = ContextVar("caller", default="nobody")
    reads = SharedReads[str](patience=60)
    let_go = asyncio.Event()

    async def read() -> str:
        found = caller.get()
        await let_go.wait()
        return found

    async def ask(name: str) -> str:
        caller.set(name)
        return await reads.run("key", read)

    asked = [asyncio.create_task(ask(name)) for name in ("ada", "bob", "cleo")]
    await settled()
    let_go.set()

    assert await asyncio.gather(*asked) == ["ada", "nobody", "nobody"]


async def test_reads_that_nobody_wants_any_more_are_cancelled_and_their_errors_are_taken() -> None:
    reads, source, told = SharedReads[int](patience=0.001), Source(), list[str]()
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context["message"]))
    callers: list[asyncio.Task[int]] = []
    for _ in range(4):
        callers += await begun(reads, source, 1)
        await asyncio.sleep(0.02)
    assert len(source.begun) == len(callers)

    for one in callers:
        one.cancel()
    await settled()
    left = [one for one in asyncio.all_tasks() if one is not asyncio.current_task()]
    source.error = DependencyUnavailable("gone", dependency="postgres")
    for let_go in source.begun:
        let_go.set()
    await asyncio.gather(*callers, *left, return_exceptions=True)
    del left
    gc.collect()

    assert not told
    assert source.ended == ["cancelled"] * len(callers)


async def test_an_error_is_taken_also_where_the_last_who_waits_leaves_at_that_moment() -> None:
    reads, source, told = SharedReads[int](patience=60), Source(), list[str]()
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context["message"]))
    first = await begun(reads, source, 1)
    sharing = await begun(reads, source, 1)
    source.begun[0].set()
    await first[0]
    await settled()
    source.error = DependencyUnavailable("gone", dependency="postgres")
    source.begun[1].set()
    await asyncio.sleep(0)
    sharing[0].cancel()
    await asyncio.gather(*sharing, return_exceptions=True)
    await settled()
    gc.collect()

    assert not told


async def test_each_read_that_does_not_end_makes_the_next_one_wait_twice_as_long() -> None:
    reads, source, asked = SharedReads[int](patience=0.01), Source(), list[float]()
    callers = await begun(reads, source, 1)
    for wait in (0.01, 0.02, 0.04, 0.08):
        asked.append(asyncio.get_running_loop().time())
        callers += await begun(reads, source, 1)
        await asyncio.sleep(2 * wait)
        await settled()
    waited = [began - came for began, came in zip(source.begun_at[1:], asked, strict=True)]
    for let_go in source.begun:
        let_go.set()
    await asyncio.gather(*callers)

    assert [wait >= least for wait, least in zip(waited, (0.01, 0.02, 0.04, 0.08), strict=True)] == [True] * 4


async def test_the_end_of_the_process_waits_for_no_shared_read() -> None:
    reads, source = SharedReads[int](patience=0.001), Source()
    callers = await begun(reads, source, 3)
    await asyncio.sleep(0.02)
    callers += await begun(reads, source, 1)
    assert len(source.begun) == 2

    await asyncio.wait_for(reads.aclose(), 1)
    shared = await asyncio.gather(*callers[1:], return_exceptions=True)
    source.begun[0].set()
    await callers[0]
    await settled()

    assert [type(one) for one in shared] == [DependencyUnavailable] * 3
    assert source.ended == ["cancelled", "read"]
    assert len(source.begun) == 2

"""What a process drops, and whom it waits for."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import pytest

from agentic_rag.erasure.process_memory import ProcessMemory
from agentic_rag.kernel.concurrency import Turnstile
from agentic_rag.language.stemming import stem_of
from agentic_rag.tenancy.principals import WorkspaceRef

OURS, THEIRS = (WorkspaceRef(uuid4(), uuid4()) for _ in range(2))


class Parts:
    """A memory with a holder and children, and what happened to them."""

    def __init__(self) -> None:
        self.memory = ProcessMemory()
        self.happened: list[str] = []
        self.memory.holds(lambda _: self.happened.append("dropped"))
        self.memory.is_ended_by(self._end)

    async def _end(self) -> None:
        self.happened.append("ended")


async def test_children_end_only_when_they_read_of_the_workspace() -> None:
    parts = Parts()
    with parts.memory.reading(THEIRS, uuid4()):
        pass

    await parts.memory.drop_for_good(OURS)
    untouched = list(parts.happened)
    await parts.memory.drop_for_good(THEIRS)
    await parts.memory.drop_for_good(THEIRS)

    assert untouched == ["dropped"] * 2
    assert parts.happened.count("ended") == 1


async def test_children_that_read_of_an_unknown_workspace_end_with_any() -> None:
    parts = Parts()
    with parts.memory.reading(None):
        pass

    await parts.memory.drop_for_good(OURS)

    assert parts.happened[-1] == "ended"


async def test_who_reads_the_whole_text_is_waited_for_and_who_reads_another_is_not() -> None:
    parts, document = Parts(), uuid4()
    with parts.memory.reading(OURS, document):
        other = asyncio.create_task(parts.memory.drop_for_good(OURS, [uuid4()]))
        foreign = asyncio.create_task(parts.memory.drop_for_good(THEIRS))
        same = asyncio.create_task(parts.memory.drop_for_good(OURS, [document]))
        await asyncio.wait([other, foreign])
        waits = not same.done()
        parts.happened.clear()
    await same

    assert waits
    assert parts.happened == ["dropped", "ended"]


async def test_what_work_hands_over_when_it_ends_is_waited_for() -> None:
    parts, inside, kept = Parts(), Turnstile(), asyncio.Event()
    is_asked = asyncio.Event()

    async def drain() -> None:
        is_asked.set()
        await kept.wait()

    parts.memory.is_used_by(inside.settle)
    parts.memory.is_handed_to(drain)
    with inside.inside():
        dropping = asyncio.create_task(parts.memory.drop_for_good(OURS))
        await asyncio.sleep(0)
        asks_early = is_asked.is_set()
    await is_asked.wait()
    waits = not dropping.done()
    parts.happened.clear()
    kept.set()
    await dropping

    assert (asks_early, waits) == (False, True)
    assert parts.happened == ["dropped"]


async def test_a_second_order_waits_for_the_children_that_the_first_one_ends() -> None:
    memory, gone = ProcessMemory(), asyncio.Event()

    async def end() -> None:
        await gone.wait()

    memory.is_ended_by(end)
    with memory.reading(OURS):
        pass
    orders = [asyncio.create_task(memory.drop_for_good(OURS)) for _ in range(2)]
    other = asyncio.create_task(memory.drop_for_good(THEIRS))
    await other
    waits = [not one.done() for one in orders]
    gone.set()
    await asyncio.gather(*orders)

    assert waits == [True, True]


async def test_children_that_could_not_be_ended_are_ended_by_the_next_order() -> None:
    memory, tries = ProcessMemory(), list[str]()

    async def end() -> None:
        tries.append("tried")
        if len(tries) == 1:
            raise OSError("not ended")

    memory.is_ended_by(end)
    with memory.reading(OURS):
        pass
    with pytest.raises(OSError, match="not ended"):
        await memory.drop_for_good(OURS)
    await memory.drop_for_good(OURS)
    await memory.drop_for_good(OURS)

    assert tries == ["tried"] * 2


def test_what_functions_remember_of_texts_is_dropped() -> None:
    stem_of("documents", "english")
    remembered = stem_of.cache_info().currsize

    ProcessMemory().drop(OURS)

    assert (remembered > 0, stem_of.cache_info().currsize) == (True, 0)

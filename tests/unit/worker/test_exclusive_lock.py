"""One job runs alone: it waits until the others have ended."""

from __future__ import annotations

import asyncio

import pytest
from tests.waiting import eventually

from agentic_rag_worker.exclusive_lock import ExclusiveLock


async def test_a_job_that_is_cancelled_as_its_turn_comes_does_not_run() -> None:
    lock, ran = ExclusiveLock(), list[bool]()

    async def run_alone() -> None:
        async with lock.exclusive() as is_alone:
            ran.append(is_alone)

    async def waits() -> bool:
        return bool(getattr(lock._free, "_waiters", ()))

    with lock.share():
        waiting = asyncio.create_task(run_alone())
        await eventually(waits, "it waits for the one that runs")
    waiting.cancel()

    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert ran == []
    assert not lock.is_exclusive

"""Time in which a process stands still is not the time that something took."""

from __future__ import annotations

import asyncio
import time

from tests.awake import Awake


async def test_a_process_that_stands_still_is_not_awake() -> None:
    async with Awake.measured() as awake:
        await asyncio.sleep(0.1)
        time.sleep(0.5)  # noqa: ASYNC251

    assert 0.05 < awake.seconds < 0.3


async def test_a_process_that_is_at_work_is_awake() -> None:
    async with Awake.measured() as awake:
        await asyncio.sleep(0.02)
        until = time.process_time() + 0.3
        while time.process_time() < until:
            pass

    assert awake.seconds > 0.2

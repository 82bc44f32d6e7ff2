"""A statement under way while this process computes what needs no answer of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

_Found = TypeVar("_Found")


@asynccontextmanager
async def under_way(reading: Coroutine[Any, Any, _Found]) -> AsyncGenerator[asyncio.Task[_Found]]:
    """The read as a task that was sent off before the block begins and has ended when it is left, given up if need
    be. Errors: none of its own; awaiting the task raises those of the read.
    """
    task = asyncio.ensure_future(reading)
    try:
        await asyncio.sleep(0)
        yield task
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait([task])

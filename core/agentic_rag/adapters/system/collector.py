"""The runtime of a process: its event loop, how often it collects cyclic garbage, and what it keeps of freed memory."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import sys
from collections.abc import Callable

COLLECT_AFTER = (50_000, 20, 50)
"""By default Python collects after every 700 new objects. Documents and answers in progress have tens of thousands of
objects, and hardly any is in a cycle: scanning them took 9 % of the CPU time of ingestion (the throughput row of `make
chaos`).
"""


def settle_collector() -> None:
    """Exclude all existing objects from collection, and collect less often. Call it once, after all imports.

    What is garbage by then stays: looking for it takes a tenth of a server's start, and finds 1,056 of 218,149 objects.
    """
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)
    gc.enable()


async def give_back_freed_memory() -> None:
    """Return freed memory to the operating system, where the C library is glibc. It keeps what lies between blocks in
    use, with the texts that were in it: 20 of 154 MB of a process whose caches were dropped after 496 answers.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        await asyncio.to_thread(trim, 0)


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """What makes the event loop: uvloop where there is one."""
    if sys.platform == "win32":
        return None
    import uvloop

    return uvloop.new_event_loop

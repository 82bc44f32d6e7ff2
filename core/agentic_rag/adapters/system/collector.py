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

_M_ARENA_MAX = -8
"""Parameter of mallopt(3), from glibc's malloc.h."""
_ARENAS = 2
"""glibc makes 8 for each core, one for every thread that computes; what one has free the others cannot use. Two, not
one: the interpreter's lock lets hardly more than one thread allocate at a time.
"""


def settle_collector() -> None:
    """Exclude all existing objects from collection, and collect less often. Call it once, after all imports.

    What is garbage by then stays: looking for it takes a tenth of a server's start, and finds 1,056 of 218,149 objects.
    """
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)
    gc.enable()


def limit_arenas() -> bool:
    """Let threads share the memory that others have freed. Call it before any is started. False where the C library is
    not glibc (macOS, musl).
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    return mallopt is not None and mallopt(_M_ARENA_MAX, _ARENAS) == 1


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

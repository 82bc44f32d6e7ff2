"""How this process's memory allocator treats documents that are far larger than the rest."""

from __future__ import annotations

import ctypes
import sys

_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
"""Parameters of mallopt(3), from glibc's malloc.h."""
_MAPPED_FROM = 128 * 1024
"""glibc's own first value, in bytes. It lets the value grow to what was freed last, up to 32 MB: after one large text
all others come from the shared heap, and leave holes in it that are never given back.
"""
_ARENAS = 2
"""glibc makes 8 for each core, one for every thread that computes; what one has free the others cannot use. Two, not
one: the interpreter's lock lets hardly more than one thread allocate at a time.
"""


def return_large_blocks() -> bool:
    """Give the memory of large texts back to the system as soon as they are done with. False where the C library has
    no such setting (macOS, musl).
    """
    if sys.platform != "linux":
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    return mallopt(_M_MMAP_THRESHOLD, _MAPPED_FROM) == 1 and mallopt(_M_ARENA_MAX, _ARENAS) == 1

"""How this process's memory allocator treats documents that are far larger than the rest."""

from __future__ import annotations

import ctypes
import sys

_M_MMAP_THRESHOLD = -3
"""Parameter of mallopt(3), from glibc's malloc.h."""
_MAPPED_FROM = 128 * 1024
"""glibc's own first value, in bytes. It lets the value grow to what was freed last, up to 32 MB: after one large text
all others come from the shared heap, and leave holes in it that are never given back.
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
    return mallopt(_M_MMAP_THRESHOLD, _MAPPED_FROM) == 1

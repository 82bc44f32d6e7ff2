"""After large documents a worker is as small as before them."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

# Imports leave free blocks on the heap, most of them where Python compiles a module first. The fillers take these
# blocks, so that each small text lies behind a large one.
LARGE_TEXTS_AMONG_SMALL_ONES = """
import sys
from agentic_rag_worker.malloc import return_large_blocks

def resident():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * 4096

if sys.argv[1] == "set":
    assert return_large_blocks()
fillers = [bytes(1_000 + number % 60) for number in range(4_000)]
bytes(30_000_000)
before = resident()
large, kept = [], []
for number in range(60):
    large.append(b"x" * 1_000_000)
    kept.append(b"y" * (1_000 + number))
large.clear()
print((resident() - before) // 1_000_000)
"""


@pytest.mark.slow
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="a setting of glibc")
def test_large_texts_leave_no_holes_between_small_ones() -> None:
    grown = {
        how: int(subprocess.check_output([sys.executable, "-c", LARGE_TEXTS_AMONG_SMALL_ONES, how]))
        for how in ("set", "unset")
    }
    assert grown["set"] < 5
    assert grown["unset"] > 30, "the C library returns them by itself; the setting is not needed any more"

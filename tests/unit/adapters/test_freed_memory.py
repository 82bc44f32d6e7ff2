"""What a process drops is given back to the operating system, not kept for later."""

from __future__ import annotations

import ctypes
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest
from tests.bench.processes import resident_megabytes

from agentic_rag.bootstrap.container import Container
from agentic_rag.settings import load_settings


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="component: the C library is not glibc")
async def test_memory_of_dropped_texts_goes_back_though_others_beside_them_stay(tmp_path: Path) -> None:
    texts = [os.urandom(4000) for _ in range(10_000)]
    kept = texts[::100]
    before = resident_megabytes(os.getpid())
    del texts

    away = {"DATABASE_URL": "postgresql://127.0.0.1:1/none", "REDIS_URL": "redis://127.0.0.1:1/0"}
    await Container(load_settings(away, dotenv=tmp_path / "none")).memory.drop_for_good(None)

    assert resident_megabytes(os.getpid()) < before - 30
    assert len(kept) == 100


MANY_THREADS = """
import ctypes, sys, threading
from agentic_rag.adapters.system.collector import limit_arenas

if sys.argv[1] == "limited":
    assert limit_arenas()
met = threading.Barrier(16)

def hold():
    kept = [bytes(1_000) for _ in range(100)]
    met.wait()

threads = [threading.Thread(target=hold) for _ in range(16)]
for one in threads:
    one.start()
for one in threads:
    one.join()
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
file = ctypes.c_void_p(libc.fopen(sys.argv[2].encode(), b"w"))
libc.malloc_info(0, file)
libc.fclose(file)
"""


@pytest.mark.slow
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="a setting of glibc")
def test_threads_share_what_others_have_freed(tmp_path: Path) -> None:
    def arenas(how: str) -> int:
        subprocess.run([sys.executable, "-c", MANY_THREADS, how, str(tmp_path / how)], check=True)
        return (tmp_path / how).read_text().count("<heap ")

    assert arenas("limited") <= 2
    assert arenas("unlimited") > 2, "the C library has few by itself; the setting is not needed any more"

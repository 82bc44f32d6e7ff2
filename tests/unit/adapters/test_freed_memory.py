"""What a process drops is given back to the operating system, not kept for later."""

from __future__ import annotations

import ctypes
import os
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

"""`kernel.compute.Compute` on a pool of processes: Python computes on one core per process."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from typing import TypeVar

from agentic_rag.kernel.errors import Retryable

T = TypeVar("T")
A = TypeVar("A")

WORTH_A_PROCESS = 48
"""From this many items on, another process repays its overhead (about 1 ms, and 0.3 s for the first); fewer items run
in a thread.
"""


class ProcessCompute:
    """Starts its processes on first use; 0 processes means one thread of this process.

    One thread only: the interpreter runs one at a time anyway. Two threads that alternate on its lock (numpy releases
    it in every longer call) cost a tenth of the CPU time of ingestion and delay the event loop.
    """

    def __init__(self, processes: int) -> None:
        self._processes = processes
        self._pool: ProcessPoolExecutor | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="compute")

    async def run(self, function: Callable[[A], T], argument: A, size: int) -> T:
        if not self._processes or size < WORTH_A_PROCESS:
            return await self.run_here(lambda: function(argument))
        pool = self._open_pool()
        try:
            return await asyncio.get_running_loop().run_in_executor(pool, function, argument)
        except BrokenProcessPool as error:
            # All work in a broken pool fails; an earlier failure may have opened the next pool already.
            if self._pool is pool:
                self._pool = None
            raise Retryable(
                "A computing process was ended from outside; the work is done again.", code="COMPUTE_LOST"
            ) from error

    async def run_here(self, function: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function)

    async def end_processes(self) -> None:
        """End the processes when they have done their work; the next work starts others."""
        pool, self._pool = self._pool, None
        if pool is not None:
            await asyncio.to_thread(pool.shutdown)

    async def aclose(self) -> None:
        """End the processes and the thread."""
        await asyncio.to_thread(self._thread.shutdown, cancel_futures=True)
        pool, self._pool = self._pool, None
        if pool is not None:
            await asyncio.to_thread(pool.shutdown, cancel_futures=True)

    def _open_pool(self) -> ProcessPoolExecutor:
        if self._pool is None:
            # Spawned, not forked: this process has threads and an event loop.
            self._pool = ProcessPoolExecutor(
                self._processes, mp_context=get_context("spawn"), initializer=_prepare_process
            )
        return self._pool


def _prepare_process() -> None:
    """The functions run here are pure and leave no cycles, so garbage collection is disabled."""
    _end_with_parent()
    gc.freeze()
    gc.disable()


def _end_with_parent() -> None:
    """End this process when its parent ends: pool processes would outlive a killed parent."""
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_watch, args=(parent.sentinel,), daemon=True).start()


def _watch(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)

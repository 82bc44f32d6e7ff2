"""Runs what may hang: neither its threads nor its tasks keep the process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Thread
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_ROUNDS = 10
_ROUND_SECONDS = 0.1


class DaemonThreads(ThreadPoolExecutor):
    """A thread for each call, which nobody waits for, the end of the process neither: one that hangs on the disk of a
    server that is away cannot be ended.
    """

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Call it on a thread of its own."""
        told: Future[T] = Future()
        told.set_running_or_notify_cancel()

        def run() -> None:
            try:
                told.set_result(fn(*args, **kwargs))
            except Exception as error:  # noqa: BLE001 - whoever waits for the call gets it
                told.set_exception(error)

        Thread(target=run, daemon=True).start()
        return told


@contextmanager
def unheld_runner() -> Iterator[asyncio.Runner]:
    """A runner that ends although threads of its loop hang. What has been run should be told before the block ends."""
    with asyncio.Runner() as runner:
        runner.get_loop().set_default_executor(DaemonThreads())
        try:
            yield runner
        finally:
            runner.run(_cancel_tasks())


async def _cancel_tasks() -> None:
    """Cancel what is left, again and again: each cleanup of a task may wait for what hangs."""
    for _ in range(_ROUNDS):
        left = asyncio.all_tasks() - {asyncio.current_task()}
        if not left:
            return
        for task in left:
            task.cancel()
        await asyncio.wait(left, timeout=_ROUND_SECONDS)

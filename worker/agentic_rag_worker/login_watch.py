"""Ends a worker whose login production refuses, which a database that was away at the start tells late."""

from __future__ import annotations

import asyncio


class LoginWatch:
    """A service of the worker that fails with the watch. A watch that ends well ends nothing."""

    def __init__(self, watch: asyncio.Task[None]) -> None:
        self._watch = watch
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        """Wait for `stop`. Errors: that of the watch."""
        stopped = asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait([stopped, self._watch], return_when=asyncio.FIRST_COMPLETED)
            if self._watch.done():
                self._watch.result()
            await stopped
        finally:
            stopped.cancel()
            self._watch.cancel()

    def stop(self) -> None:
        """End."""
        self._stopping.set()

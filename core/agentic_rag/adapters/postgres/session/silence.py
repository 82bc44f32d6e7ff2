"""Tells a server that answers nobody from one that is slow."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from time import monotonic
from typing import Any

from agentic_rag.adapters.postgres.session.errors import translate
from agentic_rag.kernel.concurrency import detached_task

_LOOKS = 8
"""Looks at the pulse within the silence that ends a block."""

_ASKS_AT = 0.25
"""Of that silence, before the server is asked beside the block. A new connection takes about 15 ms."""


class Pulse:
    """When the server last answered one of the connections of a pool. `ask` asks it for anything, on a connection that
    nothing else uses, and ends without an error where it does not answer.
    """

    __slots__ = ("_ask", "_asking", "at")

    def __init__(self, ask: Callable[[], Coroutine[Any, Any, None]] | None = None) -> None:
        self.at = monotonic()
        self._ask = ask
        self._asking: asyncio.Task[None] | None = None

    def beat(self) -> None:
        """The server has answered."""
        self.at = monotonic()

    @asynccontextmanager
    async def while_answering(self, seconds: float) -> AsyncGenerator[None]:
        """Ends the block once the server has answered nobody for `seconds`. A statement that waits or takes long does
        not end it, because the server answers beside it. Time in which this process stood still does not count, because
        an answer may lie unread meanwhile. Errors: `DependencyUnavailable`, and those of the block.
        """
        loop = asyncio.get_running_loop()
        every = seconds / _LOOKS
        silent_since = looked = monotonic()

        # It is handed itself: a function that names itself is a cycle, and stays with all that it refers to until
        # garbage is looked for.
        def look(again: Callable[..., None]) -> None:
            nonlocal silent_since, looked, timer
            now = monotonic()
            late = now - looked - every
            silent_since = max(silent_since + (late if late > every else 0.0), self.at)
            looked = now
            if now - silent_since >= seconds:
                limit.reschedule(loop.time())
                return
            if now - silent_since >= _ASKS_AT * seconds:
                self._ask_once()
            timer = loop.call_later(every, again, again)

        timer = loop.call_later(every, look, look)
        limit = asyncio.timeout(None)
        try:
            async with limit:
                yield
        except TimeoutError as late:
            if limit.expired():
                raise translate(late) from late
            raise
        finally:
            timer.cancel()

    async def aclose(self) -> None:
        """Ask no more."""
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.wait({self._asking})

    def _ask_once(self) -> None:
        """One question serves all blocks: a server that is slow gets no further load."""
        if self._ask is not None and (self._asking is None or self._asking.done()):
            self._asking = detached_task(self._ask())

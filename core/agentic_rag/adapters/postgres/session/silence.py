"""Tells a server that answers nobody from one that is slow."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import Context
from time import monotonic
from types import TracebackType
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

    One timer looks for all blocks, and only while there are any: to guard a statement costs no timer of its own.
    """

    __slots__ = ("_ask", "_asking", "_blocks", "_context", "_every", "_looked", "_timer", "at")

    def __init__(self, ask: Callable[[], Coroutine[Any, Any, None]] | None = None) -> None:
        self.at = monotonic()
        self._ask = ask
        self._asking: asyncio.Task[None] | None = None
        self._blocks = set[WhileAnswering]()
        self._timer: asyncio.TimerHandle | None = None
        self._every = self._looked = 0.0
        # A timer keeps the context in which it is made: that of the request that happened to be first.
        self._context = Context()

    def beat(self) -> None:
        """The server has answered."""
        self.at = monotonic()

    def while_answering(self, seconds: float) -> WhileAnswering:
        """Ends the block once the server has answered nobody for `seconds`. A statement that waits or takes long does
        not end it, because the server answers beside it. Time in which this process stood still does not count, because
        an answer may lie unread meanwhile. Errors: `DependencyUnavailable`, and those of the block.
        """
        return WhileAnswering(self, seconds)

    async def aclose(self) -> None:
        """Ask no more."""
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.wait({self._asking})

    def enter(self, block: WhileAnswering) -> None:
        """Look at a block from now on."""
        self._blocks.add(block)
        every = block.seconds / _LOOKS
        if self._timer is None or every < self._every:
            self._looked = monotonic()
            self._look_in(every)

    def leave(self, block: WhileAnswering) -> None:
        """Look at a block no more."""
        self._blocks.discard(block)

    def _look_in(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._every = seconds
        self._timer = asyncio.get_running_loop().call_later(seconds, self._look, context=self._context)

    def _look(self) -> None:
        now = monotonic()
        late = now - self._looked - self._every
        self._looked, self._timer = now, None
        for block in tuple(self._blocks):
            block.since = max(block.since + (late if late > self._every else 0.0), self.at)
            if now - block.since >= block.seconds:
                self.leave(block)
                block.end()
            elif now - block.since >= _ASKS_AT * block.seconds:
                self._ask_once()
        if self._blocks:
            self._look_in(min(block.seconds for block in self._blocks) / _LOOKS)

    def _ask_once(self) -> None:
        """One question serves all blocks: a server that is slow gets no further load."""
        if self._ask is not None and (self._asking is None or self._asking.done()):
            self._asking = detached_task(self._ask())


class WhileAnswering:
    """A block that a `Pulse` ends."""

    __slots__ = ("_limit", "_pulse", "seconds", "since")

    def __init__(self, pulse: Pulse, seconds: float) -> None:
        self._pulse = pulse
        self._limit = asyncio.timeout(None)
        self.seconds = seconds
        self.since = 0.0
        """When the server answered last, as far as the block knows."""

    @property
    def has_ended(self) -> bool:
        """Whether the silence ended the block."""
        return self._limit.expired()

    async def __aenter__(self) -> None:
        await self._limit.__aenter__()
        self.since = monotonic()
        self._pulse.enter(self)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pulse.leave(self)
        try:
            await self._limit.__aexit__(kind, error, trace)
        except TimeoutError as late:
            raise translate(late) from late

    def end(self) -> None:
        """The server answers nobody."""
        self._limit.reschedule(asyncio.get_running_loop().time())

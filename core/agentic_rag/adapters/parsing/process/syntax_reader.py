"""`SyntaxReader`: what source code defines, read by the grammar of its language in a child process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import PurePath

from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.adapters.parsing.process.pool import ChildPool
from agentic_rag.adapters.parsing.process.wire import decode_definitions, frame
from agentic_rag.kernel.errors import ParseFailed, Retryable
from agentic_rag.language.programming import WITH_GRAMMAR, language_of
from agentic_rag.language.symbols import Definition

SYNTAX_LIMITS = ParserLimits(memory_bytes=256 << 20, most_cpu_seconds=2.0)
"""Of one file. A million characters of C take about 0.3 s and 100 MB."""
WAIT_SECONDS = 2.0
"""An answer waits for it; a file that takes longer is read by keywords."""
_MODULE = "agentic_rag.adapters.parsing.process.syntax_child"


class SyntaxReader:
    """Implements `language.symbols.ReadDefinitions` with one process, started at the first file and used again.
    `reading` is open while a file is read, or waits to be.
    """

    def __init__(
        self,
        limits: ParserLimits = SYNTAX_LIMITS,
        *,
        on_missing: Callable[[Sequence[str]], None] | None = None,
        reading: Callable[[], AbstractContextManager[None]] = nullcontext,
        wait_seconds: float = WAIT_SECONDS,
    ) -> None:
        self._limits = limits
        self._pool = ChildPool(_MODULE, limits, on_missing=on_missing)
        self._free = asyncio.Semaphore(1)
        self._reading = reading
        self._wait_seconds = wait_seconds
        self._reads: set[asyncio.Task[Sequence[Definition] | None]] = set()

    async def __call__(self, file_name: str, text: str) -> Sequence[Definition] | None:
        """What the file defines; None where its language has no grammar, or it took too much time or memory."""
        if language_of(file_name) not in WITH_GRAMMAR:
            return None
        read = asyncio.create_task(self._read(frame({"file_name": PurePath(file_name).name}, text.encode())))
        self._reads.add(read)
        read.add_done_callback(self._forget)
        # Its process starts to the end, whoever waits: on a busy machine none would ever start.
        done, _ = await asyncio.wait({read}, timeout=self._wait_seconds)
        try:
            return read.result() if done else None
        except (ParseFailed, Retryable):
            return None

    async def end_children(self) -> None:
        """As of `ProcessParser`."""
        await self._pool.end_children()

    async def aclose(self) -> None:
        """End the child, and what waits for it."""
        for one in self._reads:
            one.cancel()
        await asyncio.gather(*self._reads, return_exceptions=True)
        await self._pool.aclose()

    async def _read(self, request: bytes) -> Sequence[Definition] | None:
        with self._reading():
            async with self._free:
                return await self._pool.exchange(request, decode_definitions, self._limits.wall_seconds)

    def _forget(self, read: asyncio.Task[Sequence[Definition] | None]) -> None:
        self._reads.discard(read)
        if not read.cancelled():
            # Looked at, or asyncio would report a failure that nobody waited for.
            read.exception()

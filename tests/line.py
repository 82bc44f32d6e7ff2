"""A TCP line to a server that a test can cut, slow down, let hang, and mend: an outage for one client alone."""

from __future__ import annotations

import asyncio
import contextlib
from urllib.parse import urlsplit

from agentic_rag.embedded.loopback import HOST

BOLT_STATEMENT = b"\xb3\x10"
"""In what a client of Neo4j sends with each statement: a RUN message of three fields."""


class Line:
    """Forwards to the address of `url` while it is whole. While it hangs, it takes connections and carries nothing."""

    def __init__(self, url: str) -> None:
        self._parts = urlsplit(url)
        self._server: asyncio.Server | None = None
        self._port = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._carries = asyncio.Event()
        self._carries.set()
        self._delay_seconds = 0.0
        self._is_quick = asyncio.Event()

    @property
    def url(self) -> str:
        """Where clients connect to."""
        return self._parts._replace(netloc=f"{HOST}:{self._port}").geturl()

    async def mend(self) -> None:
        """Carry connections, on the port it always had."""
        self._carries.set()
        self._is_quick.set()
        if self._server is None:
            self._server = await asyncio.start_server(self._accept, HOST, self._port)
            self._port = self._server.sockets[0].getsockname()[1]

    def slow(self, seconds: float) -> None:
        """Carry each statement to Neo4j so many seconds later, until it is mended."""
        self._delay_seconds = seconds
        self._is_quick.clear()

    def hang(self) -> None:
        """Carry nothing more, and refuse nothing."""
        self._carries.clear()

    async def cut(self) -> None:
        """Drop every connection and refuse new ones."""
        server, self._server = self._server, None
        if server is not None:
            server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            there, back = await asyncio.open_connection(self._parts.hostname, self._parts.port)
            try:
                await asyncio.gather(self._carry(reader, back), self._carry(there, writer))
            finally:
                back.close()
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
            self._tasks.discard(task)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1 << 16):
            await self._carries.wait()
            if BOLT_STATEMENT in data:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._is_quick.wait(), self._delay_seconds)
            writer.write(data)
            await writer.drain()
        with contextlib.suppress(OSError):
            writer.write_eof()

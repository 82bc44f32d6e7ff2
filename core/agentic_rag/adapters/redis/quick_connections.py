"""Connections for short commands of callers that wait for each answer."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import asyncio
from typing import Any

from redis.asyncio import Connection, ConnectionPool
from redis.exceptions import ConnectionError, ResponseError

from agentic_rag.adapters.redis.pools import pool_of

MAX_CONNECTIONS = 1_000


class QuickConnections:
    """Each serves one command at a time and is kept for the next one. redis-py's client takes a lock, looks at the
    socket and gives the loop a turn before each command: three times the processor time. Without a time-out: the caller
    bounds the wait.
    """

    def __init__(self, url: str, *, connect_seconds: float) -> None:
        self._source: Any = pool_of(ConnectionPool, url, socket_timeout=None, socket_connect_timeout=connect_seconds)
        self._idle: list[Connection] = []
        self._places = asyncio.Semaphore(MAX_CONNECTIONS)

    async def ask(self, *command: str | int) -> Any:
        """The answer to a command. A connection that the server closed meanwhile is replaced once. Errors: those of
        redis-py.
        """
        async with self._places:
            if self._idle:
                try:
                    return await self._ask(self._idle.pop(), command)
                except ConnectionError:
                    # The others are as old: the server restarted, or closes what is idle.
                    await self.aclose()
            return await self._ask(self._source.make_connection(), command)

    async def aclose(self) -> None:
        """Close the connections that are not in use."""
        idle, self._idle = self._idle, []
        for connection in idle:
            await connection.disconnect(nowait=True)

    async def _ask(self, connection: Connection, command: tuple[str | int, ...]) -> Any:
        try:
            await connection.send_command(*command)
            answer = await connection.read_response()
        except ResponseError:
            self._idle.append(connection)
            raise
        except BaseException:
            # The answer that was not read would be taken for that to the next command.
            await connection.disconnect(nowait=True)
            raise
        self._idle.append(connection)
        return answer

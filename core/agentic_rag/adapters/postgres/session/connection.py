"""What the stores need of a connection, and the one place where the driver's errors become ours."""

# asyncpg ships no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import asyncpg

from agentic_rag.adapters.postgres.session.errors import translate

Row: TypeAlias = Mapping[str, Any]


class PostgresConnection(Protocol):
    """Runs statements; raises errors of `agentic_rag.kernel.errors` only."""

    async def fetch(self, query: str, *arguments: Any) -> Sequence[Row]: ...

    async def fetchrow(self, query: str, *arguments: Any) -> Row | None: ...

    async def fetchval(self, query: str, *arguments: Any) -> Any: ...

    async def execute(self, query: str, *arguments: Any) -> str: ...

    async def executemany(self, query: str, rows: Sequence[Sequence[Any]]) -> None: ...


DRIVER_ERRORS = (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)


class TranslatingConnection:
    """A driver connection whose errors are ours, each with the driver's as `__cause__`.

    A connection runs one statement at a time; tasks that share one (the arms of a retrieval) take turns.
    """

    __slots__ = ("_driver", "_turn")

    def __init__(self, driver: PostgresConnection) -> None:
        self._driver = driver
        self._turn = asyncio.Lock()

    async def fetch(self, query: str, *arguments: Any) -> Sequence[Row]:
        async with self._turn:
            try:
                return await self._driver.fetch(query, *arguments)
            except DRIVER_ERRORS as error:
                raise translate(error) from error

    async def fetchrow(self, query: str, *arguments: Any) -> Row | None:
        async with self._turn:
            try:
                return await self._driver.fetchrow(query, *arguments)
            except DRIVER_ERRORS as error:
                raise translate(error) from error

    async def fetchval(self, query: str, *arguments: Any) -> Any:
        async with self._turn:
            try:
                return await self._driver.fetchval(query, *arguments)
            except DRIVER_ERRORS as error:
                raise translate(error) from error

    async def execute(self, query: str, *arguments: Any) -> str:
        async with self._turn:
            try:
                return await self._driver.execute(query, *arguments)
            except DRIVER_ERRORS as error:
                raise translate(error) from error

    async def executemany(self, query: str, rows: Sequence[Sequence[Any]]) -> None:
        async with self._turn:
            try:
                await self._driver.executemany(query, rows)
            except DRIVER_ERRORS as error:
                raise translate(error) from error

"""A pool whose statements can be read; each is one round trip once the driver has prepared it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentic_rag.adapters.postgres.session.connection import PostgresConnection, Row
from agentic_rag.adapters.postgres.session.pool import PoolOptions, PostgresPool
from agentic_rag.bootstrap import Container
from agentic_rag.settings import Settings

RECORDS_A_RUN = "synchronous_commit = off"
"""In the statement that begins the record of a run, behind the response: nobody waits for it."""


class WatchedConnection:
    """Writes down each statement as it is sent, but for those that record a run."""

    def __init__(self, inner: PostgresConnection, statements: list[str]) -> None:
        self._inner = inner
        self._statements = statements
        self._is_recording = False

    def _note(self, query: str) -> None:
        self._is_recording = self._is_recording or RECORDS_A_RUN in query
        if not self._is_recording:
            self._statements.append(query)

    @property
    def server_version(self) -> int:
        return self._inner.server_version

    async def fetch(self, query: str, *arguments: Any) -> Sequence[Row]:
        self._note(query)
        return await self._inner.fetch(query, *arguments)

    async def fetchrow(self, query: str, *arguments: Any) -> Row | None:
        self._note(query)
        return await self._inner.fetchrow(query, *arguments)

    async def fetchval(self, query: str, *arguments: Any) -> Any:
        self._note(query)
        return await self._inner.fetchval(query, *arguments)

    async def execute(self, query: str, *arguments: Any) -> str:
        self._note(query)
        return await self._inner.execute(query, *arguments)

    async def change(self, query: str, *arguments: Any) -> int:
        self._note(query)
        return await self._inner.change(query, *arguments)

    async def copy_rows(self, query: str, *arguments: Any) -> bytearray:
        self._note(query)
        return await self._inner.copy_rows(query, *arguments)

    async def executemany(self, query: str, rows: Sequence[Sequence[Any]]) -> None:
        self._note(query)
        await self._inner.executemany(query, rows)


class WatchedPool(PostgresPool):
    """`statements` are those of all its connections, in order."""

    def __init__(self, dsn: str, options: PoolOptions | None = None, statements: list[str] | None = None) -> None:
        super().__init__(dsn, options)
        self.statements: list[str] = [] if statements is None else statements

    def _wrap_driver(self, driver: Any) -> Any:
        return WatchedConnection(super()._wrap_driver(driver), self.statements)


class WatchedContainer(Container):
    """The product's wiring; `statements` are those of all its pools."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.statements: list[str] = []

    def _open_pool(self, options: PoolOptions) -> PostgresPool:
        return self._owned(WatchedPool(self.settings.stores.database_url, options, self.statements))

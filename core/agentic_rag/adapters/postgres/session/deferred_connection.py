"""The connection of a snapshot that begins with its first statement."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from agentic_rag.adapters.postgres.session.connection import PostgresConnection, Row
from agentic_rag.adapters.postgres.session.snapshot_header import TOLD
from agentic_rag.kernel.errors import AgenticRagError, SnapshotOutdated
from agentic_rag.tenancy.principals import WorkspaceRef


class DeferredConnection(PostgresConnection):
    """Begins at the first read, which also finds out whether the header that the process remembers is that of the
    snapshot: until then nobody has read anything, from then on all that is read is of one instant.

    Errors of the first read: `SnapshotOutdated`. A beginning that fails is not tried again: all reads raise its error.
    """

    __slots__ = ("_begin", "_beginning", "_failure", "_inner", "_told", "_workspace", "is_confirmed")

    def __init__(
        self, begin: Callable[[], Awaitable[tuple[PostgresConnection, bool]]], workspace: WorkspaceRef, told: str
    ) -> None:
        """`told`: the whole header, as text. `begin` also says whether it compared that already; it is called again
        where its first call was cancelled.
        """
        self._begin = begin
        self._workspace = workspace
        self._told = told
        self._inner: PostgresConnection | None = None
        self._failure: AgenticRagError | None = None
        self._beginning = asyncio.Lock()
        self.is_confirmed = False

    async def fetch(self, query: str, *arguments: Any) -> Sequence[Row]:
        return await (await self._confirm()).fetch(query, *arguments)

    async def fetchrow(self, query: str, *arguments: Any) -> Row | None:
        return await (await self._confirm()).fetchrow(query, *arguments)

    async def fetchval(self, query: str, *arguments: Any) -> Any:
        return await (await self._confirm()).fetchval(query, *arguments)

    async def execute(self, query: str, *arguments: Any) -> str:
        return await (await self._confirm()).execute(query, *arguments)

    async def fetch_told(self, query: str, *arguments: Any) -> Sequence[Row]:
        """The rows of a statement that reads the header itself, the first of them with `told`."""
        async with self._beginning:
            rows = await (await self._begin_once()).fetch(query, *arguments)
            if not self.is_confirmed:
                self._compare(rows[0]["told"] if rows else None)
        return rows

    async def confirm(self) -> None:
        """Find out whether the header is that of the snapshot, where no read has done so."""
        await self._confirm()

    async def _confirm(self) -> PostgresConnection:
        if self.is_confirmed and self._inner is not None:
            return self._inner
        async with self._beginning:
            inner = await self._begin_once()
            if not self.is_confirmed:
                self._compare(await inner.fetchval(TOLD, *self._workspace.key))
        return inner

    async def _begin_once(self) -> PostgresConnection:
        if self._failure is not None:
            raise self._failure
        if self._inner is None:
            try:
                self._inner, self.is_confirmed = await self._begin()
            except AgenticRagError as error:
                self._failure = error
                raise
        return self._inner

    def _compare(self, told: str | None) -> None:
        if told != self._told:
            raise SnapshotOutdated("The corpus changed since this process last looked: open the snapshot again.")
        self.is_confirmed = True

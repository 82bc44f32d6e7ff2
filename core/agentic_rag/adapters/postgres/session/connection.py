"""The stores' connection, and the only place that translates the driver's errors."""

# asyncpg ships no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeVar

import asyncpg
import msgspec

from agentic_rag.adapters.postgres.session.errors import translate
from agentic_rag.adapters.postgres.session.silence import Pulse
from agentic_rag.kernel.errors import DependencyUnavailable

Row: TypeAlias = Mapping[str, Any]

V = TypeVar("V")

DRIVER_ERRORS = (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)


def value_from(kind: type[V], row: Row, /, **others: object) -> V:
    """A dataclass: each field from the column of its name or from `others`; further columns are ignored."""
    return msgspec.convert({**row, **others}, kind)


@contextmanager
def driver_errors() -> Generator[None]:
    """Raises the product's error for an error of the driver."""
    try:
        yield
    except DRIVER_ERRORS as error:
        raise translate(error) from error


class PostgresConnection:
    """Raises errors of `agentic_rag.kernel.errors` only, each with the driver's error as `__cause__`.

    The connection runs one statement at a time; tasks that share it (parallel retrieval arms) wait for each other.
    """

    __slots__ = ("_driver", "_pulse", "_silent_seconds", "_turn")

    def __init__(self, driver: Any, pulse: Pulse, silent_seconds: float) -> None:
        """A statement ends once the server has answered nobody for `silent_seconds`."""
        self._driver = driver
        self._pulse = pulse
        self._silent_seconds = silent_seconds
        self._turn = asyncio.Lock()

    @property
    def server_version(self) -> int:
        """The server's major version, which it told when the connection was opened."""
        return self._driver.get_server_version().major

    async def fetch(self, query: str, *arguments: Any) -> Sequence[Row]:
        return await self._run(self._driver.fetch, query, *arguments)

    async def fetchrow(self, query: str, *arguments: Any) -> Row | None:
        return await self._run(self._driver.fetchrow, query, *arguments)

    async def fetchval(self, query: str, *arguments: Any) -> Any:
        return await self._run(self._driver.fetchval, query, *arguments)

    async def execute(self, query: str, *arguments: Any) -> str:
        return await self._run(self._driver.execute, query, *arguments)

    async def change(self, query: str, *arguments: Any) -> int:
        """The number of rows that a statement inserts, updates or deletes."""
        status = await self.execute(query, *arguments)
        return int(status.rsplit(" ", 1)[-1])

    async def executemany(self, query: str, rows: Sequence[Sequence[Any]]) -> None:
        await self._run(self._driver.executemany, query, rows)

    async def copy_rows(self, query: str, *arguments: Any) -> bytearray:
        """All rows of a query in COPY's binary form: a fraction of the cost of reading them as values."""
        received = bytearray()

        async def receive(data: bytes) -> None:
            received.extend(data)

        await self._run(self._driver.copy_from_query, query, *arguments, output=receive, format="binary")
        return received

    async def _run(self, call: Callable[..., Awaitable[Any]], *arguments: Any, **options: Any) -> Any:
        async with self._turn:
            limit = self._pulse.while_answering(self._silent_seconds)
            try:
                async with limit:
                    with driver_errors():
                        found = await call(*arguments, **options)
            except DependencyUnavailable:
                if limit.has_ended:
                    # Whoever ends its transaction, or gives it back, need not wait for that server again.
                    self._driver.terminate()
                raise
            self._pulse.beat()
            return found

"""The Neo4j driver with limits on time and connections, and the translation of its errors."""

# The driver's settings are untyped keyword arguments.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, LiteralString

import neo4j
from neo4j import AsyncGraphDatabase, Query
from neo4j.exceptions import AuthError, ConfigurationError, DriverError, Neo4jError, TransientError

from agentic_rag.kernel.errors import AgenticRagError, DependencyUnavailable, Misconfigured, Permanent, Retryable
from agentic_rag.operations.graph.ports import TransactionEnded

Record = Mapping[str, Any]

DEPENDENCY = "neo4j"

_UNAVAILABLE_CODES = ("Neo.TransientError.General.DatabaseUnavailable", "Neo.ClientError.Database.DatabaseNotFound")
_TRANSACTION = ".Transaction."
"""In the code of an error that ended a transaction: a time-out, a kill, a failed commit."""
_CONSTRAINT_CODE = "Neo.ClientError.Schema.ConstraintValidationFailed"


@dataclass(frozen=True, slots=True)
class Neo4jOptions:
    """Timeouts in seconds, and the size of the pool."""

    read_seconds: float = 0.4
    """One read for an answer, connecting included."""
    connect_seconds: float = 5.0
    """Opening a connection, and waiting for one from the pool."""
    write_seconds: float = 20.0
    """One transaction of the job, also enforced by the server, so that a stopped writer releases its locks."""
    rest_seconds: float = 2.0
    """After a failed read the server is not called for this long, so that an outage does not slow every answer down."""
    pool_size: int = 16


class Neo4jConnection:
    """One driver for one event loop, opened at first use."""

    def __init__(self, uri: str, user: str, password: str, options: Neo4jOptions | None = None) -> None:
        self._uri = uri
        self._auth = (user, password) if password else None
        self.options = options or Neo4jOptions()
        self._driver: neo4j.AsyncDriver | None = None
        self._failed_at: float | None = None

    async def read(self, statement: LiteralString, parameters: Mapping[str, Any]) -> Record:
        """The single row of a read that an answer waits for. Errors: `DependencyUnavailable` for every failure; the
        answer continues without the graph.
        """
        if self._failed_at is not None and time.monotonic() - self._failed_at < self.options.rest_seconds:
            raise unavailable()
        try:
            async with asyncio.timeout(self.options.read_seconds), self._open_driver().session() as session:
                result = await session.run(Query(statement, timeout=self.options.read_seconds), dict(parameters))
                row = await result.single(strict=True)
        except (DriverError, Neo4jError, OSError, TimeoutError, Misconfigured) as error:
            self._failed_at = time.monotonic()
            raise unavailable() from error
        self._failed_at = None
        return row

    async def rows(self, statement: LiteralString, parameters: Mapping[str, Any] | None = None) -> Sequence[Record]:
        """All rows of a statement, run in its own transaction. Errors: those of `translate`."""
        seconds = self.options.write_seconds
        try:
            async with asyncio.timeout(2 * seconds), self._open_driver().session() as session:
                result = await session.run(Query(statement, timeout=seconds), dict(parameters or {}))
                return [record async for record in result]
        except (DriverError, Neo4jError, OSError, TimeoutError) as error:
            raise translate(error) from error

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[neo4j.AsyncTransaction]:
        """A transaction of several statements. Errors: those of `translate`."""
        seconds = self.options.write_seconds
        try:
            async with (
                asyncio.timeout(2 * seconds),
                self._open_driver().session() as session,
                await session.begin_transaction(timeout=seconds) as transaction,
            ):
                yield transaction
                await transaction.commit()
        except (DriverError, Neo4jError, OSError, TimeoutError) as error:
            raise translate(error) from error

    async def aclose(self) -> None:
        driver, self._driver = self._driver, None
        if driver is not None:
            await driver.close()

    def _open_driver(self) -> neo4j.AsyncDriver:
        if self._driver is None:
            try:
                self._driver = AsyncGraphDatabase.driver(
                    self._uri,
                    auth=self._auth,
                    connection_timeout=self.options.connect_seconds,
                    connection_acquisition_timeout=self.options.connect_seconds,
                    connection_write_timeout=self.options.write_seconds,
                    max_connection_pool_size=self.options.pool_size,
                    max_transaction_retry_time=0.0,
                    notifications_min_severity="OFF",
                    telemetry_disabled=True,
                    user_agent="agentic-rag",
                )
            except ValueError as error:
                raise Misconfigured(
                    "NEO4J_URI is not an address of Neo4j: write bolt://HOST:7687 or neo4j://HOST:7687."
                ) from error
        return self._driver


def translate(error: BaseException) -> AgenticRagError:
    """The domain's error for a driver error; raise it `from` the driver's."""
    code = error.code if isinstance(error, Neo4jError) else None
    if isinstance(error, AuthError):
        return Misconfigured("Neo4j refused the login: check USER:PASSWORD in NEO4J_URI.", code="GRAPH_LOGIN_REFUSED")
    if isinstance(error, ConfigurationError):
        return Misconfigured("Neo4j cannot be reached this way: check the scheme and host of NEO4J_URI.")
    if isinstance(error, DriverError | OSError | TimeoutError) or code in _UNAVAILABLE_CODES:
        return unavailable()
    if code == _CONSTRAINT_CODE:
        return Retryable("Another writer changed the graph at the same time: try again.", code="GRAPH_CONFLICT")
    if isinstance(error, TransientError) or (code is not None and _TRANSACTION in code):
        return TransactionEnded("Neo4j ended the transaction before it was done: try again.")
    return Permanent("Neo4j refused a statement; the log says why.", code="GRAPH_ERROR")


def unavailable() -> DependencyUnavailable:
    """The error for a Neo4j server that does not answer, or not in time."""
    return DependencyUnavailable("Neo4j does not answer. Check NEO4J_URI and `rag doctor`.", dependency=DEPENDENCY)

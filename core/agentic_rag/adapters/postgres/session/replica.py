"""Snapshots on a streaming replica of the database, for reads that find there what the primary last told."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from time import monotonic
from typing import Any

from agentic_rag.adapters.postgres.session.connection import PostgresConnection, Row
from agentic_rag.adapters.postgres.session.pool import PoolOptions, PostgresPool
from agentic_rag.adapters.postgres.session.silence import Pulse
from agentic_rag.adapters.postgres.session.snapshot_header import REPLAYED, SYSTEM
from agentic_rag.kernel.errors import (
    AgenticRagError,
    DependencyUnavailable,
    Misconfigured,
    Retryable,
)
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.tenancy.principals import WorkspaceRef

REST_SECONDS = 5.0
"""After a failure of the replica, all is read from the primary this long."""
CONNECT_SECONDS = 1.0
COMMAND_SECONDS = 5.0
"""Half of an answer's time without a chat model: what a replica that hangs may take before the primary is asked."""

_STATE = f"SELECT pg_is_in_recovery() AS is_standby, ({SYSTEM}) AS system"


class ReadReplica:
    """A replica, read only at the state that the primary told: the fence is the header of the snapshot.

    A replica that is behind, away or no replica any more is not read; neither costs the caller more than a round trip,
    or a second once in `REST_SECONDS`.
    """

    def __init__(self, url: str, size: int, telemetry: Telemetry, primary: PostgresPool) -> None:
        options = PoolOptions(
            max_size=size,
            application_name="agentic-rag replica",
            name="replica",
            connect_seconds=CONNECT_SECONDS,
            command_seconds=COMMAND_SECONDS,
        )
        self._pool = _ReplicaPool(url, options, telemetry, self._lose)
        self._primary = primary
        self._telemetry = telemetry
        self._rests_until = 0.0
        self._system: tuple[object, int] | None = None
        """Of the primary, with the time of its start: another server may stand behind its address after a restart."""

    async def begin(self, stack: AsyncExitStack, workspace: WorkspaceRef, header: Row) -> PostgresConnection | None:
        """A snapshot on the replica of the state in `header`, which the primary told; it ends with `stack`. None where
        the replica has another state. Its statements raise `DependencyUnavailable` where the replica fails.
        """
        if monotonic() < self._rests_until:
            return self._leave("away")
        async with AsyncExitStack() as own:
            try:
                system = await self._system_since(header["started"])
                connection = await own.enter_async_context(self._pool.snapshot(workspace.org_id))
                told = await connection.fetchval(REPLAYED, *workspace.key, header["started"], system)
            except AgenticRagError:
                return self._leave("away")
            if told != header["told"]:
                return self._leave("behind")
            await stack.enter_async_context(own.pop_all())
        self._telemetry.count("rag_replica_snapshots_total", outcome="used")
        return connection

    async def check(self) -> None:
        """Errors: `DependencyUnavailable`, it does not answer; `Misconfigured` codes READ_REPLICA_NOT_STANDBY,
        READ_REPLICA_OF_ANOTHER.
        """
        async with self._pool.connection() as connection:
            found = await connection.fetchrow(_STATE)
        if found is None or not found["is_standby"]:
            raise Misconfigured(
                "DATABASE_READ_URL leads to a server that is no streaming replica: give the address of one, or "
                "leave the setting out. Nothing is read from it.",
                code="READ_REPLICA_NOT_STANDBY",
            )
        async with self._primary.connection() as connection:
            system = await connection.fetchval(SYSTEM)
        if found["system"] != system:
            raise Misconfigured(
                "DATABASE_READ_URL leads to a replica of another server than that of DATABASE_URL. Nothing is read "
                "from it.",
                code="READ_REPLICA_OF_ANOTHER",
            )

    async def _system_since(self, started: object) -> int:
        """The `SYSTEM` of the primary that started then."""
        if self._system is None or self._system[0] != started:
            async with self._primary.connection() as connection:
                self._system = started, await connection.fetchval(SYSTEM)
        return self._system[1]

    async def aclose(self) -> None:
        await self._pool.aclose()

    def _leave(self, outcome: str) -> None:
        self._telemetry.count("rag_replica_snapshots_total", outcome=outcome)

    def _lose(self, error: AgenticRagError) -> AgenticRagError:
        """Rest, and the error that has a run read again from the primary."""
        if monotonic() >= self._rests_until:
            self._telemetry.event("rag_replica_lost", level="warning", code=error.code)
        self._rests_until = monotonic() + REST_SECONDS
        return DependencyUnavailable("The read replica failed during a read.", dependency="postgres")


class _ReplicaPool(PostgresPool):
    """Its connections tell `lose` of what fails on them, and raise what it makes of that."""

    def __init__(
        self,
        url: str,
        options: PoolOptions,
        telemetry: Telemetry,
        lose: Callable[[AgenticRagError], AgenticRagError],
    ) -> None:
        super().__init__(url, options, telemetry)
        self._lose = lose

    def _wrap_driver(self, driver: Any) -> PostgresConnection:
        return _ReplicaConnection(driver, self._pulse, self._options.silent_seconds, self._lose)

    async def _acquire(self) -> tuple[Any, Any]:
        try:
            return await super()._acquire()
        except AgenticRagError as error:
            raise self._lose(error) from error


class _ReplicaConnection(PostgresConnection):
    """Where the replica dies, hangs or ends a statement because a replayed change is in its way, the run goes on with
    the primary.
    """

    __slots__ = ("_lose",)

    def __init__(
        self, driver: Any, pulse: Pulse, silent_seconds: float, lose: Callable[[AgenticRagError], AgenticRagError]
    ) -> None:
        super().__init__(driver, pulse, silent_seconds)
        self._lose = lose

    async def _run(self, call: Callable[..., Awaitable[Any]], *arguments: Any, **options: Any) -> Any:
        try:
            return await super()._run(call, *arguments, **options)
        except (DependencyUnavailable, Misconfigured, Retryable) as error:
            raise self._lose(error) from error

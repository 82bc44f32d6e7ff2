"""One connection pool per process, acting as the application role, and transactions bound to one organisation."""

# asyncpg ships no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Hashable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

import asyncpg
import orjson

from agentic_rag.adapters.postgres.session.array_types import teach_arrays
from agentic_rag.adapters.postgres.session.connection import DRIVER_ERRORS, PostgresConnection, driver_errors
from agentic_rag.adapters.postgres.session.free_connections import FreeConnections
from agentic_rag.adapters.postgres.session.pool_gauges import PoolGauges
from agentic_rag.adapters.postgres.session.prompt_reads import PromptReads
from agentic_rag.adapters.postgres.session.silence import Pulse
from agentic_rag.kernel.errors import AgenticRagError, DependencyUnavailable, Misconfigured, Permanent
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.tenancy.entering import bound_principals

_HALFVEC = """
SELECT n.nspname, t.oid, t.typarray FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
WHERE t.typname = 'halfvec'
"""

_LIMITS_TRANSACTIONS = 17
"""The first version of the server that knows `transaction_timeout`."""

_JSONB_VERSION = b"\x01"

_ENDING_SECONDS = 10.0
"""For the end of a transaction and for giving a connection back, before the connection is closed."""

_ASKING_SECONDS = 3
"""For the connection by which the server is asked whether it answers anybody: a machine without processor time was seen
to need one.
"""

_CLOSING_SECONDS = 2.0
"""Of silence, after which a pool that is closed leaves its connections as they are. The server is asked after a quarter
of it, so that it has 1.5 s to answer.
"""

BOUND = "(SELECT set_config('rag.org_id', $1::uuid::text, true)::uuid AS org_id OFFSET 0) AS bound"
"""A row that binds its statement, outside of a transaction, to the organisation $1 before a function takes its column:
what the owner's functions read costs one round trip.
"""

ENTERED = "(SELECT set_config('rag.caller', $3, true) OFFSET 0) AS entered"
"""A row that binds the statement to the caller too: `caller_setting()` is $3."""

V = TypeVar("V")

BEGIN_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"


def begin_snapshot(held: Sequence[str] = ()) -> str:
    """Begins a transaction that reads at one instant, that of the next statement. The locks of the tables `held` come
    before it: a snapshot that waited for a move of tables would see no row of those that were written anew.
    """
    locks = f"; LOCK TABLE {', '.join(held)} IN ACCESS SHARE MODE" if held else ""
    return f"{BEGIN_SNAPSHOT}{locks}"


@dataclass(frozen=True, slots=True)
class PoolOptions:
    """Connection options. `role` is sent as a start-up parameter; None keeps the login's role (production with one
    login per role).
    """

    role: str | None = "rag_app"
    application_name: str = "agentic-rag"
    name: str = "main"
    """Of the pool, in its gauges."""
    min_size: int = 0
    """0 connects at first use, so that a process can start and report errors while Postgres is down."""
    max_size: int = 10
    connect_seconds: float = 10.0
    command_seconds: float = 60.0
    silent_seconds: float = 5.0
    """What waits for the server ends once it has answered nobody for this long: on no connection of the pool, nor on a
    new one.
    """
    idle_seconds: float = 60.0
    """Seconds after which an idle connection is closed: what a peak opened is given back soon."""
    idle_transaction_seconds: float = 15.0
    """Seconds after which the server ends an idle transaction: a stopped process holds its locks, and with them its
    workspace, this long. The server does not count a client as idle that stopped between the preparation of a
    statement and its execution; `brief_transaction_seconds` covers that.
    """
    brief_transaction_seconds: float = 30.0
    """Seconds after which a server of version 17 or later ends a transaction that was declared brief. Less than
    `command_seconds`, so that who waits for its locks gets them.
    """
    plan_cache_mode: str = "auto"
    """Custom plans for every statement would cost 0.3–0.5 ms each. Only a search by an approximate index needs one (a
    generic plan ignores partial indexes), and sets it with SET LOCAL.
    """

    def server_settings(self) -> dict[str, str]:
        """The session's start-up parameters."""
        settings = {
            "application_name": self.application_name,
            "plan_cache_mode": self.plan_cache_mode,
            "jit": "off",
            "search_path": "public",
            # Without this check, a backend whose client was killed while it waits for a lock keeps its own locks.
            "client_connection_check_interval": "2s",
            "idle_in_transaction_session_timeout": f"{round(1000 * self.idle_transaction_seconds)}ms",
        }
        if self.role is not None:
            settings["role"] = self.role
        return settings


class PostgresPool:
    """Opens connections lazily; safe to share between tasks of one event loop."""

    admit: Callable[[], Awaitable[None]] | None = None
    """Awaited before a connection is taken; its errors refuse the connection."""

    def __init__(self, dsn: str, options: PoolOptions | None = None, telemetry: Telemetry | None = None) -> None:
        self._dsn = dsn
        self._options = options or PoolOptions()
        self._telemetry = telemetry
        self._pool: Any = None
        self._opening = asyncio.Lock()
        self._ending: set[asyncio.Task[None]] = set()
        self._free = FreeConnections(self._give_back_later)
        self._gauges = PoolGauges(telemetry, self._options.name, self._options.max_size)
        self._pulse = Pulse(self._ask_anything)
        self._prompt = PromptReads(self._pulse)

    @asynccontextmanager
    async def connection(self) -> AsyncGenerator[PostgresConnection]:
        """A connection in autocommit. A cancelled caller does not wait for its return to the pool, because the driver
        first waits until the server confirms the cancellation. Errors: `DependencyUnavailable`, `Misconfigured`.
        """
        pool, driver = await self._acquire()
        try:
            yield self._wrap_driver(driver)
        except asyncio.CancelledError:
            self._give_back_later(pool, driver)
            raise
        except BaseException:
            await self._release(pool, driver)
            raise
        if not self._free.hand_on(driver):
            await self._release(pool, driver)

    async def prompt_read(self, key: Hashable, read: Callable[[], Coroutine[Any, Any, V]]) -> V:
        """What a read finds that cannot wait for a server which answers nobody; equal ones at one time are one. Errors:
        `DependencyUnavailable`, and those of the read.
        """
        return await self._prompt.run(key, read)

    def while_answering(self, seconds: float) -> AbstractAsyncContextManager[None]:
        """Ends the block with `DependencyUnavailable` once the server has answered nobody for `seconds`."""
        return self._pulse.while_answering(seconds)

    @asynccontextmanager
    async def transaction(
        self, org_id: UUID, settings: str = "", *, is_brief: bool = False
    ) -> AsyncGenerator[PostgresConnection]:
        """A transaction bound to one organisation: begin and binding take one round trip, the end another. The server
        ends a brief one after `PoolOptions.brief_transaction_seconds`, whatever its client does.

        `settings` are further `SET LOCAL` statements. Values are a UUID, hex digits or constants, so nothing can be
        injected into the simple query.
        """
        async with self.connection() as connection:
            try:
                # Inside the block: a caller cancelled during BEGIN must not leave a transaction open.
                limit = _time_limit(connection, self._options.brief_transaction_seconds) if is_brief else ""
                await connection.execute(f"BEGIN; {_binding(org_id)}; {limit}{settings}")
                yield connection
            except asyncio.CancelledError:
                raise
            except BaseException:
                await _roll_back(connection)
                raise
            if await connection.execute("COMMIT") == "ROLLBACK":
                raise Permanent(
                    "A statement failed and its error was swallowed: nothing was written.", code="DATABASE_ERROR"
                )

    @asynccontextmanager
    async def snapshot(self, org_id: UUID, *, held: Sequence[str] = ()) -> AsyncGenerator[PostgresConnection]:
        """A read-only transaction at one instant, bound to one organisation. The caller does not wait for its end: a
        background task ends it and returns the connection to the pool. From before that instant on, nobody writes the
        tables `held` anew, which would show them empty.
        """
        pool, driver = await self._acquire()
        try:
            connection = self._wrap_driver(driver)
            await connection.execute(f"{begin_snapshot(held)}; {_binding(org_id)}")
            yield connection
        finally:
            self._give_back_later(pool, driver)

    def _give_back_later(self, pool: Any, driver: Any) -> None:
        """End what is open on a connection and return it to the pool, in a background task."""
        ending = asyncio.create_task(self._end_and_give_back(pool, driver))
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)

    async def _end_and_give_back(self, pool: Any, driver: Any) -> None:
        """End a transaction and hand its connection on, or return it; close the connection when that fails."""
        try:
            await driver.execute("ROLLBACK", timeout=_ENDING_SECONDS)
            if self._free.hand_on(driver):
                return
        except DRIVER_ERRORS:
            # The pool has taken back a connection that the server closed meanwhile, and refuses calls of it.
            with suppress(asyncpg.InterfaceError):
                driver.terminate()
        except BaseException:
            await self._release(pool, driver)
            raise
        await self._release(pool, driver)

    async def _release(self, pool: Any, driver: Any) -> None:
        """Return a connection to the pool. When that fails the driver closes it: what was asked on it has its
        outcome.
        """
        try:
            with suppress(*DRIVER_ERRORS):
                await pool.release(driver, timeout=_ENDING_SECONDS)
        finally:
            self._gauges.tell(pool)

    def _wrap_driver(self, driver: Any) -> PostgresConnection:
        return PostgresConnection(driver, self._pulse, self._options.silent_seconds)

    async def aclose(self) -> None:
        """Close all connections. A server that answers nobody is not waited for."""
        pool, self._pool = self._pool, None
        try:
            async with self._pulse.while_answering(_CLOSING_SECONDS):
                await self._close(pool)
        except DependencyUnavailable:
            if pool is not None:
                pool.terminate()
        if pool is not None:
            self._gauges.tell(pool)
        await self._pulse.aclose()

    async def _close(self, pool: Any) -> None:
        await self._prompt.aclose()
        await self._free.aclose()
        if self._ending:
            await asyncio.wait(self._ending)
        if pool is not None:
            await pool.close()

    async def _acquire(self) -> tuple[Any, Any]:
        """The pool, opened at first use, and a connection of the driver. Errors: `DependencyUnavailable`,
        `Misconfigured`.
        """
        options = self._options
        if self.admit is not None:
            await self.admit()
        async with self._pulse.while_answering(options.silent_seconds):
            return await self._take()

    async def _take(self) -> tuple[Any, Any]:
        options = self._options
        with driver_errors():
            async with self._opening:
                self._pool = self._pool or await asyncpg.create_pool(
                    self._dsn,
                    min_size=options.min_size,
                    max_size=options.max_size,
                    timeout=options.connect_seconds,
                    command_timeout=options.command_seconds,
                    max_inactive_connection_lifetime=options.idle_seconds,
                    # A timer for each prepared statement would keep, five minutes long, the context of the request that
                    # happened to be first. A connection keeps the 100 that it used last.
                    max_cached_statement_lifetime=0,
                    server_settings=options.server_settings(),
                    init=self._begin_session,
                    reset=_keep_session,
                )
            began = time.perf_counter()
            driver = await self._free.take(self._pool, options.connect_seconds)
            self._gauges.tell(self._pool)
            if self._telemetry is not None:
                self._telemetry.observe("rag_database_wait_seconds", time.perf_counter() - began)
            return self._pool, driver

    def _tell_end(self, _: Any) -> None:
        if self._pool is not None:
            self._gauges.tell(self._pool)

    async def _ask_anything(self) -> None:
        """Asks on a connection of its own, because those of the pool may all be busy with what takes long. A refusal is
        an answer too.
        """
        options = self._options
        try:
            driver = await asyncpg.connect(
                self._dsn, timeout=_ASKING_SECONDS, server_settings=options.server_settings()
            )
            try:
                await driver.execute("SELECT", timeout=_ASKING_SECONDS)
            finally:
                driver.terminate()
        except asyncpg.ConnectionDoesNotExistError:
            # No server said so: the driver does of a connection that was closed.
            return
        except asyncpg.PostgresError:
            # Whoever comes may be refused (too many, a new password, a server that ends once all have left) while the
            # open connections work on.
            self._pulse.beat()
        except DRIVER_ERRORS:
            return
        else:
            self._pulse.beat()

    async def _begin_session(self, driver: Any) -> None:
        self._pulse.beat()
        # An idle connection is closed by nobody's call.
        driver.add_termination_listener(self._tell_end)
        await _teach_types(driver)
        self._pulse.beat()


def caller_setting() -> str:
    """The bound caller's principals as `rag_caller()` reads them; empty without one."""
    return ",".join(one.encode("utf-8", "surrogatepass").hex() for one in bound_principals())


def _binding(org_id: UUID) -> str:
    """Statements that bind a transaction to an organisation and to the caller."""
    caller = caller_setting()
    bound = f"SET LOCAL rag.org_id = '{UUID(int=org_id.int)}'"
    return f"{bound}; SET LOCAL rag.caller = '{caller}'" if caller else bound


def _time_limit(connection: PostgresConnection, seconds: float) -> str:
    """The statement that limits the time of a transaction, where the server knows it."""
    if connection.server_version < _LIMITS_TRANSACTIONS:
        return ""
    return f"SET LOCAL transaction_timeout = '{round(1000 * seconds)}ms'; "


async def _roll_back(connection: PostgresConnection) -> None:
    """End a failed transaction. When the rollback fails too, the pool discards the connection and the first error is
    raised.
    """
    try:
        await connection.execute("ROLLBACK")
    except AgenticRagError:
        return


async def _keep_session(_: Any) -> None:
    """Do nothing. Every setting is local to its transaction and no session listens or locks, so the driver's `RESET
    ALL; …` would waste a round trip per use.
    """


async def _teach_types(driver: Any) -> None:
    """Register binary codecs: `jsonb` as Python values, `halfvec` as the wire bytes of `halfvec.py`, and arrays."""
    found = await driver.fetchrow(_HALFVEC)
    if found is None:
        raise Misconfigured(
            "The database has no pgvector: run `rag migrate up`, which adds it or says how to install it.",
            code="PGVECTOR_MISSING",
        )
    await driver.set_type_codec("halfvec", schema=found["nspname"], encoder=bytes, decoder=bytes, format="binary")
    await driver.set_type_codec(
        "jsonb", schema="pg_catalog", encoder=_encode_json, decoder=_decode_json, format="binary"
    )
    teach_arrays(driver, {found["typarray"]: ("_halfvec", found["oid"])})


def _encode_json(value: Any) -> bytes:
    return _JSONB_VERSION + orjson.dumps(value)


def _decode_json(value: bytes) -> Any:
    return orjson.loads(value[1:])

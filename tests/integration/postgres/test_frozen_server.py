"""A server whose connections stay open and that answers nothing: whoever gives up on it is let go at once."""

from __future__ import annotations

import asyncio
import gc
import math
import secrets
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID

import asyncpg
import pytest
from tests.awake import Awake
from tests.stack import execute
from tests.waiting import eventually

from agentic_rag.adapters.postgres.session import pool as sessions
from agentic_rag.adapters.postgres.session.connection import PostgresConnection
from agentic_rag.adapters.postgres.session.database import PostgresDatabase
from agentic_rag.adapters.postgres.session.pool import PoolOptions, PostgresPool
from agentic_rag.adapters.postgres.session.prompt_reads import MOST_LEFT, PromptReads
from agentic_rag.adapters.postgres.session.silence import Pulse
from agentic_rag.adapters.postgres.tenancy.identity import PostgresIdentity
from agentic_rag.adapters.postgres.workspaces.organisations import PostgresOrganisations
from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.kernel.errors import DependencyUnavailable, Unauthenticated
from agentic_rag.kernel.patience import caller_waits
from agentic_rag.workspaces.workspace import Workspace
from agentic_rag_migrations import HEAD

pytestmark = [pytest.mark.integration, pytest.mark.network]


@dataclass
class Line:
    """A way to Postgres that can be cut without anybody being told: for all, or for who comes."""

    url: str
    flowing: asyncio.Event = field(default_factory=asyncio.Event)
    letting_in: asyncio.Event = field(default_factory=asyncio.Event)
    is_closing: bool = False
    """Whether who comes is hung up on."""

    @classmethod
    @asynccontextmanager
    async def to(cls, url: str) -> AsyncIterator[Line]:
        """A line to the server at `url`, on a port of its own."""
        parts = urlsplit(url)
        pieces = set[asyncio.Task[None]]()
        ends = list[asyncio.StreamWriter]()

        async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            ends.append(writer)
            await line.letting_in.wait()
            if line.is_closing:
                writer.close()
                return
            back, forth = await asyncio.open_connection(parts.hostname, parts.port)
            ends.append(forth)
            for source, target in ((reader, forth), (back, writer)):
                pieces.add(asyncio.create_task(line._carry(source, target)))

        server = await asyncio.start_server(connect, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        line = cls(urlunsplit(parts._replace(netloc=parts.netloc.replace(f":{parts.port}", f":{port}"))))
        line.flowing.set()
        line.letting_in.set()
        try:
            yield line
        finally:
            line.letting_in.set()
            server.close()
            for one in pieces:
                one.cancel()
            await asyncio.gather(*pieces, return_exceptions=True)
            for end in ends:
                end.close()
            await asyncio.gather(*[end.wait_closed() for end in ends], return_exceptions=True)

    async def _carry(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        while content := await source.read(65_536):
            await self.flowing.wait()
            target.write(content)
        target.close()


@pytest.mark.parametrize("is_transaction", [False, True])
async def test_a_caller_that_gives_up_does_not_wait_for_the_server(migrated_url: str, is_transaction: bool) -> None:
    async with Line.to(migrated_url) as line:
        pool = PostgresPool(line.url, PoolOptions(connect_seconds=5.0))

        async def ask() -> None:
            async with pool.transaction(UUID(int=1)) if is_transaction else pool.connection() as connection:
                assert await connection.fetchval("SELECT 1") == 1

        await ask()
        line.flowing.clear()
        began = time.monotonic()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await ask()
        waited = time.monotonic() - began
        line.flowing.set()
        await ask()
        await pool.aclose()

    assert waited < 2


async def test_a_connection_that_cannot_be_given_back_does_not_hide_that_the_server_does_not_answer(
    migrated_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "_ENDING_SECONDS", 0.1)
    async with Line.to(migrated_url) as line:
        pool = PostgresPool(line.url, PoolOptions(command_seconds=0.1))

        async def ask() -> None:
            async with pool.connection() as connection:
                assert await connection.fetchval("SELECT 1") == 1

        await ask()
        line.flowing.clear()
        with pytest.raises(DependencyUnavailable):
            await ask()
        line.flowing.set()
        await ask()
        await pool.aclose()


@pytest.mark.parametrize("is_connected", [True, False])
@pytest.mark.parametrize("credential", ["key", "token"])
async def test_who_calls_is_not_waited_for(migrated_url: str, credential: str, is_connected: bool) -> None:
    async with Line.to(migrated_url) as line:
        pool = PostgresPool(line.url, PoolOptions(connect_seconds=5.0))

        async def ask() -> None:
            if credential == "key":
                with pytest.raises(Unauthenticated):
                    await PostgresIdentity(pool, SystemClock()).authenticate("a key that nobody has")
            else:
                assert await PostgresOrganisations(pool).find("an organisation that nobody has") is None

        if is_connected:
            await ask()
        line.flowing.clear()
        with Awake.measured() as awake, pytest.raises(DependencyUnavailable), caller_waits(2.0):
            await ask()
        line.flowing.set()
        await ask()
        await pool.aclose()

    assert awake.seconds < 0.3


async def test_a_slow_server_is_no_outage_for_a_caller_who_waits(migrated_url: str) -> None:
    async with Line.to(migrated_url) as line:
        pool = PostgresPool(line.url, PoolOptions(connect_seconds=5.0))
        organisations = PostgresOrganisations(pool)
        assert await organisations.find("an organisation that nobody has") is None

        line.flowing.clear()
        asyncio.get_running_loop().call_later(0.6, line.flowing.set)
        found = await organisations.find("an organisation that nobody has")
        await pool.aclose()

    assert found is None


@pytest.mark.parametrize("is_connected", [True, False])
async def test_a_block_ends_once_the_server_answers_nobody(migrated_url: str, is_connected: bool) -> None:
    async with Line.to(migrated_url) as line:
        pool = PostgresPool(line.url, PoolOptions(connect_seconds=5.0))

        async def ask() -> None:
            async with pool.while_answering(0.1), pool.connection() as connection:
                assert await connection.fetchval("SELECT 1") == 1

        if is_connected:
            await ask()
        line.flowing.clear()
        with Awake.measured() as awake, pytest.raises(DependencyUnavailable):
            await ask()
        line.flowing.set()
        await ask()
        await pool.aclose()

    assert awake.seconds < 0.3


async def _ask(pool: PostgresPool, line: Line, at: str) -> None:
    """Use the pool; the line is cut there."""

    def cut(here: str) -> None:
        if here == at:
            line.flowing.clear()

    opened: dict[str, Callable[[], AbstractAsyncContextManager[PostgresConnection]]] = {
        "connection": pool.connection,
        "snapshot": lambda: pool.snapshot(UUID(int=1)),
    }
    cut(at if at in (*opened, "begin") else "")
    async with opened.get(at, lambda: pool.transaction(UUID(int=1)))() as connection:
        assert await connection.fetchval("SELECT 1") == 1
        cut("statement")
        assert await connection.fetchval("SELECT 2") == 2
        cut("copy")
        assert await connection.copy_rows("SELECT 3")
        cut("commit")


@pytest.mark.parametrize("is_connected", [True, False])
@pytest.mark.parametrize("at", ["connection", "snapshot", "begin", "statement", "copy", "commit"])
async def test_nothing_waits_long_for_a_server_that_answers_nobody(
    migrated_url: str, at: str, is_connected: bool
) -> None:
    async with Line.to(migrated_url) as line:
        pool = PostgresPool(line.url, PoolOptions(silent_seconds=0.2))
        if is_connected:
            await _ask(pool, line, "nowhere")
        began = time.monotonic()
        with pytest.raises(DependencyUnavailable):
            await _ask(pool, line, at)
        waited = time.monotonic() - began
        line.flowing.set()
        await _ask(pool, line, "nowhere")
        await pool.aclose()

    assert waited < 2


@pytest.mark.parametrize("is_connected", [True, False])
async def test_a_workspace_is_not_looked_up_by_its_name_for_ever(migrated_url: str, is_connected: bool) -> None:
    async with Line.to(migrated_url) as line:
        pool = PostgresPool(line.url, PoolOptions(silent_seconds=0.2))
        database = PostgresDatabase(pool, HEAD)

        async def ask() -> Workspace | None:
            async with database.transaction(UUID(int=1)) as transaction:
                return await transaction.workspaces.by_name("a workspace that nobody has")

        if is_connected:
            assert await ask() is None
        line.flowing.clear()
        began = time.monotonic()
        with pytest.raises(DependencyUnavailable):
            await ask()
        waited = time.monotonic() - began
        line.flowing.set()
        assert await ask() is None
        await database.heads.aclose()
        await pool.aclose()

    assert waited < 2


@pytest.mark.parametrize("left", ["an idle connection", "a transaction", "a read", "nothing"])
async def test_a_pool_is_closed_though_the_server_answers_nobody(migrated_url: str, left: str) -> None:
    async with Line.to(migrated_url) as line:
        pool = PostgresPool(line.url)
        if left != "nothing":
            await _ask(pool, line, "nowhere")
        line.flowing.clear()
        at_work: asyncio.Task[None] | None = None
        if left == "a transaction":
            at_work = asyncio.create_task(_ask(pool, line, "nowhere"))
            await asyncio.sleep(0.05)
            at_work.cancel()
            await asyncio.wait({at_work})
        if left == "a read":
            at_work = asyncio.create_task(pool.prompt_read("key", partial(_ask, pool, line, "nowhere")))
            await asyncio.sleep(0.05)
        began = time.monotonic()
        await pool.aclose()
        waited = time.monotonic() - began
        if at_work is not None:
            await asyncio.gather(at_work, return_exceptions=True)

    assert waited < 3


async def test_closing_cuts_no_statement_of_a_server_that_needs_a_second_to_let_somebody_in(migrated_url: str) -> None:
    async with Line.to(migrated_url) as line:
        pool = PostgresPool(line.url)

        async def ask() -> int:
            async with pool.connection() as connection:
                began.set()
                return await connection.fetchval("SELECT 1 FROM pg_sleep(1.7)")

        began = asyncio.Event()
        at_work = asyncio.create_task(ask())
        await began.wait()
        line.letting_in.clear()
        asyncio.get_running_loop().call_later(1.3, line.letting_in.set)
        await pool.aclose()
        found = await at_work

    assert found == 1


async def test_a_statement_that_takes_longer_than_silence_may_is_waited_for(migrated_url: str) -> None:
    pool = PostgresPool(migrated_url, PoolOptions(silent_seconds=0.2))

    async with pool.transaction(UUID(int=1)) as connection:
        found = await connection.fetchval("SELECT 1 FROM pg_sleep(0.7)")
    await pool.aclose()

    assert found == 1


@pytest.mark.parametrize("closed", ["ALTER DATABASE {database} ALLOW_CONNECTIONS false", "ALTER ROLE {login} NOLOGIN"])
async def test_a_server_that_refuses_who_comes_has_answered(
    migrated_database: str, postgres_url: str, closed: str
) -> None:
    login, parts = f"login_{secrets.token_hex(6)}", urlsplit(migrated_database)
    await execute(postgres_url, f"CREATE ROLE {login} LOGIN PASSWORD 'word'")
    place = parts.netloc.rpartition("@")[2]
    url = urlunsplit(parts._replace(netloc=f"{login}:word@{place}"))
    pool = PostgresPool(url, PoolOptions(role=None, silent_seconds=0.2))

    async with pool.connection() as connection:
        await execute(postgres_url, closed.format(database=parts.path[1:], login=login))
        found = await connection.fetchval("SELECT 1 FROM pg_sleep(0.7)")
    await pool.aclose()
    await execute(postgres_url, f"DROP ROLE {login}")

    assert found == 1


async def test_a_way_that_hangs_up_on_who_comes_is_no_answer(migrated_url: str) -> None:
    async with Line.to(f"{migrated_url}?sslmode=disable") as line:
        pool = PostgresPool(line.url, PoolOptions(silent_seconds=0.2))
        await _ask(pool, line, "nowhere")
        line.is_closing = True
        began = time.monotonic()
        with pytest.raises(DependencyUnavailable):
            await _ask(pool, line, "statement")
        waited = time.monotonic() - began
        line.flowing.set()
        await pool.aclose()

    assert waited < 2


async def test_who_waits_for_a_new_connection_takes_one_that_is_given_back(migrated_url: str) -> None:
    async with Line.to(migrated_url) as line:
        pool = PostgresPool(line.url, PoolOptions(connect_seconds=30.0))

        async def process(given: asyncio.Event) -> int:
            async with pool.connection() as connection:
                found: int = await connection.fetchval("SELECT pg_backend_pid()")
                await given.wait()
                return found

        first_may_end, others_may_end = asyncio.Event(), asyncio.Event()
        others_may_end.set()
        first = asyncio.create_task(process(first_may_end))
        await eventually(lambda: _answer(pool._pool is not None and pool._pool.get_size() == 1), "one is connected")
        line.letting_in.clear()
        others = [asyncio.create_task(process(others_may_end)) for _ in range(3)]
        await asyncio.sleep(0)
        first_may_end.set()
        async with asyncio.timeout(20):
            found = {await first, *(await asyncio.gather(*others))}
        await pool.aclose()

    assert len(found) == 1


async def test_an_idle_connection_is_found_behind_a_place_that_the_server_does_not_fill(migrated_url: str) -> None:
    async with Line.to(migrated_url) as line:
        pool = PostgresPool(line.url, PoolOptions(connect_seconds=0.5))

        async def ask() -> int:
            async with pool.connection() as connection:
                found: int = await connection.fetchval("SELECT pg_backend_pid()")
                return found

        async with pool.connection() as connection:
            process = await connection.fetchval("SELECT pg_backend_pid()")
            line.letting_in.clear()
            other = asyncio.create_task(ask())
            await eventually(lambda: _answer(len(pool._free._opening) == 1), "another is being opened")
        assert await other == process
        await eventually(lambda: _answer(not pool._free._opening), "it is not opened in time")
        found = [await ask() for _ in range(3)]
        await pool.aclose()

    assert found == [process] * 3


async def _answer(found: bool) -> bool:
    return found


async def test_a_caller_that_gives_up_leaves_its_connection_to_the_next(migrated_url: str) -> None:
    async with Line.to(migrated_url) as line:
        pool = PostgresPool(line.url, PoolOptions(connect_seconds=30.0, max_size=1))

        async def ask() -> int:
            async with pool.connection() as connection:
                return await connection.fetchval("SELECT 1")

        line.letting_in.clear()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await ask()
        line.letting_in.set()
        found = await ask()
        left = len(pool._free._opening)
        await pool.aclose()

    assert (found, left) == (1, 0)


@pytest.mark.parametrize("waits_for", ["its statement", "a connection"])
async def test_a_server_that_is_slow_does_not_end_a_block(migrated_url: str, waits_for: str) -> None:
    pool = PostgresPool(migrated_url, PoolOptions(max_size=1))

    async def ask(seconds: float) -> int:
        async with pool.connection() as connection:
            return await connection.fetchval("SELECT 1 FROM pg_sleep($1)", seconds)

    assert await ask(0.0) == 1
    slow = asyncio.create_task(ask(0.6)) if waits_for == "a connection" else None
    await asyncio.sleep(0)
    async with pool.while_answering(0.2):
        found = await ask(0.6 if slow is None else 0.0)
    if slow is not None:
        await slow
    await pool.aclose()

    assert found == 1


async def test_a_server_that_answers_others_is_waited_for() -> None:
    pulse, answered = Pulse(), asyncio.Event()
    reads = PromptReads(pulse)

    async def read() -> str:
        await answered.wait()
        return "found"

    pulse.at = math.inf
    with caller_waits(0.1):
        reading = asyncio.create_task(reads.run("key", read))
    await asyncio.wait({reading}, timeout=0.1)
    was_done = reading.done()
    answered.set()

    assert not was_done
    assert await reading == "found"


async def test_a_process_that_stood_still_waits_on() -> None:
    loop, answered = asyncio.get_running_loop(), asyncio.Event()
    reads = PromptReads(Pulse())

    async def read() -> str:
        await answered.wait()
        return "found"

    def stand_still() -> None:
        time.sleep(0.15)
        loop.call_later(0.01, answered.set)

    loop.call_soon(stand_still)

    with caller_waits(0.5):
        assert await reads.run("key", read) == "found"


async def test_few_reads_go_on_after_their_callers_gave_up() -> None:
    reads = PromptReads(Pulse())
    ended = asyncio.Semaphore(0)

    async def read() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.release()

    for number in range(MOST_LEFT + 3):
        with pytest.raises(DependencyUnavailable), caller_waits(0.01):
            await reads.run(number, read)
    async with asyncio.timeout(1):
        for _ in range(3):
            await ended.acquire()
    were_left = ended.locked()
    await reads.aclose()

    assert were_left


async def test_the_end_of_a_read_whose_connection_the_server_closed_is_no_error(migrated_url: str) -> None:
    faults: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context))
    pool = PostgresPool(migrated_url)

    async with pool.snapshot(UUID(int=1)) as connection:
        process = await connection.fetchval("SELECT pg_backend_pid()")
        other = await asyncpg.connect(migrated_url)
        assert await other.fetchval("SELECT pg_terminate_backend($1, 5000)", process)
        await other.close()
        with pytest.raises(DependencyUnavailable):
            await connection.fetchval("SELECT 1")
    await pool.aclose()
    gc.collect()

    assert faults == []

"""A pool tells how many of its connections are used and idle, whoever ends them, and the most there may be."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, suppress

import asyncpg
import pytest
from tests.memory_store.telemetry import RecordingTelemetry
from tests.waiting import eventually

from agentic_rag.adapters.postgres.session.pool import PoolOptions, PostgresPool
from agentic_rag.kernel.errors import AgenticRagError

pytestmark = pytest.mark.integration

MOST = 2


class WatchedPool:
    """A pool of two connections, and its gauges."""

    def __init__(self, url: str, idle_seconds: float = 60.0) -> None:
        self.telemetry = RecordingTelemetry()
        options = PoolOptions(max_size=MOST, name="main", idle_seconds=idle_seconds, connect_seconds=0.2)
        self.pool = PostgresPool(url, options, self.telemetry)

    def told(self) -> tuple[float, float]:
        """Used and idle."""
        used, idle = (
            self.telemetry.gauges[("rag_database_connections", (("pool", "main"), ("state", state)))]
            for state in ("used", "idle")
        )
        return used, idle

    async def becomes(self, used: int, idle: int) -> None:
        async def is_told() -> bool:
            return self.told() == (used, idle)

        await eventually(is_told, f"{used} connections are used and {idle} idle")


@pytest.fixture
async def watched(migrated_url: str) -> AsyncIterator[WatchedPool]:
    made = WatchedPool(migrated_url)
    yield made
    await made.pool.aclose()


async def test_connections_are_used_until_they_are_given_back(watched: WatchedPool) -> None:
    async with watched.pool.connection():
        one = watched.told()
        async with watched.pool.connection():
            both = watched.told()
        first = watched.told()

    assert (one, both, first, watched.told()) == ((1, 0), (2, 0), (1, 1), (0, 2))
    assert watched.telemetry.gauges[("rag_database_connections_max", (("pool", "main"),))] == MOST


async def test_a_pool_that_is_exhausted_says_so_while_others_wait_in_vain(watched: WatchedPool) -> None:
    async with AsyncExitStack() as held:
        for _ in range(MOST):
            await held.enter_async_context(watched.pool.connection())
        with pytest.raises(AgenticRagError):
            async with watched.pool.connection():
                pass
        meanwhile = watched.told()

    assert meanwhile == (MOST, 0)
    assert watched.told() == (0, MOST)


async def test_a_cancelled_caller_uses_its_connection_until_its_statement_has_ended(watched: WatchedPool) -> None:
    async def ask() -> None:
        async with watched.pool.connection() as connection:
            await connection.execute("SELECT pg_sleep(30)")

    asking = asyncio.create_task(ask())
    async with watched.pool.connection():
        await watched.becomes(2, 0)
    asking.cancel()
    with suppress(asyncio.CancelledError):
        await asking

    await watched.becomes(0, 2)


async def test_a_connection_that_the_server_ends_is_none(watched: WatchedPool, migrated_url: str) -> None:
    async with watched.pool.connection() as connection:
        process = await connection.fetchval("SELECT pg_backend_pid()")
    server = await asyncpg.connect(migrated_url)
    await server.execute("SELECT pg_terminate_backend($1)", process)
    await server.close()

    await watched.becomes(0, 0)


async def test_what_was_idle_for_long_is_closed_and_counted_no_more(migrated_url: str) -> None:
    watched = WatchedPool(migrated_url, idle_seconds=0.05)
    async with watched.pool.connection():
        pass

    await watched.becomes(0, 0)
    await watched.pool.aclose()


async def test_a_closed_pool_has_no_connections(watched: WatchedPool) -> None:
    async with watched.pool.connection():
        pass
    await watched.pool.aclose()

    await watched.becomes(0, 0)

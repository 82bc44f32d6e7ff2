"""Who reads while tables are moved misses no row, and undoes no copying."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import asyncpg
import pytest
from tests.integration.partitions.test_moving_tables import fill
from tests.integration.postgres.test_backups import backup_of

from agentic_rag.adapters.postgres.operations.archive import PostgresWorkspaceArchive
from agentic_rag.adapters.postgres.session.pool import PostgresPool
from agentic_rag.kernel.errors import Retryable
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_migrations import partitions
from agentic_rag_migrations.partitions import partition

pytestmark = pytest.mark.integration

WAITING = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND application_name <> 'rag migrate partition' AND wait_event_type = 'Lock'
"""

MOVE_WAITS = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND application_name = 'rag migrate partition' AND wait_event_type = 'Lock'
"""


@pytest.fixture
async def server(migrated_database: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(migrated_database)
    yield connection
    await connection.close()


async def somebody_waits(url: str) -> None:
    server = await asyncpg.connect(url)
    async with asyncio.timeout(20):
        while not await server.fetchval(WAITING):
            await server.execute("SELECT pg_sleep(0.02)")
    await server.close()


async def read_during_a_move(url: str, read: Callable[[], Awaitable[int]]) -> tuple[int, list[str]]:
    """Rows that a reader sees who began while rows of rag_chunks were copied, and the steps of the move."""
    steps: list[str] = []
    reading: list[Future[int]] = []

    async def rows() -> int:
        return await read()

    with ThreadPoolExecutor(2) as threads:

        def tell(_done: int, _of: int, what: str) -> None:
            steps.append(what)
            if what == "rag_chunks: rows" and not reading:
                reading.append(threads.submit(lambda: asyncio.run(rows())))
                threads.submit(lambda: asyncio.run(somebody_waits(url))).result()

        moved = await partition(url, 4, ["rag_chunks"], tell)
        seen = await asyncio.wrap_future(reading[0])
    assert [one.parts for one in moved] == [4]
    return seen, steps


async def test_a_backup_that_begins_during_a_move_holds_all_rows(
    migrated_database: str, fresh_redis: str, tmp_path: Path
) -> None:
    """An instant before the end of the move has no row of the table that was written anew."""

    async def backed_up() -> int:
        async with backup_of(migrated_database).dump() as dump:
            return next(one.rows for one in dump.tables if one.shape.name == "rag_chunks")

    await fill(migrated_database, fresh_redis, tmp_path)
    seen, _ = await read_during_a_move(migrated_database, backed_up)

    assert seen == 60


async def test_a_snapshot_that_begins_during_a_move_holds_all_rows(
    migrated_database: str, server: asyncpg.Connection, fresh_redis: str, tmp_path: Path
) -> None:
    await fill(migrated_database, fresh_redis, tmp_path)
    [one] = await server.fetch("SELECT org_id, workspace_id FROM rag_workspaces WHERE name = 'one'")
    workspace = WorkspaceRef(*one)

    async def archived() -> int:
        pool = PostgresPool(migrated_database)
        async with PostgresWorkspaceArchive(pool).reading(workspace) as archive:
            [chunks] = [one for one in archive.tables if one.name == "rag_chunks"]
            rows = sum([len(batch) async for batch in archive.rows(chunks)])
        await pool.aclose()
        return rows

    seen, _ = await read_during_a_move(migrated_database, archived)

    assert seen == 30


async def test_a_reader_of_a_view_undoes_no_copying(migrated_database: str) -> None:
    """Whoever reads a view holds it while he waits for the table under it."""

    async def viewed() -> int:
        reader = await asyncpg.connect(migrated_database)
        rows: int = await reader.fetchval("SELECT count(*) FROM rag_chunks_v1")
        await reader.close()
        return rows

    _, steps = await read_during_a_move(migrated_database, viewed)

    assert steps.count("rag_chunks: rows") == 1


async def test_no_table_is_moved_under_a_transaction_that_may_read_it_later(
    migrated_database: str, server: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `pg_dump` has one, before it comes to the table."""
    monkeypatch.setattr(partitions, "ATTEMPTS", 1)
    await server.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM rag_schema_version")
    with pytest.raises(Retryable, match="transaction open") as refused:
        await partition(migrated_database, 4, ["rag_chunks"])
    await server.execute("COMMIT")
    moved = await partition(migrated_database, 4, ["rag_chunks"])

    assert refused.value.code == "MIGRATION_BLOCKED"
    assert [one.table for one in moved] == ["rag_chunks"]


async def test_a_move_waits_for_a_table_until_postgres_has_ended_its_autovacuum(
    migrated_database: str, server: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends one for which somebody has waited for a `deadlock_timeout`; of a large table it takes hours."""
    monkeypatch.setattr(partitions, "ATTEMPTS", 1)
    holder = await asyncpg.connect(migrated_database)
    await holder.execute("BEGIN; LOCK TABLE rag_mentions IN SHARE UPDATE EXCLUSIVE MODE")
    moving = asyncio.create_task(partition(migrated_database, 4, ["rag_mentions"]))
    async with asyncio.timeout(20):
        while not await server.fetchval(MOVE_WAITS):
            assert not moving.done()
    await server.execute("SELECT pg_sleep(extract(epoch FROM current_setting('deadlock_timeout')::interval) * 1.3)")
    await holder.execute("COMMIT")
    await holder.close()

    assert [one.table for one in await moving] == ["rag_mentions"]

"""A revision builds an index of a table with rows while they are written, and goes on where it was broken off."""

from __future__ import annotations

import asyncio

import asyncpg
import pytest
from tests.waiting import eventually

from agentic_rag.kernel.errors import Retryable
from agentic_rag_migrations import partitions, script
from agentic_rag_migrations import upgrade as upgrades
from agentic_rag_migrations.partitions import partition
from agentic_rag_migrations.upgrade import status, upgrade

pytestmark = [pytest.mark.integration, pytest.mark.timeout(120)]

BEFORE, BUILDS = "0025", "0026"
INDEX = "rag_chunks_id"
WRITE = "UPDATE rag_chunks SET ordinal = ordinal WHERE false"
IS_VALID = f"SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('{INDEX}')"
BUILD_WAITS = """
SELECT EXISTS (SELECT FROM pg_stat_progress_create_index WHERE phase LIKE 'waiting for %')
"""


async def writer_of(url: str, write: str = WRITE) -> asyncpg.Connection:
    """A connection whose transaction has written to the table."""
    made = await asyncpg.connect(url)
    await made.execute(f"BEGIN; {write}")
    return made


async def test_writers_go_on_while_an_index_is_built(fresh_database: str) -> None:
    await upgrade(fresh_database, BEFORE)
    first, other = await writer_of(fresh_database), await asyncpg.connect(fresh_database)
    building = asyncio.create_task(upgrade(fresh_database, BUILDS))
    await eventually(lambda: other.fetchval(BUILD_WAITS), "the build waits for who wrote before it")

    await other.execute("SET lock_timeout = '50ms'")
    await other.execute(WRITE)
    stands = (await status(fresh_database)).current
    await first.execute("COMMIT")
    applied = await building

    assert (stands, applied) == (BEFORE, [BUILDS])
    assert await other.fetchval(IS_VALID) is True
    for one in (first, other):
        await one.close()


async def test_a_build_that_is_broken_off_is_made_anew(fresh_database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    await upgrade(fresh_database, BEFORE)
    monkeypatch.setattr(script, "WRITERS_TIMEOUT", "100ms")
    monkeypatch.setattr(upgrades, "ATTEMPTS", 1)
    writer = await writer_of(fresh_database)

    with pytest.raises(Retryable, match=f"revision {BUILDS} changes") as refused:
        await upgrade(fresh_database, BUILDS)
    left, stands = await writer.fetchval(IS_VALID), (await status(fresh_database)).current
    await writer.execute("COMMIT")
    applied = await upgrade(fresh_database, BUILDS)

    assert refused.value.code == "MIGRATION_BLOCKED"
    assert (left, stands, applied) == (False, BEFORE, [BUILDS])
    assert await writer.fetchval(IS_VALID) is True
    await writer.close()


async def test_a_process_that_waits_for_its_turn_holds_up_no_build(fresh_database: str) -> None:
    await upgrade(fresh_database, BEFORE)

    done = await asyncio.wait_for(asyncio.gather(*(upgrade(fresh_database, BUILDS) for _ in range(3))), 30)

    assert sorted(done) == [[], [], [BUILDS]]


async def test_an_index_that_was_built_is_kept(fresh_database: str) -> None:
    await upgrade(fresh_database, BEFORE)
    server = await asyncpg.connect(fresh_database)
    await server.execute(f"CREATE INDEX {INDEX} ON rag_chunks (org_id, workspace_id, chunk_id)")
    built = await server.fetchval(f"SELECT to_regclass('{INDEX}')::oid")

    await upgrade(fresh_database, BUILDS)

    assert await server.fetchval(f"SELECT to_regclass('{INDEX}')::oid") == built
    await server.close()


PARTITIONED_AT, BUILDS_IN_PARTITIONS = "0061", "0062"
WRITE_TO_PARTS = "LOCK TABLE rag_chunks IN ROW EXCLUSIVE MODE"
"""What a write takes, on every part: one of no row takes it on none."""
IN_PARTS = """
SELECT c.relname, i.indisvalid, c.oid IN (SELECT inhrelid FROM pg_inherits) AS is_part
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE c.relname LIKE '%rag\\_chunks\\_revision' ORDER BY 1
"""


async def test_an_index_of_a_table_in_partitions_is_built_on_each_while_writers_go_on(
    fresh_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await upgrade(fresh_database, PARTITIONED_AT)
    monkeypatch.setattr(partitions, "HEAD", PARTITIONED_AT)
    await partition(fresh_database, 2, ["rag_chunks"])
    first, other = await writer_of(fresh_database, WRITE_TO_PARTS), await asyncpg.connect(fresh_database)
    building = asyncio.create_task(upgrade(fresh_database, BUILDS_IN_PARTITIONS))
    await eventually(lambda: other.fetchval(BUILD_WAITS), "the build waits for who wrote before it")

    await other.execute("SET lock_timeout = '50ms'")
    await other.execute(f"BEGIN; {WRITE_TO_PARTS}; COMMIT")
    await first.execute("COMMIT")
    applied = await building

    assert applied == [BUILDS_IN_PARTITIONS]
    assert [tuple(row) for row in await other.fetch(IN_PARTS)] == [
        ("rag_chunks_000_of_002_rag_chunks_revision", True, True),
        ("rag_chunks_001_of_002_rag_chunks_revision", True, True),
        ("rag_chunks_revision", True, False),
    ]
    for one in (first, other):
        await one.close()


async def test_a_build_in_partitions_that_is_broken_off_is_made_anew(
    fresh_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await upgrade(fresh_database, PARTITIONED_AT)
    monkeypatch.setattr(partitions, "HEAD", PARTITIONED_AT)
    await partition(fresh_database, 2, ["rag_chunks"])
    monkeypatch.setattr(script, "WRITERS_TIMEOUT", "100ms")
    monkeypatch.setattr(upgrades, "ATTEMPTS", 1)
    writer = await writer_of(fresh_database, WRITE_TO_PARTS)

    with pytest.raises(Retryable, match=f"revision {BUILDS_IN_PARTITIONS} changes"):
        await upgrade(fresh_database, BUILDS_IN_PARTITIONS)
    left = [tuple(row) for row in await writer.fetch(IN_PARTS)]
    await writer.execute("COMMIT")
    applied = await upgrade(fresh_database, BUILDS_IN_PARTITIONS)

    assert left == [("rag_chunks_000_of_002_rag_chunks_revision", False, False)]
    assert applied == [BUILDS_IN_PARTITIONS]
    assert [row["indisvalid"] for row in await writer.fetch(IN_PARTS)] == [True, True, True]
    await writer.close()

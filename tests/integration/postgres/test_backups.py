"""Who may read a backup, and what a restore writes over: nothing."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from functools import partial
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import pytest
from tests.stack import database_at, execute

from agentic_rag.adapters.postgres.operations.backup import NOT_IN_A_BACKUP, PostgresBackup
from agentic_rag.kernel.errors import InvalidInput, Misconfigured, Permanent
from agentic_rag.operations.snapshots.snapshot import TableShape
from agentic_rag_migrations import HEAD
from agentic_rag_migrations.catalogue import TABLES
from agentic_rag_migrations.upgrade import upgrade

pytestmark = pytest.mark.integration

BEFORE = "0022"

PAGES = """
INSERT INTO rag_crawl_pages (org_id, workspace_id, job_id, url, depth, state, code, size, text_hash, signature)
SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'https://example.com/', 0, 'waiting', '', 0, '', '{}'
FROM generate_series(1, 2)
"""

ORGANISATION = "INSERT INTO rag_organizations (org_id, name) VALUES (gen_random_uuid(), 'acme')"


async def never(_: str | None) -> None:
    raise AssertionError("nothing is migrated")


def backup_of(url: str) -> PostgresBackup:
    return PostgresBackup(url, tuple(TABLES), never)


@pytest.fixture
async def logins(postgres_url: str) -> AsyncIterator[tuple[str, str]]:
    """Two logins that may read every table: one that the policies bind, and the one that the docs name."""
    names = [f"{kind}_{secrets.token_hex(4)}" for kind in ("reader", "backup")]
    for name, right in zip(names, ("NOBYPASSRLS", "BYPASSRLS"), strict=True):
        await execute(postgres_url, f"CREATE ROLE {name} LOGIN {right} PASSWORD 'secret' IN ROLE pg_read_all_data")
    yield names[0], names[1]
    for name in names:
        await execute(postgres_url, f"DROP ROLE {name}")


def as_login(url: str, name: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=f"{name}:secret@{parts.hostname}:{parts.port}"))


async def test_a_login_reads_a_backup_only_above_the_policies(migrated_database: str, logins: tuple[str, str]) -> None:
    await execute(migrated_database, ORGANISATION)
    bound, above = (backup_of(as_login(migrated_database, name)) for name in logins)
    with pytest.raises(Misconfigured) as refused:
        async with bound.dump():
            pass
    async with above.dump() as dump:
        rows = sum(one.rows for one in dump.tables)

    assert refused.value.code == "BACKUP_RIGHTS_MISSING"
    assert "BYPASSRLS" in refused.value.message
    assert rows == 1


async def test_a_backup_of_an_earlier_schema_is_restored_and_migrated(
    fresh_database: str, migrated_database: str, postgres_url: str
) -> None:
    await upgrade(fresh_database, BEFORE)
    await execute(fresh_database, ORGANISATION)
    name = f"test_{secrets.token_hex(6)}"
    await execute(postgres_url, f'CREATE DATABASE "{name}"')
    target = database_at(postgres_url, name)
    restored = PostgresBackup(target, tuple(TABLES), partial(upgrade, target))
    async with backup_of(fresh_database).dump() as dump, restored.load(dump.schema) as database:
        for one in dump.tables:
            assert await database.write(one.shape, dump.rows_of(one.shape)) == one.rows
    await restored.finish()
    async with restored.dump() as after:
        rows = {one.shape.name: one.rows for one in after.tables if one.rows}
    schemas = await asyncio.gather(*map(shape_of, (target, migrated_database)))
    await execute(postgres_url, f'DROP DATABASE "{name}" WITH (FORCE)')

    assert (dump.schema, after.schema) == (BEFORE, HEAD)
    assert rows == {"rag_organizations": 1}
    assert schemas[0] == schemas[1]


async def test_numbers_go_on_behind_what_a_restore_brought(migrated_database: str) -> None:
    async def two_pages() -> AsyncIterator[bytes]:
        async with backup_of(migrated_database).dump() as dump:
            shape = next(one.shape for one in dump.tables if one.shape.name == "rag_crawl_pages")
            async for piece in dump.rows_of(shape):
                yield piece

    backup = backup_of(migrated_database)
    async with backup.dump() as dump:
        shapes = {one.shape.name: one.shape for one in dump.tables}
    assert "place" in shapes["rag_crawl_pages"].columns
    server = await asyncpg.connect(migrated_database)
    await server.execute("ALTER TABLE rag_crawl_pages DROP CONSTRAINT rag_crawl_pages_org_id_workspace_id_job_id_fkey")
    await server.execute(PAGES)
    rows = b"".join([piece async for piece in two_pages()])
    await server.execute("DELETE FROM rag_crawl_pages; ALTER SEQUENCE rag_crawl_pages_place_seq RESTART")

    async def stored() -> AsyncIterator[bytes]:
        yield rows

    async with backup.load(HEAD) as database:
        await database.write(shapes["rag_crawl_pages"], stored())
    number = await server.fetchval("SELECT nextval('rag_crawl_pages_place_seq')")
    await server.close()

    assert number == 3


async def shape_of(url: str) -> list[tuple[str, ...]]:
    """Every constraint and policy of a database, and which tables force their policies."""
    server = await asyncpg.connect(url)
    found = await server.fetch(
        "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint "
        "WHERE connamespace = 'public'::regnamespace UNION ALL "
        "SELECT relname, relforcerowsecurity::text, '' FROM pg_class WHERE relnamespace = 'public'::regnamespace "
        "AND relkind = 'r' ORDER BY 1, 2"
    )
    await server.close()
    return [tuple(row) for row in found]


async def test_rows_that_break_off_leave_the_database_empty(migrated_database: str) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"PGCOPY\n\xff\r\n\x00" + bytes(8) + b"\x00\x63"

    backup = backup_of(migrated_database)
    with pytest.raises(Permanent) as damaged:
        async with backup.load(HEAD) as database:
            await database.write(TableShape("rag_organizations", ("org_id", "name")), broken())
    async with backup.dump() as dump:
        rows = sum(one.rows for one in dump.tables)

    assert damaged.value.code == "BACKUP_DAMAGED"
    assert rows == 0
    assert {one.shape.name for one in dump.tables} == TABLES.keys() - NOT_IN_A_BACKUP


async def test_a_restore_writes_over_nothing(migrated_database: str) -> None:
    await execute(migrated_database, ORGANISATION)
    for schema, why in ((HEAD, "rag_organizations has rows"), ("0001", f"at schema {HEAD}")):
        with pytest.raises(InvalidInput, match=why) as refused:
            async with backup_of(migrated_database).load(schema):
                pass
        assert refused.value.code == "RESTORE_TARGET_NOT_EMPTY"

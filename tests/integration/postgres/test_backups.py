"""Who may read a backup, and what a restore writes over: nothing."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from urllib.parse import urlsplit, urlunsplit

import pytest
from tests.stack import execute

from agentic_rag.adapters.postgres.operations.backup import NOT_IN_A_BACKUP, PostgresBackup
from agentic_rag.kernel.errors import InvalidInput, Misconfigured, Permanent
from agentic_rag.operations.snapshots.snapshot import TableShape
from agentic_rag_migrations import HEAD
from agentic_rag_migrations.catalogue import TABLES

pytestmark = pytest.mark.integration

ORGANISATION = "INSERT INTO rag_organizations (org_id, name) VALUES (gen_random_uuid(), 'acme')"


async def never(_: str) -> None:
    raise AssertionError("nothing is migrated")


def backup_of(url: str) -> PostgresBackup:
    return PostgresBackup(url, tuple(TABLES), never)


@pytest.fixture
async def login(postgres_url: str) -> AsyncIterator[str]:
    """A login that may read every table and is bound by the policies."""
    name = f"reader_{secrets.token_hex(4)}"
    await execute(postgres_url, f"CREATE ROLE {name} LOGIN PASSWORD 'secret' IN ROLE pg_read_all_data")
    yield name
    await execute(postgres_url, f"DROP ROLE {name}")


async def test_a_login_that_the_policies_bind_is_refused(migrated_url: str, login: str) -> None:
    parts = urlsplit(migrated_url)
    url = urlunsplit(parts._replace(netloc=f"{login}:secret@{parts.hostname}:{parts.port}"))
    with pytest.raises(Misconfigured) as refused:
        async with backup_of(url).dump():
            pass

    assert refused.value.code == "BACKUP_RIGHTS_MISSING"
    assert "BYPASSRLS" in refused.value.message


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

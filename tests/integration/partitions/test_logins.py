"""Who may move tables, and what a server that gives up says."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import pytest
from tests.stack import execute

from agentic_rag.kernel.errors import DependencyUnavailable, Misconfigured
from agentic_rag_migrations.partitions import PARTITIONED, layouts, partition

pytestmark = pytest.mark.integration


@pytest.fixture
async def server(migrated_database: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(migrated_database)
    yield connection
    await connection.close()


@pytest.fixture
async def login(migrated_database: str, server: asyncpg.Connection) -> AsyncIterator[str]:
    """The address for a login that may become the owner of the tables, and no more."""
    name, password = f"login_{secrets.token_hex(4)}", secrets.token_hex(8)
    await server.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{password}'")
    await server.execute(f"GRANT rag_owner TO {name} WITH INHERIT FALSE, SET TRUE")
    host = urlsplit(migrated_database).netloc.rpartition("@")[2]
    yield urlunsplit(urlsplit(migrated_database)._replace(netloc=f"{name}:{password}@{host}"))
    await server.execute(f"DROP OWNED BY {name}; DROP ROLE {name}")


async def test_the_owner_of_the_database_needs_no_superuser(
    migrated_database: str, server: asyncpg.Connection, login: str
) -> None:
    name, database = urlsplit(login).username, urlsplit(login).path[1:]
    with pytest.raises(Misconfigured, match="owner of the database") as refused:
        await partition(login, 4)
    stood = await layouts(migrated_database)
    await server.execute(f'GRANT CREATE ON DATABASE "{database}" TO {name}')
    moved = await partition(login, 4)
    back = await partition(login, 0)

    assert refused.value.code == "MIGRATION_RIGHTS_MISSING"
    assert {one.parts for one in stood} == {0}
    assert [one.table for one in moved] == [one.table for one in back] == list(PARTITIONED)


# Comes back when it is gone.
ENDS = """
SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
WHERE datname = current_database() AND application_name = 'rag migrate partition'
"""


async def test_a_server_that_ends_the_connection_leaves_the_table_as_it_was(migrated_database: str) -> None:
    """As a stop of Postgres does."""

    def end(_done: int, _of: int, what: str) -> None:
        if what == "rag_mentions: references":
            with ThreadPoolExecutor(1) as thread:
                thread.submit(asyncio.run, execute(migrated_database, ENDS)).result()

    with pytest.raises(DependencyUnavailable, match="rag_mentions is as it was"):
        await partition(migrated_database, 4, ["rag_mentions"], end)
    stood = await layouts(migrated_database)

    assert [one.parts for one in stood] == [0, 0, 0]
    assert [one.table for one in await partition(migrated_database, 4, ["rag_mentions"])] == ["rag_mentions"]

"""Migrations: from nothing, again, at once in many processes and databases, and with a modest login."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import pytest

from agentic_rag.adapters.postgres.database import PostgresDatabase
from agentic_rag.adapters.postgres.pool import PostgresPool
from agentic_rag.app import answer_codec
from agentic_rag.domain.errors import DependencyUnavailable, Misconfigured
from agentic_rag_migrations import HEAD, roles
from agentic_rag_migrations.upgrade import status, upgrade

ALL = tuple(f"{number:04}" for number in range(1, int(HEAD) + 1))
"""Every revision, oldest first."""

pytestmark = pytest.mark.integration


@pytest.fixture
async def another_database(postgres_url: str) -> AsyncIterator[str]:
    name = f"test_{secrets.token_hex(6)}"
    server = await asyncpg.connect(postgres_url)
    await server.execute(f'CREATE DATABASE "{name}"')
    yield urlunsplit(urlsplit(postgres_url)._replace(path=f"/{name}"))
    await server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
    await server.close()


async def test_an_empty_database_is_brought_to_the_head_once(fresh_database: str) -> None:
    before = await status(fresh_database)

    first = await upgrade(fresh_database)
    second = await upgrade(fresh_database)
    after = await status(fresh_database)

    assert (before.current, before.pending) == (None, ALL)
    assert (first, second) == ([*ALL], [])
    assert (after.current, after.head, after.pending) == (HEAD, HEAD, ())


async def test_processes_that_migrate_at_once_do_the_work_once(fresh_database: str) -> None:
    applied = await asyncio.gather(*[upgrade(fresh_database) for _ in range(4)])

    assert sorted(applied) == [[], [], [], [*ALL]]


async def test_two_databases_of_a_cluster_may_be_migrated_at_once(fresh_database: str, another_database: str) -> None:
    applied = await asyncio.gather(upgrade(fresh_database), upgrade(another_database))

    assert applied == [[*ALL], [*ALL]]


async def test_an_address_as_sqlalchemy_writes_it_is_accepted(fresh_database: str) -> None:
    scheme, _, rest = fresh_database.partition("://")

    assert await upgrade(f"{scheme}+asyncpg://{rest}") == [*ALL]


async def test_an_owner_of_the_database_who_may_create_roles_is_enough(
    fresh_database: str,
) -> None:
    login, password = f"login_{secrets.token_hex(4)}", secrets.token_hex(8)
    server = await asyncpg.connect(fresh_database)
    database = urlsplit(fresh_database).path[1:]
    await server.execute(f"CREATE ROLE {login} LOGIN CREATEROLE PASSWORD '{password}'")
    # Roles made by another login: one who may not administer them needs this grant from a superuser, once.
    for role in ("rag_owner", "rag_app", "rag_dispatcher"):
        if await server.fetchval("SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)", role):
            await server.execute(f"GRANT {role} TO {login} WITH ADMIN OPTION")
    await server.execute("CREATE EXTENSION vector")
    await server.execute(f'ALTER DATABASE "{database}" OWNER TO {login}')
    host = urlsplit(fresh_database).netloc.rpartition("@")[2]
    modest = urlunsplit(urlsplit(fresh_database)._replace(netloc=f"{login}:{password}@{host}"))
    try:
        applied = await upgrade(modest)
        standing = await status(modest)
        checked = PostgresDatabase(PostgresPool(modest), answer_codec, HEAD)
        await checked.check()
        await checked.aclose()
    finally:
        await server.execute(f'ALTER DATABASE "{database}" OWNER TO CURRENT_USER')
        await server.execute(f"REASSIGN OWNED BY {login} TO CURRENT_USER; DROP OWNED BY {login}; DROP ROLE {login}")
        await server.close()

    assert applied == [*ALL]
    assert standing.pending == ()


async def test_a_server_without_pgvector_is_told_how_to_get_it(fresh_database: str) -> None:
    class WithoutVector:
        """Answers like a server on which pgvector is not installed."""

        async def fetchrow(self, _: str) -> dict[str, bool]:
            return {"installed": False, "available": False}

    with pytest.raises(Misconfigured, match="Install it on the server") as refused:
        await roles.create_vector(WithoutVector())

    assert refused.value.code == "PGVECTOR_MISSING"


async def test_a_server_that_does_not_answer_is_named() -> None:
    with pytest.raises(DependencyUnavailable):
        await status("postgresql://nobody@127.0.0.1:1/none")

"""Migrations: from nothing, again, at once in many processes and databases, and with a modest login."""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator
from importlib.resources import files
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID

import asyncpg
import pytest
from sqlalchemy.exc import DBAPIError
from tests.waiting import eventually

from agentic_rag.adapters.postgres.session.database import PostgresDatabase
from agentic_rag.adapters.postgres.session.pool import PostgresPool
from agentic_rag.kernel.errors import DependencyUnavailable, Misconfigured, Retryable
from agentic_rag_migrations import HEAD, roles
from agentic_rag_migrations import upgrade as upgrades
from agentic_rag_migrations.script import backfill_rows
from agentic_rag_migrations.upgrade import status, upgrade

SERIES = [path for path in files("agentic_rag_migrations.versions").iterdir() if path.name[0] == "v"]
ALL = tuple(sorted(path.name[:4] for series in SERIES for path in series.iterdir() if path.name[0] == "0"))
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
        checked = PostgresDatabase(PostgresPool(modest), HEAD)
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


async def test_a_table_in_use_stops_nobody_for_long(fresh_database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    await upgrade(fresh_database, "0001")
    reader, other = [await asyncpg.connect(fresh_database) for _ in range(2)]
    await reader.execute("BEGIN; SELECT FROM rag_jobs")
    monkeypatch.setattr(upgrades, "PAUSE_SECONDS", 0.05)
    monkeypatch.setattr(upgrades, "ATTEMPTS", 2)
    with pytest.raises(Retryable) as refused:
        await upgrade(fresh_database, "0002")
    stands = await other.fetchval("SELECT version_num FROM rag_schema_version")

    monkeypatch.setattr(upgrades, "ATTEMPTS", 100)
    waiting = asyncio.create_task(upgrade(fresh_database, "0002"))
    await eventually(lambda: _waits(other), "the migration waits for the table")
    await reader.execute("COMMIT")
    applied = await waiting
    for one in (reader, other):
        await one.close()

    assert refused.value.code == "MIGRATION_BLOCKED"
    assert stands == "0001"
    assert applied == ["0002"]


async def test_revisions_before_one_that_is_blocked_stay_applied(
    fresh_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await upgrade(fresh_database, "0002")
    reader = await asyncpg.connect(fresh_database)
    await reader.execute("BEGIN; SELECT FROM rag_revisions")
    monkeypatch.setattr(upgrades, "PAUSE_SECONDS", 0.05)
    monkeypatch.setattr(upgrades, "ATTEMPTS", 2)

    with pytest.raises(Retryable, match="revision 0009 changes") as refused:
        await upgrade(fresh_database)
    standing = await status(fresh_database)
    await reader.close()
    applied = await upgrade(fresh_database)

    assert refused.value.code == "MIGRATION_BLOCKED"
    assert (standing.current, standing.pending[0]) == ("0008", "0009")
    assert applied == [*standing.pending]


BREAKS_OFF = """
CREATE FUNCTION break_off() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'broken off'; END $$;
CREATE TRIGGER break_off BEFORE UPDATE ON rag_schema_version FOR EACH ROW
WHEN (new.version_num = '0003') EXECUTE FUNCTION break_off();
"""


async def test_a_revision_that_is_broken_off_before_it_is_written_down_leaves_nothing(fresh_database: str) -> None:
    await upgrade(fresh_database, "0001")
    server = await asyncpg.connect(fresh_database)
    await server.execute(BREAKS_OFF)

    with pytest.raises(DBAPIError, match="broken off"):
        await upgrade(fresh_database, "0004")
    standing = await status(fresh_database)
    has_originals = await server.fetchval("SELECT to_regclass('rag_originals') IS NOT NULL")
    await server.execute("DROP FUNCTION break_off CASCADE")
    await server.close()
    applied = await upgrade(fresh_database, "0004")

    assert (standing.current, has_originals) == ("0002", False)
    assert applied == ["0003", "0004"]


async def _waits(connection: asyncpg.Connection) -> bool:
    return await connection.fetchval("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND locktype = 'relation')")


async def test_every_organisation_of_before_gets_each_feature_switched_off(fresh_database: str) -> None:
    await upgrade(fresh_database, "0010")
    server = await asyncpg.connect(fresh_database)
    for number, settings in enumerate(("{}", '{"theme": "dark"}', '{"flags": {"ragGuidelines": true}}')):
        await server.execute(
            "INSERT INTO rag_organizations (org_id, name, settings) VALUES ($1, $2, $3)",
            UUID(int=number + 1),
            f"organisation {number}",
            settings,
        )

    await upgrade(fresh_database)

    rows = await server.fetch("SELECT settings::text FROM rag_organizations ORDER BY org_id")
    forced = await server.fetchval("SELECT relforcerowsecurity FROM pg_class WHERE relname = 'rag_organizations'")
    await server.close()
    off = {"flags": {"ragGuidelines": False}}
    assert [json.loads(row["settings"]) for row in rows] == [
        off,
        off | {"theme": "dark"},
        {"flags": {"ragGuidelines": True}},
    ]
    assert forced is True


async def test_a_backfill_that_misses_a_row_is_undone(fresh_database: str) -> None:
    await upgrade(fresh_database)
    server = await asyncpg.connect(fresh_database)
    for number in (1, 2):
        await server.execute("INSERT INTO rag_organizations VALUES ($1, 'x')", UUID(int=number))

    with pytest.raises(RuntimeError, match="2 rows of rag_organizations were to be changed, 1 were and 1 are left"):
        await rename_one(server)

    names = await server.fetch("SELECT name FROM rag_organizations")
    forced = await server.fetchval("SELECT relforcerowsecurity FROM pg_class WHERE relname = 'rag_organizations'")
    await server.close()
    assert ([row["name"] for row in names], forced) == (["x", "x"], True)


async def test_a_backfill_changes_every_organisation_and_keeps_no_reader_waiting(fresh_database: str) -> None:
    await upgrade(fresh_database)
    server, reader = [await asyncpg.connect(fresh_database) for _ in range(2)]
    for number in (1, 2):
        await server.execute("INSERT INTO rag_organizations VALUES ($1, 'x')", UUID(int=number))
    await reader.execute("SET lock_timeout = '1s'")

    async with server.transaction():
        await server.execute("SET LOCAL ROLE rag_owner")
        changed = await backfill_rows(
            server, "rag_organizations", "UPDATE rag_organizations SET name = 'y'", open_rows="name = 'x'"
        )
        read = await reader.fetchval("SELECT count(*) FROM rag_organizations WHERE name = 'x'")

    left = await reader.fetchval("SELECT count(*) FROM rag_organizations WHERE name = 'x'")
    for one in (server, reader):
        await one.close()
    assert (changed, read, left) == (2, 2, 0)


async def rename_one(server: asyncpg.Connection) -> None:
    """A data migration whose statement overlooks a row."""
    statement = "UPDATE rag_organizations SET name = 'y' WHERE name = 'x' AND org_id::text LIKE '%1'"
    async with server.transaction():
        await server.execute("SET LOCAL ROLE rag_owner")
        await backfill_rows(server, "rag_organizations", statement, open_rows="name = 'x'")


OLD_SUBJECTS = """
INSERT INTO rag_organizations (org_id, name) VALUES ($1, 'old');
INSERT INTO rag_workspaces (org_id, workspace_id, name, kind) VALUES ($1, $1, 'w', 'general');
INSERT INTO rag_access_sets (org_id, workspace_id, access_id, principals) VALUES
    ($1, $1, 0, '{}'), ($1, $1, 1, '{user:ci,group:night}'), ($1, $1, 2, '{user:ada}');
INSERT INTO rag_api_keys (org_id, key_id, key_hash, name, subject, role) VALUES
    ($1, gen_random_uuid(), sha256('a'), 'ci', 'ci', 'member'),
    ($1, gen_random_uuid(), sha256('b'), 'development', 'developer', 'operator');
INSERT INTO rag_documents (org_id, workspace_id, document_id, source_path, title, file_name, media_type, size,
                           uploaded_by, status)
SELECT $1, $1, gen_random_uuid(), o, o, o, 'text/plain', 1, o, 'READY' FROM unnest('{ada,ci,cli}'::text[]) AS o
"""


async def test_subjects_get_kinds_and_keys_of_starts_are_revoked(fresh_database: str) -> None:
    await upgrade(fresh_database, "0016")
    server = await asyncpg.connect(fresh_database)
    org = UUID(int=7)
    for statement in OLD_SUBJECTS.split(";"):
        await server.execute(statement.replace("$1", f"'{org}'::uuid"))

    await upgrade(fresh_database)

    owners = await server.fetch("SELECT source_path, uploaded_by, writers FROM rag_documents ORDER BY source_path")
    sets = await server.fetch("SELECT principals FROM rag_access_sets ORDER BY access_id")
    keys = await server.fetch("SELECT name, revoked_at IS NOT NULL AS revoked FROM rag_api_keys ORDER BY name")
    await server.close()
    assert [tuple(row) for row in owners] == [
        ("ada", "user:ada", []),
        ("ci", "key:ci", []),
        ("cli", "system:cli", []),
    ]
    assert [row["principals"] for row in sets] == [[], ["group:night", "key:ci", "user:ci"], ["user:ada"]]
    assert [tuple(row) for row in keys] == [("ci", False), ("development", True)]


OLD_TEXTS = """
INSERT INTO rag_organizations (org_id, name) VALUES ($1, $1::text);
INSERT INTO rag_workspaces (org_id, workspace_id, name, kind) VALUES ($1, $1, 'w', 'general');
INSERT INTO rag_access_sets (org_id, workspace_id, access_id, principals) VALUES ($1, $1, 0, '{}');
INSERT INTO rag_documents (org_id, workspace_id, document_id, source_path, title, file_name, media_type, size,
                           uploaded_by, status)
VALUES ($1, $1, $1, 'a', 'a', 'a', 'text/plain', 1, 'user:ada', 'READY');
INSERT INTO rag_revisions (org_id, workspace_id, revision_id, document_id, text, text_hash, parser, parser_version)
SELECT $1, $1, gen_random_uuid(), $1, repeat('Größe 東京 ', size), sha256('x'), 'p', '1'
FROM unnest('{10,20000}'::integer[]) AS of(size);
INSERT INTO rag_originals (org_id, workspace_id, document_id, content_hash, blob_key, size)
SELECT $1, $1, $1, sha256(size::text::bytea), size, size FROM unnest('{1,20,300}'::integer[]) AS of(size);
INSERT INTO rag_restricted_versions (org_id, workspace_id, version, access_id)
SELECT $1, $1, of.version, of.access_id
FROM unnest('{2,2,5,9}'::integer[], '{1,2,1,3}'::integer[]) AS of(version, access_id)
"""


async def test_what_is_there_is_cut_into_pieces_and_counted(fresh_database: str) -> None:
    await upgrade(fresh_database, "0042")
    server = await asyncpg.connect(fresh_database)
    for org in (UUID(int=7), UUID(int=8)):
        for statement in OLD_TEXTS.split(";"):
            await server.execute(statement.replace("$1", f"'{org}'::uuid"))

    await upgrade(fresh_database)

    made = await server.fetch(
        "SELECT string_agg(p.text, '' ORDER BY p.start) = r.text AS is_whole, count(p.text) > 9 AS is_cut "
        "FROM rag_revisions r LEFT JOIN rag_text_pieces p USING (org_id, workspace_id, document_id, revision_id) "
        "GROUP BY r.org_id, r.revision_id, r.text ORDER BY length(r.text)"
    )
    counted = await server.fetch("SELECT sum(bytes) AS bytes FROM rag_stored_bytes GROUP BY org_id")
    await server.execute(
        "INSERT INTO rag_restricted_versions (org_id, workspace_id, version, access_id) "
        "SELECT org_id, org_id, 11, unnest('{1,3}'::integer[]) FROM rag_organizations"
    )
    versions = await server.fetch("SELECT DISTINCT version, counted FROM rag_restricted_versions ORDER BY version")
    await server.close()
    assert [tuple(row) for row in made] == [(None, False)] * 2 + [(True, True)] * 2
    assert [row["bytes"] for row in counted] == [321, 321]
    assert [tuple(row) for row in versions] == [(2, 1), (5, 2), (9, 3), (11, 4)]


SERVES_NONE_BEFORE = """
CREATE OR REPLACE FUNCTION rag_serves_since() RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT '9999' $$
"""


async def test_a_newer_schema_that_only_grew_serves_the_version_before(fresh_database: str) -> None:
    await upgrade(fresh_database)
    server = await asyncpg.connect(fresh_database)
    await server.execute("ALTER TABLE rag_documents ADD COLUMN later text")
    await server.execute("UPDATE rag_schema_version SET version_num = '9999'")
    await server.close()

    standing = await status(fresh_database)
    applied = await upgrade(fresh_database)
    database = PostgresDatabase(PostgresPool(fresh_database), HEAD)
    await database.check()
    await database.aclose()

    assert (standing.current, standing.head, standing.pending) == ("9999", HEAD, ())
    assert applied == []


async def test_a_database_of_a_newer_version_is_named_and_left_alone(fresh_database: str) -> None:
    await upgrade(fresh_database)
    server = await asyncpg.connect(fresh_database)
    await server.execute("UPDATE rag_schema_version SET version_num = '9999'")
    await server.execute(SERVES_NONE_BEFORE)

    for look in (status, upgrade):
        with pytest.raises(Misconfigured, match="9999") as refused:
            await look(fresh_database)
        assert refused.value.code == "SCHEMA_TOO_NEW"
    await server.close()

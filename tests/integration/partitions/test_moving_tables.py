"""`rag migrate partition` changes how rows lie and nothing else, or nothing at all."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest
from tests.bench.corpus import generated_corpus
from tests.bench.product import Servers, as_documents, create_workspace, variables
from tests.operate.drill import product_on
from tests.programs import PYTHONPATH
from typer.testing import CliRunner, Result

from agentic_rag.kernel.errors import InvalidInput, Misconfigured, Retryable
from agentic_rag.settings import load_settings
from agentic_rag_cli.main import app
from agentic_rag_cli.wiring import Wiring
from agentic_rag_migrations import partitions
from agentic_rag_migrations.partitions import PARTITIONED, layouts, partition
from agentic_rag_migrations.script import PROTECT, backfill_rows

pytestmark = pytest.mark.integration

# What an operator may have added, and what a later version may.
PLANTED = """
SET ROLE rag_owner;
ALTER TABLE rag_chunks SET (autovacuum_vacuum_scale_factor = 0.01, toast.autovacuum_enabled = off);
ALTER TABLE rag_chunks ALTER COLUMN text SET STATISTICS 500;
ALTER TABLE rag_chunks ADD CONSTRAINT lines_go_on CHECK (line_end >= line_start);
ALTER TABLE rag_embeddings ADD CONSTRAINT once UNIQUE (org_id, workspace_id, space_id, ordinal, access_id);
CREATE STATISTICS rag_together ON ordinal, document_id FROM rag_chunks;
CREATE POLICY more ON rag_mentions AS RESTRICTIVE FOR SELECT TO rag_app, rag_dispatcher USING (count > 0);
GRANT SELECT (ordinal, text) ON rag_chunks TO rag_dispatcher;
GRANT SELECT ON rag_mentions TO rag_dispatcher WITH GRANT OPTION;
CREATE VIEW counted AS SELECT source_path, count(*) FROM rag_chunks_v1 GROUP BY source_path;
GRANT SELECT ON counted TO rag_dispatcher;
COMMENT ON TABLE rag_chunks IS 'pieces of texts';
COMMENT ON COLUMN rag_chunks.text IS 'it''s as published';
COMMENT ON INDEX rag_chunks_id IS 'by id';
COMMENT ON CONSTRAINT rag_chunks_pkey ON rag_chunks IS 'its key';
COMMENT ON POLICY tenant ON rag_mentions IS 'the wall';
COMMENT ON VIEW counted IS 'how many';
CREATE FUNCTION watch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE TRIGGER watched AFTER INSERT ON rag_mentions FOR EACH STATEMENT EXECUTE FUNCTION watch();
CREATE TRIGGER asleep AFTER DELETE ON rag_mentions FOR EACH ROW EXECUTE FUNCTION watch();
ALTER TABLE rag_mentions DISABLE TRIGGER asleep;
CREATE TABLE noted (org_id uuid, workspace_id uuid, ordinal integer, visible_from integer,
                    CONSTRAINT of_a_chunk FOREIGN KEY (org_id, workspace_id, ordinal, visible_from)
                    REFERENCES rag_chunks (org_id, workspace_id, ordinal, visible_from) ON DELETE CASCADE);
RESET ROLE;
"""

# By the views of the standard and of Postgres, not by what the product reads; `parts` are no things of their own.
CATALOGUE = {
    "columns": "SELECT table_name, column_name, ordinal_position, column_default, is_nullable, data_type, udt_name, "
    "(SELECT a.attstorage::text FROM pg_attribute a WHERE a.attrelid = table_name::regclass "
    "AND a.attname = column_name), col_description(table_name::regclass, ordinal_position) "
    "FROM information_schema.columns WHERE table_schema = 'public'",
    "constraints": "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid), convalidated, "
    "obj_description(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND conparentid = 0",
    "indexes": "SELECT tablename, indexname, replace(indexdef, 'ON ONLY', 'ON'), "
    "obj_description(indexname::regclass) FROM pg_indexes WHERE schemaname = 'public'",
    "policies": "SELECT * FROM pg_policies WHERE schemaname = 'public'",
    "rights": "SELECT table_name, grantee, privilege_type, is_grantable FROM information_schema.role_table_grants "
    "WHERE table_schema = 'public'",
    "rights to columns": "SELECT table_name, column_name, grantee, privilege_type "
    "FROM information_schema.role_column_grants WHERE table_schema = 'public'",
    "tables": "SELECT relname, relrowsecurity, relforcerowsecurity, relowner::regrole::text, obj_description(oid) "
    "FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v')",
    "views": "SELECT viewname, viewowner, definition FROM pg_views WHERE schemaname = 'public'",
    "options of views": "SELECT relname, reloptions::text FROM pg_class WHERE relkind = 'v' "
    "AND relnamespace = 'public'::regnamespace",
    "triggers": "SELECT pg_get_triggerdef(oid), tgenabled::text FROM pg_trigger g WHERE NOT tgisinternal "
    "AND tgparentid = 0",
    "statistics": "SELECT pg_get_statisticsobjdef(oid) FROM pg_statistic_ext",
    "targets": "SELECT attname, attstattarget FROM pg_attribute WHERE attrelid = 'rag_chunks'::regclass "
    "AND attstattarget > 0",
}

ROWS = {
    table: f"SELECT md5(string_agg(r::text, ' ' ORDER BY r::text)), count(*) FROM {table} r" for table in PARTITIONED
}


@pytest.fixture
async def server(migrated_database: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(migrated_database)
    yield connection
    await connection.close()


async def catalogue(server: asyncpg.Connection) -> dict[str, set[str]]:
    return {name: {str(tuple(row)) for row in await server.fetch(query)} for name, query in CATALOGUE.items()}


async def rows(server: asyncpg.Connection) -> list[tuple[str, int]]:
    return [(digest, count) for query in ROWS.values() for digest, count in await server.fetch(query)]


async def parts(url: str) -> list[int]:
    return [one.parts for one in await layouts(url)]


async def fill(url: str, redis_url: str, home: Path) -> None:
    """Two workspaces with chunks, vectors and mentions."""
    corpus = generated_corpus(30)
    async with product_on(Servers(url, redis_url, str(home))) as system:
        await system.first_access.ensure_organisation()
        for name in ("one", "other"):
            workspace = await create_workspace(system, name)
            await system.ingest_chunks.run(workspace, as_documents(corpus.chunks), "fill")


async def test_a_table_keeps_all_but_how_its_rows_lie(
    migrated_database: str, server: asyncpg.Connection, fresh_redis: str, tmp_path: Path
) -> None:
    await fill(migrated_database, fresh_redis, tmp_path)
    await server.execute(PLANTED)
    before = await catalogue(server), await rows(server)
    options = await storage(server)
    for layout in (4, 3, 0):
        moved = await partition(migrated_database, layout)

        assert [one.table for one in moved] == list(PARTITIONED)
        assert await parts(migrated_database) == [layout] * 3
        assert await partition(migrated_database, layout) == []
        after = await catalogue(server), await rows(server)
        assert {name: after[0][name] ^ found for name, found in before[0].items() if after[0][name] != found} == {}
        assert after[1] == before[1]
        assert await storage(server) == options
    left = await server.fetchval("SELECT to_regnamespace('rag_partitions')")

    assert before[1][0][1] == 60
    assert options == ["autovacuum_vacuum_scale_factor=0.01"]
    assert left is None


async def storage(server: asyncpg.Connection) -> list[str]:
    """The options of what holds the rows of rag_chunks."""
    found = await server.fetch(
        "SELECT DISTINCT unnest(reloptions) FROM pg_class WHERE relkind = 'r' AND relname LIKE 'rag_chunks%'"
    )
    return [row[0] for row in found]


async def test_nobody_reads_a_partition_by_its_name(
    migrated_database: str, server: asyncpg.Connection, fresh_redis: str, tmp_path: Path
) -> None:
    await server.execute("ALTER DEFAULT PRIVILEGES FOR ROLE rag_owner GRANT SELECT ON TABLES TO rag_dispatcher")
    await fill(migrated_database, fresh_redis, tmp_path)
    await partition(migrated_database, 2, ["rag_chunks"])
    org = await server.fetchval("SELECT org_id FROM rag_organizations")
    granted = await server.fetch(
        "SELECT relname FROM pg_class c, aclexplode(relacl) a WHERE relnamespace = 'rag_partitions'::regnamespace "
        "AND relkind = 'r' AND a.grantee <> c.relowner"
    )

    async def seen(role: str, table: str) -> object:
        async with server.transaction():
            await server.execute(f"SET LOCAL ROLE {role}; SET LOCAL rag.org_id = '{org}'")
            try:
                async with server.transaction():
                    return await server.fetchval(f"SELECT count(*) FROM {table}")
            except asyncpg.InsufficientPrivilegeError as error:
                return str(error)

    refused = "permission denied for schema rag_partitions"
    for part in ("rag_partitions.rag_chunks_000_of_002", "rag_partitions.rag_chunks_001_of_002"):
        assert [await seen(role, part) for role in ("rag_app", "rag_dispatcher", "rag_owner")] == [refused, refused, 0]
    assert [await seen(role, "rag_chunks") for role in ("rag_app", "rag_owner")] == [60, 60]
    assert granted == []


RUNNING = {
    "rag_processes": "INSERT INTO rag_processes (process, program, host, pid) "
    "VALUES (gen_random_uuid(), 'rag serve', 'host-a', 7)",
    "rag_workers": "INSERT INTO rag_workers (worker, host, pid, version, slots) VALUES ('w', 'host-a', 7, '1', 1)",
}


@pytest.mark.parametrize("register", RUNNING)
async def test_a_process_that_runs_stops_the_move(
    migrated_database: str, server: asyncpg.Connection, register: str
) -> None:
    await server.execute(RUNNING[register])
    with pytest.raises(Retryable, match="on host-a, process 7") as refused:
        await partition(migrated_database, 4)
    stood = await parts(migrated_database)

    await server.execute(f"UPDATE {register} SET seen_at = now() - interval '1 minute'")
    await partition(migrated_database, 4)

    assert refused.value.code == "PROCESSES_RUNNING"
    assert stood == [0, 0, 0]
    assert await parts(migrated_database) == [4, 4, 4]


async def test_tables_stay_as_they_are_while_one_is_in_use(
    migrated_database: str, server: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partitions, "PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(partitions, "ATTEMPTS", 2)
    await server.execute("BEGIN; SELECT FROM rag_embeddings")
    with pytest.raises(Retryable, match="rag_chunks") as refused:
        await partition(migrated_database, 4)
    await server.execute("COMMIT")
    stood = await parts(migrated_database)

    assert refused.value.code == "MIGRATION_BLOCKED"
    assert stood == [0, 0, 0]
    assert [one.table for one in await partition(migrated_database, 4)] == list(PARTITIONED)


FOREIGN = {
    "a rule": "CREATE RULE mine AS ON DELETE TO rag_mentions DO ALSO SELECT 1",
    "a publication": "CREATE PUBLICATION mine FOR TABLE rag_mentions",
    "a copy": "CREATE MATERIALIZED VIEW mine AS SELECT count(*) FROM rag_mentions",
    "a row type": "CREATE TABLE mine (one rag_mentions)",
}


@pytest.mark.parametrize(
    "thing",
    ["a rule", "a copy", *(pytest.param(one, marks=pytest.mark.nightly) for one in ("a publication", "a row type"))],
)
async def test_what_could_not_be_kept_stops_the_move(
    migrated_database: str, server: asyncpg.Connection, thing: str
) -> None:
    await server.execute(FOREIGN[thing])
    before = await catalogue(server)
    with pytest.raises(Misconfigured, match="mine") as refused:
        await partition(migrated_database, 4, ["rag_mentions"])

    assert refused.value.code == "TABLE_NOT_MOVABLE"
    assert await parts(migrated_database) == [0, 0, 0]
    assert await catalogue(server) == before


DIES = """
import asyncio, os, signal, sys
from agentic_rag_migrations.partitions import partition

def die(done, of, what):
    if what == "rag_embeddings: references":
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(partition(sys.argv[1], 4, tell=die))
"""


async def test_a_move_that_is_killed_leaves_each_table_whole_and_is_gone_on_with(
    migrated_database: str, server: asyncpg.Connection, fresh_redis: str, tmp_path: Path
) -> None:
    await fill(migrated_database, fresh_redis, tmp_path)
    before = await rows(server)
    ended = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", DIES, migrated_database],
        env={**os.environ, "PYTHONPATH": PYTHONPATH},
        check=False,
    )
    stood, kept = await parts(migrated_database), await rows(server)
    moved = await partition(migrated_database, 4)

    assert ended.returncode == -signal.SIGKILL
    assert stood == [4, 0, 0]
    assert kept == before
    assert [one.table for one in moved] == ["rag_embeddings", "rag_mentions"]
    assert await rows(server) == before


@pytest.mark.parametrize("number", [1, 257, -1])
async def test_a_number_of_parts_that_serves_nobody_is_refused(migrated_database: str, number: int) -> None:
    with pytest.raises(InvalidInput, match="2 to 256"):
        await partition(migrated_database, number)


async def test_other_tables_are_refused(migrated_database: str) -> None:
    with pytest.raises(InvalidInput, match="rag_documents is not one of"):
        await partition(migrated_database, 4, ["rag_documents"])


async def test_a_schema_that_is_not_the_newest_is_refused(migrated_database: str, server: asyncpg.Connection) -> None:
    await server.execute("UPDATE rag_schema_version SET version_num = '0059'")
    with pytest.raises(Misconfigured, match="rag migrate up") as refused:
        await partition(migrated_database, 4)

    assert refused.value.code == "SCHEMA_TOO_OLD"


async def test_the_command_moves_and_says_what_it_did(migrated_database: str, tmp_path: Path) -> None:
    given = variables(Servers(migrated_database, "redis://127.0.0.1:1", str(tmp_path)))
    wiring = Wiring(settings=lambda: load_settings(given, dotenv=tmp_path / "none"))

    async def run(*arguments: str) -> Result:
        return await asyncio.to_thread(CliRunner().invoke, app, ["migrate", "partition", *arguments], obj=wiring)

    moved = await run("--tables", "rag_chunks,rag_mentions", "--parts", "4", "--json")
    again = await run("--tables", "rag_chunks", "--parts", "4")
    refused = await run("--parts", "1")
    back = await run("--parts", "0")

    assert [(one["table"], one["before"], one["parts"]) for one in json.loads(moved.stdout)] == [
        ("rag_chunks", 0, 4),
        ("rag_mentions", 0, 4),
    ]
    assert "the disk of the database needs" in moved.stderr
    assert (again.exit_code, again.stdout) == (0, "the tables lie so already\n")
    assert (refused.exit_code, "error [INVALID_INPUT]" in refused.stderr) == (2, True)
    assert back.stdout.startswith("rag_chunks: 0 rows, whole, ")
    assert await parts(migrated_database) == [0, 0, 0]


async def test_a_home_without_a_database_gets_none(tmp_path: Path) -> None:
    given = {"AGENTIC_RAG_HOME": str(tmp_path / "home")}
    wiring = Wiring(settings=lambda: load_settings(given, dotenv=tmp_path / "none"))
    refused = await asyncio.to_thread(CliRunner().invoke, app, ["migrate", "partition", "--parts", "4"], obj=wiring)

    assert (refused.exit_code, "error [SCHEMA_TOO_OLD]" in refused.stderr) == (4, True)
    assert not (tmp_path / "home").exists()


LATER = """
ALTER TABLE rag_chunks ADD COLUMN later integer NOT NULL DEFAULT 7, ADD CONSTRAINT later_grows CHECK (later > 0);
ALTER TABLE rag_mentions DROP COLUMN weights;
CREATE INDEX rag_chunks_later ON rag_chunks (org_id, workspace_id, later);
CREATE TABLE rag_later (org_id uuid PRIMARY KEY);
"""


async def test_a_later_revision_changes_a_table_in_partitions_as_a_whole_one(
    migrated_database: str, server: asyncpg.Connection, fresh_redis: str, tmp_path: Path
) -> None:
    await fill(migrated_database, fresh_redis, tmp_path)
    await partition(migrated_database, 4)
    async with server.transaction():
        await server.execute(f"SET LOCAL ROLE rag_owner; SET LOCAL search_path = public; {LATER}{PROTECT}")
        changed = await backfill_rows(server, "rag_chunks", "UPDATE rag_chunks SET later = 8", open_rows="later = 7")
    before = await catalogue(server)
    await partition(migrated_database, 0)
    protected = await server.fetchval("SELECT count(*) FROM pg_policies WHERE tablename = 'rag_later'")
    policies = await server.fetchval("SELECT count(*) FROM pg_policies WHERE tablename LIKE 'rag_chunks%'")

    assert changed == 60
    assert (protected, policies) == (1, 1)
    assert {name: found ^ before[name] for name, found in (await catalogue(server)).items() if name != "columns"} == {
        name: set() for name in CATALOGUE if name != "columns"
    }
    assert await server.fetchval("SELECT count(*) FROM rag_chunks WHERE later = 8") == 60

"""The schema keeps its promises: every table is in the catalogue, keyed by tenant and behind a policy."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from agentic_rag_migrations.catalogue import TABLES, TableClass

pytestmark = pytest.mark.integration

TENANT_TABLES = [name for name, kind in TABLES.items() if kind is not TableClass.GLOBAL]
WORKSPACE_TABLES = [name for name, kind in TABLES.items() if kind is TableClass.WORKSPACE]


@pytest.fixture
async def server(migrated_url: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(migrated_url)
    yield connection
    await connection.close()


async def constraint_columns(server: asyncpg.Connection, table: str, kind: bytes) -> list[list[str]]:
    """The column names of each constraint of a kind (`p` primary, `u` unique, `f` foreign) in key order."""
    rows = await server.fetch(
        """
        SELECT ARRAY (
            SELECT a.attname::text FROM unnest(c.conkey) WITH ORDINALITY AS k(number, place)
            JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.number ORDER BY k.place
        ) AS columns
        FROM pg_constraint c WHERE c.conrelid = $1::text::regclass AND c.contype = $2
        """,
        table,
        kind,
    )
    return [row["columns"] for row in rows]


async def test_the_catalogue_names_every_table(server: asyncpg.Connection) -> None:
    rows = await server.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")

    assert {row["tablename"] for row in rows} == set(TABLES)


async def test_every_relation_belongs_to_the_owner_role(server: asyncpg.Connection) -> None:
    owners = await server.fetch(
        """
        SELECT DISTINCT pg_get_userbyid(relowner) AS owner FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relname LIKE 'rag\\_%'
        """
    )

    assert [row["owner"] for row in owners] == ["rag_owner"]


@pytest.mark.parametrize("table", TENANT_TABLES)
async def test_a_tenant_table_forces_row_level_security(server: asyncpg.Connection, table: str) -> None:
    state = await server.fetchrow(
        "SELECT relrowsecurity, relforcerowsecurity FROM pg_class WHERE oid = $1::text::regclass", table
    )
    policy = await server.fetchrow(
        "SELECT qual, with_check FROM pg_policies WHERE tablename = $1 AND policyname = 'tenant' AND cmd = 'ALL'", table
    )

    assert tuple(state) == (True, True)
    assert policy is not None
    assert "rag_current_org" in policy["qual"]
    assert "rag_current_org" in policy["with_check"]


@pytest.mark.parametrize("table", TENANT_TABLES)
async def test_keys_begin_with_the_tenant(server: asyncpg.Connection, table: str) -> None:
    prefix = ["org_id", "workspace_id"] if table in WORKSPACE_TABLES else ["org_id"]
    [primary] = await constraint_columns(server, table, b"p")
    unique = await constraint_columns(server, table, b"u")
    indexes = await server.fetch(
        """
        SELECT ARRAY (
            SELECT a.attname::text FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS k(number, place)
            JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number ORDER BY k.place
        ) AS columns
        FROM pg_index i WHERE i.indrelid = $1::text::regclass AND i.indisunique
        """,
        table,
    )

    assert primary[: len(prefix)] == prefix
    # rag_workspaces is where workspaces are named: its other keys are unique in the organisation.
    expected = ["org_id"] if table == "rag_workspaces" else prefix
    for columns in [*unique, *[row["columns"] for row in indexes]]:
        assert columns[: len(expected)] == expected


@pytest.mark.parametrize("table", WORKSPACE_TABLES)
async def test_foreign_keys_carry_the_tenant(server: asyncpg.Connection, table: str) -> None:
    foreign = await constraint_columns(server, table, b"f")

    # Mentions come and go with their chunk, whose row has the keys.
    assert foreign or table == "rag_mentions"
    if table != "rag_workspaces":
        assert all(columns[:2] == ["org_id", "workspace_id"] for columns in foreign)


async def unindexed_references(server: asyncpg.Connection) -> set[tuple[str, str]]:
    """Tables, and what they refer to, where no index begins with all columns of the reference."""
    rows = await server.fetch(
        """
        SELECT k.conrelid::regclass::text AS of_table, k.confrelid::regclass::text AS to_table
        FROM pg_constraint k
        WHERE k.contype = 'f' AND k.connamespace = 'public'::regnamespace AND k.conparentid = 0 AND NOT EXISTS (
            SELECT FROM pg_index i
            WHERE i.indrelid = k.conrelid AND i.indpred IS NULL AND i.indisvalid
              AND (i.indkey::int2[])[0:cardinality(k.conkey) - 1] @> k.conkey
        )
        """
    )
    return {(row["of_table"], row["to_table"]) for row in rows}


async def test_a_row_that_goes_finds_who_refers_to_it_by_an_index(server: asyncpg.Connection) -> None:
    """Without one, to delete a revision read all chunks of its workspace: a second of the erasure of a document."""
    found = await unindexed_references(server)

    # Access sets stay for as long as their workspace, whose documents go before them.
    assert found == {("rag_documents", "rag_access_sets")}


async def test_the_view_shows_the_published_columns(server: asyncpg.Connection) -> None:
    rows = await server.fetch("SELECT attname::text FROM pg_attribute WHERE attrelid = 'rag_chunks_v1'::regclass")
    options = await server.fetchval("SELECT reloptions FROM pg_class WHERE oid = 'rag_chunks_v1'::regclass")

    wanted = {"workspace_id", "source_path", "corpus_version", "embedding_array", "offsets"}
    assert wanted <= {row["attname"] for row in rows}
    assert "security_invoker=true" in options

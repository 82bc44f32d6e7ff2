"""The schema can be spread by organisation (Citus) and cut by workspace (partitions): every key carries the column. The
commands of docs/scaling.md are those that the catalogue of the database demands.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from graphlib import TopologicalSorter
from pathlib import Path

import asyncpg
import pytest

from agentic_rag_migrations.catalogue import TABLES, TableClass

pytestmark = pytest.mark.integration

COLUMN = "org_id"
LOCAL = {
    "rag_schema_version": "One row, which the migrations and the start of a process read.",
    "rag_workers": "Registers the processes of the installation; no row is of a tenant, none is joined with one.",
    "rag_processes": "The same.",
    "rag_dead_payloads": "What no worker could decode: whose it is cannot be told.",
}
"""Tables that stay on the coordinator as they are, each with why. None is a reference table: no statement joins one
with rows of a tenant.
"""

PAGE = Path(__file__).resolve().parents[3] / "docs" / "scaling.md"
COMMANDS = re.compile(r"^SELECT create_distributed_table\(.*\);$", re.M)

KEYS = """
SELECT i.indrelid::regclass::text AS table, ARRAY (
    SELECT a.attname::text FROM unnest(i.indkey::int2[]) AS k(number)
    JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number
) AS columns
FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
WHERE c.relnamespace = 'public'::regnamespace AND (i.indisunique OR i.indisexclusion)
"""
REFERENCES = """
SELECT c.conrelid::regclass::text AS table, c.confrelid::regclass::text AS target, ARRAY (
    SELECT a.attname::text || '=' || b.attname::text
    FROM unnest(c.conkey, c.confkey) AS k(here, there)
    JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.here
    JOIN pg_attribute b ON b.attrelid = c.confrelid AND b.attnum = k.there
) AS pairs
FROM pg_constraint c WHERE c.contype = 'f' AND c.connamespace = 'public'::regnamespace
"""


@pytest.fixture
async def server(migrated_url: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(migrated_url)
    yield connection
    await connection.close()


async def untied_keys(server: asyncpg.Connection, column: str, tables: Sequence[str]) -> list[str]:
    """Unique keys, and references between these tables, without the column at both ends."""
    keys = [row for row in await server.fetch(KEYS) if row["table"] in tables]
    references = [row for row in await server.fetch(REFERENCES) if row["table"] in tables]
    assert len(keys) >= len(tables)
    assert references
    return [
        *(f"{row['table']} {row['columns']}" for row in keys if column not in row["columns"]),
        *(
            f"{row['table']} -> {row['target']}"
            for row in references
            if row["target"] in tables and f"{column}={column}" not in row["pairs"]
        ),
    ]


def commands(references: Mapping[str, set[str]]) -> list[str]:
    """What an operator runs, tables that others refer to first."""
    order = TopologicalSorter({table: sorted(references.get(table, ())) for table in sorted(set(TABLES) - set(LOCAL))})
    first, *others = order.static_order()
    return [
        f"SELECT create_distributed_table('{first}', '{COLUMN}');",
        *(f"SELECT create_distributed_table('{one}', '{COLUMN}', colocate_with => '{first}');" for one in others),
    ]


async def test_every_key_and_reference_carries_the_organisation(server: asyncpg.Connection) -> None:
    assert await untied_keys(server, COLUMN, sorted(set(TABLES) - set(LOCAL))) == []


async def test_what_stays_local_has_no_tenant_and_no_reference(server: asyncpg.Connection) -> None:
    columns = await server.fetch(
        "SELECT table_name FROM information_schema.columns WHERE table_schema = 'public' AND column_name = $1", COLUMN
    )
    references = await server.fetch(REFERENCES)

    assert {table for table, kind in TABLES.items() if kind is TableClass.GLOBAL} == set(LOCAL)
    assert not {row["table_name"] for row in columns} & set(LOCAL)
    assert not {end for row in references for end in (row["table"], row["target"])} & set(LOCAL)


async def test_a_key_without_the_organisation_is_found(server: asyncpg.Connection) -> None:
    planted = server.transaction()
    await planted.start()
    await server.execute("CREATE UNIQUE INDEX planted ON rag_documents (document_id)")
    await server.execute(
        "ALTER TABLE rag_documents ADD CONSTRAINT planted_key UNIQUE (document_id), "
        "ADD CONSTRAINT planted_reference FOREIGN KEY (document_id) REFERENCES rag_documents (document_id)"
    )
    found = await untied_keys(server, COLUMN, ["rag_documents"])
    await planted.rollback()

    assert found == ["rag_documents ['document_id']"] * 2 + ["rag_documents -> rag_documents"]


async def test_the_page_gives_the_commands_that_this_schema_needs(server: asyncpg.Connection) -> None:
    references: dict[str, set[str]] = {}
    for row in await server.fetch(REFERENCES):
        references.setdefault(row["table"], set()).add(row["target"])

    assert COMMANDS.findall(PAGE.read_text(encoding="utf-8")) == commands(references)


async def test_the_page_counts_the_triggers_that_citus_asks_about(server: asyncpg.Connection) -> None:
    found = await server.fetch("SELECT DISTINCT tgrelid::regclass::text AS name FROM pg_trigger WHERE NOT tgisinternal")
    line = next(line for line in PAGE.read_text(encoding="utf-8").splitlines() if "enable_unsafe_triggers" in line)

    assert set(re.findall(r"rag_\w+", line)) == {row["name"] for row in found}


async def test_the_largest_tables_can_be_cut_by_workspace(server: asyncpg.Connection) -> None:
    tables = ["rag_chunks", "rag_embeddings", "rag_mentions"]
    cut = server.transaction()
    await cut.start()
    assert await untied_keys(server, "workspace_id", [*tables, "rag_documents", "rag_revisions"]) == []
    for table in tables:
        await server.execute(f"CREATE TABLE cut_{table} (LIKE {table} INCLUDING ALL) PARTITION BY HASH (workspace_id)")
        for definition in await server.fetch(
            "SELECT pg_get_constraintdef(oid) AS text FROM pg_constraint "
            "WHERE conrelid = $1::text::regclass AND contype = 'f'",
            table,
        ):
            await server.execute(f"ALTER TABLE cut_{table} ADD {definition['text']}")
        await server.execute(
            f"CREATE TABLE cut_{table}_0 PARTITION OF cut_{table} FOR VALUES WITH (MODULUS 16, REMAINDER 0)"
        )
    made = await server.fetchval(
        "SELECT count(DISTINCT c.relname) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhparent "
        "WHERE c.relkind = 'p' AND c.relname LIKE 'cut_rag_%'"
    )
    await cut.rollback()

    assert made == len(tables)

"""`operations.snapshots.ports.WorkspaceArchive` on Postgres: rows in the server's JSON form, whatever columns the
schema has.
"""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import MappingProxyType
from uuid import UUID

from agentic_rag.adapters.postgres.session.connection import PostgresConnection
from agentic_rag.adapters.postgres.session.database import PostgresTransaction
from agentic_rag.adapters.postgres.session.pool import PostgresPool
from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag.operations.snapshots.ports import ArchiveReader, ArchiveWriter
from agentic_rag.operations.snapshots.snapshot import TableShape, damage_error
from agentic_rag.tenancy.principals import WorkspaceRef

VECTORS = "rag_embeddings"


@dataclass(frozen=True, slots=True)
class ArchivedTable:
    """How a table is archived: the order of its rows, the batch size, and a condition on the rows."""

    order: str
    batch: int
    only: str = "true"


# Tables are in an order that satisfies foreign keys. Only the active embedding space is archived: a job fills the
# others, or they are retired. Only published revisions are archived: staged ones belong to jobs.
ARCHIVED: Mapping[str, ArchivedTable] = MappingProxyType(
    {
        "rag_workspaces": ArchivedTable("workspace_id", 1),
        "rag_access_sets": ArchivedTable("access_id", 500),
        "rag_restricted_versions": ArchivedTable("version, access_id", 5000),
        "rag_version_times": ArchivedTable("version", 5000),
        "rag_embedding_spaces": ArchivedTable("space_id", 10, "t.space_id = {space}"),
        "rag_documents": ArchivedTable("document_id", 500),
        "rag_originals": ArchivedTable("document_id, content_hash", 50),
        "rag_revisions": ArchivedTable("revision_id", 8, "t.published_from IS NOT NULL"),
        "rag_chunks": ArchivedTable("ordinal, visible_from", 500),
        "rag_closed_ordinals": ArchivedTable("ordinal", 5000),
        "rag_moved_ordinals": ArchivedTable("ordinal", 5000),
        "rag_embeddings": ArchivedTable("ordinal", 500, "t.space_id = {space}"),
        "rag_segments": ArchivedTable("segment_id", 2),
        "rag_entities": ArchivedTable("entity_id", 2000),
        "rag_mentions": ArchivedTable("entity_id, ordinal", 2000),
        "rag_tombstones": ArchivedTable("document_id", 500),
        "rag_past_erasures": ArchivedTable("document_id, version", 500),
    }
)

LEFT_OUT = frozenset(
    {
        "rag_text_pieces",
        "rag_staged_chunks",
        "rag_vector_indexes",
        "rag_jobs",
        "rag_job_attempts",
        "rag_crawl_pages",
        "rag_eval_runs",
        "rag_eval_scores",
        "rag_runs",
        "rag_run_stages",
        "rag_threads",
        "rag_thread_turns",
        "rag_saved_questions",
        "rag_gate_decisions",
        "rag_feedback",
        "rag_implicit_feedback",
        "rag_gate_rollbacks",
        "rag_cache_entries",
        "rag_uploads",
        "rag_usage",
        "rag_doomed_blobs",
        "rag_graph_erasures",
        "rag_snapshots",
        "rag_restores",
        "rag_document_labels",
        "rag_sources",
    }
)
"""Tables that are no part of a corpus: jobs, runs, caches, other snapshots, sources with their credentials, vector
indexes, which maintenance rebuilds, labels, which documents bring, and pieces, which texts bring. A test compares both
lists with the catalogue.
"""

HEADER = """
SELECT w.name, w.corpus_version, w.active_space,
       CASE WHEN s.space_id IS NOT NULL
            THEN s.provider || '/' || s.model || '/' || s.dimensions || '/' || s.precision END AS space,
       (SELECT version_num FROM rag_schema_version) AS schema
FROM rag_workspaces w
LEFT JOIN rag_embedding_spaces s
  ON s.org_id = w.org_id AND s.workspace_id = w.workspace_id AND s.space_id = w.active_space
WHERE w.org_id = $1 AND w.workspace_id = $2
"""

COLUMNS = """
SELECT c.relname::text AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns
FROM pg_class c
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
WHERE c.relnamespace = 'public'::regnamespace AND c.relname = ANY ($1::text[])
  AND a.attname NOT IN ('org_id', 'workspace_id')
GROUP BY c.relname
"""

# Safe from injection: names come from the system catalogue, and ids are UUIDs. A cursor takes no arguments.
DECLARE = """
DECLARE archived NO SCROLL CURSOR FOR
SELECT row_to_json(r)::text AS line
FROM (SELECT {columns} FROM {table} t WHERE t.org_id = '{org}' AND t.workspace_id = '{workspace}' AND {only}
      ORDER BY {order}) r
"""

# In the wire form (see `halfvec.py`), half as long as decimal digits.
VECTOR_COLUMN = "translate(encode(halfvec_send(t.v), 'base64'), E'\\n', '') AS v"

WRITE = """
INSERT INTO {table} (org_id, workspace_id, {columns})
SELECT $1, $2, {columns} FROM json_populate_recordset(NULL::{table}, $3::text::json)
"""

WRITE_VECTORS = """
INSERT INTO rag_embeddings (org_id, workspace_id, {columns}, v)
SELECT $1, $2, {columns}, n.v
FROM (SELECT r.*, row_number() OVER () AS place
      FROM json_populate_recordset(NULL::rag_embeddings, $3::text::json) r) o
JOIN unnest($4::halfvec[]) WITH ORDINALITY AS n(v, place) USING (place)
"""

ERASED = "SELECT document_id FROM rag_tombstones WHERE org_id = $1 AND workspace_id = $2 ORDER BY document_id"


class PostgresArchiveReader:
    """Inside one REPEATABLE READ, READ ONLY transaction."""

    def __init__(
        self,
        connection: PostgresConnection,
        workspace: WorkspaceRef,
        name: str,
        corpus_version: int,
        schema: str,
        space: tuple[int, str] | None,
        tables: tuple[TableShape, ...],
    ) -> None:
        self._connection = connection
        self._workspace = workspace
        self._space = space
        self.name = name
        self.corpus_version = corpus_version
        self.schema = schema
        self.spaces = () if space is None else (space[1],)
        self.tables = tables

    async def rows(self, table: TableShape) -> AsyncIterator[list[str]]:
        how = ARCHIVED[table.name]
        columns = [
            VECTOR_COLUMN if (table.name, column) == (VECTORS, "v") else f't."{column}"' for column in table.columns
        ]
        await self._connection.execute(
            DECLARE.format(
                columns=", ".join(columns),
                table=table.name,
                org=UUID(int=self._workspace.org_id.int),
                workspace=UUID(int=self._workspace.workspace_id.int),
                only=how.only.format(space=-1 if self._space is None else self._space[0]),
                order=how.order,
            )
        )
        while True:
            rows = await self._connection.fetch(f"FETCH {how.batch} FROM archived")
            if rows:
                yield [row["line"] for row in rows]
            if len(rows) < how.batch:
                break
        await self._connection.execute("CLOSE archived")


class PostgresArchiveWriter:
    """Inside one transaction."""

    def __init__(
        self,
        connection: PostgresConnection,
        workspace: WorkspaceRef,
        transaction: PostgresTransaction,
        columns: Mapping[str, frozenset[str]],
    ) -> None:
        self._connection = connection
        self._workspace = workspace
        self._columns = columns
        self.transaction = transaction

    async def accepts(self, table: TableShape) -> bool:
        return set(table.columns) <= self._columns.get(table.name, frozenset())

    async def write(self, table: TableShape, lines: Sequence[str]) -> int:
        if not await self.accepts(table):
            raise damage_error(f"this schema has no {table.name} with the columns it names")
        key = self._workspace.key
        try:
            if table.name == VECTORS:
                return await self._write_vectors(key, table, lines)
            statement = WRITE.format(table=table.name, columns=_column_list(table.columns))
            return await self._connection.change(statement, *key, f"[{','.join(lines)}]")
        except (InvalidInput, ValueError, KeyError) as error:
            raise damage_error(f"a row of {table.name} cannot be stored") from error

    async def erasures_in(self, workspace: WorkspaceRef) -> list[UUID]:
        rows = await self._connection.fetch(ERASED, *workspace.key)
        return [row["document_id"] for row in rows]

    async def _write_vectors(self, key: tuple[UUID, UUID], table: TableShape, lines: Sequence[str]) -> int:
        rows = [json.loads(line) for line in lines]
        vectors = [base64.b64decode(row.pop("v"), validate=True) for row in rows]
        columns = _column_list([column for column in table.columns if column != "v"])
        return await self._connection.change(WRITE_VECTORS.format(columns=columns), *key, json.dumps(rows), vectors)


class PostgresWorkspaceArchive:
    """Opens readers and writers on a pool."""

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool

    @asynccontextmanager
    async def reading(self, workspace: WorkspaceRef) -> AsyncGenerator[ArchiveReader]:
        async with self._pool.snapshot(workspace.org_id, held=tuple(ARCHIVED)) as connection:
            header = await connection.fetchrow(HEADER, *workspace.key)
            if header is None:
                raise NotFound(f"There is no workspace {workspace.workspace_id}.")
            columns = await _columns(connection)
            yield PostgresArchiveReader(
                connection,
                workspace,
                header["name"],
                header["corpus_version"],
                header["schema"],
                None if header["space"] is None else (header["active_space"], header["space"]),
                tuple(TableShape(name, columns[name]) for name in ARCHIVED),
            )

    @asynccontextmanager
    async def restoring(self, workspace: WorkspaceRef) -> AsyncGenerator[ArchiveWriter]:
        async with self._pool.transaction(workspace.org_id) as connection:
            columns = {name: frozenset(names) for name, names in (await _columns(connection)).items()}
            transaction = PostgresTransaction(connection, workspace.org_id)
            yield PostgresArchiveWriter(connection, workspace, transaction, columns)


async def _columns(connection: PostgresConnection) -> dict[str, tuple[str, ...]]:
    rows = await connection.fetch(COLUMNS, list(ARCHIVED))
    return {row["name"]: tuple(row["columns"]) for row in rows}


def _column_list(columns: Sequence[str]) -> str:
    return ", ".join(f'"{column}"' for column in columns)

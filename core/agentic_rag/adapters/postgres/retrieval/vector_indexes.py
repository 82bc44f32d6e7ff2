"""`retrieval.ports.VectorIndexStore` and `retrieval.ports.IndexBuilder` on Postgres: partial HNSW indexes, one per
workspace and space. Where the table lies in partitions by workspace, an index is on the one that holds its workspace.
"""

# asyncpg ships no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import asyncpg

from agentic_rag.adapters.postgres.session.connection import PostgresConnection, driver_errors, value_from
from agentic_rag.kernel.errors import Retryable
from agentic_rag.models.embedding.space import RegisteredSpace
from agentic_rag.retrieval.vector_index import IndexRecord
from agentic_rag.tenancy.principals import WorkspaceRef

PREFIX = "rag_hnsw_"

ALL = """
SELECT space_id, state, rows_seen, recall, reason FROM rag_vector_indexes
WHERE org_id = $1 AND workspace_id = $2
ORDER BY space_id
"""

PUT = """
INSERT INTO rag_vector_indexes (org_id, workspace_id, space_id, state, rows_seen, recall, reason)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (org_id, workspace_id, space_id) DO UPDATE
SET state = excluded.state, rows_seen = excluded.rows_seen, recall = excluded.recall, reason = excluded.reason,
    checked_at = now()
"""

FORGET = "DELETE FROM rag_vector_indexes WHERE org_id = $1 AND workspace_id = $2 AND space_id = $3"

# Safe from injection: names come from a hash, ids are UUIDs, the rest are numbers. ef_construction is twice pgvector's
# default, for the required recall.
CREATE = """
CREATE INDEX CONCURRENTLY {name} ON {table} USING hnsw ((v::halfvec({dimensions})) halfvec_ip_ops)
WITH (m = 16, ef_construction = 128)
WHERE org_id = '{org}'::uuid AND workspace_id = '{workspace}'::uuid AND space_id = {space}::smallint
"""

# The table, or its partition that holds workspace $1.
TABLE_OF = """
SELECT coalesce(
    (SELECT p.inhrelid
     FROM pg_inherits p
     JOIN pg_class c ON c.oid = p.inhrelid,
     LATERAL regexp_match(pg_get_expr(c.relpartbound, c.oid), 'modulus (\\d+), remainder (\\d+)') AS bound
     WHERE p.inhparent = 'public.rag_embeddings'::regclass
       AND satisfies_hash_partition(p.inhparent, bound[1]::integer, bound[2]::integer, $1::uuid)),
    'public.rag_embeddings'::regclass
)::regclass::text
"""

DROP = "DROP INDEX CONCURRENTLY IF EXISTS {name}"

STATE = """
SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)
"""

OTHERS = """
SELECT count(*) FROM pg_class
WHERE relkind = 'i' AND relnamespace IN ('public'::regnamespace, to_regnamespace('rag_partitions'))
  AND starts_with(relname, $1) AND relname <> $2
"""

# A session lock: it ends with the connection, so a dead builder leaves none.
TRY_LOCK = "SELECT pg_try_advisory_lock(hashtextextended($1, 2))"

BUILD_SETTINGS = {
    "maintenance_work_mem": "256MB",
    # Containers have little shared memory; a single process needs none.
    "max_parallel_maintenance_workers": "0",
    "statement_timeout": "0",
    # The server must stop building when the builder is killed.
    "client_connection_check_interval": "2s",
}


class PostgresVectorIndexStore:
    """Inside a transaction of one organisation."""

    def __init__(self, connection: PostgresConnection) -> None:
        self._connection = connection

    async def all(self, workspace: WorkspaceRef) -> Sequence[IndexRecord]:
        return [value_from(IndexRecord, row) for row in await self._connection.fetch(ALL, *workspace.key)]

    async def put(self, workspace: WorkspaceRef, record: IndexRecord) -> None:
        await self._connection.execute(
            PUT,
            *workspace.key,
            record.space_id,
            record.state.value,
            record.rows_seen,
            record.recall,
            record.reason,
        )

    async def forget(self, workspace: WorkspaceRef, space_id: int) -> None:
        await self._connection.execute(FORGET, *workspace.key, space_id)


class PostgresIndexBuilder:
    """Opens a connection as the owner of the tables for each call."""

    def __init__(self, dsn: str, role: str = "rag_owner", connect_seconds: float = 10.0) -> None:
        self._dsn = dsn
        self._role = role
        self._connect_seconds = connect_seconds

    async def build(self, workspace: WorkspaceRef, space: RegisteredSpace) -> None:
        name = index_name(workspace, space.space_id)
        async with self._hold_index_lock(name) as connection:
            is_valid = await connection.fetchval(STATE, name)
            if is_valid:
                return
            if is_valid is False:
                await connection.execute(DROP.format(name=name))
            await connection.execute(
                CREATE.format(
                    name=name,
                    table=await connection.fetchval(TABLE_OF, workspace.workspace_id),
                    dimensions=int(space.space.dimensions),
                    org=UUID(int=workspace.org_id.int),
                    workspace=UUID(int=workspace.workspace_id.int),
                    space=int(space.space_id),
                )
            )

    async def drop(self, workspace: WorkspaceRef, space_id: int) -> None:
        name = index_name(workspace, space_id)
        async with self._hold_index_lock(name) as connection:
            await connection.execute(DROP.format(name=name))

    async def others(self, workspace: WorkspaceRef, space_id: int) -> int:
        async with self._open_connection() as connection:
            found: int = await connection.fetchval(OTHERS, PREFIX, index_name(workspace, space_id))
            return found

    @asynccontextmanager
    async def _hold_index_lock(self, name: str) -> AsyncGenerator[Any]:
        async with self._open_connection() as connection:
            if not await connection.fetchval(TRY_LOCK, name):
                raise Retryable("Another process works on this index.", code="INDEX_BUSY")
            yield connection

    @asynccontextmanager
    async def _open_connection(self) -> AsyncGenerator[Any]:
        settings = {
            "role": self._role,
            "application_name": "agentic-rag index",
            # An index has the schema of its table.
            "search_path": "public, rag_partitions",
        }
        connect: Any = asyncpg.connect
        with driver_errors():
            connection = await connect(
                self._dsn, timeout=self._connect_seconds, server_settings=settings | BUILD_SETTINGS
            )
            try:
                yield connection
            finally:
                # Terminate instead of close: a cancelled build must end, and its lock with it.
                connection.terminate()


def index_name(workspace: WorkspaceRef, space_id: int) -> str:
    """The name of a space's index: a hash, because three ids exceed the length of a name."""
    identity = workspace.org_id.bytes + workspace.workspace_id.bytes + space_id.to_bytes(2, "big")
    return PREFIX + hashlib.sha256(identity).hexdigest()[:24]

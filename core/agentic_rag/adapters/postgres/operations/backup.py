"""The database of a backup on Postgres: binary COPY streams of every table, whatever columns the schema has."""

# asyncpg ships no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import asyncpg

from agentic_rag.adapters.postgres.operations.listed_rights import RIGHTS_SINCE, listed_rights
from agentic_rag.adapters.postgres.session.connection import driver_errors
from agentic_rag.adapters.postgres.session.pool import begin_snapshot
from agentic_rag.kernel.errors import InvalidInput, Misconfigured
from agentic_rag.operations.backups.backup import (
    DatabaseDump,
    DatabaseLoad,
    DeletedConversation,
    DumpTable,
    ErasureRecord,
    OriginalFile,
    RevokedKey,
    TakenAway,
    damaged_backup,
)
from agentic_rag.operations.snapshots.snapshot import TableShape
from agentic_rag.tenancy.audit import AuditAction

NOT_IN_A_BACKUP = frozenset(
    {
        "rag_schema_version",
        "rag_workers",
        "rag_processes",
        "rag_vector_indexes",
        "rag_document_labels",
        "rag_text_pieces",
        "rag_stored_bytes",
        "rag_cache_entries",
        "rag_snapshots",
    }
)
"""Tables that say nothing after a restore: heartbeats, the list of physical indexes, which upkeep builds anew, labels,
pieces and sizes, which triggers write with documents, texts and originals, cached answers, and snapshots, whose files
are copies themselves.
"""

_BATCH = 1000
_PIECES_AHEAD = 16

IS_ABOVE_POLICIES = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"

SCHEMA = "SELECT version_num FROM public.rag_schema_version"

IS_MIGRATED = "SELECT to_regclass('public.rag_schema_version') IS NOT NULL"

COLUMNS = """
SELECT c.relname::text AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns
FROM pg_class c
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND c.relname = ANY ($1::text[])
GROUP BY c.relname
"""

# With partitions: where the owner sees no row of one, a reference of its table is checked for none.
PROTECTED = """
SELECT oid::regclass::text AS name FROM pg_class
WHERE relnamespace IN ('public'::regnamespace, to_regnamespace('rag_partitions')) AND relkind IN ('r', 'p')
  AND relforcerowsecurity AND relname LIKE 'rag\\_%'
ORDER BY name
"""

FOREIGN_KEYS = """
SELECT c.relname::text AS name, k.conname::text AS key, pg_get_constraintdef(k.oid) AS definition
FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
WHERE k.contype = 'f' AND k.conparentid = 0 AND k.connamespace = 'public'::regnamespace
  AND c.relname LIKE 'rag\\_%'
ORDER BY c.relname, k.conname
"""

# Columns that Postgres numbers by itself: what comes after a restore is numbered behind what it brought.
COUNTERS = """
SELECT a.attrelid::regclass::text AS name, a.attname::text AS column
FROM pg_attribute a WHERE a.attidentity <> '' AND a.attrelid::regclass::text = ANY ($1::text[])
"""

NEXT_NUMBER = (
    "SELECT setval(pg_get_serial_sequence('{name}', '{column}'), (SELECT coalesce(max({column}), 0) + 1 FROM {name}), "
    "false)"
)

# Names come from the catalogue.
COUNT = "SELECT count(*) FROM {}"

HAS_ROWS = "SELECT EXISTS (SELECT FROM {})"

EMPTY = "DELETE FROM {}"

ORIGINALS = """
SELECT DISTINCT ON (blob_key) blob_key, size, encode(content_hash, 'hex') AS sha256 FROM rag_originals ORDER BY blob_key
"""

ERASURES = {
    "rag_tombstones": "SELECT org_id, workspace_id, document_id, version, erased_at FROM rag_tombstones",
    "rag_past_erasures": "SELECT org_id, workspace_id, document_id, version, erased_at FROM rag_past_erasures",
    "rag_erasures": (
        "SELECT org_id, CASE WHEN subject_id <> org_id THEN subject_id END, NULL::uuid, 0, requested_at "
        "FROM rag_erasures"
    ),
}
"""What knows of erasures, by table; older schemas lack some."""

CONVERSATIONS = f"""
SELECT org_id, workspace_id, CASE WHEN action = '{AuditAction.DELETE_THREAD.value}' THEN subject::uuid END AS thread_id,
       CASE WHEN action = '{AuditAction.DELETE_RUN.value}' THEN subject::uuid END AS run_id,
       coalesce(detail ->> 'owner', actor), created_at
FROM rag_audit
WHERE action IN ('{AuditAction.DELETE_THREAD.value}', '{AuditAction.DELETE_RUN.value}') AND workspace_id IS NOT NULL
"""  # noqa: S608 - values of an enumeration
"""Threads and runs that somebody deleted, as the audit log tells for as long as it is kept; a restore that deleted one
again names its owner.
"""

REVOKED = "SELECT org_id, key_id, revoked_at FROM rag_api_keys WHERE revoked_at IS NOT NULL"


class PostgresBackup:
    """Reads as a login that row level security does not bind, and writes as the owner of the tables. `tables` are in an
    order that satisfies foreign keys.
    """

    def __init__(self, dsn: str, tables: Sequence[str], migrate: Callable[[str | None], Awaitable[object]]) -> None:
        self._dsn = dsn
        self._all_tables = tuple(tables)
        self._tables = tuple(name for name in tables if name not in NOT_IN_A_BACKUP)
        self._migrate = migrate

    @asynccontextmanager
    async def dump(self) -> AsyncGenerator[DatabaseDump]:
        """The database at one instant. Errors: `Misconfigured` codes BACKUP_RIGHTS_MISSING, SCHEMA_TOO_OLD."""
        async with self._reading() as connection:
            shapes = await self._shapes(connection, self._tables)
            if not shapes:
                raise Misconfigured("The database has no schema: there is nothing to back up.", code="SCHEMA_TOO_OLD")
            counted = [DumpTable(one, await connection.fetchval(COUNT.format(one.name))) for one in shapes]
            yield DatabaseDump(
                schema=await connection.fetchval(SCHEMA),
                server=await connection.fetchval("SHOW server_version"),
                taken_at=(await connection.fetchval("SELECT now()")).isoformat(),
                tables=tuple(counted),
                rows_of=partial(_copy_rows, connection),
                originals=partial(_originals, connection),
            )

    async def erasures(self) -> AsyncIterator[TakenAway]:
        """Every revoked key, erasure, deleted thread and right that the database knows now. Errors: as `dump`."""
        async with self._reading() as connection:
            schema = await connection.fetchval(SCHEMA)
            if schema >= RIGHTS_SINCE:
                async for record in listed_rights(connection, schema):
                    yield record
                async for row in connection.cursor(CONVERSATIONS, prefetch=_BATCH):
                    org_id, workspace_id, thread_id, run_id, subject, at = row
                    yield DeletedConversation(org_id, workspace_id, thread_id, run_id, subject, at.isoformat())
            async for org_id, key_id, at in connection.cursor(REVOKED, prefetch=_BATCH):
                yield RevokedKey(org_id, key_id, at.isoformat())
            known = [one["name"] for one in await connection.fetch(COLUMNS, list(ERASURES))]
            for name in sorted(known):
                async for row in connection.cursor(ERASURES[name], prefetch=_BATCH):
                    org_id, workspace_id, document_id, version, at = row
                    yield ErasureRecord(org_id, workspace_id, document_id, version, at.isoformat())

    @asynccontextmanager
    async def load(self, schema: str) -> AsyncGenerator[DatabaseLoad]:
        """The transaction that fills an empty database at that schema; it commits when the block ends without an error.

        Errors: `InvalidInput` code RESTORE_TARGET_NOT_EMPTY, those of migrations.
        """
        await self._require_schema(schema)
        async with self._connect("rag_owner") as connection:
            await connection.execute("BEGIN")
            await connection.execute("SET LOCAL lock_timeout = '10s'")
            shapes = await self._shapes(connection, self._tables)
            known = await self._shapes(connection, self._all_tables)
            # All of them: triggers write into tables that the backup leaves out.
            protected = [row["name"] for row in await connection.fetch(PROTECTED)]
            for name in protected:
                await connection.execute(f"ALTER TABLE {name} NO FORCE ROW LEVEL SECURITY")
            for one in shapes:
                if await connection.fetchval(HAS_ROWS.format(one.name)):
                    raise _not_empty(f"its table {one.name} has rows")
            # Checked at the end in one statement each: a look-up for each row takes longer than to write it.
            keys = await connection.fetch(FOREIGN_KEYS)
            for one in keys:
                await connection.execute(f'ALTER TABLE {one["name"]} DROP CONSTRAINT "{one["key"]}"')
            yield DatabaseLoad(partial(_write_rows, connection, {one.name: frozenset(one.columns) for one in known}))
            try:
                for one in keys:
                    await connection.execute(
                        f'ALTER TABLE {one["name"]} ADD CONSTRAINT "{one["key"]}" {one["definition"]}'
                    )
            except asyncpg.ForeignKeyViolationError as error:
                raise damaged_backup("its rows name others that it does not hold") from error
            for one in await connection.fetch(COUNTERS, [shape.name for shape in shapes]):
                await connection.execute(NEXT_NUMBER.format(**one))
            for name in protected:
                await connection.execute(f"ALTER TABLE {name} FORCE ROW LEVEL SECURITY")
            with driver_errors():
                await connection.execute("COMMIT")
                await connection.execute("ANALYZE " + ", ".join(one.name for one in shapes))

    async def finish(self) -> None:
        """Bring the schema to the newest revision. Errors: those of migrations."""
        await self._migrate(None)

    async def _require_schema(self, schema: str) -> None:
        async with self._connect(None) as connection:
            current = await connection.fetchval(SCHEMA) if await connection.fetchval(IS_MIGRATED) else None
        if current is None:
            await self._migrate(schema)
        elif current != schema:
            raise _not_empty(f"it is at schema {current}, the backup at {schema}")

    async def _shapes(self, connection: Any, tables: Sequence[str]) -> list[TableShape]:
        rows = await connection.fetch(COLUMNS, list(tables))
        columns = {row["name"]: tuple(row["columns"]) for row in rows}
        return [TableShape(name, columns[name]) for name in tables if name in columns]

    @asynccontextmanager
    async def _reading(self) -> AsyncGenerator[Any]:
        async with self._connect(None) as connection:
            if not await connection.fetchval(IS_ABOVE_POLICIES):
                raise Misconfigured(
                    "The login of the backup is bound by row level security, so it would see no row. Name a superuser "
                    "in AGENTIC_RAG_OWNER_DATABASE_URL, or a login that an administrator made with `CREATE ROLE "
                    "rag_backup LOGIN BYPASSRLS PASSWORD '…' IN ROLE pg_read_all_data`.",
                    code="BACKUP_RIGHTS_MISSING",
                )
            held = [one.name for one in await self._shapes(connection, self._tables)]
            # Where a policy would filter rows after all, the statement fails.
            await connection.execute(f"SET row_security = off; {begin_snapshot(held)}")
            yield connection

    @asynccontextmanager
    async def _connect(self, role: str | None) -> AsyncGenerator[Any]:
        settings = {"application_name": "rag backup", "search_path": "public", "jit": "off"}
        if role is not None:
            settings["role"] = role
        with driver_errors():
            connection = await asyncpg.connect(self._dsn, server_settings=settings)
        try:
            with driver_errors():
                yield connection
        finally:
            connection.terminate() if connection.is_in_transaction() else await connection.close()


def _not_empty(why: str) -> InvalidInput:
    return InvalidInput(
        f"The database to restore into is not empty: {why}. Name an empty database in DATABASE_URL, or a new "
        "AGENTIC_RAG_HOME; a restore writes over nothing.",
        code="RESTORE_TARGET_NOT_EMPTY",
        path=("database",),
    )


async def _copy_rows(connection: Any, table: TableShape) -> AsyncIterator[bytes]:
    """The driver pushes a COPY stream; here it is pulled, a few pieces ahead."""
    pieces: asyncio.Queue[bytes] = asyncio.Queue(_PIECES_AHEAD)
    columns = ", ".join(f'"{column}"' for column in table.columns)

    async def copy() -> None:
        try:
            await connection.copy_from_query(
                f"SELECT {columns} FROM {table.name}",  # noqa: S608 - names of the catalogue
                output=pieces.put,
                format="binary",
            )
        finally:
            await pieces.put(b"")

    copying = asyncio.create_task(copy())
    try:
        while piece := await pieces.get():
            yield piece
        await copying
    finally:
        copying.cancel()
        while not copying.done():
            while not pieces.empty():
                pieces.get_nowait()
            await asyncio.wait([copying], timeout=0.01)


async def _originals(connection: Any) -> AsyncIterator[OriginalFile]:
    async for row in connection.cursor(ORIGINALS, prefetch=_BATCH):
        yield OriginalFile(row["blob_key"], row["size"], row["sha256"])


async def _write_rows(
    connection: Any, known: dict[str, frozenset[str]], table: TableShape, pieces: AsyncIterator[bytes]
) -> int:
    if not set(table.columns) <= known.get(table.name, frozenset()):
        raise damaged_backup(f"this schema has no {table.name} with the columns that it names")
    # Triggers write rows that backups of earlier versions hold too.
    await connection.execute(EMPTY.format(table.name))
    try:
        status = await connection.copy_to_table(table.name, source=pieces, columns=list(table.columns), format="binary")
    except (asyncpg.DataError, asyncpg.IntegrityConstraintViolationError) as error:
        raise damaged_backup(f"rows of {table.name} cannot be stored") from error
    return int(status.rpartition(" ")[2])

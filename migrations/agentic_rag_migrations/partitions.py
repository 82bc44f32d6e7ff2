"""`rag migrate partition`: lays the large tables of tenants in hash partitions by workspace, or back in one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import asyncpg

from agentic_rag.erasure.process_memory import LAPSE_SECONDS
from agentic_rag.kernel.errors import DependencyUnavailable, InvalidInput, Misconfigured, Retryable
from agentic_rag.kernel.formatting import format_bytes
from agentic_rag_migrations import HEAD, upgrade
from agentic_rag_migrations.apply import LOCK_TIMEOUT
from agentic_rag_migrations.move_table import PARTS, StillRead, move, not_movable
from agentic_rag_migrations.table_facts import SCHEMA

PARTITIONED = ("rag_chunks", "rag_embeddings", "rag_mentions")
"""Tables with a row or more a chunk whose every key has the workspace: what grows with a corpus."""

MOST_PARTS = 256

ATTEMPTS = 30
PAUSE_SECONDS = 1.0
"""Between attempts to get the locks."""

STEPS = 4
"""Of a table, as `Tell` counts them."""

Tell = Callable[[int, int, str], None]
"""Hears how many steps are done, of how many, and what comes next."""

SIZES = """
SELECT (SELECT count(*) FROM pg_inherits WHERE inhparent = t.oid) AS parts,
       pg_total_relation_size(t.oid) + coalesce(
           (SELECT sum(pg_total_relation_size(inhrelid)) FROM pg_inherits WHERE inhparent = t.oid), 0
       )::bigint AS size
FROM pg_class t WHERE t.oid = to_regclass('public.' || $1::text)
"""

_MAKE_SCHEMA = f"CREATE SCHEMA IF NOT EXISTS {SCHEMA} AUTHORIZATION rag_owner"

_SCHEMA_IS_EMPTY = f"""
SELECT NOT EXISTS (SELECT FROM pg_class WHERE relnamespace = to_regnamespace('{SCHEMA}'))
   AND to_regnamespace('{SCHEMA}') IS NOT NULL
"""  # noqa: S608 - a constant

# Who comes meanwhile waits: it must write its row before it reads.
_BAR_THE_DOOR = "LOCK TABLE rag_processes, rag_workers IN SHARE MODE"

_RUNNING = f"""
SELECT program || ' on ' || host || ', process ' || pid FROM rag_processes
WHERE ended_at IS NULL AND seen_at > clock_timestamp() - interval '{LAPSE_SECONDS} seconds'
UNION
SELECT 'worker on ' || host || ', process ' || pid FROM rag_workers
WHERE ended_at IS NULL AND seen_at > clock_timestamp() - interval '{LAPSE_SECONDS} seconds'
ORDER BY 1
"""  # noqa: S608 - a constant

_CONNECTION = {
    "role": "rag_owner",
    "search_path": "public",
    "application_name": "rag migrate partition",
    "lock_timeout": LOCK_TIMEOUT,
    # The server must stop when this process is killed.
    "client_connection_check_interval": "2s",
}


@dataclass(frozen=True, slots=True)
class TableLayout:
    """How a table lies: in how many partitions (0: whole), and its bytes with indexes."""

    table: str
    parts: int
    size: int


@dataclass(frozen=True, slots=True)
class MovedTable:
    """A table that was moved, and its seconds."""

    table: str
    before: int
    parts: int
    rows: int
    seconds: float


async def layouts(database_url: str, tables: Sequence[str] = PARTITIONED) -> list[TableLayout]:
    """How the tables lie; changes nothing. Errors: `InvalidInput`, `Misconfigured` code SCHEMA_TOO_OLD and
    SCHEMA_TOO_NEW, `DependencyUnavailable`.
    """
    for table in tables:
        if table not in PARTITIONED:
            raise InvalidInput(f"{table} is not one of {', '.join(PARTITIONED)}.", path=("tables",))
    require_newest((await upgrade.status(database_url)).current)
    async with upgrade.connected(database_url) as connection:
        return [
            TableLayout(table, row["parts"], row["size"])
            for table in tables
            for row in await connection.fetch(SIZES, table)
        ]


def require_newest(current: str | None) -> None:
    """Errors: `Misconfigured` code SCHEMA_TOO_OLD."""
    if current != HEAD:
        raise Misconfigured(
            f"The database is at schema {current or 'none'}, this version makes {HEAD}: run `rag migrate up` first, "
            "with the version that is to serve it.",
            code="SCHEMA_TOO_OLD",
        )


def bytes_needed(found: Sequence[TableLayout], parts: int) -> int:
    """Bytes that the disk of the database needs meanwhile: each table is written anew before its old form goes, and
    once more in the write-ahead log.
    """
    return 2 * max((one.size for one in found if one.parts != parts), default=0)


def require_room(needed: int, free: int) -> None:
    """Errors: `DependencyUnavailable` code STORAGE_FULL."""
    if free < needed:
        raise DependencyUnavailable(
            f"The move needs {format_bytes(needed)} on the disk of the database meanwhile, {format_bytes(free)} are "
            "free: free some space. Nothing was changed.",
            dependency="disk",
            code="STORAGE_FULL",
        )


async def partition(
    database_url: str, parts: int, tables: Sequence[str] = PARTITIONED, tell: Tell = lambda *_: None
) -> list[MovedTable]:
    """Lay the tables in `parts` hash partitions by workspace each, 0 for one whole table; the tables that were moved.
    One that lies so already is left alone. Each table is moved in a transaction of its own, wholly or not at all:
    what broke off is gone on with by the same call.

    Errors: those of `layouts`; `InvalidInput` for a number of parts; `Retryable` codes PROCESSES_RUNNING and
    MIGRATION_BLOCKED; `Misconfigured` codes TABLE_NOT_MOVABLE and MIGRATION_RIGHTS_MISSING.
    """
    if parts == 1 or not 0 <= parts <= MOST_PARTS:
        raise InvalidInput(f"There are 2 to {MOST_PARTS} parts, or 0 for a whole table.", path=("parts",))
    found = await layouts(database_url, tables)
    due = [one.table for one in found if one.parts != parts]
    if not due:
        return []
    moved: list[MovedTable] = []
    async with upgrade.connected(database_url) as login:
        await upgrade.take_turn(login)
        try:
            await login.execute(_MAKE_SCHEMA)
        except asyncpg.InsufficientPrivilegeError as error:
            raise Misconfigured(
                f"The login may not create the schema {SCHEMA} ({error}). Name the owner of the database in "
                "AGENTIC_RAG_OWNER_DATABASE_URL.",
                code="MIGRATION_RIGHTS_MISSING",
            ) from error
        for number, table in enumerate(due):
            moved += await _move_alone(database_url, table, parts, _steps(tell, number, len(due)))
        tell(STEPS * len(due), STEPS * len(due), "done")
        if await login.fetchval(_SCHEMA_IS_EMPTY):
            await login.execute(f"SET ROLE rag_owner; DROP SCHEMA {SCHEMA}")
    return moved


def _steps(tell: Tell, number: int, tables: int) -> Callable[[str], None]:
    done = number * STEPS

    def say(what: str) -> None:
        nonlocal done
        tell(done, tables * STEPS, what)
        done += 1

    return say


async def _move_alone(database_url: str, table: str, parts: int, say: Callable[[str], None]) -> list[MovedTable]:
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return await _move(database_url, table, parts, say)
        except (asyncpg.LockNotAvailableError, StillRead) as error:
            if attempt == ATTEMPTS:
                raise Retryable(
                    f"{table}, or a table that it refers to, was in use each time, or somebody had a transaction open: "
                    "it is as it was. Stop whatever is connected (pg_stat_activity), then repeat the command.",
                    code="MIGRATION_BLOCKED",
                ) from error
        await asyncio.sleep(PAUSE_SECONDS)
    return []


async def _move(database_url: str, table: str, parts: int, say: Callable[[str], None]) -> list[MovedTable]:
    began = time.monotonic()
    async with _owner(database_url, table) as connection, connection.transaction():
        await connection.execute(_BAR_THE_DOOR)
        running = [row[0] for row in await connection.fetch(_RUNNING)]
        if running:
            raise Retryable(
                f"Stop every server and worker first; these run: {'; '.join(running)}. One that was killed counts as "
                f"gone after {LAPSE_SECONDS:.0f} seconds.",
                code="PROCESSES_RUNNING",
            )
        if await connection.fetchval(PARTS, table) == parts:
            return []
        done = await move(connection, table, parts, say)
    return [MovedTable(table, done.before, parts, done.rows, time.monotonic() - began)]


@asynccontextmanager
async def _owner(database_url: str, table: str) -> AsyncGenerator[Any]:
    async with upgrade.connected(database_url, _CONNECTION) as connection:
        try:
            yield connection
        except asyncpg.LockNotAvailableError:
            raise
        except asyncpg.DiskFullError as error:
            raise DependencyUnavailable(
                f"The disk of the database became full ({error}): {table} is as it was. Free some space, then repeat "
                "the command.",
                dependency="postgres",
                code="STORAGE_FULL",
            ) from error
        except (
            asyncpg.PostgresConnectionError,
            asyncpg.OperatorInterventionError,
            # Such as "out of shared memory", whose hint names max_locks_per_transaction.
            asyncpg.InsufficientResourcesError,
            asyncpg.InterfaceError,
            OSError,
        ) as error:
            hint = getattr(error, "hint", None)
            raise DependencyUnavailable(
                f"Postgres gave up meanwhile: {error}{f' ({hint})' if hint else ''}. {table} is as it was; repeat the "
                "command.",
                dependency="postgres",
            ) from error
        except asyncpg.PostgresError as error:
            raise not_movable(table, str(error)) from error

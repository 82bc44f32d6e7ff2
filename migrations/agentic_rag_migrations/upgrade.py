"""Brings a database to the newest schema, and says where it stands. Alembic is imported only here."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.resources import files

import asyncpg
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from agentic_rag.kernel.errors import AgenticRagError, DependencyUnavailable, Misconfigured, Retryable
from agentic_rag_migrations.roles import prepare_database
from agentic_rag_migrations.serving import is_served

_LOCK = 0x7261675F6D696772
"""Advisory lock of migrations ("rag_migr"): one at a time in a database."""

_ONE_ALEMBIC = threading.Lock()

LOCK_TIMEOUT = "200ms"
"""For a lock on a table. Whoever comes after a statement that waits for one waits too, so this is how long a migration
can stop the product before it has its locks.
"""
ATTEMPTS = 30
PAUSE_SECONDS = 1.0
"""Between attempts: those who waited behind the last one go on."""

_CURRENT = "SELECT version_num FROM rag_schema_version"


@dataclass(frozen=True, slots=True)
class MigrationStatus:
    """Where a database stands: `current` is None before the first migration, `pending` is oldest first. One that is
    newer than `head` serves this version, and nothing is pending.
    """

    current: str | None
    head: str
    pending: tuple[str, ...]


async def upgrade(database_url: str, to: str = "head") -> list[str]:
    """Apply what is missing up to the revision `to`, oldest first, and return the revisions applied (empty when up to
    date, or newer and serving this version).

    Several processes may call it at once: one works, the others wait and find nothing to do. A revision is applied
    whole or not at all. Where a table is in use, one gives up after `LOCK_TIMEOUT` and is tried again; those before it
    stay applied.
    Errors: `Misconfigured` (see `roles.prepare_database`; SCHEMA_TOO_NEW), `DependencyUnavailable`, `Retryable` code
    MIGRATION_BLOCKED.
    """
    async with _connected(database_url) as connection:
        await connection.execute("SELECT pg_advisory_lock($1)", _LOCK)
        before = await _status(connection, to)
        await prepare_database(connection)
        if not before.pending:
            return []
        for attempt in range(1, ATTEMPTS + 1):
            try:
                await asyncio.to_thread(_apply_alone, database_url, to)
                break
            except (asyncpg.PostgresError, DBAPIError) as error:
                if not _is_blocked(error):
                    raise
                if attempt == ATTEMPTS:
                    blocked = (await _status(connection, to)).pending[0]
                    raise Retryable(
                        f"A table that revision {blocked} changes was in use each time: what came before it is "
                        "applied, nothing else. Look for long transactions (pg_stat_activity), wait for a backup to "
                        "end, then run `rag migrate up` again.",
                        code="MIGRATION_BLOCKED",
                    ) from error
            await asyncio.sleep(PAUSE_SECONDS)
        return list(before.pending)


async def status(database_url: str) -> MigrationStatus:
    """Where the database stands; changes nothing. Errors: `DependencyUnavailable`; `Misconfigured` code
    SCHEMA_TOO_NEW.
    """
    async with _connected(database_url) as connection:
        return await _status(connection)


def status_without_database() -> MigrationStatus:
    """Where a database stands that does not exist yet: all is pending."""
    scripts, head = _scripts()
    return MigrationStatus(None, head, _pending(scripts, "head", None))


def _is_blocked(error: asyncpg.PostgresError | DBAPIError) -> bool:
    """Whether a lock was not to be had in time."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    return getattr(cause, "sqlstate", None) == asyncpg.LockNotAvailableError.sqlstate


def _plain(database_url: str) -> str:
    """The address as the driver takes it: SQLAlchemy's `postgresql+asyncpg://` is accepted too."""
    scheme, separator, rest = database_url.partition("://")
    return f"{scheme.partition('+')[0]}{separator}{rest}"


@asynccontextmanager
async def _connected(database_url: str) -> AsyncGenerator[asyncpg.Connection]:
    try:
        connection = await asyncpg.connect(_plain(database_url), server_settings={"search_path": "public"})
    except (OSError, TimeoutError, asyncpg.PostgresConnectionError, asyncpg.CannotConnectNowError) as error:
        raise DependencyUnavailable(
            f"Postgres does not answer: {error}. Check DATABASE_URL and `rag doctor`.", dependency="postgres"
        ) from error
    except (asyncpg.InvalidAuthorizationSpecificationError, asyncpg.InvalidCatalogNameError) as error:
        raise Misconfigured(f"Postgres refused DATABASE_URL: {error}.", code="DATABASE_LOGIN_REFUSED") from error
    try:
        yield connection
    finally:
        await connection.close()


async def _status(connection: asyncpg.Connection, to: str = "head") -> MigrationStatus:
    scripts, head = _scripts()
    current = None
    if await connection.fetchval("SELECT to_regclass('public.rag_schema_version') IS NOT NULL"):
        current = await connection.fetchval(_CURRENT)
    if current is not None and current > head:
        if await is_served(connection.fetchval, head):
            return MigrationStatus(current, head, ())
        raise Misconfigured(
            f"The database is at schema {current}, this version knows {head}: run the version that migrated it, "
            "or a newer one; a migration is not undone.",
            code="SCHEMA_TOO_NEW",
        )
    return MigrationStatus(current, head, _pending(scripts, to, current))


def _scripts() -> tuple[ScriptDirectory, str]:
    """The migrations of the package, and the newest."""
    scripts = ScriptDirectory.from_config(_configuration())
    head = scripts.get_current_head()
    if head is None:
        raise AgenticRagError("The package holds no migrations.")
    return scripts, head


def _pending(scripts: ScriptDirectory, to: str, current: str | None) -> tuple[str, ...]:
    return tuple(reversed([script.revision for script in scripts.iterate_revisions(to, current or "base")]))


def _configuration() -> Config:
    configuration = Config()
    configuration.set_main_option("script_location", str(files("agentic_rag_migrations")).replace("%", "%%"))
    configuration.set_main_option("path_separator", "os")
    configuration.set_main_option("recursive_version_locations", "true")
    return configuration


def _apply_alone(database_url: str, to: str) -> None:
    """In a thread and loop of its own: Alembic's `op` and `context` are globals of the process, so two databases must
    not be migrated between each other's awaits.
    """
    with _ONE_ALEMBIC:
        asyncio.run(_apply(database_url, to))


async def _apply(database_url: str, to: str) -> None:
    """Run the scripts as rag_owner."""

    async def connect() -> asyncpg.Connection:
        settings = {
            "role": "rag_owner",
            "search_path": "public",
            "application_name": "rag migrate",
            "lock_timeout": LOCK_TIMEOUT,
        }
        return await asyncpg.connect(_plain(database_url), server_settings=settings)

    def run(connection: Connection) -> None:
        configuration = _configuration()
        configuration.attributes["connection"] = connection
        command.upgrade(configuration, to)

    engine = create_async_engine("postgresql+asyncpg://", poolclass=NullPool, async_creator=connect)
    try:
        async with engine.connect() as connection:
            await connection.run_sync(run)
    finally:
        await engine.dispose()

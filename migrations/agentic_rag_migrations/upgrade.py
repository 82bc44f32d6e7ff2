"""Brings a database to the newest schema, and says where it stands."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import MappingProxyType

import asyncpg

from agentic_rag.kernel.errors import DependencyUnavailable, Misconfigured, Retryable
from agentic_rag_migrations import HEAD
from agentic_rag_migrations.roles import prepare_database
from agentic_rag_migrations.serving import is_served

LOCK = 0x7261675F6D696772
"""Advisory lock of migrations ("rag_migr"): one at a time in a database."""

ATTEMPTS = 30
LOOK_SECONDS = 0.1
"""Between looks whether another process still migrates."""
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


async def upgrade(database_url: str, to: str | None = None) -> list[str]:
    """Apply what is missing up to the revision `to`, the newest if None, oldest first, and return the revisions applied
    (empty when up to date, or newer and serving this version).

    Several processes may call it at once: one works, the others wait and find nothing to do. A revision is applied
    whole or not at all, but for indexes that are built before it. Where a table is in use, one gives up after
    `LOCK_TIMEOUT` and is tried again; those before it stay applied.
    Errors: `Misconfigured` (see `roles.prepare_database`; SCHEMA_TOO_NEW), `DependencyUnavailable`, `Retryable` code
    MIGRATION_BLOCKED.
    """
    async with connected(database_url) as connection:
        await take_turn(connection)
        last = HEAD if to is None else to
        before = await _status(connection, last)
        await prepare_database(connection)
        if not before.pending:
            return []
        await _apply(connection, _plain(database_url), last)
        return list(before.pending)


async def take_turn(connection: asyncpg.Connection) -> None:
    """Wait until no other process migrates this database; the turn lasts as long as the connection.

    A statement that waits for the lock would keep a snapshot, for whose end a concurrent index build waits.
    """
    while True:
        if await connection.fetchval("SELECT pg_try_advisory_lock($1)", LOCK):
            return
        await asyncio.sleep(LOOK_SECONDS)


async def status(database_url: str) -> MigrationStatus:
    """Where the database stands; changes nothing. Errors: `DependencyUnavailable`; `Misconfigured` code
    SCHEMA_TOO_NEW.
    """
    async with connected(database_url) as connection:
        return await _status(connection)


def status_without_database() -> MigrationStatus:
    """Where a database stands that does not exist yet: all is pending."""
    return MigrationStatus(None, HEAD, _pending(HEAD, None))


async def _apply(connection: asyncpg.Connection, address: str, to: str) -> None:
    from agentic_rag_migrations.apply import TableInUse, apply

    for attempt in range(1, ATTEMPTS + 1):
        try:
            await asyncio.to_thread(apply, address, to)
            return
        except TableInUse as error:
            if attempt == ATTEMPTS:
                blocked = (await _status(connection, to)).pending[0]
                raise Retryable(
                    f"A table that revision {blocked} changes was in use each time: what came before it is applied, "
                    "nothing else. Look for long transactions (pg_stat_activity), wait for a backup to end, then run "
                    "`rag migrate up` again.",
                    code="MIGRATION_BLOCKED",
                ) from error
        await asyncio.sleep(PAUSE_SECONDS)


def _plain(database_url: str) -> str:
    """The address as the driver takes it: SQLAlchemy's `postgresql+asyncpg://` is accepted too."""
    scheme, separator, rest = database_url.partition("://")
    return f"{scheme.partition('+')[0]}{separator}{rest}"


@asynccontextmanager
async def connected(
    database_url: str, settings: Mapping[str, str] = MappingProxyType({"search_path": "public"})
) -> AsyncGenerator[asyncpg.Connection]:
    """A connection as the login, with settings of the server. Errors: `DependencyUnavailable`, `Misconfigured` code
    DATABASE_LOGIN_REFUSED.
    """
    try:
        connection = await asyncpg.connect(_plain(database_url), server_settings=dict(settings))
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


async def _status(connection: asyncpg.Connection, to: str = HEAD) -> MigrationStatus:
    current = None
    if await connection.fetchval("SELECT to_regclass('public.rag_schema_version') IS NOT NULL"):
        current = await connection.fetchval(_CURRENT)
    if current is not None and current > HEAD:
        if await is_served(connection.fetchval, HEAD):
            return MigrationStatus(current, HEAD, ())
        raise Misconfigured(
            f"The database is at schema {current}, this version knows {HEAD}: run the version that migrated it, "
            "or a newer one; a migration is not undone.",
            code="SCHEMA_TOO_NEW",
        )
    return MigrationStatus(current, HEAD, _pending(to, current))


def _pending(to: str, current: str | None) -> tuple[str, ...]:
    """The revisions after `current`, oldest first: they are numbered without a gap."""
    return tuple(f"{number:04}" for number in range(int(current or 0) + 1, int(to) + 1))

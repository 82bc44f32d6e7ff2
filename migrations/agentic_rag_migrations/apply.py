"""Runs the scripts of revisions. Alembic is imported only here, so by whoever has something to apply."""

from __future__ import annotations

import asyncio
import threading
from importlib.resources import files

import asyncpg
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

_ONE_ALEMBIC = threading.Lock()

LOCK_TIMEOUT = "200ms"
"""For a lock on a table. Whoever comes after a statement that waits for one waits too, so this is how long a migration
can stop the product before it has its locks.
"""


class TableInUse(Exception):
    """A lock on a table was not to be had in time; the revisions before it stay applied."""


def apply(address: str, to: str) -> None:
    """Run the scripts up to the revision `to` as rag_owner. Errors: `TableInUse`, those of the driver.

    In a loop of its own: Alembic's `op` and `context` are globals of the process, so two databases must not be
    migrated between each other's awaits.
    """
    with _ONE_ALEMBIC:
        try:
            asyncio.run(_apply(address, to))
        except (asyncpg.PostgresError, DBAPIError) as error:
            cause = error.orig if isinstance(error, DBAPIError) else error
            if getattr(cause, "sqlstate", None) == asyncpg.LockNotAvailableError.sqlstate:
                raise TableInUse(str(error)) from error
            raise


async def _apply(address: str, to: str) -> None:
    async def connect() -> asyncpg.Connection:
        settings = {
            "role": "rag_owner",
            "search_path": "public",
            "application_name": "rag migrate",
            "lock_timeout": LOCK_TIMEOUT,
        }
        return await asyncpg.connect(address, server_settings=settings)

    def run(connection: Connection) -> None:
        configuration = Config()
        configuration.set_main_option("script_location", str(files("agentic_rag_migrations")).replace("%", "%%"))
        configuration.set_main_option("path_separator", "os")
        configuration.set_main_option("recursive_version_locations", "true")
        configuration.attributes["connection"] = connection
        command.upgrade(configuration, to)

    engine = create_async_engine("postgresql+asyncpg://", poolclass=NullPool, async_creator=connect)
    try:
        async with engine.connect() as connection:
            await connection.run_sync(run)
    finally:
        await engine.dispose()

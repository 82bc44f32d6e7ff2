"""Whether the stores take writes: what `rag doctor` tries, and removes again."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from agentic_rag.documents.originals import require_folders
from agentic_rag.jobs.redis_address import key_prefix
from agentic_rag.kernel.errors import Misconfigured, is_disk_full
from agentic_rag.kernel.formatting import format_bytes
from agentic_rag.settings import Settings
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID
from agentic_rag_cli.commands.operations.check import Check, failure, ok

if TYPE_CHECKING:
    import asyncpg

    from agentic_rag.bootstrap import Container

LEAST_FREE = 512 << 20
"""Bytes that PostgreSQL's log and a few uploads need."""

_PROBE_BYTES = 64 << 10
_PROBE = "agentic-rag:doctor"

# A record in the write-ahead log, which its commit brings to the disk; no table changes.
_WRITE = "SELECT current_setting('transaction_read_only'), pg_logical_emit_message(true, 'rag_doctor', '')"


def check_home(settings: Settings, least_free: int = LEAST_FREE) -> Check:
    """AGENTIC_RAG_HOME takes a file, or can be created, and the disks below it and of the blobs have space."""
    home = place = settings.stores.state_home
    try:
        place = _existing(home)
        with tempfile.TemporaryFile(dir=place) as file:
            file.write(bytes(_PROBE_BYTES))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        if is_disk_full(error):
            return _full(place, 0, least_free)
        return failure(
            "home",
            "EMBEDDED_HOME_UNUSABLE",
            f"{place} cannot be written: {error.strerror}",
            "Set AGENTIC_RAG_HOME to a folder that you may write.",
        )
    for one in storage_places(settings):
        try:
            free = shutil.disk_usage(_existing(one)).free
        except OSError as error:
            remedy = "See whether its disk is there and lets you look (findmnt, ls)."
            return failure("home", "EMBEDDED_HOME_UNUSABLE", f"{one} cannot be looked at: {error.strerror}", remedy)
        if free < least_free:
            return _full(one, free, least_free)
    return ok("home", str(home) if place == home else f"{home} (will be made)")


def _full(place: Path, free: int, least_free: int) -> Check:
    remedy = f"Free space on its disk: databases and originals need {format_bytes(least_free)} at least."
    return failure("home", "STORAGE_FULL", f"{place} has {format_bytes(free)} left", remedy)


def storage_places(settings: Settings) -> list[Path]:
    """Folders of this machine that grow: the home, the blobs, the log of the embedded Postgres."""
    home, blobs = settings.stores.state_home, settings.stores.blobs
    places = [home, *([blobs] if isinstance(blobs, Path) else [])]
    return places if settings.stores.database_url else [*places, home / "postgres" / "data" / "pg_wal"]


async def try_postgres(connection: asyncpg.Connection, variable: str) -> Check | None:
    """A failure where a commit does not reach the disk; `variable` has the server's address."""
    import asyncpg

    remedy = f"Look at the server's log; {variable} must name the primary, not a replica."
    try:
        async with connection.transaction():
            read_only = await connection.fetchval(_WRITE)
    except asyncpg.DiskFullError as error:
        return failure("postgres", "STORAGE_FULL", str(error), "Free space on the disk of the database.")
    except asyncpg.PostgresError as error:
        return failure("postgres", "STORE_READ_ONLY", str(error), remedy)
    if read_only == "on":
        return failure("postgres", "STORE_READ_ONLY", "transactions are read-only here", remedy)
    return None


async def try_redis(client: Any, redis_url: str) -> Check | None:
    """A failure where Redis answers and keeps nothing."""
    import redis.exceptions

    key = key_prefix(redis_url, _PROBE)
    try:
        await client.set(key, b"1", ex=1)
        await client.delete(key)
    except redis.exceptions.ResponseError as error:
        if "No space left on device" in str(error):
            return failure("redis", "STORAGE_FULL", str(error), "Free space on its disk; it takes writes again then.")
        remedy = "Free its disk or raise its memory; REDIS_URL must name the primary, not a replica."
        return failure("redis", "STORE_READ_ONLY", str(error), remedy)
    return None


async def try_blobs(container: Container) -> None:
    """Look for what storing left of each organisation with originals, then store an object and remove it. Errors: those
    of the blob store.
    """
    blobs = container.blobs
    for org_id in await _organisations(container):
        async with container.database.transaction(org_id) as transaction:
            is_storing = await transaction.originals.stored_bytes(org_id) > 0
        if is_storing:
            await require_folders(blobs, org_id)
    key = f"doctor/{secrets.token_hex(8)}"
    await blobs.put(key, b"1")
    await blobs.delete(key)


async def _organisations(container: Container) -> list[UUID]:
    """All of them for the owner of the database, else the one that is always there."""
    try:
        return [one.org_id for one in await container.organisations.all()]
    except Misconfigured:
        return [DEFAULT_ORG_ID]


def _existing(place: Path) -> Path:
    """The folder, or the one above it that is there."""
    while not place.exists() and place != place.parent:
        place = place.parent
    return place

"""The read replica check of `rag doctor`: a standby of this very server that has replayed what is written meanwhile."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from agentic_rag.kernel.formatting import format_bytes
from agentic_rag_cli.commands.operations.check import DEGRADED, Check, ok

if TYPE_CHECKING:
    import asyncpg

CONNECT_SECONDS = 5
MOST_LAG_SECONDS = 1.0
"""A replica that is older is not read (`REPLAYED` in adapters/postgres/session/snapshot_header.py)."""
_LOOK_SECONDS = 0.02

_IDENTITY = "SELECT system_identifier FROM pg_control_system()"
_WRITTEN = "SELECT pg_logical_emit_message(true, 'rag_doctor', '')"
_POSITION = "SELECT pg_current_wal_insert_lsn()::text"
_IS_STANDBY = "SELECT pg_is_in_recovery()"
_FOLLOWS = "SELECT EXISTS (SELECT FROM pg_stat_wal_receiver WHERE pid IS NOT NULL)"
_BEHIND = "SELECT pg_wal_lsn_diff($1::text::pg_lsn, pg_last_wal_replay_lsn())::bigint"


async def check_replica(read_url: str, primary_url: str) -> Check:
    """The server of DATABASE_READ_URL is a connected standby of `primary_url` and at most a second behind. Questions
    read the primary where it is not, so that nothing of this is a failure.
    """
    import asyncpg

    try:
        replica = await asyncpg.connect(read_url, timeout=CONNECT_SECONDS, command_timeout=CONNECT_SECONDS)
        try:
            primary = await asyncpg.connect(primary_url, timeout=CONNECT_SECONDS, command_timeout=CONNECT_SECONDS)
            try:
                return await _compare(replica, primary)
            finally:
                await primary.close()
        finally:
            await replica.close()
    except (OSError, TimeoutError, ValueError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        said = str(error) or type(error).__name__
        return _warning("DEPENDENCY_UNAVAILABLE", said, "Start that server, or correct or unset DATABASE_READ_URL.")


async def _compare(replica: asyncpg.Connection, primary: asyncpg.Connection) -> Check:
    if not await replica.fetchval(_IS_STANDBY):
        told = "it leads to a server that is no streaming replica"
        return _warning("READ_REPLICA_NOT_STANDBY", told, "Give DATABASE_READ_URL the address of a replica.")
    if await replica.fetchval(_IDENTITY) != await primary.fetchval(_IDENTITY):
        told = "it is a replica of another server than that of DATABASE_URL"
        return _warning("READ_REPLICA_OF_ANOTHER", told, "Give DATABASE_READ_URL the address of a replica of this one.")
    if not await replica.fetchval(_FOLLOWS):
        told = "it is not connected to the server that it follows"
        remedy = "See its log, its primary_conninfo and pg_stat_replication of the primary."
        return _warning("READ_REPLICA_BEHIND", told, remedy)
    return await _wait_for_a_write(replica, primary)


async def _wait_for_a_write(replica: asyncpg.Connection, primary: asyncpg.Connection) -> Check:
    """Write to the log of the primary, no table, and see the replica replay it."""
    await primary.execute(_WRITTEN)
    written = await primary.fetchval(_POSITION)
    began = time.monotonic()
    while (behind := int(await replica.fetchval(_BEHIND, written) or 0)) > 0:
        if time.monotonic() > began + MOST_LAG_SECONDS:
            told = f"{format_bytes(behind)} of the log behind for more than {MOST_LAG_SECONDS:g} s"
            remedy = "See pg_is_wal_replay_paused(), recovery_min_apply_delay, and its disk."
            return _warning("READ_REPLICA_BEHIND", told, remedy)
        await asyncio.sleep(_LOOK_SECONDS)
    return ok("replica", f"replays a write within {1000 * (time.monotonic() - began):.0f} ms")


def _warning(code: str, told: str, remedy: str) -> Check:
    return Check("replica", DEGRADED, told, code, f"{remedy} Questions read the primary meanwhile.")

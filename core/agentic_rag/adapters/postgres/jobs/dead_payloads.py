"""`jobs.ports.DeadPayloads` on Postgres, as the dispatcher's role: the application role has no right to the table."""

from __future__ import annotations

from uuid import UUID

from agentic_rag.adapters.postgres.session.connection import Row, value_from
from agentic_rag.adapters.postgres.session.page_cursors import decode_instant_cursor, instant_cursor, page_size
from agentic_rag.adapters.postgres.session.pool import PoolOptions, PostgresPool
from agentic_rag.jobs.message import StoredUndecodableMessage, UndecodableMessage
from agentic_rag.kernel.pagination import Page, PageRequest

KEEP = """
INSERT INTO rag_dead_payloads (payload_id, queue, entry, payload, code, reason, first_seen, last_seen)
VALUES ($1, $2, $3, $4, $5, $6, clock_timestamp(), clock_timestamp())
ON CONFLICT (payload_id) DO UPDATE
SET deliveries = rag_dead_payloads.deliveries + 1, last_seen = excluded.last_seen
RETURNING deliveries = 1
"""

COLUMNS = "payload_id, queue, entry, payload, code, reason, deliveries, first_seen, last_seen"

GET = f"SELECT {COLUMNS} FROM rag_dead_payloads WHERE payload_id = $1"  # noqa: S608 - a constant list of columns

PAGE = f"""
SELECT {COLUMNS} FROM rag_dead_payloads
WHERE $1::timestamptz IS NULL OR (first_seen, payload_id) < ($1, $2::uuid)
ORDER BY first_seen DESC, payload_id DESC
LIMIT $3
"""  # noqa: S608 - a constant list of columns

PURGE = "DELETE FROM rag_dead_payloads WHERE payload_id = $1"


class PostgresDeadPayloads:
    """Uses its own pool of one connection: undecodable messages are rare."""

    def __init__(self, dsn: str, role: str = "rag_dispatcher") -> None:
        self._pool = PostgresPool(dsn, PoolOptions(role=role, application_name="agentic-rag dispatcher", max_size=1))

    async def keep(self, found: UndecodableMessage) -> bool:
        async with self._pool.connection() as connection:
            is_new: bool = await connection.fetchval(
                KEEP, found.payload_id, found.queue, found.entry, found.payload, found.code, found.reason
            )
            return is_new

    async def get(self, payload_id: UUID) -> StoredUndecodableMessage | None:
        async with self._pool.connection() as connection:
            row = await connection.fetchrow(GET, payload_id)
        return None if row is None else _payload_from(row)

    async def page(self, request: PageRequest) -> Page[StoredUndecodableMessage]:
        size = page_size(request)
        async with self._pool.connection() as connection:
            rows = await connection.fetch(PAGE, *decode_instant_cursor(request.after), size + 1)
        shown = rows[:size]
        cursors = tuple(instant_cursor(row["first_seen"], row["payload_id"]) for row in shown)
        return Page(tuple(_payload_from(row) for row in shown), cursors, len(rows) > size)

    async def purge(self, payload_id: UUID) -> bool:
        async with self._pool.connection() as connection:
            return await connection.change(PURGE, payload_id) == 1

    async def aclose(self) -> None:
        await self._pool.aclose()


def _payload_from(row: Row) -> StoredUndecodableMessage:
    return value_from(StoredUndecodableMessage, row, message=value_from(UndecodableMessage, row))

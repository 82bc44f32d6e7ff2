"""`tenancy.ports.AuditLog` on Postgres. The application role may append and read, but neither change nor delete."""

from __future__ import annotations

import uuid
from typing import Any
from uuid import UUID

from agentic_rag.adapters.postgres.session.connection import PostgresConnection, value_from
from agentic_rag.adapters.postgres.session.page_cursors import decode_instant_cursor, instant_cursor, page_size
from agentic_rag.adapters.postgres.session.pool import BOUND
from agentic_rag.kernel.pagination import Page, PageRequest
from agentic_rag.tenancy.audit import EVERY_ENTRY, AuditEntry, AuditFilter, AuditRecord, idempotent_id

RECORD = """
INSERT INTO rag_audit (org_id, audit_id, workspace_id, actor, action, subject, detail, trace_id, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, clock_timestamp())
"""

RECORD_ONCE = f"{RECORD} ON CONFLICT (org_id, audit_id) DO NOTHING"

RECORD_ALONE = f"""
INSERT INTO rag_audit (org_id, audit_id, workspace_id, actor, action, subject, detail, trace_id, created_at)
SELECT bound.org_id, $2, $3, $4, $5, $6, $7, $8, clock_timestamp()
FROM {BOUND} CROSS JOIN set_config('synchronous_commit', coalesce($9, current_setting('synchronous_commit')), true)
"""  # noqa: S608 - a constant

PAGE = """
SELECT audit_id, created_at, workspace_id, actor, action, subject, detail, trace_id FROM rag_audit
WHERE org_id = $1
  AND ($2::timestamptz IS NULL OR (created_at, audit_id) < ($2, $3::uuid))
  AND ($4::uuid IS NULL OR workspace_id = $4)
  AND ($5::text IS NULL OR actor = $5)
  AND ($6::text IS NULL OR action = $6 OR split_part(action, '.', 1) = $6)
  AND ($7::timestamptz IS NULL OR created_at >= $7)
  AND ($8::timestamptz IS NULL OR created_at < $8)
ORDER BY created_at DESC, audit_id DESC
LIMIT $9
"""


class PostgresAuditLog:
    """On a connection whose transaction is open and set to `org_id`."""

    def __init__(self, connection: PostgresConnection, org_id: UUID) -> None:
        self._connection = connection
        self._org_id = org_id

    async def record(self, entry: AuditEntry) -> None:
        await self._connection.execute(RECORD, *_values(self._org_id, entry, uuid.uuid4()))

    async def record_once(self, entry: AuditEntry, key: str) -> bool:
        return await self._connection.change(RECORD_ONCE, *_values(self._org_id, entry, idempotent_id(entry, key))) == 1

    async def page(self, request: PageRequest, wanted: AuditFilter = EVERY_ENTRY) -> Page[AuditRecord]:
        size = page_size(request)
        given = wanted.workspace_id, wanted.actor, wanted.action, wanted.since, wanted.until
        rows = await self._connection.fetch(PAGE, self._org_id, *decode_instant_cursor(request.after), *given, size + 1)
        records = tuple(value_from(AuditRecord, row) for row in rows[:size])
        cursors = tuple(instant_cursor(record.created_at, record.audit_id) for record in records)
        return Page(records, cursors, len(rows) > size)


async def record_alone(connection: PostgresConnection, org_id: UUID, entry: AuditEntry, *, durable: bool) -> None:
    """Append an entry on a connection without a transaction: one round trip, committed when it returns."""
    commit = None if durable else "off"
    await connection.execute(RECORD_ALONE, *_values(org_id, entry, uuid.uuid4()), commit)


def _values(org_id: UUID, entry: AuditEntry, audit_id: UUID) -> tuple[Any, ...]:
    return (
        org_id,
        audit_id,
        entry.workspace_id,
        entry.actor,
        entry.action.value,
        entry.subject,
        entry.stored_detail,
        entry.trace_id,
    )

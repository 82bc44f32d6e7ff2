"""`tenancy.ports.AuditLog` in memory."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID, uuid4

from tests.memory_store.session.pages import page_newest_first
from tests.memory_store.session.store import Working

from agentic_rag.kernel.pagination import Page, PageRequest
from agentic_rag.tenancy.audit import EVERY_ENTRY, AuditEntry, AuditFilter, AuditRecord, idempotent_id


class MemoryAuditLog:
    """Entries are committed with the transaction that made them."""

    def __init__(self, working: Working, org_id: UUID) -> None:
        self._working = working
        self._org_id = org_id

    async def record(self, entry: AuditEntry) -> None:
        """Append."""
        self._append(entry, uuid4())

    async def record_once(self, entry: AuditEntry, key: str) -> bool:
        """Append unless it is there."""
        audit_id = idempotent_id(entry, key)
        if any(record.audit_id == audit_id for record in self._working.organisation(self._org_id).audit):
            return False
        self._append(entry, audit_id)
        return True

    def _append(self, entry: AuditEntry, audit_id: UUID) -> None:
        self._working.audit(
            self._org_id,
            AuditRecord(
                audit_id=audit_id,
                created_at=self._working.now(),
                action=entry.action.value,
                subject=entry.subject,
                actor=entry.actor,
                workspace_id=entry.workspace_id,
                detail=entry.stored_detail,
                trace_id=entry.trace_id,
            ),
        )

    async def page(self, request: PageRequest, wanted: AuditFilter = EVERY_ENTRY) -> Page[AuditRecord]:
        """Entries, newest first. Errors: `InvalidInput` (page size, cursor)."""
        numbered = [
            (number, record)
            for number, record in enumerate(self._working.organisation(self._org_id).audit)
            if _is_wanted(record, wanted)
        ]
        page = page_newest_first(numbered, _created, request)
        return Page(tuple(record for _, record in page.items), page.cursors, page.has_next)


def _is_wanted(record: AuditRecord, wanted: AuditFilter) -> bool:
    return (
        wanted.workspace_id in (None, record.workspace_id)
        and wanted.actor in (None, record.actor)
        and wanted.action in (None, record.action, record.action.partition(".")[0])
        and (wanted.since is None or record.created_at >= wanted.since)
        and (wanted.until is None or record.created_at < wanted.until)
    )


def _created(numbered: tuple[int, AuditRecord]) -> tuple[datetime, str]:
    return numbered[1].created_at, f"{numbered[0]:012}"

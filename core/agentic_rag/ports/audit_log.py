"""The audit log of an organisation: appended to in the transaction of the act itself, never changed."""

from __future__ import annotations

from typing import Protocol
from uuid import UUID

from agentic_rag.domain.audit import AuditEntry, AuditRecord
from agentic_rag.domain.pages import Page, PageRequest


class AuditLog(Protocol):
    """Inside a transaction of one organisation."""

    async def record(self, entry: AuditEntry) -> None:
        """Append; the act and its entry are committed together or not at all."""
        ...

    async def record_once(self, entry: AuditEntry, key: str) -> bool:
        """Append unless the log has it under the key (`domain.audit.id_once`); whether it was appended."""
        ...

    async def page(self, request: PageRequest, workspace_id: UUID | None = None) -> Page[AuditRecord]:
        """Entries, newest first; of one workspace when it is given. Errors: `InvalidInput` (page size, cursor)."""
        ...

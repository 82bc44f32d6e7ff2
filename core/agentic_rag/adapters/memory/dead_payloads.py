"""`jobs.ports.DeadPayloads` in memory."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from uuid import UUID

from agentic_rag.adapters.memory.pages import page_newest_first
from agentic_rag.jobs.undecodable_message import StoredUndecodableMessage, UndecodableMessage
from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.pagination import Page, PageRequest


class MemoryDeadPayloads:
    """In the order they were found."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._stored: dict[UUID, StoredUndecodableMessage] = {}

    async def keep(self, found: UndecodableMessage) -> bool:
        """Store; False when the same bytes were found at the same place before."""
        now = self._clock.now()
        known = self._stored.get(found.payload_id)
        if known is not None:
            self._stored[found.payload_id] = replace(known, deliveries=known.deliveries + 1, last_seen=now)
            return False
        self._stored[found.payload_id] = StoredUndecodableMessage(found, 1, now, now)
        return True

    async def get(self, payload_id: UUID) -> StoredUndecodableMessage | None:
        """The finding, or None."""
        return self._stored.get(payload_id)

    async def page(self, request: PageRequest) -> Page[StoredUndecodableMessage]:
        """Findings, newest first. Errors: `InvalidInput` (page size, cursor)."""
        page = page_newest_first(enumerate(self._stored.values()), _found, request)
        return Page(tuple(stored for _, stored in page.items), page.cursors, page.has_next)

    async def purge(self, payload_id: UUID) -> bool:
        """Forget a finding; False when there is none."""
        return self._stored.pop(payload_id, None) is not None

    async def aclose(self) -> None:
        """Nothing to release."""


def _found(numbered: tuple[int, StoredUndecodableMessage]) -> tuple[datetime, str]:
    return numbered[1].first_seen, f"{numbered[0]:012}"

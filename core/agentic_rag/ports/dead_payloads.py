"""Where undecodable payloads are kept for an operator. No tenant can be told from them, so no tenant is shown them."""

from __future__ import annotations

from typing import Protocol
from uuid import UUID

from agentic_rag.domain.dead_payloads import DeadPayload, StoredPayload
from agentic_rag.domain.pages import Page, PageRequest


class DeadPayloads(Protocol):
    """Errors of every use: `DependencyUnavailable`."""

    async def keep(self, found: DeadPayload) -> bool:
        """Store; False when the same bytes were found at the same place before (then they are counted)."""
        ...

    async def get(self, payload_id: UUID) -> StoredPayload | None:
        """The finding, or None."""
        ...

    async def page(self, request: PageRequest) -> Page[StoredPayload]:
        """Findings, newest first. Errors: `InvalidInput` (page size, cursor)."""
        ...

    async def purge(self, payload_id: UUID) -> bool:
        """Forget a finding; False when there is none."""
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...

"""The API keys of an organisation."""

from __future__ import annotations

from typing import Protocol
from uuid import UUID

from agentic_rag.domain.api_keys import ApiKey
from agentic_rag.ports.organisations import NewApiKey


class ApiKeyStore(Protocol):
    """Inside a transaction of one organisation."""

    async def add(self, key_id: UUID, key: NewApiKey) -> ApiKey:
        """Store a key. Errors: `NotFound` (organisation)."""
        ...

    async def all(self) -> list[ApiKey]:
        """Every key, revoked and expired ones too, newest first."""
        ...

    async def revoke(self, key_id: UUID) -> ApiKey | None:
        """Make a key worthless; None when there is none of that id. One that was revoked before keeps its time."""
        ...

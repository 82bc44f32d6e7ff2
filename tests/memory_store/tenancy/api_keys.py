"""`tenancy.ports.ApiKeyStore` in memory."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from tests.memory_store.session.store import Working

from agentic_rag.kernel.errors import NotFound
from agentic_rag.tenancy.api_keys import ApiKey, NewApiKey


class MemoryApiKeyStore:
    """Inside a transaction of one organisation. Nothing here verifies tokens, so no hash is kept."""

    def __init__(self, working: Working, org_id: UUID) -> None:
        self._working = working
        self._org_id = org_id

    async def add(self, key_id: UUID, key: NewApiKey) -> ApiKey:
        """Store a key. Errors: `NotFound` (organisation)."""
        state = self._working.organisation(self._org_id)
        if state.organisation is None:
            raise NotFound("There is no such organisation.")
        made = ApiKey(
            key_id=key_id,
            name=key.name,
            subject=key.subject,
            role=key.role,
            groups=key.groups,
            scopes=key.scopes,
            created_at=self._working.now(),
            expires_at=key.expires_at,
            revoked_at=None,
            last_used_at=None,
        )
        self._working.put_organisation(self._org_id, replace(state, api_keys=(made, *state.api_keys)))
        return made

    async def all(self) -> list[ApiKey]:
        """Every key, newest first."""
        return list(self._working.organisation(self._org_id).api_keys)

    async def revoke(self, key_id: UUID) -> ApiKey | None:
        """Make a key worthless; None when there is none of that id."""
        state = self._working.organisation(self._org_id)
        found = next((key for key in state.api_keys if key.key_id == key_id), None)
        if found is None:
            return None
        revoked = replace(found, revoked_at=found.revoked_at or self._working.now())
        keys = tuple(revoked if key.key_id == key_id else key for key in state.api_keys)
        self._working.put_organisation(self._org_id, replace(state, api_keys=keys))
        return revoked

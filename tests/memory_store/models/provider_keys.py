"""`models.providers.ports.ProviderStore` and `models.providers.ports.MasterKeyUsage` in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from tests.memory_store.session.store import MemoryStore, Working

from agentic_rag.models.providers.provider_keys import Provider, ProviderKey, SealedKey


class MemoryProviderStore:
    """Keys are committed with the transaction that stores them."""

    def __init__(self, working: Working, org_id: UUID) -> None:
        self._working = working
        self._org_id = org_id

    async def keys(self) -> list[ProviderKey]:
        """Every stored key, by the provider's name."""
        return sorted(self._held.values(), key=lambda key: key.provider.value)

    async def put(self, key: ProviderKey) -> ProviderKey:
        """Store a key in the place of the last one of its provider."""
        before, now = self._held.get(key.provider), self._working.now()
        stored = replace(key, created_at=before.created_at if before else now, updated_at=now)
        self._keep({**self._held, key.provider: stored})
        return stored

    async def remove(self, provider: Provider) -> bool:
        """Forget a key; False when there was none."""
        if provider not in self._held:
            return False
        self._keep({held: key for held, key in self._held.items() if held is not provider})
        return True

    async def envelopes(self) -> Mapping[str, SealedKey]:
        """The envelope of every key, by the provider's name."""
        return {key.provider.value: key.sealed for key in await self.keys()}

    async def rewrap(self, owner: str, before: SealedKey, after: SealedKey) -> bool:
        """Replace an envelope, unless it is not the one it was."""
        key = self._held.get(Provider(owner))
        if key is None or key.sealed != before:
            return False
        self._keep({**self._held, key.provider: replace(key, sealed=after)})
        return True

    @property
    def _held(self) -> Mapping[Provider, ProviderKey]:
        return self._working.organisation(self._org_id).provider_keys

    def _keep(self, keys: Mapping[Provider, ProviderKey]) -> None:
        state = self._working.organisation(self._org_id)
        self._working.put_organisation(self._org_id, replace(state, provider_keys=keys))


class MemoryMasterKeyUsage:
    """Over all organisations."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    async def organisations_to_rewrap(self, active: str) -> Sequence[UUID]:
        """Organisations with a key whose envelope names another master key than `active`."""
        homes = {
            org_id
            for org_id, state in self._store.organisations.items()
            if any(key.sealed.master_id != active for key in state.provider_keys.values())
        }
        homes |= {
            workspace.org_id
            for workspace, state in self._store.committed.items()
            if any(one.sealed and one.sealed.master_id != active for one in state.sources.values())
        }
        return sorted(homes)

"""Stores, lists, removes and rewraps the provider keys of organisations."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from uuid import UUID

from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.database import Database, Transaction
from agentic_rag.kernel.errors import Misconfigured, MissingProviderKey, Permanent
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.models.providers.ports import KeyVault, MasterKeyUsage
from agentic_rag.models.providers.provider_keys import NewProviderKey, Provider, ProviderKey, validate_key
from agentic_rag.tenancy.audit import SYSTEM_ACTOR, AuditAction
from agentic_rag.tenancy.record_audit import audit


@dataclass(frozen=True, slots=True)
class RotationReport:
    """The result of a master key rotation: envelopes rewrapped, and envelopes that could not be opened."""

    active: str
    rewrapped: int
    unreadable: int


@dataclass(frozen=True, slots=True)
class KeysAtRest:
    """Stored keys, of providers and of sources: how many open with the master keys of this process, and why others do
    not, each an error of `KeyVault`.
    """

    opened: int
    refused: tuple[Misconfigured | Permanent, ...]


class ManageProviderKeys:
    """The use cases behind `setProviderKey` and its siblings. `on_change` is called with each organisation whose keys
    changed in this process.
    """

    def __init__(
        self,
        database: Database,
        vault: KeyVault,
        homes: MasterKeyUsage,
        clock: Clock,
        telemetry: Telemetry,
        *,
        allowed_urls: Collection[str] = (),
        on_change: Callable[[UUID], None] = lambda _: None,
    ) -> None:
        self._database = database
        self._vault = vault
        self._homes = homes
        self._clock = clock
        self._telemetry = telemetry
        self._allowed_urls = frozenset(allowed_urls)
        self._on_change = on_change

    async def all(self, org_id: UUID) -> list[ProviderKey]:
        """The stored keys by the provider's name, without the key itself."""
        async with self._database.transaction(org_id) as transaction:
            return await transaction.providers.keys()

    async def set(self, org_id: UUID, given: NewProviderKey, actor: str) -> ProviderKey:
        """Store a key; it replaces the provider's earlier one.

        Errors: `InvalidInput` codes PROVIDER_KEY_INVALID, PROVIDER_URL_REFUSED; `Misconfigured` code
        MASTER_KEY_MISSING.
        """
        checked = validate_key(given, self._allowed_urls)
        now = self._clock.now()
        key = ProviderKey(
            provider=checked.provider,
            sealed=self._vault.seal(org_id, checked.provider.value, checked.key),
            hint=checked.hint,
            base_url=checked.base_url,
            set_by=actor,
            created_at=now,
            updated_at=now,
        )
        async with self._database.transaction(org_id) as transaction:
            stored = await transaction.providers.put(key)
            await self._audit(transaction, AuditAction.SET_PROVIDER_KEY, checked.provider.value, actor)
            # Documents that failed for want of a key go on; one that still misses another key fails again.
            await transaction.jobs.repeat_failed(MissingProviderKey.code)
        self._on_change(org_id)
        return stored

    async def remove(self, org_id: UUID, provider: Provider, actor: str) -> bool:
        """Delete a key; False when there was none."""
        async with self._database.transaction(org_id) as transaction:
            removed = await transaction.providers.remove(provider)
            if removed:
                await self._audit(transaction, AuditAction.REMOVE_PROVIDER_KEY, provider.value, actor)
        self._on_change(org_id)
        return removed

    async def rotate(self, actor: str = SYSTEM_ACTOR) -> RotationReport:
        """Rewrap every envelope of every organisation with the active master key. Rotation may be repeated, and may run
        while keys are used and stored. Errors: `Misconfigured` code MASTER_KEY_MISSING (an envelope names a master key
        that this process lacks); the envelopes before it stay rewrapped.
        """
        rewrapped = unreadable = 0
        active = self._vault.active
        for org_id in await self._homes.organisations_to_rewrap(active):
            async with self._database.transaction(org_id) as transaction:
                for store in (transaction.providers, transaction.sources):
                    for owner, before in (await store.envelopes()).items():
                        if before.master_id == active:
                            continue
                        try:
                            after = self._vault.rewrap(org_id, owner, before)
                        except Permanent as error:
                            unreadable += 1
                            self._telemetry.event(
                                "rag_provider_key_unreadable", level="error", owner=owner, code=error.code
                            )
                            continue
                        if await store.rewrap(owner, before, after):
                            rewrapped += 1
                            await self._audit(transaction, AuditAction.ROTATE_MASTER_KEY, owner, actor)
        self._telemetry.event("rag_master_key_rotated", rewrapped=rewrapped, unreadable=unreadable)
        return RotationReport(active, rewrapped, unreadable)

    async def look_into(self) -> KeysAtRest:
        """Whether the stored keys of every organisation open here. No key is decrypted: only what wraps it."""
        opened, refused = 0, list[Misconfigured | Permanent]()
        # Every envelope has another master key than one without a name.
        for org_id in await self._homes.organisations_to_rewrap(""):
            async with self._database.transaction(org_id) as transaction:
                for store in (transaction.providers, transaction.sources):
                    for owner, sealed in (await store.envelopes()).items():
                        try:
                            self._vault.rewrap(org_id, owner, sealed)
                        except (Misconfigured, Permanent) as error:
                            refused.append(error)
                        else:
                            opened += 1
        return KeysAtRest(opened, tuple(refused))

    async def _audit(self, transaction: Transaction, action: AuditAction, owner: str, actor: str) -> None:
        await audit(transaction, self._telemetry, action, None, owner, actor)

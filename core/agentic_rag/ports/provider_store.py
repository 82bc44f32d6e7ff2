"""The keys that an organisation brought."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from agentic_rag.domain.provider_keys import Provider, ProviderKey, SealedKey


class ProviderStore(Protocol):
    """Inside a transaction of one organisation."""

    async def keys(self) -> list[ProviderKey]:
        """Every stored key, by the provider's name."""
        ...

    async def put(self, key: ProviderKey) -> ProviderKey:
        """Store a key in the place of the last one of its provider, whose `created_at` it keeps. As stored."""
        ...

    async def remove(self, provider: Provider) -> bool:
        """Forget a key; False when there was none."""
        ...

    async def rewrap(self, provider: Provider, before: SealedKey, after: SealedKey) -> bool:
        """Replace an envelope, unless it is not the one it was `before` any more (False)."""
        ...


class KeyHomes(Protocol):
    """Looks over all organisations, for the rotation of master keys."""

    async def wrapped_by_others(self, active: str) -> Sequence[UUID]:
        """Organisations with a key whose envelope names another master key than `active`."""
        ...

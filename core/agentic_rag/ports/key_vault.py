"""Encrypts the keys of organisations and opens them where they are used."""

from __future__ import annotations

from typing import Protocol
from uuid import UUID

from agentic_rag.domain.provider_keys import Provider, SealedKey
from agentic_rag.domain.secret import Secret


class KeyVault(Protocol):
    """Each envelope is bound to its organisation and provider: moved to another row it does not open.

    Errors of every call: `Misconfigured` code MASTER_KEY_MISSING when no master key is set, or not the one that an
    envelope names.
    """

    @property
    def active(self) -> str:
        """The id of the master key that wraps new data keys."""
        ...

    def seal(self, org_id: UUID, provider: Provider, key: Secret) -> SealedKey:
        """Encrypt a key under the active master key."""
        ...

    def open(self, org_id: UUID, provider: Provider, sealed: SealedKey) -> Secret:
        """The key. Errors: `Permanent` code PROVIDER_KEY_UNREADABLE when the envelope was changed or moved."""
        ...

    def rewrap(self, org_id: UUID, provider: Provider, sealed: SealedKey) -> SealedKey:
        """The same envelope with its data key wrapped by the active master key; the key itself is not opened.
        Errors: as `open`.
        """
        ...

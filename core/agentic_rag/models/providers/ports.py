"""Encrypts the keys of organisations and opens them where they are used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from agentic_rag.kernel.secret import Secret
from agentic_rag.models.chat.ports import ChatModel
from agentic_rag.models.embedding.ports import Embedder
from agentic_rag.models.embedding.space import EmbeddingSpace
from agentic_rag.models.providers.provider_keys import Provider, ProviderKey, SealedKey


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


class MasterKeyUsage(Protocol):
    """Looks over all organisations, for the rotation of master keys."""

    async def organisations_to_rewrap(self, active: str) -> Sequence[UUID]:
        """Organisations with a key whose envelope names another master key than `active`."""
        ...


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a call of an organisation's provider takes. `base_url` None: the operator's address of that provider."""

    provider: Provider
    key: Secret
    base_url: str | None


class ModelMaker(Protocol):
    """Clients are cheap: they share the connections of the process, so nobody has to close one."""

    def embedder(self, credentials: Credentials, space: EmbeddingSpace) -> Embedder:
        """An embedder in a space that the model can give by itself."""
        ...

    def chat(self, credentials: Credentials, model: str) -> ChatModel:
        """A chat model."""
        ...

"""Storage and encryption of provider keys, and the clients made with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from agentic_rag.kernel.secret import Secret
from agentic_rag.models.chat.ports import ChatModel
from agentic_rag.models.embedding.ports import Embedder
from agentic_rag.models.embedding.space import EmbeddingSpace
from agentic_rag.models.providers.provider_keys import Provider, ProviderKey, SealedKey


class KeyVault(Protocol):
    """Envelope encryption. An envelope is bound to its organisation and owner (a provider's name, or a source): in
    another row it does not open.

    Errors of every call: `Misconfigured` code MASTER_KEY_MISSING when the master key of the envelope, or any master
    key, is not set.
    """

    @property
    def active(self) -> str:
        """The id of the master key that wraps new data keys."""
        ...

    def seal(self, org_id: UUID, owner: str, key: Secret) -> SealedKey:
        """Encrypt a key under the active master key."""
        ...

    def open(self, org_id: UUID, owner: str, sealed: SealedKey) -> Secret:
        """The key. Errors: `Permanent` code PROVIDER_KEY_UNREADABLE when the envelope was changed or moved."""
        ...

    def rewrap(self, org_id: UUID, owner: str, sealed: SealedKey) -> SealedKey:
        """The envelope with its data key wrapped by the active master key, without decrypting the key.
        Errors: as `open`.
        """
        ...


class ProviderStore(Protocol):
    """Inside a transaction of one organisation."""

    async def keys(self) -> list[ProviderKey]:
        """All stored keys, by the provider's name."""
        ...

    async def put(self, key: ProviderKey) -> ProviderKey:
        """Store a key and return it as stored. It replaces the provider's earlier key and keeps its `created_at`."""
        ...

    async def remove(self, provider: Provider) -> bool:
        """Delete a key; False when there was none."""
        ...

    async def envelopes(self) -> Mapping[str, SealedKey]:
        """The envelope of every stored key, by the owner that it is bound to: the provider's name."""
        ...

    async def rewrap(self, owner: str, before: SealedKey, after: SealedKey) -> bool:
        """Replace the envelope `before` by `after`; False when the stored envelope is no longer `before`."""
        ...


class MasterKeyUsage(Protocol):
    """Reads across organisations, for the rotation of master keys."""

    async def organisations_to_rewrap(self, active: str) -> Sequence[UUID]:
        """Organisations with an envelope under another master key than `active`."""
        ...


@dataclass(frozen=True, slots=True)
class Credentials:
    """Key and address of an organisation's provider. `base_url` None: the operator's address of that provider."""

    provider: Provider
    key: Secret
    base_url: str | None


class ModelMaker(Protocol):
    """Creates clients. They share the connections of the process, so callers do not close them."""

    def embedder(self, credentials: Credentials, space: EmbeddingSpace) -> Embedder:
        """An embedder for a space that the model produces directly."""
        ...

    def chat(self, credentials: Credentials, model: str) -> ChatModel:
        """A chat model."""
        ...

"""`models.providers.ports.KeyVault` with AES-256-GCM: each key has a new data key, wrapped by a master key.

NIST SP 800-38D allows 2^32 messages with random 96-bit nonces under one key. A data key encrypts one message, and a
master key wraps one data key per stored key.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from agentic_rag.kernel.errors import Misconfigured, Permanent
from agentic_rag.kernel.secret import Secret
from agentic_rag.models.providers.provider_keys import KEY_BYTES, SealedKey, format_master_key

_NONCE_BYTES = 12


class EnvelopeVault:
    """`masters` by id, in the order of the settings: the first wraps new data keys, each can unwrap its own."""

    def __init__(self, masters: Mapping[str, bytes]) -> None:
        self._masters = dict(masters)

    @property
    def active(self) -> str:
        """The id of the master key that wraps new data keys. Errors: `Misconfigured` code MASTER_KEY_MISSING."""
        for master_id in self._masters:
            return master_id
        raise Misconfigured(
            "Provider keys cannot be stored without a master key: make one with `rag provider-key master` and set "
            "AGENTIC_RAG_MASTER_KEYS, the same for server and workers.",
            code="MASTER_KEY_MISSING",
        )

    def seal(self, org_id: UUID, owner: str, key: Secret) -> SealedKey:
        data_key, nonce = AESGCM.generate_key(bit_length=8 * KEY_BYTES), os.urandom(_NONCE_BYTES)
        ciphertext = AESGCM(data_key).encrypt(nonce, key.reveal().encode(), _bound_to(org_id, owner))
        return self._wrap_key(org_id, owner, data_key, nonce, ciphertext)

    def open(self, org_id: UUID, owner: str, sealed: SealedKey) -> Secret:
        data_key = self._data_key(org_id, owner, sealed)
        try:
            text = AESGCM(data_key).decrypt(sealed.nonce, sealed.ciphertext, _bound_to(org_id, owner))
        except InvalidTag as error:
            raise _unreadable(owner) from error
        return Secret(text.decode())

    def rewrap(self, org_id: UUID, owner: str, sealed: SealedKey) -> SealedKey:
        data_key = self._data_key(org_id, owner, sealed)
        return self._wrap_key(org_id, owner, data_key, sealed.nonce, sealed.ciphertext)

    def _wrap_key(self, org_id: UUID, owner: str, data_key: bytes, nonce: bytes, ciphertext: bytes) -> SealedKey:
        master_id, wrap_nonce = self.active, os.urandom(_NONCE_BYTES)
        wrapped = AESGCM(self._masters[master_id]).encrypt(wrap_nonce, data_key, _bound_to(org_id, owner))
        return SealedKey(master_id, wrap_nonce, wrapped, nonce, ciphertext)

    def _data_key(self, org_id: UUID, owner: str, sealed: SealedKey) -> bytes:
        master = self._masters.get(sealed.master_id)
        if master is None:
            raise Misconfigured(
                f"The key of {owner} is wrapped by the master key {sealed.master_id!r}, which this process "
                "does not have: add it to AGENTIC_RAG_MASTER_KEYS, behind the first.",
                code="MASTER_KEY_MISSING",
            )
        try:
            return AESGCM(master).decrypt(sealed.wrap_nonce, sealed.wrapped_key, _bound_to(org_id, owner))
        except InvalidTag as error:
            raise _unreadable(owner) from error


def fresh_master(master_id: str) -> str:
    """A new master key in the format of AGENTIC_RAG_MASTER_KEYS."""
    return format_master_key(master_id, AESGCM.generate_key(bit_length=8 * KEY_BYTES))


def _bound_to(org_id: UUID, owner: str) -> bytes:
    return org_id.bytes + owner.encode()


def _unreadable(owner: str) -> Permanent:
    return Permanent(
        f"The stored key of {owner} cannot be opened: its row was changed, or the master key of that id is "
        "another one. Store the key again.",
        code="PROVIDER_KEY_UNREADABLE",
    )

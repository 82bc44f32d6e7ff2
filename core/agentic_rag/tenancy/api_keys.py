"""API keys: their stored form, their rights and the format of their tokens."""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from agentic_rag.tenancy.principals import KeyScope, Role

PREFIX = "rag_"
"""The start of every token, so that secret scanners find it and no token looks like a JWT."""

SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A stored key. Only its holder knows the token."""

    key_id: UUID
    name: str
    subject: str
    role: Role
    groups: tuple[str, ...]
    scopes: frozenset[KeyScope] | None
    """None: all rights of the role."""
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None
    """Accurate to about a minute."""

    def is_valid(self, now: datetime) -> bool:
        """Whether the key opens anything."""
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > now)


def token_from(secret: bytes) -> str:
    """The token made from `SECRET_BYTES` random bytes."""
    return PREFIX + urlsafe_b64encode(secret).decode("ascii").rstrip("=")


def token_hash(token: str) -> bytes:
    """The stored hash of a token. A fast hash is enough for 256 random bits."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


@dataclass(frozen=True, slots=True)
class NewApiKey:
    """A key to store; it holds only the SHA-256 (32 bytes) of the token."""

    key_hash: bytes
    name: str
    subject: str
    role: Role
    groups: tuple[str, ...] = ()
    scopes: frozenset[KeyScope] | None = None
    expires_at: datetime | None = None

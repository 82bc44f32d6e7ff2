"""API keys: what one is, what it may do, and how its token looks."""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from agentic_rag.tenancy.principals import KeyScope, Role

PREFIX = "rag_"
"""Every token of a key begins so: secret scanners find it, and it looks like no JWT."""

SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as stored: the token itself is known to nobody but its holder."""

    key_id: UUID
    name: str
    subject: str
    role: Role
    groups: tuple[str, ...]
    scopes: frozenset[KeyScope] | None
    """None: all that the role may do."""
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None
    """To the minute or so."""


def token_from(secret: bytes) -> str:
    """The token of a key made from `SECRET_BYTES` of randomness."""
    return PREFIX + urlsafe_b64encode(secret).decode("ascii").rstrip("=")


def token_hash(token: str) -> bytes:
    """What is stored of a token: a fast hash is enough for 256 random bits."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


@dataclass(frozen=True, slots=True)
class NewApiKey:
    """A key to be stored: only the SHA-256 (32 bytes) of its token is known here."""

    key_hash: bytes
    name: str
    subject: str
    role: Role
    groups: tuple[str, ...] = ()
    scopes: frozenset[KeyScope] | None = None
    expires_at: datetime | None = None

"""Fresh identifiers and randomness, as a port, so that the core stays deterministic."""

from __future__ import annotations

import hashlib
import hmac
from typing import Protocol
from uuid import UUID


class Ids(Protocol):
    """Makes new ids and jitter."""

    def new(self) -> UUID:
        """A fresh, time-ordered UUID (version 7 layout)."""
        ...

    def trace_id(self) -> str:
        """A fresh W3C trace id: 32 lower-case hex digits."""
        ...

    def jitter(self) -> float:
        """A uniform number in [0, 1)."""
        ...


def unix_seconds(made: UUID) -> float | None:
    """When an id of the version 7 layout was made; None for any other."""
    return (made.int >> 80) / 1000 if made.version == 7 else None


def derive_uuid(*parts: bytes, key: bytes = b"") -> UUID:
    """A UUID (version 8) of the parts by SHA-256, each part with its length, so that no two lists of parts meet. Under
    a secret `key` (HMAC) nobody else can work it out.
    """
    digest = hmac.new(key, digestmod="sha256") if key else hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    # Version 8 (RFC 9562) by hand: the uuid module of Python 3.11 knows versions 1 to 5 only.
    raw = bytearray(digest.digest()[:16])
    raw[6] = raw[6] & 0x0F | 0x80
    raw[8] = raw[8] & 0x3F | 0x80
    return UUID(bytes=bytes(raw))

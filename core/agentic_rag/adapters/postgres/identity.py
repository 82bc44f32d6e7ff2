"""`ports.Identity` on Postgres: API keys, known by the SHA-256 of their token."""

from __future__ import annotations

import hashlib
from collections import OrderedDict

from agentic_rag.adapters.postgres.pool import PostgresPool
from agentic_rag.domain.errors import Unauthenticated
from agentic_rag.domain.tenancy import Principal, Role
from agentic_rag.ports.clock import Clock

AUTHENTICATE = "SELECT org_id, subject, role, groups FROM rag_authenticate($1)"

MAX_SECONDS = 30.0
"""A revoked key works no longer than this."""

_MAX_ENTRIES = 10_000


class PostgresIdentity:
    """Verifies API keys; a verified one is remembered for `seconds` (at most 30). Refusals are not remembered."""

    def __init__(self, pool: PostgresPool, clock: Clock, seconds: float = MAX_SECONDS) -> None:
        self._pool = pool
        self._clock = clock
        self._seconds = min(seconds, MAX_SECONDS)
        self._known: OrderedDict[bytes, tuple[Principal, float]] = OrderedDict()

    async def authenticate(self, token: str) -> Principal:
        """The principal of a valid token. Errors: `Unauthenticated`, `DependencyUnavailable`."""
        digest = hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
        now = self._clock.monotonic()
        known = self._known.get(digest)
        if known is not None and now < known[1]:
            return known[0]
        async with self._pool.connection() as connection:
            row = await connection.fetchrow(AUTHENTICATE, digest)
        if row is None or row["org_id"] is None:
            self._known.pop(digest, None)
            raise Unauthenticated("The API key is unknown, expired or revoked.")
        principal = Principal(row["org_id"], row["subject"], Role(row["role"]), tuple(row["groups"]))
        self._known[digest] = (principal, now + self._seconds)
        if len(self._known) > _MAX_ENTRIES:
            self._known.popitem(last=False)
        return principal

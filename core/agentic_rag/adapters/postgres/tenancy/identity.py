"""`tenancy.ports.Identity` on Postgres: API keys, looked up by the SHA-256 of their token."""

from __future__ import annotations

import asyncio
from functools import partial
from uuid import UUID

from agentic_rag.adapters.postgres.session.connection import Row, value_from
from agentic_rag.adapters.postgres.session.pool import PostgresPool
from agentic_rag.adapters.postgres.tenancy.api_keys import read_scopes
from agentic_rag.adapters.verified_principals import VerifiedPrincipals
from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.errors import AgenticRagError, KeyUnknown
from agentic_rag.tenancy.api_keys import token_hash
from agentic_rag.tenancy.principals import Principal, SubjectKind

AUTHENTICATE = "SELECT org_id, key_id, subject, role, groups, scopes, expires_at FROM rag_authenticate($1)"

# Several processes may use one key: at most one write a minute.
TOUCH = """
UPDATE rag_api_keys SET last_used_at = now()
WHERE org_id = $1 AND key_id = $2 AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')
"""

MAX_SECONDS = 30.0
"""Longest time in seconds that a revoked key keeps working."""


class PostgresIdentity:
    """Verifies API keys and caches a verified one for `seconds` (at most 30), never past its expiry. A background task
    records the use of a key, at most once a minute.
    """

    def __init__(self, pool: PostgresPool, clock: Clock, seconds: float = MAX_SECONDS) -> None:
        self._pool = pool
        self._clock = clock
        self._seconds = min(seconds, MAX_SECONDS)
        self._verified = VerifiedPrincipals(clock)
        self._touching: set[asyncio.Task[None]] = set()

    async def authenticate(self, token: str) -> Principal:
        """The principal of a valid token. Errors: `KeyUnknown`, `DependencyUnavailable`."""
        digest = token_hash(token)
        known = self._verified.get(digest)
        if known is not None:
            return known
        row = await self._pool.prompt_read((AUTHENTICATE, digest), partial(self._look, digest))
        if row is None or row["org_id"] is None:
            raise KeyUnknown("The API key is unknown, expired or revoked.")
        principal = value_from(
            Principal,
            row,
            scopes=read_scopes(row["scopes"]),
            kind=SubjectKind.KEY,
            credential=f"api_key:{row['key_id']}",
        )
        expires_at = row["expires_at"]
        left = self._seconds if expires_at is None else (expires_at - self._clock.now()).total_seconds()
        self._verified.put(digest, principal, min(self._seconds, left))
        self._touch_behind(row["org_id"], row["key_id"])
        return principal

    async def _look(self, digest: bytes) -> Row | None:
        async with self._pool.connection() as connection:
            return await connection.fetchrow(AUTHENTICATE, digest)

    async def aclose(self) -> None:
        """Wait for pending writes."""
        if self._touching:
            await asyncio.wait(self._touching)

    def _touch_behind(self, org_id: UUID, key_id: UUID) -> None:
        task = asyncio.create_task(self._touch(org_id, key_id))
        self._touching.add(task)
        task.add_done_callback(self._touching.discard)

    async def _touch(self, org_id: UUID, key_id: UUID) -> None:
        try:
            async with self._pool.transaction(org_id) as connection:
                await connection.execute(TOUCH, org_id, key_id)
        except AgenticRagError:
            # A failed write is dropped: the next use of the key writes again.
            return

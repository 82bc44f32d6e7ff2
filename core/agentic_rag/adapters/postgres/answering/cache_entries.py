"""`answering.ports.AnswerCache` on Postgres. An erasure deletes the workspace's entries in its own transaction."""

from __future__ import annotations

from agentic_rag.adapters.postgres.session.pool import BOUND, PostgresPool
from agentic_rag.kernel.errors import AgenticRagError, NotFound
from agentic_rag.tenancy.principals import WorkspaceRef

# A function that runs as the owner: no tenant transaction, one round trip.
GET = f"SELECT rag_cached_answer(bound.org_id, $2, $3) FROM {BOUND}"  # noqa: S608 - a constant

PUT = """
INSERT INTO rag_cache_entries (org_id, workspace_id, key, answer, expires_at)
VALUES ($1, $2, $3, $4, now() + make_interval(secs => $5))
ON CONFLICT (org_id, workspace_id, key) DO UPDATE
SET answer = excluded.answer, created_at = now(), expires_at = excluded.expires_at
"""

# Each write deletes up to eight expired entries of the organisation.
SWEEP = """
DELETE FROM rag_cache_entries
WHERE org_id = $1 AND ctid = ANY (ARRAY (
    SELECT ctid FROM rag_cache_entries WHERE org_id = $1 AND expires_at <= now() LIMIT 8 FOR UPDATE SKIP LOCKED
))
"""

FORGET = "DELETE FROM rag_cache_entries WHERE org_id = $1 AND workspace_id = $2"

HOLDING = """
SELECT count(*) FROM rag_cache_entries WHERE org_id = $1 AND workspace_id = $2 AND position($3::bytea IN answer) > 0
"""

NOT_DURABLE = "SET LOCAL synchronous_commit = off"


class PostgresAnswerCache:
    """A cache that is down behaves as empty, except in `forget` and `holding`, which raise."""

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool
        self._available = True

    @property
    def available(self) -> bool:
        return self._available

    async def get(self, workspace: WorkspaceRef, key: str) -> bytes | None:
        try:
            async with self._pool.connection() as connection:
                value: bytes | None = await connection.fetchval(GET, *workspace.key, key)
        except AgenticRagError:
            self._available = False
            return None
        self._available = True
        return value

    async def put(self, workspace: WorkspaceRef, key: str, value: bytes, ttl_seconds: int) -> None:
        """Store for at most `ttl_seconds`; an unknown workspace stores nothing."""
        org_id = workspace.org_id
        try:
            async with self._pool.transaction(org_id, settings=NOT_DURABLE) as connection:
                await connection.execute(PUT, org_id, workspace.workspace_id, key, value, ttl_seconds)
                await connection.execute(SWEEP, org_id)
        except NotFound:
            return
        except AgenticRagError:
            self._available = False
            return
        self._available = True

    async def forget(self, workspace: WorkspaceRef) -> int:
        async with self._pool.transaction(workspace.org_id) as connection:
            gone = await connection.change(FORGET, *workspace.key)
        self._available = True
        return gone

    async def holding(self, workspace: WorkspaceRef, words: bytes) -> int:
        async with self._pool.transaction(workspace.org_id) as connection:
            found: int = await connection.fetchval(HOLDING, *workspace.key, words)
        return found

    async def aclose(self) -> None:
        """Do nothing: the owner of the pool closes it."""

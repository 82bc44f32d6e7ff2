"""`ports.Organisations` on Postgres."""

from __future__ import annotations

from uuid import UUID

from agentic_rag.adapters.postgres.pool import PostgresPool
from agentic_rag.ports.organisations import NewApiKey

ENSURE_ORGANISATION = """
INSERT INTO rag_organizations (org_id, name) VALUES ($1, $2)
ON CONFLICT (org_id) DO NOTHING
"""

ENSURE_API_KEY = """
INSERT INTO rag_api_keys (org_id, key_id, key_hash, name, subject, role, groups, expires_at)
SELECT $1, gen_random_uuid(), $2, $3, $4, $5, $6, $7
WHERE NOT EXISTS (SELECT FROM rag_api_keys WHERE org_id = $1 AND key_hash = $2)
"""


class PostgresOrganisations:
    """Both calls may be repeated and change nothing the second time."""

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool

    async def ensure_organisation(self, org_id: UUID, name: str) -> None:
        """Make the organisation when it does not exist."""
        async with self._pool.transaction(org_id) as connection:
            await connection.execute(ENSURE_ORGANISATION, org_id, name)

    async def ensure_api_key(self, org_id: UUID, key: NewApiKey) -> None:
        """Store the key when the organisation has none with that hash. Errors: `NotFound` (organisation)."""
        async with self._pool.transaction(org_id) as connection:
            await connection.execute(
                ENSURE_API_KEY,
                org_id,
                key.key_hash,
                key.name,
                key.subject,
                key.role.value,
                list(key.groups),
                key.expires_at,
            )

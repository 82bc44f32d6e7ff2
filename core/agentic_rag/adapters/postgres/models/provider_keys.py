"""`models.providers.ports.ProviderStore` and `models.providers.ports.MasterKeyUsage` on Postgres. The database holds
encrypted keys only; the master key that decrypts them is elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple
from uuid import UUID

from agentic_rag.adapters.postgres.session.connection import PostgresConnection, Row, value_from
from agentic_rag.adapters.postgres.session.pool import PostgresPool
from agentic_rag.models.providers.provider_keys import Provider, ProviderKey, SealedKey

_COLUMNS = """
    provider, master_id, wrap_nonce, wrapped_key, nonce, ciphertext, hint, base_url, set_by, created_at, updated_at
"""

KEYS = f"SELECT {_COLUMNS} FROM rag_provider_keys WHERE org_id = $1 ORDER BY provider"  # noqa: S608

# The key's columns are in the order of the fields of `SealedKey`.
PUT = f"""
INSERT INTO rag_provider_keys
    (org_id, provider, master_id, wrap_nonce, wrapped_key, nonce, ciphertext, hint, base_url, set_by)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT (org_id, provider) DO UPDATE SET
    master_id = excluded.master_id, wrap_nonce = excluded.wrap_nonce, wrapped_key = excluded.wrapped_key,
    nonce = excluded.nonce, ciphertext = excluded.ciphertext, hint = excluded.hint, base_url = excluded.base_url,
    set_by = excluded.set_by, updated_at = clock_timestamp()
RETURNING {_COLUMNS}
"""  # noqa: S608 - a constant list of columns

REMOVE = "DELETE FROM rag_provider_keys WHERE org_id = $1 AND provider = $2"

REWRAP = """
UPDATE rag_provider_keys SET master_id = $4, wrap_nonce = $5, wrapped_key = $6
WHERE org_id = $1 AND provider = $2 AND wrapped_key = $3
"""

WRAPPED_BY_OTHERS = "SELECT rag_provider_key_homes($1) AS org_id"


class PostgresProviderStore:
    """On a connection whose transaction is open and set to `org_id`."""

    def __init__(self, connection: PostgresConnection, org_id: UUID) -> None:
        self._connection = connection
        self._org_id = org_id

    async def keys(self) -> list[ProviderKey]:
        return [_key(row) for row in await self._connection.fetch(KEYS, self._org_id)]

    async def put(self, key: ProviderKey) -> ProviderKey:
        sealed = astuple(key.sealed)
        row = await self._connection.fetchrow(
            PUT, self._org_id, key.provider.value, *sealed, key.hint, key.base_url, key.set_by
        )
        return key if row is None else _key(row)

    async def remove(self, provider: Provider) -> bool:
        return await self._connection.change(REMOVE, self._org_id, provider.value) == 1

    async def envelopes(self) -> Mapping[str, SealedKey]:
        return {key.provider.value: key.sealed for key in await self.keys()}

    async def rewrap(self, owner: str, before: SealedKey, after: SealedKey) -> bool:
        done = await self._connection.change(
            REWRAP,
            self._org_id,
            owner,
            before.wrapped_key,
            after.master_id,
            after.wrap_nonce,
            after.wrapped_key,
        )
        return done == 1


class PostgresMasterKeyUsage:
    """Calls a function of the owner that returns ids of organisations and nothing else."""

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool

    async def organisations_to_rewrap(self, active: str) -> Sequence[UUID]:
        async with self._pool.connection() as connection:
            return [row["org_id"] for row in await connection.fetch(WRAPPED_BY_OTHERS, active)]


def _key(row: Row) -> ProviderKey:
    return value_from(ProviderKey, row, sealed=value_from(SealedKey, row))

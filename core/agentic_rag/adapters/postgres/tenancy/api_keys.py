"""`tenancy.ports.ApiKeyStore` on Postgres."""

from __future__ import annotations

from uuid import UUID

from agentic_rag.adapters.postgres.session.connection import PostgresConnection, Row, value_from
from agentic_rag.kernel.errors import NotFound
from agentic_rag.tenancy.api_keys import ApiKey, NewApiKey
from agentic_rag.tenancy.principals import KeyScope

_COLUMNS = "key_id, name, subject, role, groups, scopes, created_at, expires_at, revoked_at, last_used_at"

ADD = f"""
INSERT INTO rag_api_keys (org_id, key_id, key_hash, name, subject, role, groups, scopes, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
RETURNING {_COLUMNS}
"""  # noqa: S608 - a constant list of columns

ALL = f"SELECT {_COLUMNS} FROM rag_api_keys WHERE org_id = $1 ORDER BY created_at DESC, key_id"  # noqa: S608

REVOKE = f"""
UPDATE rag_api_keys SET revoked_at = coalesce(revoked_at, now()) WHERE org_id = $1 AND key_id = $2
RETURNING {_COLUMNS}
"""  # noqa: S608


class PostgresApiKeyStore:
    """Inside a transaction of one organisation."""

    def __init__(self, connection: PostgresConnection, org_id: UUID) -> None:
        self._connection = connection
        self._org_id = org_id

    async def add(self, key_id: UUID, key: NewApiKey) -> ApiKey:
        row = await self._connection.fetchrow(ADD, self._org_id, key_id, *api_key_arguments(key))
        if row is None:
            raise NotFound("There is no such organisation.")
        return _key(row)

    async def all(self) -> list[ApiKey]:
        return [_key(row) for row in await self._connection.fetch(ALL, self._org_id)]

    async def revoke(self, key_id: UUID) -> ApiKey | None:
        row = await self._connection.fetchrow(REVOKE, self._org_id, key_id)
        return None if row is None else _key(row)


def api_key_arguments(key: NewApiKey) -> tuple[object, ...]:
    """The values of the columns key_hash, name, subject, role, groups, scopes and expires_at."""
    scopes = None if key.scopes is None else sorted(scope.value for scope in key.scopes)
    return key.key_hash, key.name, key.subject, key.role.value, list(key.groups), scopes, key.expires_at


def read_scopes(stored: list[str] | None) -> frozenset[KeyScope] | None:
    """Scopes from a row; a scope that another version of the product wrote is ignored."""
    return None if stored is None else frozenset(scope for scope in KeyScope if scope.value in stored)


def _key(row: Row) -> ApiKey:
    return value_from(ApiKey, row, scopes=read_scopes(row["scopes"]))

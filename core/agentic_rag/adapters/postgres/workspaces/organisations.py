"""`workspaces.ports.Organisations` and `workspaces.ports.OrganisationStore` on Postgres."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any
from uuid import UUID

import msgspec

from agentic_rag.adapters.postgres.session.connection import PostgresConnection, Row
from agentic_rag.adapters.postgres.session.pool import PostgresPool
from agentic_rag.adapters.postgres.tenancy.api_keys import api_key_arguments
from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag.kernel.text import is_storable
from agentic_rag.tenancy.api_keys import NewApiKey
from agentic_rag.workspaces.organisation import FeatureFlag, Organisation, OrganisationSettings

FIND = "SELECT rag_find_organization($1)"

CURRENT = "SELECT org_id, name, external_ref, settings, created_at FROM rag_organizations WHERE org_id = $1"

LOCK = f"{CURRENT} FOR UPDATE"

# Merges: keys that another version of the product wrote stay.
CHANGE = """
UPDATE rag_organizations SET settings = settings || $2 WHERE org_id = $1
RETURNING org_id, name, external_ref, settings, created_at
"""

NAME_IS_FREE = "SELECT rag_organization_name_is_free($1)"

RENAME = """
UPDATE rag_organizations SET name = $2 WHERE org_id = $1
RETURNING org_id, name, external_ref, settings, created_at
"""

ENSURE_ORGANISATION = """
INSERT INTO rag_organizations (org_id, name) VALUES ($1, $2)
ON CONFLICT (org_id) DO NOTHING
"""

ENSURE_API_KEY = """
INSERT INTO rag_api_keys (org_id, key_id, key_hash, name, subject, role, groups, scopes, expires_at)
SELECT $1, gen_random_uuid(), $2, $3, $4, $5, $6, $7, $8
WHERE NOT EXISTS (SELECT FROM rag_api_keys WHERE org_id = $1 AND key_hash = $2)
"""


class PostgresOrganisations:
    """Each call opens its own transaction."""

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool

    async def ensure_organisation(self, org_id: UUID, name: str) -> None:
        async with self._pool.transaction(org_id) as connection:
            await connection.execute(ENSURE_ORGANISATION, org_id, name)

    async def find(self, reference: str) -> UUID | None:
        if not is_storable(reference):
            return None
        return await self._pool.prompt_read((FIND, reference), partial(self._find, reference))

    async def _find(self, reference: str) -> UUID | None:
        async with self._pool.connection() as connection:
            found: UUID | None = await connection.fetchval(FIND, reference)
            return found

    async def ensure_api_key(self, org_id: UUID, key: NewApiKey) -> None:
        async with self._pool.transaction(org_id) as connection:
            await connection.execute(ENSURE_API_KEY, org_id, *api_key_arguments(key))


class PostgresOrganisationStore:
    """Inside a transaction of one organisation. Every call raises `NotFound` when the organisation does not exist."""

    def __init__(self, connection: PostgresConnection, org_id: UUID) -> None:
        self._connection = connection
        self._org_id = org_id

    async def current(self) -> Organisation:
        return organisation_from(await self._connection.fetchrow(CURRENT, self._org_id))

    async def rename(self, name: str) -> Organisation:
        if not await self._connection.fetchval(NAME_IS_FREE, name):
            raise InvalidInput(
                f"An organisation with the name {name!r} exists already.", code="ORGANISATION_EXISTS", path=("name",)
            )
        return organisation_from(await self._connection.fetchrow(RENAME, self._org_id, name))

    async def change(self, apply: Callable[[OrganisationSettings], OrganisationSettings]) -> Organisation:
        before = organisation_from(await self._connection.fetchrow(LOCK, self._org_id))
        stored = settings_to_json(apply(before.settings))
        return organisation_from(await self._connection.fetchrow(CHANGE, self._org_id, stored))


def organisation_from(row: Row | None) -> Organisation:
    """An organisation from its row. Errors: `NotFound` for no row."""
    if row is None:
        raise NotFound("There is no such organisation.")
    return Organisation(row["org_id"], row["name"], row["external_ref"], row["created_at"], _settings(row["settings"]))


def settings_to_json(settings: OrganisationSettings) -> dict[str, Any]:
    """Settings as the column holds them."""
    return {**msgspec.to_builtins(settings), "flags": {flag.value: settings.is_on(flag) for flag in FeatureFlag}}


def _settings(stored: Mapping[str, Any]) -> OrganisationSettings:
    stated = stored.get("flags", {})
    flags = frozenset(flag for flag in FeatureFlag if stated.get(flag.value) is True)
    return msgspec.convert({**stored, "flags": flags}, OrganisationSettings)

"""`workspaces.ports.OrganisationRegister` on Postgres, as the owner of the tables: the policies let it see every
tenant.
"""

from __future__ import annotations

from contextlib import aclosing
from uuid import UUID

from agentic_rag.adapters.postgres.session.pool import PoolOptions, PostgresPool
from agentic_rag.adapters.postgres.workspaces.organisations import organisation_from, settings_to_json
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.workspaces.organisation import Organisation, OrganisationSettings

# A lock instead of a unique index: an index key without the tenant would reveal other tenants' names.
ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(hashtextextended('rag_organizations', 3))"

TAKEN = "SELECT EXISTS (SELECT FROM rag_organizations WHERE name = $1 OR external_ref = $2)"

CREATE = """
INSERT INTO rag_organizations (org_id, name, external_ref, settings) VALUES ($1, $2, $3, $4)
RETURNING org_id, name, external_ref, settings, created_at
"""

ALL = "SELECT org_id, name, external_ref, settings, created_at FROM rag_organizations ORDER BY name, org_id"


class PostgresOrganisationRegister:
    """Opens a connection for each call."""

    def __init__(self, dsn: str, role: str = "rag_owner") -> None:
        self._dsn = dsn
        self._options = PoolOptions(role=role, application_name="agentic-rag tenants", max_size=1)

    async def create(
        self,
        org_id: UUID,
        name: str,
        external_ref: str | None,
        settings: OrganisationSettings = OrganisationSettings(),  # noqa: B008 - frozen
    ) -> Organisation:
        async with aclosing(PostgresPool(self._dsn, self._options)) as pool, pool.transaction(org_id) as connection:
            await connection.execute(ONE_AT_A_TIME)
            if await connection.fetchval(TAKEN, name, external_ref):
                raise InvalidInput(
                    "There is an organisation with that name or external id; `rag tenant list` shows them.",
                    code="ORGANISATION_EXISTS",
                )
            stored = settings_to_json(settings)
            return organisation_from(await connection.fetchrow(CREATE, org_id, name, external_ref, stored))

    async def all(self) -> list[Organisation]:
        async with aclosing(PostgresPool(self._dsn, self._options)) as pool, pool.connection() as connection:
            return [organisation_from(row) for row in await connection.fetch(ALL)]

"""`workspaces.ports.OrganisationRegister` on Postgres, as the owner of the tables: the policies let it see every
tenant.
"""

# asyncpg ships no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import asyncpg
import orjson

from agentic_rag.adapters.postgres.session.connection import DRIVER_ERRORS
from agentic_rag.adapters.postgres.session.errors import translate
from agentic_rag.adapters.postgres.workspaces.organisations import organisation_from
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.workspaces.organisation import Organisation

# A lock instead of a unique index: an index key without the tenant would reveal other tenants' names.
ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(hashtextextended('rag_organizations', 3))"

TAKEN = "SELECT EXISTS (SELECT FROM rag_organizations WHERE name = $1 OR external_ref = $2)"

BIND = "SELECT set_config('rag.org_id', $1::text, true)"

CREATE = """
INSERT INTO rag_organizations (org_id, name, external_ref) VALUES ($1, $2, $3)
RETURNING org_id, name, external_ref, settings, created_at
"""

ALL = "SELECT org_id, name, external_ref, settings, created_at FROM rag_organizations ORDER BY name, org_id"


class PostgresOrganisationRegister:
    """Opens a connection for each call."""

    def __init__(self, dsn: str, role: str = "rag_owner", connect_seconds: float = 10.0) -> None:
        self._dsn = dsn
        self._role = role
        self._connect_seconds = connect_seconds

    async def create(self, org_id: UUID, name: str, external_ref: str | None) -> Organisation:
        async with self._open_connection() as connection, connection.transaction():
            await connection.execute(ONE_AT_A_TIME)
            if await connection.fetchval(TAKEN, name, external_ref):
                raise InvalidInput(
                    "There is an organisation with that name or external id; `rag tenant list` shows them.",
                    code="ORGANISATION_EXISTS",
                )
            await connection.fetchval(BIND, str(org_id))
            return organisation_from(await connection.fetchrow(CREATE, org_id, name, external_ref))

    async def all(self) -> list[Organisation]:
        async with self._open_connection() as connection:
            return [organisation_from(row) for row in await connection.fetch(ALL)]

    @asynccontextmanager
    async def _open_connection(self) -> AsyncGenerator[Any]:
        settings = {"role": self._role, "application_name": "agentic-rag tenants", "search_path": "public"}
        connect: Any = asyncpg.connect
        try:
            connection = await connect(self._dsn, timeout=self._connect_seconds, server_settings=settings)
            try:
                await connection.set_type_codec(
                    "jsonb", schema="pg_catalog", encoder=_encode_json, decoder=orjson.loads, format="text"
                )
                yield connection
            finally:
                await connection.close()
        except DRIVER_ERRORS as error:
            raise translate(error) from error


def _encode_json(value: Any) -> str:
    return orjson.dumps(value).decode()

"""`ingestion.sources.ports.SourceStore` on Postgres. The database holds encrypted credentials only."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, astuple
from uuid import UUID

from agentic_rag.adapters.postgres.session.connection import PostgresConnection, Row, value_from
from agentic_rag.documents.document import DocumentStatus
from agentic_rag.ingestion.sources.source import NewSource, Source, SourceHealth
from agentic_rag.models.providers.provider_keys import SealedKey
from agentic_rag.tenancy.access import Hiding
from agentic_rag.tenancy.principals import WorkspaceRef

_SEALED = "master_id, wrap_nonce, wrapped_key, nonce, ciphertext"
_COLUMNS = f"""
    workspace_id, source_id, name, kind, location, prefix, include, readable_by, every_seconds, options, is_internal,
    added_by, created_at, is_leaving, cursor, failures, error_code, error_message, counts, unreadable, started_at,
    synced_at, next_at, {_SEALED}
"""

# The credential's columns are in the order of the fields of `SealedKey`.
ADD = f"""
INSERT INTO rag_sources
    (org_id, workspace_id, source_id, name, kind, location, prefix, include, readable_by, every_seconds, options,
     is_internal, added_by, {_SEALED}, next_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::text::jsonb, $12, $13, $14, $15, $16, $17, $18,
        CASE WHEN $10 > 0 THEN clock_timestamp() END)
ON CONFLICT (org_id, workspace_id, name) DO NOTHING
"""  # noqa: S608 - a constant list of columns

ALL = f"SELECT {_COLUMNS} FROM rag_sources WHERE org_id = $1 AND workspace_id = $2 ORDER BY name"  # noqa: S608

GET = f"SELECT {_COLUMNS} FROM rag_sources WHERE org_id = $1 AND workspace_id = $2 AND source_id = $3"  # noqa: S608

RECORD = """
UPDATE rag_sources
SET cursor = $4, failures = $5, error_code = $6, error_message = $7, counts = $8::text::jsonb,
    unreadable = $9::text::jsonb, started_at = $10, synced_at = $11, next_at = $12
WHERE org_id = $1 AND workspace_id = $2 AND source_id = $3
"""

MARK_LEAVING = """
UPDATE rag_sources SET is_leaving = true WHERE org_id = $1 AND workspace_id = $2 AND source_id = $3
"""

REMOVE = "DELETE FROM rag_sources WHERE org_id = $1 AND workspace_id = $2 AND source_id = $3"

# The mark of a missing document comes before every other one.
DOCUMENT_COUNTS = """
SELECT d.status, count(*) AS documents FROM rag_documents d
LEFT JOIN rag_access_sets g ON g.org_id = $1 AND g.workspace_id = $2 AND g.access_id = d.access_id
WHERE d.org_id = $1 AND d.workspace_id = $2 AND d.provenance ->> 'source' = $3
  AND NOT coalesce(starts_with(g.principals[1], $4), false)
GROUP BY d.status
"""

BROUGHT = """
SELECT DISTINCT provenance ->> 'source' AS source FROM rag_documents
WHERE org_id = $1 AND workspace_id = $2 AND provenance ->> 'source' IS NOT NULL
"""

ENVELOPES = f"""
SELECT source_id, {_SEALED} FROM rag_sources WHERE org_id = $1 AND master_id IS NOT NULL
"""  # noqa: S608 - a constant list of columns

REWRAP = """
UPDATE rag_sources SET master_id = $4, wrap_nonce = $5, wrapped_key = $6
WHERE org_id = $1 AND 'source:' || source_id::text = $2 AND wrapped_key = $3
"""


class PostgresSourceStore:
    """On a connection whose transaction is open and set to `org_id`."""

    def __init__(self, connection: PostgresConnection, org_id: UUID) -> None:
        self._connection = connection
        self._org_id = org_id

    async def add(self, source: Source) -> bool:
        stated = source.stated
        sealed = (None,) * 5 if source.sealed is None else astuple(source.sealed)
        added = await self._connection.change(
            ADD,
            *source.workspace.key,
            source.source_id,
            stated.name,
            stated.kind.value,
            stated.location,
            source.prefix,
            list(stated.include),
            list(stated.readable_by),
            stated.every_seconds,
            json.dumps(dict(stated.options)),
            stated.is_internal,
            source.added_by,
            *sealed,
        )
        return added == 1

    async def all(self, workspace: WorkspaceRef) -> list[Source]:
        return [self._source(row) for row in await self._connection.fetch(ALL, *workspace.key)]

    async def get(self, workspace: WorkspaceRef, source_id: UUID) -> Source | None:
        row = await self._connection.fetchrow(GET, *workspace.key, source_id)
        return None if row is None else self._source(row)

    async def record(self, workspace: WorkspaceRef, source_id: UUID, health: SourceHealth) -> None:
        await self._connection.execute(
            RECORD,
            *workspace.key,
            source_id,
            health.cursor,
            health.failures,
            health.error_code,
            health.error_message,
            json.dumps(dict(health.counts)),
            json.dumps([asdict(one) for one in health.unreadable]),
            health.started_at,
            health.synced_at,
            health.next_at,
        )

    async def mark_leaving(self, workspace: WorkspaceRef, source_id: UUID) -> None:
        await self._connection.execute(MARK_LEAVING, *workspace.key, source_id)

    async def remove(self, workspace: WorkspaceRef, source_id: UUID) -> None:
        await self._connection.execute(REMOVE, *workspace.key, source_id)

    async def document_counts(self, workspace: WorkspaceRef, source: str) -> Mapping[DocumentStatus, int]:
        rows = await self._connection.fetch(DOCUMENT_COUNTS, *workspace.key, source, Hiding.MISSING.value)
        counted = {row["status"]: row["documents"] for row in rows}
        return {status: counted.get(status.value, 0) for status in DocumentStatus}

    async def brought(self, workspace: WorkspaceRef) -> list[str]:
        return sorted(row["source"] for row in await self._connection.fetch(BROUGHT, *workspace.key))

    async def envelopes(self) -> Mapping[str, SealedKey]:
        rows = await self._connection.fetch(ENVELOPES, self._org_id)
        return {f"source:{row['source_id']}": value_from(SealedKey, row) for row in rows}

    async def rewrap(self, owner: str, before: SealedKey, after: SealedKey) -> bool:
        done = await self._connection.change(
            REWRAP, self._org_id, owner, before.wrapped_key, after.master_id, after.wrap_nonce, after.wrapped_key
        )
        return done == 1

    def _source(self, row: Row) -> Source:
        return value_from(
            Source,
            row,
            workspace=WorkspaceRef(self._org_id, row["workspace_id"]),
            stated=value_from(NewSource, row),
            health=value_from(SourceHealth, row),
            sealed=None if row["master_id"] is None else value_from(SealedKey, row),
        )

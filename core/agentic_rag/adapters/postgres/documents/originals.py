"""`documents.ports.OriginalStore` on Postgres."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from agentic_rag.adapters.postgres.session.connection import PostgresConnection, value_from
from agentic_rag.documents.ports import Original
from agentic_rag.tenancy.principals import WorkspaceRef

# The update changes nothing; it makes the statement return the existing row.
KEEP = """
INSERT INTO rag_originals (org_id, workspace_id, document_id, content_hash, blob_key, size)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (org_id, workspace_id, document_id, content_hash) DO UPDATE SET blob_key = rag_originals.blob_key
RETURNING blob_key
"""

OF = """
SELECT content_hash, blob_key AS key, size, created_at FROM rag_originals
WHERE org_id = $1 AND workspace_id = $2 AND document_id = $3
ORDER BY created_at DESC, blob_key DESC
"""

# Ends with the transaction. The second number keeps it apart from other locks on the same organisation.
TAKE_TURN = "SELECT pg_advisory_xact_lock(hashtextextended($1::uuid::text, 45))"

# Triggers of the table of originals keep the sum.
STORED = "SELECT coalesce(sum(bytes), 0)::bigint FROM rag_stored_bytes WHERE org_id = $1"

# $3: documents whose rows this transaction has locked.
SUPERSEDE = """
WITH gone AS (
    DELETE FROM rag_originals o
    USING rag_documents d
    WHERE o.org_id = $1 AND o.workspace_id = $2 AND o.document_id = ANY ($3::uuid[])
      AND d.org_id = $1 AND d.workspace_id = $2 AND d.document_id = o.document_id
      AND o.content_hash IS DISTINCT FROM d.content_hash
      -- Of a page of the web every response stays that a citation may rest on.
      AND NOT d.provenance ? 'web_origin'
      AND encode(o.content_hash, 'hex') IS DISTINCT FROM d.provenance ->> 'content_sha256'
    RETURNING o.blob_key, o.document_id
)
INSERT INTO rag_doomed_blobs (org_id, workspace_id, blob_key, document_id)
SELECT $1, $2, blob_key, document_id FROM gone
"""

DOOM = """
WITH gone AS (
    DELETE FROM rag_originals
    WHERE org_id = $1 AND workspace_id = $2 AND document_id = $3
    RETURNING blob_key, document_id
)
INSERT INTO rag_doomed_blobs (org_id, workspace_id, blob_key, document_id)
SELECT $1, $2, blob_key, document_id FROM gone
"""

DOOMED = """
SELECT blob_key FROM rag_doomed_blobs
WHERE org_id = $1 AND workspace_id = $2 AND ($3::uuid IS NULL OR document_id = $3)
ORDER BY blob_key
LIMIT $4
"""

FORGET = """
DELETE FROM rag_doomed_blobs
WHERE org_id = $1 AND workspace_id = $2 AND blob_key = ANY ($3::text[])
"""

NAMED = """
SELECT blob_key FROM rag_originals WHERE org_id = $1 AND workspace_id = $2 AND blob_key = ANY ($3::text[])
UNION
SELECT blob_key FROM rag_doomed_blobs WHERE org_id = $1 AND workspace_id = $2 AND blob_key = ANY ($3::text[])
"""


class PostgresOriginalStore:
    """Inside a transaction of one organisation."""

    def __init__(self, connection: PostgresConnection) -> None:
        self._connection = connection

    async def keep(self, workspace: WorkspaceRef, document_id: UUID, content_hash: bytes, key: str, size: int) -> str:
        held: str = await self._connection.fetchval(KEEP, *workspace.key, document_id, content_hash, key, size)
        return held

    async def of(self, workspace: WorkspaceRef, document_id: UUID) -> list[Original]:
        rows = await self._connection.fetch(OF, *workspace.key, document_id)
        return [value_from(Original, row) for row in rows]

    async def stored_bytes(self, org_id: UUID) -> int:
        await self._connection.execute(TAKE_TURN, org_id)
        stored: int = await self._connection.fetchval(STORED, org_id)
        return stored

    async def supersede(self, workspace: WorkspaceRef, document_ids: Sequence[UUID]) -> int:
        return await self._connection.change(SUPERSEDE, *workspace.key, list(document_ids))

    async def mark_for_deletion(self, workspace: WorkspaceRef, document_id: UUID) -> int:
        return await self._connection.change(DOOM, *workspace.key, document_id)

    async def keys_to_delete(self, workspace: WorkspaceRef, document_id: UUID | None, limit: int) -> list[str]:
        rows = await self._connection.fetch(DOOMED, *workspace.key, document_id, limit)
        return [row["blob_key"] for row in rows]

    async def forget(self, workspace: WorkspaceRef, keys: Sequence[str]) -> int:
        return await self._connection.change(FORGET, *workspace.key, list(keys))

    async def keys_in_use(self, workspace: WorkspaceRef, keys: Sequence[str]) -> frozenset[str]:
        rows = await self._connection.fetch(NAMED, *workspace.key, list(keys))
        return frozenset(row["blob_key"] for row in rows)

"""`documents.ports.UploadStore` on Postgres."""

from __future__ import annotations

from uuid import UUID

from agentic_rag.adapters.postgres.session.connection import PostgresConnection, value_from
from agentic_rag.documents.ports import UploadRecord
from agentic_rag.tenancy.principals import WorkspaceRef

# The insert waits for a concurrent transaction with the same key, so at READ COMMITTED the next statement sees its row.
CLAIM = """
INSERT INTO rag_uploads (org_id, workspace_id, idempotency_key, input_hash, document_id)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (org_id, workspace_id, idempotency_key) DO NOTHING
"""

TAKEN = """
SELECT input_hash, document_id, job_id FROM rag_uploads
WHERE org_id = $1 AND workspace_id = $2 AND idempotency_key = $3
"""

SETTLE = """
UPDATE rag_uploads SET job_id = $4 WHERE org_id = $1 AND workspace_id = $2 AND idempotency_key = $3
"""


class PostgresUploadStore:
    """Inside a transaction of one organisation."""

    def __init__(self, connection: PostgresConnection) -> None:
        self._connection = connection

    async def claim(
        self, workspace: WorkspaceRef, idempotency_key: str, input_hash: bytes, document_id: UUID
    ) -> UploadRecord | None:
        key = (*workspace.key, idempotency_key)
        while not await self._connection.change(CLAIM, *key, input_hash, document_id):
            row = await self._connection.fetchrow(TAKEN, *key)
            if row is not None:  # Else retention dropped it between the two statements: the key is free.
                return value_from(UploadRecord, row)
        return None

    async def settle(self, workspace: WorkspaceRef, idempotency_key: str, job_id: UUID | None) -> None:
        await self._connection.execute(SETTLE, *workspace.key, idempotency_key, job_id)

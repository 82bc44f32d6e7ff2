"""`operations.snapshots.ports.SnapshotStore` on Postgres."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from agentic_rag.adapters.postgres.session.connection import PostgresConnection, Row, value_from
from agentic_rag.operations.snapshots.snapshot import (
    SNAPSHOT_TRANSITIONS,
    RestoreRecord,
    SnapshotReason,
    SnapshotRecord,
    SnapshotState,
)
from agentic_rag.tenancy.principals import WorkspaceRef

_COLUMNS = """
    workspace_id, snapshot_id, state, reason, with_originals, corpus_version, manifest_key, bytes AS size, counts,
    error_code, is_stored, created_at, finished_at
"""

BEGIN = f"""
INSERT INTO rag_snapshots AS s (org_id, workspace_id, snapshot_id, reason, with_originals)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (org_id, workspace_id, snapshot_id) DO UPDATE
SET state = CASE WHEN s.state = 'FAILED' THEN 'BUILDING' ELSE s.state END,
    error_code = CASE WHEN s.state = 'FAILED' THEN NULL ELSE s.error_code END,
    is_stored = s.is_stored OR s.state = 'FAILED'
RETURNING {_COLUMNS}
"""  # noqa: S608

GET = f"SELECT {_COLUMNS} FROM rag_snapshots WHERE org_id = $1 AND workspace_id = $2 AND snapshot_id = $3"  # noqa: S608

ALL = f"""
SELECT {_COLUMNS} FROM rag_snapshots WHERE org_id = $1 AND workspace_id = $2 ORDER BY created_at DESC, snapshot_id DESC
"""  # noqa: S608

FINISH = """
UPDATE rag_snapshots
SET state = 'READY', corpus_version = $4, manifest_key = $5, bytes = $6, counts = $7, finished_at = now()
WHERE org_id = $1 AND workspace_id = $2 AND snapshot_id = $3 AND state = 'BUILDING'
"""

MOVE = """
UPDATE rag_snapshots SET state = $4, error_code = $5, finished_at = now()
WHERE org_id = $1 AND workspace_id = $2 AND snapshot_id = $3 AND state = ANY ($6::text[])
"""

EMPTIED = """
UPDATE rag_snapshots SET is_stored = false
WHERE org_id = $1 AND workspace_id = $2 AND snapshot_id = $3 AND state IN ('FAILED', 'EXPIRED')
"""

RESTORED = """
SELECT source_workspace_id, corpus_version FROM rag_restores
WHERE org_id = $1 AND workspace_id = $2 AND snapshot_id = $3
"""

RECORD_RESTORE = """
INSERT INTO rag_restores (org_id, workspace_id, snapshot_id, source_workspace_id, corpus_version)
VALUES ($1, $2, $3, $4, $5)
"""


class PostgresSnapshotStore:
    """On a connection whose transaction is open and set to `org_id`."""

    def __init__(self, connection: PostgresConnection, org_id: UUID) -> None:
        self._connection = connection
        self._org_id = org_id

    async def begin(
        self, workspace: WorkspaceRef, snapshot_id: UUID, reason: SnapshotReason, *, with_originals: bool
    ) -> SnapshotRecord:
        row = await self._connection.fetchrow(
            BEGIN, self._org_id, workspace.workspace_id, snapshot_id, reason.value, with_originals
        )
        if row is None:
            raise AssertionError("an upsert returns its row")
        return self._record(row)

    async def get(self, workspace: WorkspaceRef, snapshot_id: UUID) -> SnapshotRecord | None:
        row = await self._connection.fetchrow(GET, self._org_id, workspace.workspace_id, snapshot_id)
        return None if row is None else self._record(row)

    async def all(self, workspace: WorkspaceRef) -> list[SnapshotRecord]:
        return [self._record(row) for row in await self._connection.fetch(ALL, self._org_id, workspace.workspace_id)]

    async def finish(
        self,
        workspace: WorkspaceRef,
        snapshot_id: UUID,
        corpus_version: int,
        manifest_key: str,
        size: int,
        counts: Mapping[str, int],
    ) -> bool:
        key = (self._org_id, workspace.workspace_id, snapshot_id)
        return await self._connection.change(FINISH, *key, corpus_version, manifest_key, size, dict(counts)) == 1

    async def move(
        self, workspace: WorkspaceRef, snapshot_id: UUID, to: SnapshotState, error_code: str | None = None
    ) -> bool:
        sources = [state.value for state, targets in SNAPSHOT_TRANSITIONS.items() if to in targets]
        key = (self._org_id, workspace.workspace_id, snapshot_id)
        return await self._connection.change(MOVE, *key, to.value, error_code, sources) == 1

    async def mark_empty(self, workspace: WorkspaceRef, snapshot_id: UUID) -> None:
        await self._connection.execute(EMPTIED, self._org_id, workspace.workspace_id, snapshot_id)

    async def restore_record(self, workspace: WorkspaceRef, snapshot_id: UUID) -> RestoreRecord | None:
        row = await self._connection.fetchrow(RESTORED, self._org_id, workspace.workspace_id, snapshot_id)
        if row is None:
            return None
        return value_from(RestoreRecord, row, workspace=workspace, snapshot_id=snapshot_id)

    async def record_restore(self, restore: RestoreRecord) -> None:
        await self._connection.execute(
            RECORD_RESTORE,
            self._org_id,
            restore.workspace.workspace_id,
            restore.snapshot_id,
            restore.source_workspace_id,
            restore.corpus_version,
        )

    def _record(self, row: Row) -> SnapshotRecord:
        return value_from(SnapshotRecord, row, workspace=WorkspaceRef(self._org_id, row["workspace_id"]))

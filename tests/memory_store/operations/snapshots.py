"""`operations.snapshots.ports.SnapshotStore` in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from uuid import UUID

from tests.memory_store.session.store import Working

from agentic_rag.operations.snapshots.snapshot import (
    SNAPSHOT_TRANSITIONS,
    RestoreRecord,
    SnapshotReason,
    SnapshotRecord,
    SnapshotState,
)
from agentic_rag.tenancy.principals import WorkspaceRef


class MemorySnapshotStore:
    """Inside a transaction."""

    def __init__(self, working: Working) -> None:
        self._working = working

    async def begin(
        self, workspace: WorkspaceRef, snapshot_id: UUID, reason: SnapshotReason, *, with_originals: bool
    ) -> SnapshotRecord:
        """A snapshot that is being built; one that failed is built again, any other is returned as it is."""
        known = self._working.write(workspace).snapshots
        record = known.get(snapshot_id)
        if record is None:
            record = SnapshotRecord(
                workspace, snapshot_id, SnapshotState.BUILDING, reason, with_originals, self._working.now()
            )
        elif record.state is SnapshotState.FAILED:
            record = replace(record, state=SnapshotState.BUILDING, error_code=None, is_stored=True)
        known[snapshot_id] = record
        return record

    async def get(self, workspace: WorkspaceRef, snapshot_id: UUID) -> SnapshotRecord | None:
        """The snapshot, or None."""
        state = self._working.read(workspace)
        return None if state is None else state.snapshots.get(snapshot_id)

    async def all(self, workspace: WorkspaceRef) -> list[SnapshotRecord]:
        """Every snapshot of a workspace, newest first."""
        state = self._working.read(workspace)
        return [] if state is None else list(reversed(state.snapshots.values()))

    async def finish(
        self,
        workspace: WorkspaceRef,
        snapshot_id: UUID,
        corpus_version: int,
        manifest_key: str,
        size: int,
        counts: Mapping[str, int],
    ) -> bool:
        """BUILDING becomes READY; False when it was not BUILDING."""
        return self._change(
            workspace,
            snapshot_id,
            SnapshotState.READY,
            corpus_version=corpus_version,
            manifest_key=manifest_key,
            size=size,
            counts=dict(counts),
        )

    async def move(
        self, workspace: WorkspaceRef, snapshot_id: UUID, to: SnapshotState, error_code: str | None = None
    ) -> bool:
        """To FAILED or EXPIRED; False when the move is illegal."""
        return self._change(workspace, snapshot_id, to, error_code=error_code)

    async def mark_empty(self, workspace: WorkspaceRef, snapshot_id: UUID) -> None:
        """The blob store holds nothing of one that FAILED or EXPIRED; any other stays as it is."""
        known = self._working.write(workspace).snapshots
        if snapshot_id in known and known[snapshot_id].state in (SnapshotState.FAILED, SnapshotState.EXPIRED):
            known[snapshot_id] = replace(known[snapshot_id], is_stored=False)

    async def restore_record(self, workspace: WorkspaceRef, snapshot_id: UUID) -> RestoreRecord | None:
        """Whether the workspace was made from that snapshot."""
        state = self._working.read(workspace)
        return None if state is None else state.restores.get(snapshot_id)

    async def record_restore(self, restore: RestoreRecord) -> None:
        """Remember where a workspace came from."""
        self._working.write(restore.workspace).restores[restore.snapshot_id] = restore

    def _change(self, workspace: WorkspaceRef, snapshot_id: UUID, to: SnapshotState, **fields: object) -> bool:
        known = self._working.write(workspace).snapshots
        record = known.get(snapshot_id)
        if record is None or to not in SNAPSHOT_TRANSITIONS[record.state]:
            return False
        changed = replace(record, state=to, finished_at=self._working.now(), **fields)  # type: ignore[arg-type]
        known[snapshot_id] = changed
        return True

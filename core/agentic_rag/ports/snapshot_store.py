"""What is known of snapshots, and of workspaces that were restored from one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol
from uuid import UUID

from agentic_rag.domain.snapshots import RestoreRecord, SnapshotReason, SnapshotRecord, SnapshotState
from agentic_rag.domain.tenancy import WorkspaceRef


class SnapshotStore(Protocol):
    """Inside a transaction of one organisation."""

    async def begin(
        self, workspace: WorkspaceRef, snapshot_id: UUID, reason: SnapshotReason, *, with_originals: bool
    ) -> SnapshotRecord:
        """A snapshot that is being built; one that failed is built again, any other is returned as it is."""
        ...

    async def get(self, workspace: WorkspaceRef, snapshot_id: UUID) -> SnapshotRecord | None:
        """The snapshot, or None."""
        ...

    async def all(self, workspace: WorkspaceRef) -> list[SnapshotRecord]:
        """Every snapshot of a workspace, newest first. Those with `is_stored` may hold text that was erased since."""
        ...

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
        ...

    async def move(
        self, workspace: WorkspaceRef, snapshot_id: UUID, to: SnapshotState, error_code: str | None = None
    ) -> bool:
        """To FAILED or EXPIRED; False when the move is illegal (SNAPSHOT_MOVES)."""
        ...

    async def emptied(self, workspace: WorkspaceRef, snapshot_id: UUID) -> None:
        """The blob store holds nothing of one that FAILED or EXPIRED; any other stays as it is."""
        ...

    async def restored(self, workspace: WorkspaceRef, snapshot_id: UUID) -> RestoreRecord | None:
        """Whether the workspace was made from that snapshot."""
        ...

    async def record_restore(self, restore: RestoreRecord) -> None:
        """Remember where a workspace came from."""
        ...

"""Records of snapshots and restores, and the rows that snapshots archive."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol
from uuid import UUID

from agentic_rag.kernel.database import Transaction
from agentic_rag.operations.snapshots.snapshot import (
    RestoreRecord,
    SnapshotReason,
    SnapshotRecord,
    SnapshotState,
    TableShape,
)
from agentic_rag.tenancy.principals import WorkspaceRef


class SnapshotStore(Protocol):
    """Inside a transaction of one organisation."""

    async def begin(
        self, workspace: WorkspaceRef, snapshot_id: UUID, reason: SnapshotReason, *, with_originals: bool
    ) -> SnapshotRecord:
        """Start a snapshot or restart a failed one; an existing one in another state is returned unchanged."""
        ...

    async def get(self, workspace: WorkspaceRef, snapshot_id: UUID) -> SnapshotRecord | None:
        """The snapshot, or None."""
        ...

    async def all(self, workspace: WorkspaceRef) -> list[SnapshotRecord]:
        """All snapshots of a workspace, newest first. A snapshot with `is_stored` may contain text erased since."""
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
        """Move BUILDING to READY; False in any other state."""
        ...

    async def move(
        self, workspace: WorkspaceRef, snapshot_id: UUID, to: SnapshotState, error_code: str | None = None
    ) -> bool:
        """Move to FAILED or EXPIRED; False when SNAPSHOT_TRANSITIONS forbids it."""
        ...

    async def mark_empty(self, workspace: WorkspaceRef, snapshot_id: UUID) -> None:
        """Record that the blobs of a FAILED or EXPIRED snapshot are deleted; other states are left unchanged."""
        ...

    async def restore_record(self, workspace: WorkspaceRef, snapshot_id: UUID) -> RestoreRecord | None:
        """The restore of the workspace from that snapshot, or None."""
        ...

    async def record_restore(self, restore: RestoreRecord) -> None:
        """Record the snapshot that a workspace was restored from."""
        ...


class ArchiveReader(Protocol):
    """Reads a workspace at one instant. Rows are JSON objects without the ids of organisation and workspace."""

    @property
    def name(self) -> str:
        """The workspace's name."""
        ...

    @property
    def corpus_version(self) -> int:
        """The corpus version of all rows."""
        ...

    @property
    def schema(self) -> str:
        """The database's schema revision."""
        ...

    @property
    def spaces(self) -> tuple[str, ...]:
        """Names of the embedding spaces whose vectors are among the rows."""
        ...

    @property
    def tables(self) -> tuple[TableShape, ...]:
        """The tables in the order in which they can be restored."""
        ...

    def rows(self, table: TableShape) -> AsyncIterator[list[str]]:
        """All rows of a table by key, in batches of bounded size."""
        ...


class ArchiveWriter(Protocol):
    """Restores a workspace in one transaction; nothing is visible before it commits."""

    @property
    def transaction(self) -> Transaction:
        """The stores in the same transaction."""
        ...

    async def accepts(self, table: TableShape) -> bool:
        """Whether this schema has the table with those columns."""
        ...

    async def write(self, table: TableShape, lines: Sequence[str]) -> int:
        """Insert rows; returns their number. Errors: `Permanent` code SNAPSHOT_DAMAGED for an unsuitable value."""
        ...

    async def erasures_in(self, workspace: WorkspaceRef) -> list[UUID]:
        """The documents that this system has erased from a workspace."""
        ...


class WorkspaceArchive(Protocol):
    """Errors of every use: `DependencyUnavailable` (dependency "postgres")."""

    def reading(self, workspace: WorkspaceRef) -> AbstractAsyncContextManager[ArchiveReader]:
        """Open a workspace for reading. Errors: `NotFound`."""
        ...

    def restoring(self, workspace: WorkspaceRef) -> AbstractAsyncContextManager[ArchiveWriter]:
        """Open the transaction that writes a workspace; it commits when the block ends without an error."""
        ...

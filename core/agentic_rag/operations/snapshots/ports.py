"""What is known of snapshots, and of workspaces that were restored from one."""

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
        """To FAILED or EXPIRED; False when the move is illegal (SNAPSHOT_TRANSITIONS)."""
        ...

    async def mark_empty(self, workspace: WorkspaceRef, snapshot_id: UUID) -> None:
        """The blob store holds nothing of one that FAILED or EXPIRED; any other stays as it is."""
        ...

    async def restore_record(self, workspace: WorkspaceRef, snapshot_id: UUID) -> RestoreRecord | None:
        """Whether the workspace was made from that snapshot."""
        ...

    async def record_restore(self, restore: RestoreRecord) -> None:
        """Remember where a workspace came from."""
        ...


class ArchiveReader(Protocol):
    """One instant of a workspace. Rows are JSON objects without the keys of organisation and workspace."""

    @property
    def name(self) -> str:
        """The workspace's name."""
        ...

    @property
    def corpus_version(self) -> int:
        """The version all rows belong to."""
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
        """In an order in which the rows may be written again."""
        ...

    def rows(self, table: TableShape) -> AsyncIterator[list[str]]:
        """All rows of a table, a bounded number at a time, in the order of their key."""
        ...


class ArchiveWriter(Protocol):
    """One transaction that makes a workspace; nothing of it is seen before it ends."""

    @property
    def transaction(self) -> Transaction:
        """The stores in the same transaction."""
        ...

    async def accepts(self, table: TableShape) -> bool:
        """Whether this schema has the table with those columns."""
        ...

    async def write(self, table: TableShape, lines: Sequence[str]) -> int:
        """Insert rows; how many. Errors: `Permanent` code SNAPSHOT_DAMAGED for a value that does not fit."""
        ...

    async def erasures_in(self, workspace: WorkspaceRef) -> list[UUID]:
        """The documents this system knows to be erased from a workspace."""
        ...


class WorkspaceArchive(Protocol):
    """Errors of every use: `DependencyUnavailable` (dependency "postgres")."""

    def reading(self, workspace: WorkspaceRef) -> AbstractAsyncContextManager[ArchiveReader]:
        """Open a workspace for reading. Errors: `NotFound`."""
        ...

    def restoring(self, workspace: WorkspaceRef) -> AbstractAsyncContextManager[ArchiveWriter]:
        """Open the transaction that writes a workspace; it commits when the block ends without an error."""
        ...

"""What the snapshot commands ask of the system in process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from agentic_rag.jobs.job import Job
from agentic_rag.kernel.errors import NotFound, Permanent
from agentic_rag.operations.snapshots.snapshot import Manifest, SnapshotRecord, SnapshotState
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_cli.in_process import OPERATOR

if TYPE_CHECKING:
    from agentic_rag.bootstrap import Container
    from agentic_rag.operations.snapshots.restore import ProgressReport, RestoreReport

_POLL_SECONDS = 0.1


class Snapshots(Protocol):
    """Snapshots of workspaces. Errors: those of the use cases."""

    async def known(self, workspace: WorkspaceRef) -> list[SnapshotRecord]:
        """Every snapshot the database knows of a workspace, newest first."""
        ...

    async def stored(self) -> list[tuple[Manifest, str]]:
        """Every readable archive in the blob store with its folder, oldest first."""
        ...

    async def request(self, workspace: WorkspaceRef, *, with_originals: bool) -> SnapshotRecord:
        """Ask for one; a worker takes it."""
        ...

    async def job(self, record: SnapshotRecord) -> Job | None:
        """The job that takes it."""
        ...

    async def delete(self, workspace: WorkspaceRef, snapshot_id: UUID) -> SnapshotRecord:
        """Remove one."""
        ...

    async def restore(
        self, snapshot_id: UUID | None, source: Path | None, into: str | None, progress: ProgressReport
    ) -> RestoreReport:
        """From the blob store, or from a directory."""
        ...


class ContainerSnapshots:
    """`Snapshots` over the wired container."""

    def __init__(self, container: Container, org_id: UUID) -> None:
        self._container = container
        self._org_id = org_id

    async def known(self, workspace: WorkspaceRef) -> list[SnapshotRecord]:
        """Every snapshot the database knows of a workspace, newest first."""
        async with self._container.database.transaction(workspace.org_id) as transaction:
            return await transaction.snapshots.all(workspace)

    async def stored(self) -> list[tuple[Manifest, str]]:
        """Every readable archive in the blob store with its folder, oldest first."""
        found: list[tuple[Manifest, str]] = []
        for place in await self._container.restore_snapshot.places(self._org_id):
            try:
                found.append((await place.manifest(), place.folder))
            except (NotFound, Permanent):
                continue  # Deleted meanwhile, or damaged: neither can be restored.
        return sorted(found, key=lambda one: one[0].created_at)

    async def request(self, workspace: WorkspaceRef, *, with_originals: bool) -> SnapshotRecord:
        """Ask for one; a worker takes it."""
        return await self._container.take_snapshot.request(workspace, OPERATOR.subject, with_originals=with_originals)

    async def job(self, record: SnapshotRecord) -> Job | None:
        """The job that takes it."""
        async with self._container.database.transaction(record.workspace.org_id) as transaction:
            return await transaction.jobs.get(record.workspace, record.snapshot_id)

    async def delete(self, workspace: WorkspaceRef, snapshot_id: UUID) -> SnapshotRecord:
        """Remove one."""
        return await self._container.take_snapshot.delete(workspace, snapshot_id, OPERATOR.subject)

    async def restore(
        self, snapshot_id: UUID | None, source: Path | None, into: str | None, progress: ProgressReport
    ) -> RestoreReport:
        """From the blob store, or from a directory."""
        from agentic_rag.operations.snapshots.archive_files import only_archive

        use_case = self._container.restore_snapshot
        if source is not None:
            place = await only_archive(self._container.directory_blobs(source), snapshot_id)
        elif snapshot_id is not None:
            place = await use_case.find(self._org_id, snapshot_id)
        else:
            raise NotFound("Name a snapshot, or a directory with --from.", code="SNAPSHOT_NOT_FOUND")
        return await use_case.run(self._org_id, place, into, progress, OPERATOR.subject)


async def finished(
    snapshots: Snapshots, asked: SnapshotRecord, progress: Callable[[int, int, str], None]
) -> SnapshotRecord:
    """Wait until a snapshot is READY. Errors: `Permanent` with the code it failed with."""
    while True:
        for record in await snapshots.known(asked.workspace):
            if record.snapshot_id != asked.snapshot_id or record.state is SnapshotState.BUILDING:
                continue
            if record.state is SnapshotState.READY:
                return record
            raise Permanent(
                f"The snapshot failed with {record.error_code}: `rag job show {asked.snapshot_id}` tells why.",
                code="SNAPSHOT_FAILED",
            )
        job = await snapshots.job(asked)
        steps = 0 if job is None else job.progress
        progress(steps, steps + 1, "" if job is None else job.state.value.lower())
        await asyncio.sleep(_POLL_SECONDS)

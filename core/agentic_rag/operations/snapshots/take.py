"""Takes, expires and removes snapshots of workspaces."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC
from uuid import UUID

from agentic_rag import __version__
from agentic_rag.documents.ports import BlobStore
from agentic_rag.jobs.job import GiveUp, JobKind, JobState, Lease, NewJob, Retry
from agentic_rag.jobs.leases import require_lease
from agentic_rag.jobs.ports import JobProgress
from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.database import Database, Transaction
from agentic_rag.kernel.errors import (
    AgenticRagError,
    DependencyUnavailable,
    InvalidInput,
    NotFound,
)
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.operations.snapshots.archive_files import ArchiveLocation, PartWriter, snapshot_folder
from agentic_rag.operations.snapshots.ports import ArchiveReader, WorkspaceArchive
from agentic_rag.operations.snapshots.snapshot import (
    MANIFEST,
    ORIGINALS,
    Manifest,
    SnapshotReason,
    SnapshotRecord,
    SnapshotState,
    encode_manifest,
    hash_digits,
    original_name,
)
from agentic_rag.tenancy.audit import SYSTEM_ACTOR, AuditAction
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.tenancy.record_audit import audit

SWEEP = "sweep"
"""The key of the job that removes files of failed and expired snapshots."""

ORIGINALS_ARGUMENT = "originals"

OVER = frozenset({SnapshotState.FAILED, SnapshotState.EXPIRED})
"""States of snapshots that cannot, or can no longer, be restored."""


@dataclass(frozen=True, slots=True)
class TakeSnapshot:
    """The body of SNAPSHOT jobs, and their requests. A snapshot and its job share their id."""

    database: Database
    archive: WorkspaceArchive
    blobs: BlobStore
    clock: Clock
    telemetry: Telemetry
    keep: int

    async def request(
        self, workspace: WorkspaceRef, actor: str = SYSTEM_ACTOR, *, with_originals: bool = True
    ) -> SnapshotRecord:
        """Enqueue a snapshot, or return an unfinished one requested earlier. Errors: `NotFound`."""
        arguments = {ORIGINALS_ARGUMENT: str(with_originals).lower()}
        async with self.database.transaction(workspace.org_id) as transaction:
            ref, is_new = await transaction.jobs.enqueue(
                NewJob(
                    workspace,
                    JobKind.SNAPSHOT,
                    SnapshotReason.MANUAL.value,
                    arguments,
                    trace_carrier=self.telemetry.carrier(),
                )
            )
            if is_new:
                await audit(
                    transaction,
                    self.telemetry,
                    AuditAction.SNAPSHOT,
                    workspace,
                    ref.job_id,
                    actor,
                    originals=with_originals,
                )
            return await transaction.snapshots.begin(
                workspace, ref.job_id, SnapshotReason.MANUAL, with_originals=with_originals
            )

    async def run(self, lease: Lease, progress: JobProgress) -> None:
        """Take the snapshot of a leased job, or sweep. Errors: `LeaseLost`, `DependencyUnavailable`, `NotFound`."""
        workspace = lease.job.workspace
        if lease.job.key == SWEEP:
            await self._sweep(workspace, progress)
            return
        async with self.database.transaction(workspace.org_id) as transaction:
            await require_lease(transaction.jobs, lease)
            record = await transaction.snapshots.begin(
                workspace,
                lease.job.job_id,
                SnapshotReason(lease.job.key),
                with_originals=lease.job.arguments.get(ORIGINALS_ARGUMENT) != "false",
            )
        if record.state is SnapshotState.BUILDING:
            await self._build(lease, progress, record)
        if record.reason is SnapshotReason.SCHEDULED:
            await self._expire(workspace)
        await self._sweep(workspace, progress)

    async def record_failure(
        self, transaction: Transaction, lease: Lease, error: AgenticRagError, decision: Retry | GiveUp
    ) -> None:
        """Mark the snapshot FAILED after its job gave up. The next sweep removes its files."""
        if isinstance(decision, Retry):
            return
        await require_lease(transaction.jobs, lease)  # Lock order: the job before the snapshot.
        await transaction.snapshots.move(lease.job.workspace, lease.job.job_id, SnapshotState.FAILED, error.code)

    async def delete(self, workspace: WorkspaceRef, snapshot_id: UUID, actor: str = SYSTEM_ACTOR) -> SnapshotRecord:
        """Expire a snapshot and remove its files at once; if the blob store fails now, a sweep removes them later.

        Errors: `NotFound` code SNAPSHOT_NOT_FOUND, `InvalidInput` code SNAPSHOT_UNFINISHED.
        """
        async with self.database.transaction(workspace.org_id) as transaction:
            record = await transaction.snapshots.get(workspace, snapshot_id)
            if record is None:
                raise NotFound("There is no such snapshot.", code="SNAPSHOT_NOT_FOUND")
            if record.state is SnapshotState.BUILDING:
                raise InvalidInput(
                    "The snapshot is being built: wait until its job has ended (`rag job list`).",
                    code="SNAPSHOT_UNFINISHED",
                )
            if await transaction.snapshots.move(workspace, snapshot_id, SnapshotState.EXPIRED, record.error_code):
                await audit(transaction, self.telemetry, AuditAction.DELETE_SNAPSHOT, workspace, snapshot_id, actor)
        await self._remove(record)
        self.telemetry.event("rag_snapshot_deleted", snapshot_id=str(snapshot_id))
        return record

    async def _build(self, lease: Lease, progress: JobProgress, record: SnapshotRecord) -> None:
        workspace = record.workspace
        place = ArchiveLocation(self.blobs, f"{snapshot_folder(workspace, record.snapshot_id)}/{lease.fence}")

        async def before() -> None:
            # Losing the lease right after this check does no harm: the next holder writes to another folder.
            async with self.database.transaction(workspace.org_id) as transaction:
                await require_lease(transaction.jobs, lease)
            progress.advance()

        writer = PartWriter(place, before)
        async with self.archive.reading(workspace) as reader:
            originals = _Originals(self.blobs, place, before, wanted=record.with_originals)
            for table in reader.tables:
                rows = reader.rows(table)
                await writer.table(table.name, originals.copy_blobs(rows) if table.name == ORIGINALS else rows)
            manifest = self._manifest(record, reader, writer, originals.missing)
        content = encode_manifest(manifest)
        await before()
        await self.blobs.put(place.key(MANIFEST), content)
        size = sum(part.size for part in writer.parts) + originals.size + len(content)
        async with self.database.transaction(workspace.org_id) as transaction:
            await require_lease(transaction.jobs, lease)
            await transaction.snapshots.finish(
                workspace, record.snapshot_id, manifest.corpus_version, place.key(MANIFEST), size, manifest.counts
            )
        self.telemetry.event(
            "rag_snapshot_taken",
            snapshot_id=str(record.snapshot_id),
            version=manifest.corpus_version,
            bytes=size,
            missing_originals=originals.missing,
        )
        await self._remove_other_attempts(record, place)

    def _manifest(self, record: SnapshotRecord, reader: ArchiveReader, writer: PartWriter, missing: int) -> Manifest:
        return Manifest(
            snapshot_id=record.snapshot_id,
            org_id=record.workspace.org_id,
            workspace_id=record.workspace.workspace_id,
            workspace_name=reader.name,
            corpus_version=reader.corpus_version,
            schema=reader.schema,
            product=__version__,
            created_at=self.clock.now().astimezone(UTC).isoformat(),
            spaces=reader.spaces,
            with_originals=record.with_originals,
            missing_originals=missing,
            tables=reader.tables,
            parts=tuple(writer.parts),
        )

    async def _expire(self, workspace: WorkspaceRef) -> None:
        """Expires all but the newest scheduled snapshots."""
        async with self.database.transaction(workspace.org_id) as transaction:
            ready = [
                record
                for record in await transaction.snapshots.all(workspace)
                if record.state is SnapshotState.READY and record.reason is SnapshotReason.SCHEDULED
            ]
            for record in ready[self.keep :]:
                await transaction.snapshots.move(workspace, record.snapshot_id, SnapshotState.EXPIRED)

    async def _sweep(self, workspace: WorkspaceRef, progress: JobProgress) -> None:
        """Removes the files of failed and expired snapshots. If the blob store does not answer, upkeep enqueues another
        sweep.
        """
        async with self.database.transaction(workspace.org_id) as transaction:
            stored = [record for record in await transaction.snapshots.all(workspace) if record.is_stored]
            unfinished = [record for record in stored if record.state is SnapshotState.BUILDING]
            for record in unfinished:
                job = await transaction.jobs.get(workspace, record.snapshot_id)
                if job is None or job.state not in (JobState.QUEUED, JobState.RUNNING):
                    await transaction.snapshots.move(workspace, record.snapshot_id, SnapshotState.FAILED, "WORKER_LOST")
        for record in stored:
            if record.state in OVER:
                await self._remove(record)
                progress.advance()

    async def _remove(self, record: SnapshotRecord) -> None:
        """Removes the snapshot's files. A replayed dead letter may rebuild a FAILED snapshot at any time, in the folder
        of its new attempt. Keys listed before the snapshot was last seen FAILED therefore do not belong to that
        attempt.
        """
        folder = snapshot_folder(record.workspace, record.snapshot_id)
        try:
            while keys := await self.blobs.keys(folder):
                async with self.database.transaction(record.workspace.org_id) as transaction:
                    now = await transaction.snapshots.get(record.workspace, record.snapshot_id)
                if now is None or now.state not in OVER:
                    return
                for key in keys:
                    await self.blobs.delete(key)
        except DependencyUnavailable as error:
            self.telemetry.event(
                "rag_snapshot_files_left", level="warning", snapshot_id=str(record.snapshot_id), code=error.code
            )
            return
        async with self.database.transaction(record.workspace.org_id) as transaction:
            await transaction.snapshots.mark_empty(record.workspace, record.snapshot_id)

    async def _remove_other_attempts(self, record: SnapshotRecord, kept: ArchiveLocation) -> None:
        for key in await self.blobs.keys(snapshot_folder(record.workspace, record.snapshot_id)):
            if not key.startswith(f"{kept.folder}/"):
                await self.blobs.delete(key)


class _Originals:
    """Copies originals into the archive, each before its row is yielded. A restore refuses an archive whose file does
    not match its row, so a blob that no longer matches its hash is left out.
    """

    def __init__(
        self, blobs: BlobStore, place: ArchiveLocation, before: Callable[[], Awaitable[None]], *, wanted: bool
    ) -> None:
        self._blobs = blobs
        self._place = place
        self._before = before
        self._wanted = wanted
        self.size = 0
        self.missing = 0

    async def copy_blobs(self, rows: AsyncIterator[list[str]]) -> AsyncIterator[list[str]]:
        """The rows, without those whose blob is missing or damaged; none if originals are not wanted."""
        async for lines in rows:
            if self._wanted:
                yield [line for line in lines if await self._copy(json.loads(line))]

    async def _copy(self, row: Mapping[str, str]) -> bool:
        try:
            content = await self._blobs.read(row["blob_key"])
        except NotFound:
            self.missing += 1
            return False
        digits = hash_digits(row["content_hash"])
        if await asyncio.to_thread(lambda: hashlib.sha256(content).hexdigest()) != digits:
            self.missing += 1
            return False
        await self._before()
        name = original_name(row["document_id"], digits)
        await self._place.blobs.put(self._place.key(name), content)
        self.size += len(content)
        return True

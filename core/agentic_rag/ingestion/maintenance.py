"""Keeps a workspace's stores small: the use cases of COMPACT and RETENTION jobs."""

from __future__ import annotations

from agentic_rag.documents.originals import delete_marked_blobs
from agentic_rag.documents.ports import BlobStore
from agentic_rag.jobs.job import Lease
from agentic_rag.jobs.leases import require_lease
from agentic_rag.jobs.ports import JobProgress
from agentic_rag.kernel.database import Database


class CompactSegments:
    """Merges a workspace's postings segments."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def run(self, lease: Lease, progress: JobProgress) -> None:
        """Purge the history in slices, then merge groups of segments, each in a transaction that locks the workspace
        before the job, as a publish does. Errors: `LeaseLost`.
        """
        merged: int | None = None
        while merged is None:
            async with self._database.transaction(lease.job.workspace.org_id) as transaction:
                merged = await transaction.publisher.compact(lease.job.workspace)
                await require_lease(transaction.jobs, lease)
            progress.advance()


class ApplyRetention:
    """Removes runs, cached answers and versions past their retention, and blobs that no document needs."""

    def __init__(self, database: Database, blobs: BlobStore) -> None:
        self._database = database
        self._blobs = blobs

    async def run(self, lease: Lease, progress: JobProgress) -> None:
        """Remove in steps, so that no lock is held for long. Errors: `LeaseLost`, `DependencyUnavailable`."""
        workspace = lease.job.workspace
        more = True
        while more:
            async with self._database.transaction(workspace.org_id) as transaction:
                more = await transaction.workspaces.apply_retention(workspace)
                await require_lease(transaction.jobs, lease)
            progress.advance()
        await delete_marked_blobs(self._database, self._blobs, workspace)

"""Erases what a deleted workspace held, from every store: the body of ERASE jobs."""

from __future__ import annotations

from dataclasses import dataclass

from agentic_rag.answering.ports import AnswerCache
from agentic_rag.documents.blob_keys import early_originals_of, is_older, snapshots_of
from agentic_rag.documents.originals import delete_marked_blobs, require_folders
from agentic_rag.documents.ports import BlobStore
from agentic_rag.erasure.confirm_drops import WAIT_SECONDS, ask_processes
from agentic_rag.erasure.ports import ExternalGraph
from agentic_rag.erasure.process_memory import lines_of
from agentic_rag.erasure.request_erasure import begin
from agentic_rag.erasure.workspace_erasure import BLOBS, CACHE, EXTERNAL_GRAPH, WorkspaceErasure
from agentic_rag.jobs.job import Lease
from agentic_rag.jobs.leases import require_lease
from agentic_rag.jobs.ports import JobProgress
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import Retryable
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.retrieval.ports import IndexBuilder
from agentic_rag.tenancy.audit import SYSTEM_ACTOR
from agentic_rag.tenancy.principals import WorkspaceRef

ROWS = 1000
"""Deleted in one transaction: no lock is held for long, and a crash costs little."""
NODES = 500
KEYS = 500
"""Blob keys looked up in one statement."""


@dataclass(frozen=True, slots=True)
class EraseWorkspace:
    """Every step may be repeated: a job that was killed goes on with what is left. The certificate is completed in the
    transaction that deletes the workspace's row, after which no row can refer to it.
    """

    database: Database
    cache: AnswerCache
    blobs: BlobStore
    indexes: IndexBuilder
    graph: ExternalGraph | None
    telemetry: Telemetry

    async def run(self, lease: Lease, progress: JobProgress) -> bool:
        """True when the job went with the workspace. Errors: `LeaseLost`, `DependencyUnavailable`, `Misconfigured`,
        `Retryable`.
        """
        workspace = lease.job.workspace
        async with self.database.transaction(workspace.org_id) as transaction:
            erasure = await transaction.workspace_erasures.get(workspace.workspace_id)
            indexes = await transaction.indexes.all(workspace)
        if erasure is None or erasure.is_complete:
            return False
        for record in indexes:
            await self.indexes.drop(workspace, record.space_id)
            progress.advance()
        while await self._drop_rows(lease):
            progress.advance()
        await self._empty_graph(workspace, progress)
        await self._count(workspace, CACHE, await self.cache.forget(workspace))
        told = await ask_processes(self.database, workspace, (), WAIT_SECONDS, progress.advance)
        if told.silent:
            raise Retryable(
                f"{told.silent} of the running servers and workers did not say that they dropped what they hold.",
                code="MEMORY_HELD",
            )
        for one in lines_of(told):
            # An earlier attempt of the job counted processes too: the last count stands.
            counted = erasure.counts.get(one.store.value, 0)
            await self._count(workspace, one.store.value, (one.count or 0) - counted)
        await self._delete_blobs(lease, erasure, progress)
        while not await self._finish(lease):
            # A row that came after the blobs were gone names one more.
            await self._delete_blobs(lease, erasure, progress)
        self.telemetry.event("rag_workspace_erased", workspace_id=str(workspace.workspace_id))
        return True

    async def _drop_rows(self, lease: Lease) -> int:
        workspace = lease.job.workspace
        async with self.database.transaction(workspace.org_id) as transaction:
            await require_lease(transaction.jobs, lease)
            return await transaction.workspace_erasures.drop_rows(workspace, ROWS)

    async def _empty_graph(self, workspace: WorkspaceRef, progress: JobProgress) -> None:
        while self.graph is not None and (gone := await self.graph.drop_workspace(workspace, NODES)):
            await self._count(workspace, EXTERNAL_GRAPH, gone)
            progress.advance()

    async def _delete_blobs(self, lease: Lease, erasure: WorkspaceErasure, progress: JobProgress) -> None:
        """Delete what rows name, then the archives of snapshots, and what uploads left without a row: an agent or
        project of the same reference may upload again, so of those only what is older than the erasure.
        """
        workspace = lease.job.workspace
        async with self.database.transaction(workspace.org_id) as transaction:
            await require_lease(transaction.jobs, lease)
            await transaction.workspace_erasures.doom_blobs(workspace)
            counted = await transaction.workspace_erasures.get(workspace.workspace_id)
        await delete_marked_blobs(self.database, self.blobs, workspace)
        progress.advance()
        if counted is not None and counted.had_blobs:
            await require_folders(self.blobs, workspace.org_id)
        keys = await self.blobs.keys(snapshots_of(workspace)) + await self.blobs.keys(early_originals_of(workspace))
        held = await self.blobs.keys(erasure.blob_owner) if erasure.blob_owner else []
        older = [key for key in held if is_older(key, erasure.requested_at)]
        for start in range(0, len(older), KEYS):
            async with self.database.transaction(workspace.org_id) as transaction:
                keys += await transaction.workspace_erasures.unnamed(older[start : start + KEYS])
        for key in keys:
            await self._count(workspace, BLOBS, await self.blobs.delete(key))
            progress.advance()

    async def _count(self, workspace: WorkspaceRef, store: str, number: int) -> None:
        async with self.database.transaction(workspace.org_id) as transaction:
            await transaction.workspace_erasures.count(workspace, store, number)

    async def _finish(self, lease: Lease) -> bool:
        workspace = lease.job.workspace
        async with self.database.transaction(workspace.org_id) as transaction:
            await require_lease(transaction.jobs, lease)
            done = await transaction.workspace_erasures.finish(workspace)
            for late in await transaction.workspace_erasures.finish_organisation():
                await begin(transaction, self.telemetry, late, SYSTEM_ACTOR)
        return done

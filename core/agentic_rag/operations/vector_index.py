"""The approximate vector index of a large workspace: built in the background, used only if its recall suffices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agentic_rag.jobs.job import GiveUp, Lease, Retry
from agentic_rag.jobs.leases import require_lease
from agentic_rag.jobs.ports import JobProgress
from agentic_rag.kernel.database import Database, Transaction
from agentic_rag.kernel.errors import AgenticRagError
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.models.embedding.space import SpaceRecord, SpaceState
from agentic_rag.retrieval.measure_recall import MeasureRecall
from agentic_rag.retrieval.ports import IndexBuilder, VectorSearch
from agentic_rag.retrieval.vector_index import REQUIRED_RECALL, IndexAction, IndexRecord, IndexState, next_index_action


@dataclass(frozen=True, slots=True)
class IndexLimits:
    """Up to `exact_bytes` of vectors are scanned exactly; all tenants together have at most `max_indexes` indexes; an
    index is used if it finds `recall` of what an exact scan finds.
    """

    exact_bytes: int
    max_indexes: int
    recall: float = REQUIRED_RECALL


@dataclass(frozen=True, slots=True)
class MaintainVectorIndex:
    """The body of INDEX jobs; idempotent."""

    database: Database
    builder: IndexBuilder
    recall: MeasureRecall
    telemetry: Telemetry
    limits: IndexLimits

    async def run(self, lease: Lease, progress: JobProgress) -> None:
        """Build, measure or drop the workspace's indexes as its size requires. Errors: those of `IndexBuilder`,
        `LeaseLost`.
        """
        workspace = lease.job.workspace
        async with self.database.transaction(workspace.org_id) as transaction:
            spaces = await transaction.spaces.all(workspace)
            records = await transaction.indexes.all(workspace)
        await self._drop_orphans(lease, spaces, records)
        active = next((one for one in spaces if one.state is SpaceState.ACTIVE), None)
        if active is None:
            return
        number, rows = active.registered.space_id, active.done
        record = next((one for one in records if one.space_id == number), None)
        step = next_index_action(record, rows, active.registered.space.dimensions, self.limits.exact_bytes)
        if step is IndexAction.NOTHING:
            # Recorded too, so that upkeep, which only estimates sizes, does not enqueue the job again at once.
            await self._put(lease, record or IndexRecord(number, IndexState.REJECTED, rows))
        elif step is IndexAction.DROP:
            await self._drop(lease, number)
        elif step is IndexAction.BUILD:
            if await self.builder.others(workspace, number) >= self.limits.max_indexes:
                capped = f"there are {self.limits.max_indexes} indexes already, the most of all workspaces"
                await self._put(lease, IndexRecord(number, IndexState.REJECTED, rows, None, capped))
                return
            await self._put(lease, IndexRecord(number, IndexState.BUILDING, rows))
            await self.builder.build(workspace, active.registered)
            progress.advance()
        if step in (IndexAction.BUILD, IndexAction.MEASURE):
            await self._judge(lease, number, rows, progress)

    async def record_failure(
        self, transaction: Transaction, lease: Lease, error: AgenticRagError, decision: Retry | GiveUp
    ) -> None:
        """After a job gave up, marks its index FAILED with the reason; the workspace keeps scanning exactly."""
        if isinstance(decision, Retry):
            return
        for record in await transaction.indexes.all(lease.job.workspace):
            if record.state is IndexState.BUILDING:
                failed = replace(record, state=IndexState.FAILED, reason=f"[{error.code}] {error.message}")
                await transaction.indexes.put(lease.job.workspace, failed)

    async def _judge(self, lease: Lease, number: int, rows: int, progress: JobProgress) -> None:
        measured = await self.recall.run(lease.job.workspace, VectorSearch.INDEXED, progress.advance, space_id=number)
        passed = measured.recall >= self.limits.recall
        state = IndexState.READY if passed else IndexState.REJECTED
        await self._put(lease, IndexRecord(number, state, rows, measured.recall))
        self.telemetry.event(
            "rag_vector_index_measured", rows=rows, recall=measured.recall, exact_ms=measured.exact_ms,
            index_ms=measured.searched_ms, ready=passed,
        )  # fmt: skip
        if not passed:
            await self.builder.drop(lease.job.workspace, number)

    async def _drop_orphans(self, lease: Lease, spaces: Sequence[SpaceRecord], records: Sequence[IndexRecord]) -> None:
        """Drops indexes of removed and abandoned spaces; indexes of retired spaces are kept for switching back."""
        kept = {one.registered.space_id for one in spaces if one.state is not SpaceState.ABANDONED}
        for record in records:
            if record.space_id not in kept:
                await self._drop(lease, record.space_id)

    async def _drop(self, lease: Lease, number: int) -> None:
        """Searches stop using the index before it is dropped. Its record goes last, so that a rerun completes a crashed
        drop.
        """
        await self._put(lease, IndexRecord(number, IndexState.BUILDING, 0))
        await self.builder.drop(lease.job.workspace, number)
        async with self.database.transaction(lease.job.workspace.org_id) as transaction:
            await require_lease(transaction.jobs, lease)
            await transaction.indexes.forget(lease.job.workspace, number)

    async def _put(self, lease: Lease, record: IndexRecord) -> None:
        async with self.database.transaction(lease.job.workspace.org_id) as transaction:
            await require_lease(transaction.jobs, lease)
            await transaction.indexes.put(lease.job.workspace, record)

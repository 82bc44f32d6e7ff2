"""Which use case each kind of job runs, how long it may take, and how long it may stand still."""

from __future__ import annotations

from typing import Protocol

from agentic_rag.answering.hyde.write_passage import WritePassage
from agentic_rag.documents.originals import delete_marked_blobs
from agentic_rag.documents.ports import BlobStore
from agentic_rag.erasure.delete import DeleteDocument
from agentic_rag.ingestion.ingest import IngestDocument
from agentic_rag.jobs.job import GiveUp, JobRef, Lease, Retry
from agentic_rag.jobs.ports import JobProgress
from agentic_rag.kernel.database import Database, Transaction
from agentic_rag.kernel.errors import AgenticRagError, LeaseLost, Permanent
from agentic_rag.operations.graph.sync import GraphSync
from agentic_rag.operations.snapshots.take import TakeSnapshot
from agentic_rag.operations.switch_embedding import SwitchEmbedding
from agentic_rag.operations.vector_index import MaintainVectorIndex


class JobHandler(Protocol):
    """Runs the jobs of one kind."""

    @property
    def deadline_seconds(self) -> float:
        """The longest one attempt may take."""
        ...

    @property
    def stall_seconds(self) -> float:
        """The longest it may go without advancing."""
        ...

    async def run(self, lease: Lease, progress: JobProgress) -> bool | None:
        """Do the work; every effect checks the lease's fence. True: the job's end is recorded, with its last effect."""
        ...

    async def record_failure(
        self, transaction: Transaction, lease: Lease, error: AgenticRagError, decision: Retry | GiveUp
    ) -> None:
        """Show the failure where users look, in the transaction that records it."""
        ...


class IngestHandler:
    """INGEST. A stall is longer than the slowest single step: parsing a large file, or one embedding call."""

    deadline_seconds = 3_600.0
    stall_seconds = 300.0

    def __init__(self, ingest: IngestDocument) -> None:
        self._ingest = ingest

    async def run(self, lease: Lease, progress: JobProgress) -> None:
        """Ingest the document."""
        await self._ingest.run(lease, progress)

    async def record_failure(
        self, transaction: Transaction, lease: Lease, error: AgenticRagError, decision: Retry | GiveUp
    ) -> None:
        """Show it on the document."""
        if lease.job.document_id is not None:
            await self._ingest.record_failure(transaction, lease, error, decision)


class DeleteHandler:
    """DELETE."""

    deadline_seconds = 600.0
    stall_seconds = 300.0

    def __init__(self, delete: DeleteDocument) -> None:
        self._delete = delete

    async def run(self, lease: Lease, progress: JobProgress) -> None:
        """Erase the document."""
        if lease.job.document_id is None:
            raise Permanent("A delete job names no document.", code="JOB_ARGUMENTS_INVALID")
        await self._delete.run_job(lease, lease.job.document_id)

    async def record_failure(
        self, transaction: Transaction, lease: Lease, error: AgenticRagError, decision: Retry | GiveUp
    ) -> None:
        """The job itself shows it: a document that could not be deleted is as it was."""


class CompactHandler:
    """COMPACT."""

    deadline_seconds = 600.0
    stall_seconds = 300.0

    def __init__(self, database: Database) -> None:
        self._database = database

    async def run(self, lease: Lease, progress: JobProgress) -> None:
        """Merge the workspace's postings segments. The workspace's lock comes before the job's, as in publishing."""
        workspace = lease.job.workspace
        async with self._database.transaction(workspace.org_id) as transaction:
            await transaction.publisher.compact(workspace)
            if not await transaction.jobs.holds(JobRef(workspace, lease.job.job_id), lease.fence):
                raise LeaseLost("Another worker holds this job now.")

    async def record_failure(
        self, transaction: Transaction, lease: Lease, error: AgenticRagError, decision: Retry | GiveUp
    ) -> None:
        """Nobody waits for a compaction: the job shows it."""


class RetentionHandler:
    """RETENTION."""

    deadline_seconds = 600.0
    stall_seconds = 300.0

    def __init__(self, database: Database, blobs: BlobStore) -> None:
        self._database = database
        self._blobs = blobs

    async def run(self, lease: Lease, progress: JobProgress) -> None:
        """Drop what is past its keeping and blobs nothing needs; in steps, so that no lock is held for long."""
        workspace = lease.job.workspace
        more = True
        while more:
            async with self._database.transaction(workspace.org_id) as transaction:
                more = await transaction.workspaces.apply_retention(workspace)
                if not await transaction.jobs.holds(JobRef(workspace, lease.job.job_id), lease.fence):
                    raise LeaseLost("Another worker holds this job now.")
            progress.advance()
        await delete_marked_blobs(self._database, self._blobs, workspace)

    async def record_failure(
        self, transaction: Transaction, lease: Lease, error: AgenticRagError, decision: Retry | GiveUp
    ) -> None:
        """Nobody waits for it: the job shows it."""


class SnapshotHandler:
    """SNAPSHOT. A stall is longer than reading one part of an archive and writing it."""

    deadline_seconds = 6 * 3_600.0
    stall_seconds = 300.0

    def __init__(self, take_snapshot: TakeSnapshot) -> None:
        self._take_snapshot = take_snapshot

    async def run(self, lease: Lease, progress: JobProgress) -> None:
        """Take it, or sweep."""
        await self._take_snapshot.run(lease, progress)

    async def record_failure(
        self, transaction: Transaction, lease: Lease, error: AgenticRagError, decision: Retry | GiveUp
    ) -> None:
        """Show it on the snapshot once nobody tries any more."""
        if isinstance(decision, GiveUp):
            await self._take_snapshot.record_failure(transaction, lease, error)


class HydeHandler:
    """HYDE. The answer waits for a second or two; what comes later is of no use."""

    deadline_seconds = 60.0
    stall_seconds = 60.0

    def __init__(self, write: WritePassage) -> None:
        self._write = write

    async def run(self, lease: Lease, progress: JobProgress) -> None:
        """Write the passage, unless nobody waits any more."""
        await self._write.run(lease.job.workspace, lease.job.key)

    async def record_failure(
        self, transaction: Transaction, lease: Lease, error: AgenticRagError, decision: Retry | GiveUp
    ) -> None:
        """The answer went on without it, and says so."""


class GraphHandler:
    """GRAPH. One batch of documents is the slowest single step."""

    deadline_seconds = 3_600.0
    stall_seconds = 120.0

    def __init__(self, sync: GraphSync) -> None:
        self._sync = sync

    async def run(self, lease: Lease, progress: JobProgress) -> bool:
        """Bring the graph outside Postgres to the corpus version."""
        return await self._sync.run(lease, progress)

    async def record_failure(
        self, transaction: Transaction, lease: Lease, error: AgenticRagError, decision: Retry | GiveUp
    ) -> None:
        """The job shows it, and answers say that the graph is behind."""


class ReembedHandler:
    """REEMBED. A large workspace and a slow provider take hours; each batch moves on."""

    deadline_seconds = 86_400.0
    stall_seconds = 300.0

    def __init__(self, switch: SwitchEmbedding) -> None:
        self._switch = switch

    async def run(self, lease: Lease, progress: JobProgress) -> None:
        """Fill another embedding space, judge it, switch to it."""
        await self._switch.run(lease, progress)

    async def record_failure(
        self, transaction: Transaction, lease: Lease, error: AgenticRagError, decision: Retry | GiveUp
    ) -> None:
        """The job shows it; the space keeps what was filled, for the next try."""


class IndexHandler:
    """INDEX. Building is one long step: a million vectors take minutes."""

    deadline_seconds = 14_400.0
    stall_seconds = 7_200.0

    def __init__(self, index: MaintainVectorIndex) -> None:
        self._index = index

    async def run(self, lease: Lease, progress: JobProgress) -> None:
        """Build, measure or drop the workspace's approximate index."""
        await self._index.run(lease, progress)

    async def record_failure(
        self, transaction: Transaction, lease: Lease, error: AgenticRagError, decision: Retry | GiveUp
    ) -> None:
        """The index says why it is not used."""
        await self._index.record_failure(transaction, lease, error, decision)


class UnknownKindHandler:
    """A kind that this process has no body for, as while two versions of the product run beside each other."""

    deadline_seconds = 60.0
    stall_seconds = 60.0

    async def run(self, lease: Lease, progress: JobProgress) -> None:
        """Refuse. Errors: `Permanent` code JOB_KIND_UNKNOWN."""
        raise Permanent(
            f"This worker does not know how to run jobs of kind {lease.job.kind_name!r}. Replay it with a worker of "
            "the version that wrote it.",
            code="JOB_KIND_UNKNOWN",
        )

    async def record_failure(
        self, transaction: Transaction, lease: Lease, error: AgenticRagError, decision: Retry | GiveUp
    ) -> None:
        """The job shows it."""


UNKNOWN_KIND = UnknownKindHandler()

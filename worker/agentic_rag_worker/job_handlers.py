"""The table of job kinds: the use case that runs a kind's jobs, and the limits of one attempt."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentic_rag.erasure.process_memory import ProcessMemory
from agentic_rag.ingestion.maintenance import ApplyRetention, CompactSegments
from agentic_rag.jobs.job import GiveUp, JobKind, Lease, Retry
from agentic_rag.jobs.ports import JobProgress
from agentic_rag.kernel.database import Transaction
from agentic_rag.kernel.errors import AgenticRagError, Permanent

if TYPE_CHECKING:
    from agentic_rag.bootstrap import Container


@dataclass(frozen=True, slots=True)
class Handler:
    """Runs the jobs of one kind."""

    run: Callable[[Lease, JobProgress], Coroutine[Any, Any, object]]
    """Every effect checks the lease's fence. Returns True when it recorded the job's end with its last effect."""
    deadline_seconds: float
    """The longest one attempt may take."""
    stall_seconds: float
    """The longest one attempt may go without progress."""
    on_failure: Callable[[Transaction, Lease, AgenticRagError, Retry | GiveUp], Awaitable[None]] | None = None
    """Shows the failure on what the job concerns, in the transaction that records it. None: only the job shows it."""
    is_rejection: Callable[[AgenticRagError], bool] = lambda _: False
    """Whether a final failure is told by what the job concerns alone: no dead letter comes of it."""
    is_done: Callable[[Transaction, Lease], Awaitable[bool]] | None = None
    """Whether what the job is for is done, so that an attempt has only its end to record. None: nobody can tell."""
    is_erasure: bool = False
    """Whether somebody was promised that a text is gone: such a job is given up after many lost workers only."""


class _Steps:
    """Progress that ends the reading of the step before and begins that of the next."""

    def __init__(self, memory: ProcessMemory, lease: Lease, progress: JobProgress, reading: ExitStack) -> None:
        self._memory = memory
        self._lease = lease
        self._progress = progress
        self._reading = reading
        self._begin()

    def advance(self) -> None:
        self._reading.close()
        self._begin()
        self._progress.advance()

    def _begin(self) -> None:
        job = self._lease.job
        self._reading.enter_context(self._memory.reading(job.workspace, job.document_id))


def job_handlers(container: Container) -> Mapping[JobKind, Handler]:
    """The handlers of the kinds that core implements."""
    ingest, snapshot, index = container.ingest, container.take_snapshot, container.keep_index
    follow = container.follow_source
    retention = ApplyRetention(container.database, container.blobs)

    def reads(run: Callable[[Lease, JobProgress], Coroutine[Any, Any, object]]) -> Any:
        """The handler as one that holds whole texts while it runs: an erasure's certificate waits for its end."""

        async def run_reading(lease: Lease, progress: JobProgress) -> object:
            with container.memory.reading(lease.job.workspace, lease.job.document_id):
                return await run(lease, progress)

        return run_reading

    def reads_in_steps(run: Callable[[Lease, JobProgress], Coroutine[Any, Any, object]]) -> Any:
        """As `reads`, of a handler that holds no text any more when it reports progress: an erasure's certificate waits
        for that.
        """

        async def run_reading(lease: Lease, progress: JobProgress) -> object:
            with ExitStack() as reading:
                return await run(lease, _Steps(container.memory, lease, progress, reading))

        return run_reading

    async def write_passage(lease: Lease, progress: JobProgress) -> None:
        await container.write_passage.run(lease.job.workspace, lease.job.key)

    return {
        # The slowest single step is parsing a large file or one embedding call.
        JobKind.INGEST: Handler(
            reads(ingest.run), 3_600.0, 300.0, ingest.record_failure, ingest.is_rejection, ingest.is_published
        ),
        # The slowest single step is fetching a repository; every batch of files is progress.
        JobKind.SYNC: Handler(
            reads_in_steps(follow.run), 21_600.0, 1_900.0, follow.record_failure, follow.is_rejection
        ),
        # The slowest single step is the longest pause that a site may ask for, and one page.
        JobKind.CRAWL: Handler(container.crawl_web.run, 22_000.0, 300.0, is_rejection=container.crawl_web.is_rejection),
        JobKind.DELETE: Handler(container.delete.run_job, 600.0, 300.0, is_erasure=True),
        # The slowest single step is dropping a vector index, which waits for the searches that use it.
        JobKind.ERASE: Handler(container.erase_workspace.run, 21_600.0, 900.0, is_erasure=True),
        # Most of it waits for questions and files under way, a minute an order.
        JobKind.FORGET: Handler(container.confirm_drops.run, 3_600.0, 300.0, is_erasure=True),
        JobKind.COMPACT: Handler(reads_in_steps(CompactSegments(container.database).run), 600.0, 300.0),
        JobKind.RETENTION: Handler(retention.run, 600.0, 300.0),
        # The slowest step is one part of an archive. To its end its transaction shows what was erased: one reading.
        JobKind.SNAPSHOT: Handler(reads(snapshot.run), 21_600.0, 300.0, snapshot.record_failure),
        # The slowest single step is one batch of documents.
        JobKind.GRAPH: Handler(container.graph_sync.run, 3_600.0, 120.0),
        # The slowest single step is one question with a chat model.
        JobKind.SAVED: Handler(container.replay_saved.run, 7_200.0, 300.0),
        # The answer waits for a second or two; a later passage is of no use.
        JobKind.HYDE: Handler(write_passage, 60.0, 60.0),
        # A large workspace and a slow provider take hours; each batch is progress.
        JobKind.REEMBED: Handler(container.switch_spaces.run, 86_400.0, 300.0),
        # Building is one long step: a million vectors take minutes.
        JobKind.INDEX: Handler(index.run, 14_400.0, 7_200.0, index.record_failure),
    }


async def _refuse(lease: Lease, progress: JobProgress) -> None:
    raise Permanent(
        f"This worker does not know how to run jobs of kind {lease.job.kind_name!r}. Replay it with a worker of "
        "the version that wrote it.",
        code="JOB_KIND_UNKNOWN",
    )


UNKNOWN_KIND = Handler(_refuse, 60.0, 60.0)
"""Refuses a kind without a handler; such jobs appear while two versions of the product run side by side."""

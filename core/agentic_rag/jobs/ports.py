"""The outbox of jobs, its queue, and undecodable messages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

from agentic_rag.jobs.job import (
    GiveUp,
    Job,
    JobAttempt,
    JobKind,
    JobRef,
    JobState,
    Lease,
    MaintenanceTask,
    NewJob,
    QueueName,
    Replay,
    Retry,
)
from agentic_rag.jobs.message import StoredUndecodableMessage, UndecodableMessage
from agentic_rag.jobs.turns import LastTurns, QueuePlace
from agentic_rag.jobs.workers import WorkerIdentity, WorkerRecord
from agentic_rag.kernel.errors import AgenticRagError
from agentic_rag.kernel.pagination import Page, PageRequest
from agentic_rag.tenancy.access import ListScope
from agentic_rag.tenancy.principals import WorkspaceRef


class JobProgress(Protocol):
    """Reports that a job makes progress; a job without progress loses its lease."""

    def advance(self) -> None:
        """Report one more step."""
        ...


class JobStore(Protocol):
    """Inside a transaction of one organisation."""

    async def enqueue(self, job: NewJob) -> tuple[JobRef, bool]:
        """Write a job; returns (ref, False) when an unfinished job of the same workspace, kind and key exists."""
        ...

    async def get(self, workspace: WorkspaceRef, job_id: UUID, scope: ListScope | None = None) -> Job | None:
        """The job, or None; with `scope` also None for one that `page` would not show, which takes the same time."""
        ...

    async def place(self, ref: JobRef) -> QueuePlace | None:
        """Where the job waits for its turn; None for one that does not, or is not due. Workspaces take turns, so each
        other one of the organisation may start one job more than its own has before it.
        """
        ...

    async def attempts(self, workspace: WorkspaceRef, job_id: UUID) -> tuple[JobAttempt, ...]:
        """Every attempt at a job, first to last."""
        ...

    async def page(
        self,
        workspace: WorkspaceRef,
        request: PageRequest,
        states: Sequence[JobState] = (),
        kinds: Sequence[JobKind] = (),
        codes: Sequence[str] = (),
        scope: ListScope | None = None,
    ) -> Page[Job]:
        """Jobs, newest first; only those of the given states, kinds and error codes. With `scope` only jobs of
        documents that it lists, gone or not: what concerns no document follows from the work on all of them.
        """
        ...

    async def cancel_crawls(self, workspace_id: UUID | None) -> int:
        """Cancel unfinished crawls of a workspace (None: of the whole organisation), as `cancel_for_document`; how many
        there were.
        """
        ...

    async def changed(
        self, workspace: WorkspaceRef, seconds: float, most: int, scope: ListScope | None = None
    ) -> Sequence[Job]:
        """Jobs that changed within the last seconds, by the clock of the store, newest change first; with `scope` only
        those that `page` shows.
        """
        ...

    async def cancel(self, ref: JobRef) -> bool:
        """Cancel an unfinished job; a running one loses its fence. False for one that has ended."""
        ...

    async def cancel_for_document(self, workspace: WorkspaceRef, document_id: UUID, kind: JobKind) -> int:
        """Cancel unfinished jobs of a document; a running one loses its fence. Returns their number."""
        ...

    async def lease(self, ref: JobRef, worker: str, ttl: timedelta) -> Lease | None:
        """Take a due, queued job: attempts + 1, a higher fence. None when another worker has it or it is not due or
        done.

        Earlier attempts whose lease lapsed become OUTAGE where their worker was seen afterwards and did not give them
        up, else LAPSED.
        """
        ...

    async def renew(self, ref: JobRef, fence: int, ttl: timedelta, progress: int) -> bool:
        """Extend the lease; False when the fence is no longer current."""
        ...

    async def holds(self, ref: JobRef, fence: int) -> bool:
        """Whether the fence is current; if so it stays current until this transaction ends."""
        ...

    async def finish(self, ref: JobRef, fence: int) -> bool:
        """DONE; False when the fence is no longer current."""
        ...

    async def fail(self, ref: JobRef, fence: int, error: AgenticRagError, decision: Retry | GiveUp) -> bool:
        """Record the attempt's error chain; back to QUEUED after the delay, or DEAD, or DONE for a rejection. False
        when the fence is no longer current.
        """
        ...

    async def repeat_failed(self, code: str) -> int:
        """Ingest again the organisation's documents that are FAILED for this code: each becomes PENDING, with a copy of
        its last job. Returns their number.
        """
        ...

    async def release(self, ref: JobRef, fence: int, delay_seconds: float = 0.0) -> bool:
        """Give the job back unused (drain, postponement): QUEUED, due after the delay, the attempt not counted."""
        ...

    async def blame(self, lease: Lease, worker: str, reason: str) -> None:
        """This worker gives up its running attempt: when the lease lapses, it counts although the worker lives."""
        ...

    async def workers_lost_without(self, since: datetime, workers: Sequence[str], silence: timedelta) -> int:
        """The number of other workers that were seen after `since`, then for `silence` no more, and did not end."""
        ...

    async def replay(self, ref: JobRef) -> Replay:
        """Queue a dead letter again with a new limit of attempts and a higher fence; its attempts stay on record.
        SUPERSEDED when an unfinished job of the same kind and key exists. Errors: `Retryable` when such a job is being
        written now.
        """
        ...

    async def purge(self, ref: JobRef) -> bool:
        """Remove a dead letter's arguments, error text, trace and attempts; False when it is no dead letter (any
        more).
        """
        ...


class JobBoard(Protocol):
    """The dispatcher's reads across tenants, under a database role that sees only the needed columns."""

    async def lead(self) -> bool:
        """Try to become (or confirm being) the one leading dispatcher."""
        ...

    async def beat(self, worker: WorkerIdentity) -> None:
        """Record that a worker lives."""
        ...

    async def sign_off(self, worker: WorkerIdentity) -> None:
        """Record that a worker ends."""
        ...

    async def workers(self) -> list[WorkerRecord]:
        """Workers of the last day, at most 100: those that did not end first, then by when they were last seen."""
        ...

    async def expire_leases(self) -> int:
        """Move RUNNING jobs with an expired lease back to QUEUED, which voids their fence. Returns their number."""
        ...

    async def due(
        self, queue: QueueName, limit: int, partition: int = 0, partitions: int = 1, last: LastTurns | None = None
    ) -> list[JobRef]:
        """Due jobs of one partition, by turns: of the organisation served longest ago (`last`), then of its workspace,
        oldest first within each.
        """
        ...

    async def upkeep(self) -> list[MaintenanceTask]:
        """Maintenance that is due in any workspace and has no unfinished job yet. Maintenance that belongs to no
        workspace is done by this call.
        """
        ...

    async def counts(self) -> dict[tuple[JobState, JobKind], int]:
        """Unfinished jobs and dead letters by state and kind, for the metrics."""
        ...

    async def oldest_waits(self) -> dict[JobKind, float]:
        """Seconds that the oldest due job of each kind has waited, for the metrics."""
        ...

    async def corpus_counts(self) -> tuple[dict[str, int], int]:
        """Documents of all tenants by status, and the corpus versions that the graph of the workspace furthest behind
        is behind, for the metrics.
        """
        ...

    async def budget_shares(self) -> dict[tuple[str, str], float]:
        """The share that is used of the ceiling that is used most, by scope (`organisation`, `workspace`) and ceiling
        (`day_usd`, `month_usd`, `day_embedding_usd`, `day_chat_usd`, `day_searches`, `day_pages`), for the metrics. A
        ceiling of 0 has none.
        """
        ...

    async def aclose(self) -> None:
        """Give up the lead and the connection."""
        ...


class JobQueue(Protocol):
    """Jobs of a workspace go to its partition (`jobs.job.partition_of`).

    The outbox holds the truth, so losing the whole queue loses no job. Errors: `DependencyUnavailable`.
    """

    async def absent(self, queue: QueueName, refs: Sequence[JobRef]) -> list[JobRef]:
        """Those of the jobs that do not wait there yet."""
        ...

    async def offer(self, queue: QueueName, refs: Sequence[JobRef]) -> int:
        """Enqueue the jobs that do not wait there yet; returns their number."""
        ...

    async def depth(self, queue: QueueName, partition: int = 0) -> int:
        """The number of waiting jobs in one partition."""
        ...

    async def mirror_dead(self, job: Job, code: str) -> None:
        """Mirror a new dead letter (ids, kind and code, no arguments) where the queue's own tools show it."""
        ...

    async def mirror_payload(self, found: UndecodableMessage) -> None:
        """Mirror an undecodable message, its bytes as base64, in the same place."""
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...


class DeadPayloads(Protocol):
    """Errors of every use: `DependencyUnavailable`."""

    async def keep(self, found: UndecodableMessage) -> bool:
        """Store a message; False when equal bytes were stored from the same place before (their count rises)."""
        ...

    async def get(self, payload_id: UUID) -> StoredUndecodableMessage | None:
        """The message, or None."""
        ...

    async def page(self, request: PageRequest) -> Page[StoredUndecodableMessage]:
        """Messages, newest first. Errors: `InvalidInput` (page size, cursor)."""
        ...

    async def purge(self, payload_id: UUID) -> bool:
        """Delete a message; False when there is none."""
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...

"""Jobs of the data plane: their kinds, states, legal moves, and the policy that decides on a retry."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from agentic_rag.kernel.errors import AgenticRagError, DependencyUnavailable, Permanent, Retryable
from agentic_rag.tenancy.principals import WorkspaceRef

PARTITION_BITS = 28
"""Bits of a workspace's id that choose its partition: its last seven hex digits, which are random."""


class JobKind(enum.Enum):
    """The kind of a job; the worker has one body per kind."""

    INGEST = "ingest"
    DELETE = "delete"
    ERASE = "erase"
    """Erase a workspace that was deleted."""
    FORGET = "forget"
    """Have every process drop what it holds of erased documents in memory, and complete their certificates."""
    SYNC = "sync"
    """Bring a workspace up to date with a source that it follows."""
    CRAWL = "crawl"
    """Read pages of the web into a workspace."""
    COMPACT = "compact"
    GRAPH = "graph"
    """Bring a graph outside Postgres to the corpus version."""
    REEMBED = "reembed"
    """Fill another embedding space, then switch to it."""
    INDEX = "index"
    """Build the approximate vector index of a large workspace."""
    SNAPSHOT = "snapshot"
    """Write a workspace's archive, or delete the files of failed and expired archives."""
    EVAL = "eval"
    """Answer the questions of a dataset and report the scores."""
    CALIBRATE = "calibrate"
    """Measure the support below which a workspace abstains."""
    SAVED = "saved"
    """Ask saved questions again after a publish."""
    HYDE = "hyde"
    """Write a passage that a waiting answer embeds beside its question."""
    RETENTION = "retention"
    """Delete expired runs, cached answers and versions."""
    UNKNOWN = "unknown"
    """A kind of another version of the product; `Job.kind_name` gives its name. Never enqueued."""


class JobState(enum.Enum):
    """The state of a job. QUEUED waits (perhaps until `run_after`); DEAD is a dead letter."""

    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    DONE = "DONE"
    DEAD = "DEAD"
    CANCELLED = "CANCELLED"
    PURGED = "PURGED"
    """A dead letter whose arguments, error texts and attempts an operator removed."""


def partition_of(workspace: WorkspaceRef, partitions: int) -> int:
    """The partition of the bulk queue that holds a workspace's jobs, from 0."""
    return (workspace.workspace_id.int & ((1 << PARTITION_BITS) - 1)) % partitions


LAPSED = "LAPSED"
"""The outcome of an attempt whose worker died or lost the lease."""

EXCUSED = "OUTAGE"
"""The outcome of a lapsed attempt whose worker lived on. The infrastructure was away, so it does not count."""


class QueueName(enum.Enum):
    """Bulk work, and jobs that an answer waits for."""

    BULK = "bulk"
    INTERACTIVE = "interactive"


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job to write to the outbox, in the same transaction as the change it concerns.

    `key` is unique per workspace and kind among unfinished jobs: enqueuing twice gives one job. `arguments` are plain
    JSON strings, never secrets.
    """

    workspace: WorkspaceRef
    kind: JobKind
    key: str
    arguments: Mapping[str, str]
    queue: QueueName = QueueName.BULK
    trace_carrier: Mapping[str, str] = field(default_factory=dict[str, str])
    document_id: UUID | None = None
    delay_seconds: float = 0.0
    """The job becomes due this long after it was written."""


def graph_job(workspace: WorkspaceRef) -> NewJob:
    """The job that brings a workspace's graph to its corpus version; at most one waits or runs at a time."""
    return NewJob(workspace, JobKind.GRAPH, "graph", {})


@dataclass(frozen=True, slots=True)
class Job:
    """A job as stored. `attempts` counts all attempts; the first `attempts_before`, made before the last replay, do not
    count against the limit.
    """

    workspace: WorkspaceRef
    job_id: UUID
    kind: JobKind
    key: str
    state: JobState
    queue: QueueName
    arguments: Mapping[str, str]
    attempts: int
    document_id: UUID | None
    error_code: str | None
    error_message: str | None
    progress: int
    trace_carrier: Mapping[str, str]
    run_after: datetime
    created_at: datetime
    updated_at: datetime
    attempts_before: int = 0
    foreign_kind: str | None = None
    """The stored name of a kind that this version does not know."""

    @property
    def attempts_against_limit(self) -> int:
        """Attempts since the last replay."""
        return self.attempts - self.attempts_before

    @property
    def kind_name(self) -> str:
        """The kind as it is stored."""
        return self.foreign_kind or self.kind.value


class Replay(enum.Enum):
    """The result of replaying a dead letter."""

    REPLAYED = "REPLAYED"
    NOT_DEAD = "NOT_DEAD"
    """The job was replayed before, purged, or never dead: nothing changed."""
    SUPERSEDED = "SUPERSEDED"
    """Newer work replaced it (an unfinished job of the same key, or a later upload), or its document is gone: nothing
    changed.
    """


@dataclass(frozen=True, slots=True)
class JobAttempt:
    """One try at a job. `outcome` is DONE, RETRY, DEAD, REJECTED, LAPSED (its worker died or gave the job up) or OUTAGE
    (the lease lapsed and its worker lived on); None while it runs. `error_chain` is the error and its causes,
    outermost first, redacted.
    """

    attempt: int
    worker: str
    started_at: datetime
    ended_at: datetime | None
    outcome: str | None
    error_code: str | None
    error_chain: tuple[str, ...]

    @property
    def is_orphan(self) -> bool:
        """Its worker is gone or lost the lease. The attempt stays open until the next lease closes it."""
        return self.outcome in (None, LAPSED)


@dataclass(frozen=True, slots=True)
class MaintenanceTask:
    """A maintenance job of this kind and key, due because time passed or a store grew, without a request."""

    workspace: WorkspaceRef
    kind: JobKind
    key: str


@dataclass(frozen=True, slots=True)
class JobRef:
    """A reference to a job as sent through Redis: ids only.

    `fence` is the job's fence when it was queued. A job that is queued again has a higher one, so its next delivery
    differs from the last. It grants nothing: only a lease does.
    """

    workspace: WorkspaceRef
    job_id: UUID
    fence: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work on a job until `deadline`. `fence` proves it: every effect checks the fence."""

    job: Job
    fence: int
    deadline: datetime

    @property
    def ref(self) -> JobRef:
        """The job."""
        return JobRef(self.job.workspace, self.job.job_id)


@dataclass(frozen=True, slots=True)
class Retry:
    """Try again after the delay."""

    delay_seconds: float


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Make the job a dead letter; with `is_rejection` end it as DONE, because what it concerns says what is wrong and
    no operator can help.
    """

    is_rejection: bool = False


class IsolationDecision(enum.Enum):
    """Whether a job may share its process, judged by how its earlier attempts ended."""

    SHARED = "shared"
    """Beside other jobs."""
    ALONE = "alone"
    """With no other bulk job in its process: if the worker dies again, the cause is known."""
    POISONED = "convicted"
    """Never again: its worker died or lost the lease while it ran alone, and its attempts are used up."""


LOSSES_ALONE = 3
"""Workers that a job must take with it while it runs alone, where other workers are lost without it."""

LOSSES_OF_ERASURE = 30
"""The same of an erasure, which somebody was promised: it mostly waits, and is hit by what strikes its workers."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """A pure decision: exponential backoff with full jitter (AWS Architecture Blog, 'Exponential Backoff And Jitter',
    2015).
    """

    attempts: int
    backoff_ms: int
    ceiling_ms: int = 300_000

    def decide(
        self, error: AgenticRagError, attempts_made: int, jitter: float, *, is_erasure: bool = False
    ) -> Retry | GiveUp:
        """Decide on a failure after `attempts_made` attempts (≥ 1); `jitter` is uniform in [0, 1). An erasure, which
        somebody was promised, waits for a store that is away however long that takes.
        """
        transient = isinstance(error, Retryable | DependencyUnavailable) and not isinstance(error, Permanent)
        has_attempts = attempts_made < self.attempts or (is_erasure and isinstance(error, DependencyUnavailable))
        if not transient or not has_attempts:
            return GiveUp()
        stated = error.retry_after_seconds if isinstance(error, Retryable) else None
        doublings = min(attempts_made - 1, self.ceiling_ms.bit_length())
        ceiling = min(self.ceiling_ms, self.backoff_ms * 2**doublings)
        return Retry(max(stated or 0.0, jitter * ceiling / 1000))

    def decide_isolation(self, earlier: Sequence[JobAttempt], losses_needed: int = 1) -> IsolationDecision:
        """Decide by the attempts that count against the limit, first to last, without the one that begins, and by the
        number of workers that the job must take with it alone, one after the other, before it is convicted.

        A job that kills its worker takes down the jobs beside it, and the same jobs meet again, because their leases
        end together. So losing a worker does not condemn a job that shared it. The last attempt of a job that lost a
        worker runs alone, and a job whose attempts ended in shared processes gets one more.
        """
        lost = [attempt.is_orphan for attempt in earlier]
        if len(earlier) + 1 < self.attempts or not any(lost):
            return IsolationDecision.SHARED
        losses_alone = 0
        for place in reversed(range(len(earlier))):
            if not lost[place] or place + 1 < self.attempts or not any(lost[:place]):
                break
            losses_alone += 1
        return IsolationDecision.POISONED if losses_alone >= losses_needed else IsolationDecision.ALONE

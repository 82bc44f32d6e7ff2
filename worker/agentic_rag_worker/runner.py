"""Runs one job: takes its lease, runs its handler under the heartbeat, records the outcome."""

from __future__ import annotations

import asyncio
import enum
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from agentic_rag.jobs.job import (
    EXCUSED,
    LAPSED,
    LOSSES_ALONE,
    LOSSES_OF_ERASURE,
    GiveUp,
    IsolationDecision,
    JobAttempt,
    JobKind,
    JobRef,
    Lease,
    QueueName,
    Retry,
    RetryPolicy,
)
from agentic_rag.jobs.leases import lease_loss
from agentic_rag.jobs.ports import JobQueue
from agentic_rag.jobs.workers import WorkerIdentity
from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.database import Database, Transaction
from agentic_rag.kernel.errors import (
    AgenticRagError,
    DependencyUnavailable,
    JobPostponed,
    LeaseLost,
    Permanent,
    Retryable,
)
from agentic_rag.kernel.ids import Ids
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag_worker.exclusive_lock import ExclusiveLock
from agentic_rag_worker.heartbeat import Heartbeat, JobWatch, StopReason
from agentic_rag_worker.job_handlers import UNKNOWN_KIND, Handler
from agentic_rag_worker.timings import WorkerTimings

SETTLE_TRIES = 5
"""Of a worker that drains. Others try until the database is back, under a lease that the heartbeat takes again."""

LONGEST_PAUSE = 5.0
"""Seconds between two tries to record an outcome."""

OUTAGES_FORGIVEN = 20
"""A job that brings the database down each time must end: each lease and each release raises its fence by one."""

OWN_STORES = ("postgres", "redis")


class RunOutcome(enum.Enum):
    """How a delivery of a job ended."""

    NOT_TAKEN = "not_taken"
    """Another worker has it, it is not due, or it is done: deliveries may be late or double."""
    DONE = "done"
    RETRY = "retry"
    DEAD = "dead"
    REJECTED = "rejected"
    LOST = "lost"
    RELEASED = "released"
    POSTPONED = "postponed"
    """It made room for others of this worker."""


class JobRunner:
    """Leaves the decision on retries to the policy and the job's own attempt counter."""

    def __init__(
        self,
        database: Database,
        queue: JobQueue,
        handlers: Mapping[JobKind, Handler],
        policy: RetryPolicy,
        heartbeat: Heartbeat,
        exclusive_lock: ExclusiveLock,
        clock: Clock,
        ids: Ids,
        telemetry: Telemetry,
        worker: WorkerIdentity,
        timings: WorkerTimings,
    ) -> None:
        self._database = database
        self._queue = queue
        self._handlers = handlers
        self._policy = policy
        self._heartbeat = heartbeat
        self.exclusive_lock = exclusive_lock
        self._clock = clock
        self._ids = ids
        self._telemetry = telemetry
        self._worker = worker
        self._timings = timings
        self._running: set[JobWatch] = set()
        self._idle = asyncio.Event()
        self._idle.set()
        self._draining = False

    async def run(self, ref: JobRef, queue: QueueName = QueueName.BULK) -> RunOutcome:
        """Run a delivered job. Errors: `DependencyUnavailable` before the lease is taken; afterwards none."""
        if queue is QueueName.INTERACTIVE:
            # An answer waits for it, and it only asks a model: it runs beside an exclusive job.
            return await self._take(ref, is_alone=True)
        if self.exclusive_lock.is_exclusive:
            return RunOutcome.NOT_TAKEN
        try:
            with self.exclusive_lock.share():
                return await self._take(ref, is_alone=False)
        except _NeedsExclusiveRun:
            async with self.exclusive_lock.exclusive() as is_alone:
                return await self._take(ref, is_alone=True) if is_alone else RunOutcome.NOT_TAKEN

    async def _take(self, ref: JobRef, *, is_alone: bool) -> RunOutcome:
        if self._draining:
            return RunOutcome.NOT_TAKEN
        async with self._database.transaction(ref.workspace.org_id) as transaction:
            lease = await transaction.jobs.lease(ref, self._worker.name, self._timings.lease_ttl)
            if lease is None:
                return RunOutcome.NOT_TAKEN
            earlier = await _counted_attempts(transaction, lease)
            isolation = await self._decide_isolation(transaction, lease, earlier)
            if isolation is IsolationDecision.ALONE and not is_alone:
                raise _NeedsExclusiveRun  # which gives the lease back
        kind = lease.job.kind.value
        started = self._clock.monotonic()
        attributes = {"rag.job.kind": kind, "rag.job.attempt": lease.job.attempts}
        around, carrier = self._telemetry.bind(job_id=str(ref.job_id)), lease.job.trace_carrier
        with around, self._telemetry.span(f"job {kind}", attributes, carrier) as span:
            outcome = await (
                self._fail_as_poison(ref, lease, earlier)
                if isolation is IsolationDecision.POISONED
                else self._run_with_lease(ref, lease, 1 + sum(not attempt.is_orphan for attempt in earlier))
            )
            span.set("rag.job.outcome", outcome.value)
        self._telemetry.observe("rag_job_seconds", self._clock.monotonic() - started, kind=kind)
        return outcome

    async def _decide_isolation(
        self, transaction: Transaction, lease: Lease, earlier: Sequence[JobAttempt]
    ) -> IsolationDecision:
        """What the policy decides, unless what the job is for is done already: then it cannot be to blame."""
        handler, isolation = self._handler(lease), self._policy.decide_isolation(earlier)
        is_done = handler.is_done
        if isolation is not IsolationDecision.SHARED and is_done is not None and await is_done(transaction, lease):
            return IsolationDecision.SHARED
        if isolation is IsolationDecision.POISONED and handler.is_erasure:
            return self._policy.decide_isolation(earlier, LOSSES_OF_ERASURE)
        if isolation is IsolationDecision.POISONED:
            # Where workers are lost without it as well, one loss alone is no proof.
            since, workers = earlier[0].started_at, [attempt.worker for attempt in earlier]
            if await transaction.jobs.workers_lost_without(since, workers, self._timings.lease_ttl):
                return self._policy.decide_isolation(earlier, LOSSES_ALONE)
        return isolation

    async def drain(self) -> None:
        """Take no more jobs; wait for running ones within the grace period, then release the rest uncounted."""
        self._draining = True
        try:
            async with asyncio.timeout(self._timings.grace):
                await self._idle.wait()
        except TimeoutError:
            for watch in list(self._running):
                watch.end(StopReason.DRAINED)
            await self._idle.wait()

    async def _fail_as_poison(self, ref: JobRef, lease: Lease, earlier: Sequence[JobAttempt]) -> RunOutcome:
        losses = sum(attempt.is_orphan for attempt in earlier)
        error = Permanent(
            f"{losses} workers died or lost the lease while running this job, the last with no other beside it.",
            code="WORKER_LOST",
        )
        return await self._record_failure(ref, lease, self._handler(lease), error, len(earlier))

    async def _run_with_lease(self, ref: JobRef, lease: Lease, made: int) -> RunOutcome:
        handler = self._handler(lease)
        loop = asyncio.get_running_loop()
        task: asyncio.Task[object]
        watch = JobWatch(
            lease,
            handler.deadline_seconds,
            handler.stall_seconds,
            self._clock.monotonic(),
            lambda: _call_soon(loop, lambda: task.cancel()),
        )
        task = asyncio.create_task(handler.run(lease, watch), name=f"job {lease.job.kind.value} {ref.job_id}")
        self._running.add(watch)
        self._idle.clear()
        self._heartbeat.add(watch)
        try:
            return await self._await_outcome(ref, lease, handler, watch, task, made)
        finally:
            self._heartbeat.remove(watch)
            self._running.discard(watch)
            if not self._running:
                self._idle.set()

    async def _await_outcome(
        self, ref: JobRef, lease: Lease, handler: Handler, watch: JobWatch, task: asyncio.Task[object], made: int
    ) -> RunOutcome:
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            # The process ends. The handler ends before its job is released.
            task.cancel()
            await asyncio.wait([task])
            return await self._release(ref, lease)
        if task.cancelled():
            if watch.stop_reason is StopReason.LOST:
                return RunOutcome.LOST
            if watch.stop_reason is StopReason.LATE:
                error = Retryable(f"The job took longer than {handler.deadline_seconds:g} s.", code="JOB_TIMEOUT")
            elif watch.stop_reason is StopReason.STALLED:
                error = Retryable(f"The job made no progress for {handler.stall_seconds:g} s.", code="JOB_STALLED")
            else:
                return await self._release(ref, lease)
        else:
            fault = task.exception()
            if fault is None:
                return RunOutcome.DONE if task.result() is True else await self._record_success(ref, lease)
            if isinstance(fault, LeaseLost):
                return RunOutcome.LOST
            if isinstance(fault, JobPostponed):
                return await self._postpone(ref, lease, fault)
            error = _as_product_error(fault)
            if _is_outage(error, watch) and lease.fence < 2 * (OUTAGES_FORGIVEN + self._policy.attempts):
                return await self._release(ref, lease)
        return await self._record_failure(ref, lease, handler, error, made)

    def _handler(self, lease: Lease) -> Handler:
        found, timings = self._handlers.get(lease.job.kind, UNKNOWN_KIND), self._timings
        deadline, stall = timings.deadline or found.deadline_seconds, timings.stall or found.stall_seconds
        return replace(found, deadline_seconds=deadline, stall_seconds=stall)

    async def _record_success(self, ref: JobRef, lease: Lease) -> RunOutcome:
        done = await self._settle(ref, lambda transaction: transaction.jobs.finish(ref, lease.fence))
        return RunOutcome.DONE if done else RunOutcome.LOST

    async def _release(self, ref: JobRef, lease: Lease) -> RunOutcome:
        settling = self._settle(ref, lambda transaction: transaction.jobs.release(ref, lease.fence))
        return RunOutcome.RELEASED if await asyncio.shield(settling) else RunOutcome.LOST

    async def _postpone(self, ref: JobRef, lease: Lease, wish: JobPostponed) -> RunOutcome:
        delay = (wish.retry_after_seconds or 0.0) * (0.5 + self._ids.jitter())
        back = await self._settle(ref, lambda transaction: transaction.jobs.release(ref, lease.fence, delay))
        return RunOutcome.POSTPONED if back else RunOutcome.LOST

    async def _record_failure(
        self, ref: JobRef, lease: Lease, handler: Handler, error: AgenticRagError, made: int
    ) -> RunOutcome:
        decision = self._policy.decide(error, made, self._ids.jitter(), is_erasure=handler.is_erasure)
        if isinstance(decision, GiveUp) and handler.is_rejection(error):
            decision = GiveUp(is_rejection=True)

        async def fail(transaction: Transaction) -> bool:
            # The document before the job, as everywhere; when the fence is gone all of it is rolled back.
            if handler.on_failure is not None:
                await handler.on_failure(transaction, lease, error, decision)
            if not await transaction.jobs.fail(ref, lease.fence, error, decision):
                raise lease_loss()
            return True

        if not await self._settle(ref, fail):
            return RunOutcome.LOST
        kind = lease.job.kind.value
        self._telemetry.count("rag_job_failures_total", kind=kind, code=error.code)
        if isinstance(decision, GiveUp) and decision.is_rejection:
            # The document says why: a file that cannot be read is no fault of the service.
            self._telemetry.event("rag_job_rejected", job_id=str(ref.job_id), kind=kind, code=error.code)
            return RunOutcome.REJECTED
        self._telemetry.event(
            "rag_job_failed",
            level="warning",
            job_id=str(ref.job_id),
            kind=kind,
            code=error.code,
            attempt=lease.job.attempts,
            again_in=decision.delay_seconds if isinstance(decision, Retry) else None,
        )
        if isinstance(decision, GiveUp):
            self._telemetry.count("rag_dead_letters_total", kind=kind)
            try:
                await self._queue.mirror_dead(lease.job, error.code)
            except DependencyUnavailable as outage:
                self._telemetry.event(
                    "rag_dead_letter_not_mirrored", level="warning", job_id=str(ref.job_id), code=outage.code
                )
            return RunOutcome.DEAD
        return RunOutcome.RETRY

    async def _settle(self, ref: JobRef, write: Callable[[Transaction], Awaitable[bool]]) -> bool:
        """Record an outcome, retrying through outages of Postgres. False when the fence is no longer current, or when a
        draining worker meets an outage that lasts: then the lease lapses and the job runs again.
        """
        attempt = 0
        while True:
            try:
                async with self._database.transaction(ref.workspace.org_id) as transaction:
                    return await write(transaction)
            except LeaseLost:
                return False
            except (DependencyUnavailable, Retryable) as error:
                self._telemetry.event(
                    "rag_job_ending_not_recorded", level="warning", job_id=str(ref.job_id), code=error.code
                )
                if self._draining and attempt >= SETTLE_TRIES - 1:
                    return False
                pause = min(LONGEST_PAUSE, self._timings.outage * 2 ** min(attempt, SETTLE_TRIES))
                await asyncio.sleep(pause * self._ids.jitter())
            attempt += 1


class _NeedsExclusiveRun(Exception):
    """The leased job lost workers before and has one attempt left."""


def _is_outage(error: AgenticRagError, watch: JobWatch) -> bool:
    """Whether a store of ours was away. A call that ran out of time is the job's, unless the heartbeat failed too."""
    if not isinstance(error, DependencyUnavailable) or error.dependency not in OWN_STORES:
        return False
    return watch.saw_outage or not isinstance(error.__cause__, TimeoutError)


async def _counted_attempts(transaction: Transaction, lease: Lease) -> Sequence[JobAttempt]:
    """The attempts that count against the limit, without the current one. Outages excuse `OUTAGES_FORGIVEN` of them."""
    job = lease.job
    if job.attempts_against_limit == 1:
        return ()
    attempts = await transaction.jobs.attempts(job.workspace, job.job_id)
    earlier = [attempt for attempt in attempts if job.attempts_before < attempt.attempt < job.attempts]
    excused = [attempt for attempt in earlier if attempt.outcome == EXCUSED]
    unforgiven = [replace(attempt, outcome=LAPSED) for attempt in excused[OUTAGES_FORGIVEN:]]
    return [*(attempt for attempt in earlier if attempt not in excused), *unforgiven]


def _as_product_error(fault: BaseException) -> AgenticRagError:
    """The error for the policy: an unexpected one is retried and recorded with its chain."""
    if isinstance(fault, AgenticRagError):
        return fault
    error = Retryable(f"An unexpected {type(fault).__name__} ended the job.", code="INTERNAL")
    error.__cause__ = fault
    return error


def _call_soon(loop: asyncio.AbstractEventLoop, call: Callable[[], object]) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(call)

"""`jobs.ports.JobStore` in memory, and the moves of a job that the board shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from tests.memory_store.session.pages import page_newest_first
from tests.memory_store.session.state import StoredJob
from tests.memory_store.session.store import Working

from agentic_rag.documents.document import DocumentStatus
from agentic_rag.jobs.job import (
    EXCUSED,
    LAPSED,
    GiveUp,
    Job,
    JobAttempt,
    JobKind,
    JobRef,
    JobState,
    Lease,
    NewJob,
    Replay,
    Retry,
)
from agentic_rag.jobs.turns import MOST_COUNTED, MOST_FINISHED, RATE_MINUTES, QueuePlace, place_in_queue
from agentic_rag.kernel.error_redaction import error_chain, redact
from agentic_rag.kernel.errors import AgenticRagError
from agentic_rag.kernel.pagination import Page, PageRequest
from agentic_rag.tenancy.access import ListScope
from agentic_rag.tenancy.principals import WorkspaceRef

_UNFINISHED = (JobState.QUEUED, JobState.RUNNING)


class MemoryJobStore:
    """Inside a transaction of one organisation; leaving RUNNING for QUEUED or CANCELLED raises the fence."""

    def __init__(self, working: Working, org_id: UUID) -> None:
        self._working = working
        self._org_id = org_id

    async def enqueue(self, job: NewJob) -> tuple[JobRef, bool]:
        """Write a job, or find the unfinished one of the same workspace, kind and key. Errors: `NotFound`."""
        state = self._working.write(job.workspace)
        for stored in state.jobs.values():
            known = stored.job
            if (known.kind, known.key) == (job.kind, job.key) and known.state in _UNFINISHED:
                return JobRef(job.workspace, known.job_id), False
        now = self._working.now()
        written = Job(
            workspace=job.workspace,
            job_id=uuid4(),
            kind=job.kind,
            key=job.key,
            state=JobState.QUEUED,
            queue=job.queue,
            arguments=dict(job.arguments),
            attempts=0,
            document_id=job.document_id,
            error_code=None,
            error_message=None,
            progress=0,
            trace_carrier=dict(job.trace_carrier),
            run_after=now + timedelta(seconds=job.delay_seconds),
            created_at=now,
            updated_at=now,
        )
        state.jobs[written.job_id] = StoredJob(written, number=len(state.jobs))
        return JobRef(job.workspace, written.job_id), True

    async def get(self, workspace: WorkspaceRef, job_id: UUID, scope: ListScope | None = None) -> Job | None:
        """The job, or None."""
        stored = self._stored(JobRef(workspace, job_id))
        is_shown = stored is not None and (scope is None or stored.job.document_id in self._listed(workspace, scope))
        return stored.job if stored is not None and is_shown else None

    async def place(self, ref: JobRef) -> QueuePlace | None:
        """Where the job waits for its turn; None for one that does not, or is not due."""
        now, stored = self._working.now(), self._stored(ref)
        if stored is None or not _waits(stored.job, now):
            return None
        own, ended = stored, now - timedelta(minutes=RATE_MINUTES)
        waiting: dict[UUID, list[StoredJob]] = {}
        finished: list[datetime] = []
        for workspace in [one for one in self._working.states if self._working.read(one) is not None]:
            for one in self._all(workspace):
                if _waits(one.job, now) and one.job.queue is own.job.queue:
                    waiting.setdefault(workspace.workspace_id, []).append(one)
                if one.job.state is JobState.DONE and one.job.kind is own.job.kind and one.job.updated_at > ended:
                    finished.append(one.job.updated_at)
        ours = waiting.pop(ref.workspace.workspace_id)
        ahead = sum((one.job.created_at, one.number) < (own.job.created_at, own.number) for one in ours)
        before = ahead + sum(min(len(jobs), ahead + 1) for jobs in waiting.values())
        finished = sorted(finished)[-MOST_FINISHED:]
        seconds = (now - min(finished)).total_seconds() if finished else 0.0
        return place_in_queue(min(before, MOST_COUNTED), len(finished), seconds)

    async def attempts(self, workspace: WorkspaceRef, job_id: UUID) -> tuple[JobAttempt, ...]:
        """Every attempt at a job, first to last."""
        stored = self._stored(JobRef(workspace, job_id))
        return () if stored is None else stored.attempts

    async def page(
        self,
        workspace: WorkspaceRef,
        request: PageRequest,
        states: Sequence[JobState] = (),
        kinds: Sequence[JobKind] = (),
        codes: Sequence[str] = (),
        scope: ListScope | None = None,
    ) -> Page[Job]:
        """Jobs, newest first. Errors: `InvalidInput` (page size, cursor)."""
        readable = self._listed(workspace, scope)
        rows = [
            stored
            for stored in self._all(workspace)
            if (not states or stored.job.state in states)
            and (not kinds or stored.job.kind in kinds)
            and (not codes or stored.job.error_code in codes)
            and (scope is None or stored.job.document_id in readable)
        ]
        page = page_newest_first(rows, _created, request)
        return Page(tuple(stored.job for stored in page.items), page.cursors, page.has_next)

    def _listed(self, workspace: WorkspaceRef, scope: ListScope | None) -> set[UUID]:
        state = self._working.read(workspace)
        known = {} if state is None else {**state.tombstones, **state.documents}
        return {one for one, held in known.items() if state is not None and state.lists(held, scope)}

    async def cancel_crawls(self, workspace_id: UUID | None) -> int:
        """Cancel unfinished crawls of one workspace, or (None) of all; how many."""
        unfinished = [
            stored
            for workspace in self._working.states
            if workspace.org_id == self._org_id and workspace_id in (None, workspace.workspace_id)
            for stored in self._all(workspace)
            if stored.job.kind is JobKind.CRAWL and stored.job.state in _UNFINISHED
        ]
        for stored in unfinished:
            self._write(_lapsed(_left(stored, JobState.CANCELLED, self._working.now()), self._working.now()))
        return len(unfinished)

    async def changed(
        self, workspace: WorkspaceRef, seconds: float, most: int, scope: ListScope | None = None
    ) -> Sequence[Job]:
        """Jobs that changed within the last seconds, newest change first."""
        readable, since = self._listed(workspace, scope), self._working.now() - timedelta(seconds=seconds)
        rows = [
            stored.job
            for stored in self._all(workspace)
            if stored.job.updated_at > since and (scope is None or stored.job.document_id in readable)
        ]
        return sorted(rows, key=lambda job: job.updated_at, reverse=True)[:most]

    async def cancel(self, ref: JobRef) -> bool:
        """Cancel an unfinished job; a running one loses its fence."""
        stored = self._stored(ref)
        if stored is None or stored.job.state not in _UNFINISHED:
            return False
        self._write(_lapsed(_left(stored, JobState.CANCELLED, self._working.now()), self._working.now()))
        return True

    async def cancel_for_document(self, workspace: WorkspaceRef, document_id: UUID, kind: JobKind) -> int:
        """Cancel unfinished jobs of a document; a running one loses its fence. How many."""
        unfinished = [
            stored
            for stored in self._all(workspace)
            if (stored.job.document_id, stored.job.kind) == (document_id, kind) and stored.job.state in _UNFINISHED
        ]
        for stored in unfinished:
            self._write(_lapsed(_left(stored, JobState.CANCELLED, self._working.now()), self._working.now()))
        return len(unfinished)

    async def lease(self, ref: JobRef, worker: str, ttl: timedelta) -> Lease | None:
        """Take a due, queued job, or None."""
        now = self._working.now()
        stored = self._stored(ref)
        if stored is None or stored.job.state is not JobState.QUEUED or stored.job.run_after > now:
            return None
        attempts = stored.job.attempts + 1
        job = replace(stored.job, state=JobState.RUNNING, attempts=attempts, progress=0, updated_at=now)
        attempt = JobAttempt(attempts, worker, now, None, None, None, ())
        lapsed = self._excused(_lapsed(stored, stored.lease_until or now))
        taken = replace(
            lapsed, job=job, fence=stored.fence + 1, lease_until=now + ttl, attempts=(*lapsed.attempts, attempt)
        )
        self._write(taken)
        return Lease(job, taken.fence, now + ttl)

    async def renew(self, ref: JobRef, fence: int, ttl: timedelta, progress: int) -> bool:
        """Extend the lease; False when the fence is no longer current."""
        stored = self._held(ref, fence)
        if stored is None:
            return False
        now = self._working.now()
        job = replace(stored.job, progress=max(stored.job.progress, progress), updated_at=now)
        self._write(replace(stored, job=job, lease_until=now + ttl))
        return True

    async def holds(self, ref: JobRef, fence: int) -> bool:
        """Whether the fence is current; if so it stays current until this transaction ends."""
        return self._held(ref, fence) is not None

    async def finish(self, ref: JobRef, fence: int) -> bool:
        """DONE; False when the fence is no longer current."""
        stored = self._held(ref, fence)
        if stored is None:
            return False
        now = self._working.now()
        job = replace(stored.job, state=JobState.DONE, error_code=None, error_message=None, updated_at=now)
        self._write(_closed(replace(stored, job=job, lease_until=None), now, "DONE"))
        return True

    async def fail(self, ref: JobRef, fence: int, error: AgenticRagError, decision: Retry | GiveUp) -> bool:
        """Record the failure; back to QUEUED after the delay, or DEAD. False when the fence is no longer current."""
        stored = self._held(ref, fence)
        if stored is None:
            return False
        now = self._working.now()
        if isinstance(decision, Retry):
            outcome = "RETRY"
            failed = _left(stored, JobState.QUEUED, now)
            run_after = now + timedelta(seconds=decision.delay_seconds)
        else:
            outcome, state = ("REJECTED", JobState.DONE) if decision.is_rejection else ("DEAD", JobState.DEAD)
            failed = replace(stored, job=replace(stored.job, state=state, updated_at=now), lease_until=None)
            run_after = stored.job.run_after
        job = replace(failed.job, run_after=run_after, error_code=error.code, error_message=redact(error.message))
        self._write(_closed(replace(failed, job=job), now, outcome, error.code, error_chain(error)))
        return True

    async def repeat_failed(self, code: str) -> int:
        """Queue a copy of the last job of every document that is FAILED for this code."""
        repeated = 0
        for workspace in [one for one in self._working.states if self._working.read(one) is not None]:
            for document in [*self._working.states[workspace].documents.values()]:
                if (
                    document.status is not DocumentStatus.FAILED
                    or document.fault is None
                    or document.fault.code != code
                ):
                    continue
                jobs = [one.job for one in self._all(workspace) if one.job.document_id == document.document_id]
                last = max((one for one in jobs if one.kind is JobKind.INGEST), key=lambda one: one.created_at)
                state = self._working.write(workspace)
                state.documents[document.document_id] = replace(document, status=DocumentStatus.PENDING)
                again = NewJob(
                    workspace, last.kind, last.key, last.arguments, last.queue, document_id=document.document_id
                )
                await self.enqueue(again)
                repeated += 1
        return repeated

    async def release(self, ref: JobRef, fence: int, delay_seconds: float = 0.0) -> bool:
        """Give the job back unused: QUEUED, due after the delay, the attempt not counted."""
        stored = self._held(ref, fence)
        if stored is None:
            return False
        now = self._working.now()
        back = _left(stored, JobState.QUEUED, now)
        job = replace(back.job, attempts=stored.job.attempts - 1, run_after=now + timedelta(seconds=delay_seconds))
        # An attempt given back unused never was one; its number is used again.
        self._write(replace(back, job=job, attempts=stored.attempts[:-1]))
        return True

    async def blame(self, lease: Lease, worker: str, reason: str) -> None:
        """Write the reason on the running attempt of this worker."""
        stored = self._stored(lease.ref)
        if stored is not None:
            attempts = tuple(
                replace(one, error_chain=(reason,))
                if (one.attempt, one.worker, one.ended_at) == (lease.job.attempts, worker, None)
                else one
                for one in stored.attempts
            )
            self._write(replace(stored, attempts=attempts))

    async def workers_lost_without(self, since: datetime, workers: Sequence[str], silence: timedelta) -> int:
        """How many other workers were seen after `since`, then for `silence` no more, and did not end."""
        return sum(
            one.ended_at is None and since < one.seen_at < self._working.now() - silence
            for name, one in self._working.workers.items()
            if name not in workers
        )

    def _excused(self, stored: StoredJob) -> StoredJob:
        """The job, whose lapsed attempts count no more where their worker was seen afterwards."""

        def lives(one: JobAttempt) -> bool:
            worker = self._working.workers.get(one.worker)
            return worker is not None and one.ended_at is not None and worker.seen_at > one.ended_at

        attempts = tuple(
            replace(one, outcome=EXCUSED) if one.outcome == LAPSED and not one.error_chain and lives(one) else one
            for one in stored.attempts
        )
        return replace(stored, attempts=attempts)

    async def replay(self, ref: JobRef) -> Replay:
        """Queue a dead letter again with a fresh allowance, a higher fence and all its attempts."""
        stored = self._stored(ref)
        if stored is None or stored.job.state is not JobState.DEAD:
            return Replay.NOT_DEAD
        for other in self._all(ref.workspace):
            if (other.job.kind_name, other.job.key) == (stored.job.kind_name, stored.job.key) and (
                other.job.state in _UNFINISHED
            ):
                return Replay.SUPERSEDED
        now = self._working.now()
        back = _left(stored, JobState.QUEUED, now)
        self._write(replace(back, job=replace(back.job, attempts_before=stored.job.attempts, run_after=now)))
        return Replay.REPLAYED

    async def purge(self, ref: JobRef) -> bool:
        """Remove a dead letter's arguments, error text, trace and attempts."""
        stored = self._stored(ref)
        if stored is None or stored.job.state is not JobState.DEAD:
            return False
        purged = _left(stored, JobState.PURGED, self._working.now())
        job = replace(purged.job, arguments={}, trace_carrier={}, error_message=None)
        self._write(replace(purged, job=job, attempts=()))
        return True

    def _all(self, workspace: WorkspaceRef) -> list[StoredJob]:
        state = self._working.read(workspace)
        return [] if state is None else list(state.jobs.values())

    def _stored(self, ref: JobRef) -> StoredJob | None:
        state = self._working.read(ref.workspace)
        return None if state is None else state.jobs.get(ref.job_id)

    def _held(self, ref: JobRef, fence: int) -> StoredJob | None:
        stored = self._stored(ref)
        current = stored is not None and stored.job.state is JobState.RUNNING and stored.fence == fence
        return stored if current else None

    def _write(self, stored: StoredJob) -> None:
        self._working.write(stored.job.workspace).jobs[stored.job.job_id] = stored


def lease_expired(stored: StoredJob, now: datetime) -> StoredJob | None:
    """The job back in the queue when its lease ended before `now`, else None. The attempt stays open until the next
    one begins, which learns from `lease_until` when it lapsed.
    """
    if stored.job.state is not JobState.RUNNING or stored.lease_until is None or stored.lease_until >= now:
        return None
    back = _left(stored, JobState.QUEUED, now)
    return replace(back, job=replace(back.job, run_after=now), lease_until=stored.lease_until)


def _left(stored: StoredJob, target: JobState, now: datetime) -> StoredJob:
    """The job out of its holder's hands: whatever that one still tries is void."""
    job = replace(stored.job, state=target, updated_at=now)
    return replace(stored, job=job, fence=stored.fence + 1, lease_until=None)


def _lapsed(stored: StoredJob, now: datetime) -> StoredJob:
    """An attempt still open belongs to a worker that died or lost its lease."""
    attempts = tuple(
        attempt
        if attempt.ended_at is not None
        else replace(attempt, ended_at=now, outcome=LAPSED, error_code="LEASE_LOST")
        for attempt in stored.attempts
    )
    return replace(stored, attempts=attempts)


def _closed(
    stored: StoredJob, now: datetime, outcome: str, code: str | None = None, chain: tuple[str, ...] = ()
) -> StoredJob:
    """The job with its last attempt ended."""
    *earlier, last = stored.attempts
    ended = replace(last, ended_at=now, outcome=outcome, error_code=code, error_chain=chain)
    return replace(stored, attempts=(*earlier, ended))


def _created(stored: StoredJob) -> tuple[datetime, str]:
    return stored.job.created_at, f"{stored.number:012}"


def _waits(job: Job, now: datetime) -> bool:
    return job.state is JobState.QUEUED and job.run_after <= now

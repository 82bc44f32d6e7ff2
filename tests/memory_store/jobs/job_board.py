"""`jobs.ports.JobBoard` in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import chain

from tests.memory_store.erasure.erasures import is_held
from tests.memory_store.jobs.jobs import lease_expired
from tests.memory_store.models.spaces import is_expired
from tests.memory_store.session.state import StoredJob, WorkspaceState, expired_runs
from tests.memory_store.session.store import MemoryStore

from agentic_rag.adapters.postgres.jobs.job_board import CalibrationSchedule
from agentic_rag.ingestion.sources.source import Source
from agentic_rag.ingestion.web.renew_pages import RENEWAL_KEY
from agentic_rag.jobs.job import JobKind, JobRef, JobState, MaintenanceTask, QueueName, partition_of
from agentic_rag.jobs.turns import LastTurns, WaitingWorkspace, take_turns
from agentic_rag.jobs.workers import WorkerIdentity, WorkerRecord
from agentic_rag.models.billing.limits import SpendingLimits, first_of_month
from agentic_rag.models.billing.usage import UsageKind, UsageLine
from agentic_rag.models.billing.web_envelope import with_default_calls
from agentic_rag.models.embedding.space import SpaceState
from agentic_rag.retrieval.lexical.postings import MOST_CHUNKS
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.organisation import FeatureFlag

MOST_SEGMENTS = 64
SMALL_SEGMENT = 500
MOST_CHUNKS_IN_SMALL = 2_000
PAUSE = timedelta(minutes=10)
PAUSES = {JobState.DEAD: timedelta(days=1)}
"""After a calibration, by its end."""


class MemoryJobBoard:
    """The jobs of every tenant in a shared store."""

    def __init__(self, store: MemoryStore, calibration: CalibrationSchedule | None = None) -> None:
        self._store = store
        self._calibration = calibration

    async def lead(self) -> bool:
        """Try to become (or confirm being) the one leading dispatcher."""
        if self._store.leader is None:
            self._store.leader = self
        return self._store.leader is self

    async def beat(self, worker: WorkerIdentity) -> None:
        """Record that a worker lives."""
        now, known = self._store.clock.now(), self._store.workers.get(worker.name)
        self._store.workers[worker.name] = (
            replace(known, seen_at=now) if known else WorkerRecord(worker, now, now, None)
        )

    async def sign_off(self, worker: WorkerIdentity) -> None:
        """Record that a worker ends."""
        now, known = self._store.clock.now(), self._store.workers[worker.name]
        self._store.workers[worker.name] = replace(known, seen_at=now, ended_at=now)

    async def workers(self) -> list[WorkerRecord]:
        """Workers, those that did not end first, then by when they were last seen."""
        newest = sorted(self._store.workers.values(), key=lambda one: one.seen_at, reverse=True)
        return sorted(newest, key=lambda one: one.ended_at is not None)

    async def expire_leases(self) -> int:
        """Put RUNNING jobs whose lease ended back to QUEUED (their fence is void). How many."""
        async with self._store.transaction(None) as working:
            now = working.now()
            expired = [
                back
                for state in working.states.values()
                for stored in state.jobs.values()
                if (back := lease_expired(stored, now)) is not None
            ]
            for stored in expired:
                working.write(stored.job.workspace).jobs[stored.job.job_id] = stored
        return len(expired)

    async def due(
        self, queue: QueueName, limit: int, partition: int = 0, partitions: int = 1, last: LastTurns | None = None
    ) -> list[JobRef]:
        """Due jobs of one partition, by turns between organisations and workspaces, oldest first inside one."""
        now = self._store.clock.now()
        jobs: dict[WorkspaceRef, list[StoredJob]] = {}
        for workspace, state in self._store.committed.items():
            if partition_of(workspace, partitions) != partition:
                continue
            waiting = [
                stored
                for stored in state.jobs.values()
                if (stored.job.state, stored.job.queue) == (JobState.QUEUED, queue) and stored.job.run_after <= now
            ]
            waiting.sort(key=lambda stored: (stored.job.created_at, stored.number))
            if waiting:
                jobs[workspace] = waiting
        first = [WaitingWorkspace(workspace, waiting[0].job.created_at) for workspace, waiting in jobs.items()]
        counts = {workspace: len(waiting) for workspace, waiting in jobs.items()}
        queues = {workspace: iter(waiting) for workspace, waiting in jobs.items()}
        due = [next(queues[workspace]) for workspace in take_turns(first, last or LastTurns(), limit, counts)]
        return [JobRef(stored.job.workspace, stored.job.job_id, fence=stored.fence) for stored in due]

    async def upkeep(self) -> list[MaintenanceTask]:
        """The upkeep that is due in any workspace and has no unfinished job yet."""
        now = self._store.clock.now()
        due: list[MaintenanceTask] = []
        for workspace, state in self._store.committed.items():
            expired = expired_runs(state, now) or any(is_expired(space, now) for space in state.spaces)
            if expired and not _is_under_way(state, JobKind.RETENTION):
                due.append(MaintenanceTask(workspace, JobKind.RETENTION, "expired"))
            due += [
                MaintenanceTask(workspace, JobKind.SYNC, one.source_id.hex)
                for one in state.sources.values()
                if _is_due(one, now) and not _is_under_way(state, JobKind.SYNC, one.source_id.hex)
            ]
            held = any(is_held(one) for one in (*state.tombstones.values(), *chain(*state.past_erasures.values())))
            if held and not _is_under_way(state, JobKind.FORGET):
                due.append(MaintenanceTask(workspace, JobKind.FORGET, "processes"))
            if _is_scattered(state) and not _is_under_way(state, JobKind.COMPACT):
                due.append(MaintenanceTask(workspace, JobKind.COMPACT, "segments"))
            if self._wants_recrawl(workspace, state, now) and not _is_under_way(state, JobKind.CRAWL):
                due.append(MaintenanceTask(workspace, JobKind.CRAWL, RENEWAL_KEY))
            if self._calibration is not None and _is_uncalibrated(state, self._calibration, now):
                due.append(MaintenanceTask(workspace, JobKind.CALIBRATE, "support"))
        return due

    def _wants_recrawl(self, workspace: WorkspaceRef, state: WorkspaceState, now: datetime) -> bool:
        """The workspace may ask the web, wants its pages renewed, holds some, and looked at none for an hour."""
        organisation = self._store.organisations[workspace.org_id].organisation
        web = state.workspace.settings.web
        if organisation is None or not organisation.settings.is_on(FeatureFlag.WEB_ACCESS):
            return False
        if not web.allow or not web.recrawl_hours:
            return False
        last = (one.job for one in state.jobs.values() if (one.job.kind, one.job.key) == (JobKind.CRAWL, RENEWAL_KEY))
        if any(one.updated_at > now - timedelta(hours=1) for one in last):
            return False
        return any(one.provenance.get("source") == "web" for one in state.documents.values())

    async def counts(self) -> dict[tuple[JobState, JobKind], int]:
        """Unfinished jobs and dead letters by state and kind, for the metrics."""
        counted = (JobState.QUEUED, JobState.RUNNING, JobState.DEAD)
        return dict(
            Counter(
                (stored.job.state, stored.job.kind)
                for state in self._store.committed.values()
                for stored in state.jobs.values()
                if stored.job.state in counted
            )
        )

    async def oldest_waits(self) -> dict[JobKind, float]:
        """Seconds that the oldest due job of each kind has waited, for the metrics."""
        now = self._store.clock.now()
        waits: dict[JobKind, float] = {}
        for state in self._store.committed.values():
            for job in (stored.job for stored in state.jobs.values()):
                if job.state is JobState.QUEUED and job.run_after <= now:
                    waits[job.kind] = max(waits.get(job.kind, 0.0), (now - job.run_after).total_seconds())
        return waits

    async def corpus_counts(self) -> tuple[dict[str, int], int]:
        """Documents of all tenants by status, and how far the graph is behind, for the metrics."""
        documents = Counter(
            one.status.value for state in self._store.committed.values() for one in state.documents.values()
        )
        return dict(documents), 0

    async def budget_shares(self) -> dict[tuple[str, str], float]:
        """The share used of each ceiling that is used most."""
        today = self._store.clock.now().date()
        found: dict[tuple[str, str], float] = {}
        for org_id, state in self._store.organisations.items():
            organisation = state.organisation
            limits = with_default_calls(organisation.settings.budget if organisation else SpendingLimits())
            _note_shares(found, "organisation", limits, state.usage, today)
            for ref, workspace in self._store.committed.items():
                if ref.org_id == org_id:
                    own = [line for line in state.usage if line.key.workspace_id == ref.workspace_id]
                    _note_shares(found, "workspace", workspace.workspace.settings.budget, own, today)
        return found

    async def aclose(self) -> None:
        """Give up the lead."""
        if self._store.leader is self:
            self._store.leader = None


def _note_shares(
    found: dict[tuple[str, str], float], scope: str, limits: SpendingLimits, usage: Sequence[UsageLine], today: date
) -> None:
    month = [line for line in usage if first_of_month(today) <= line.key.day <= today]
    day = [line for line in month if line.key.day == today]
    used = {
        "day_usd": sum(line.cost_usd for line in day),
        "day_embedding_usd": sum(line.cost_usd for line in day if line.key.kind == UsageKind.EMBEDDING.value),
        "day_chat_usd": sum(line.cost_usd for line in day if line.key.kind == UsageKind.CHAT.value),
        "month_usd": sum(line.cost_usd for line in month),
        "day_searches": sum(line.calls for line in day if line.key.kind == UsageKind.SEARCH.value),
        "day_pages": sum(line.calls for line in day if line.key.kind == UsageKind.PAGE.value),
    }
    for name, amount in used.items():
        if limit := getattr(limits, name):
            found[scope, name] = max(found.get((scope, name), 0.0), amount / limit)


def _is_uncalibrated(state: WorkspaceState, schedule: CalibrationSchedule, now: datetime) -> bool:
    """The corpus is large enough for its next calibration, and has been at rest."""
    active = next((one for one in state.spaces if one.state is SpaceState.ACTIVE), None)
    chunks = sum(len(segment.ordinals) for segment in state.segments)
    if active is None or chunks < max(schedule.least_chunks, active.calibration.again_at or 0):
        return False
    writing = (JobKind.INGEST, JobKind.DELETE, JobKind.REEMBED)
    rest = timedelta(seconds=schedule.quiet_seconds)
    return not any(
        (
            (stored.job.kind in writing and (_is_unfinished(stored) or stored.job.updated_at > now - rest))
            or (
                stored.job.kind is JobKind.CALIBRATE
                and (_is_unfinished(stored) or stored.job.updated_at > now - PAUSES.get(stored.job.state, PAUSE))
            )
        )
        for stored in state.jobs.values()
    )


def _is_unfinished(stored: StoredJob) -> bool:
    return stored.job.state in (JobState.QUEUED, JobState.RUNNING)


def _is_under_way(state: WorkspaceState, kind: JobKind, key: str | None = None) -> bool:
    jobs = [stored for stored in state.jobs.values() if stored.job.kind is kind and key in (None, stored.job.key)]
    return any(_is_unfinished(stored) for stored in jobs)


def _is_due(source: Source, now: datetime) -> bool:
    return source.is_leaving or (source.health.next_at is not None and source.health.next_at <= now)


def _is_scattered(state: WorkspaceState) -> bool:
    """More segments, or more chunks in small ones, than searches should have to visit."""
    small = [len(segment.ordinals) for segment in state.segments if len(segment.ordinals) <= SMALL_SEGMENT]
    sizes = [len(segment.ordinals) for segment in state.segments]
    return (
        sum(size < MOST_CHUNKS // 2 for size in sizes) > MOST_SEGMENTS
        or (len(small) > 1 and sum(small) > MOST_CHUNKS_IN_SMALL)
        or any(size > 2 * MOST_CHUNKS for size in sizes)
    )

"""What a dispatcher does in one look."""

import asyncio
from datetime import datetime, timedelta
from uuid import uuid4

import pytest
from tests.memory_store.jobs.job_board import MemoryJobBoard
from tests.memory_store.jobs.queue import MemoryJobQueue
from tests.memory_store.session.database import MemoryDatabase
from tests.memory_store.session.store import MemoryStore
from tests.memory_store.telemetry import RecordingTelemetry
from tests.waiting import eventually

from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.adapters.telemetry.metrics import METRICS, MetricKind
from agentic_rag.documents.document import DocumentStatus
from agentic_rag.jobs.job import JobKind, JobState, MaintenanceTask, QueueName
from agentic_rag.jobs.schedule_maintenance import ScheduleMaintenance
from agentic_rag.jobs.workers import WorkerIdentity, WorkerRecord
from agentic_rag.kernel.errors import DependencyUnavailable
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.settings import WorkspaceSettings
from agentic_rag.workspaces.workspace import WorkspaceKind
from agentic_rag_worker.dispatcher import UPKEEP_STEP, Dispatcher
from agentic_rag_worker.timings import WorkerTimings

TENANTS = 2 * UPKEEP_STEP + 1
WORKER = WorkerIdentity("host:1:a", "host", 1, "0.1.0", 8)


class EverythingDue(MemoryJobBoard):
    """Says once that every workspace is due at the same time, as schedules are."""

    due_once: list[MaintenanceTask]
    looks = 0

    async def upkeep(self) -> list[MaintenanceTask]:
        self.looks += 1
        due, self.due_once = self.due_once, []
        return due


class AwayForAWhile(MemoryJobBoard):
    """Does not answer its first three looks."""

    looks = 0

    async def lead(self) -> bool:
        self.looks += 1
        if self.looks <= 3:
            raise DependencyUnavailable("Postgres did not answer.", dependency="postgres")
        return False

    async def answered_twice(self) -> bool:
        return self.looks >= 5


@pytest.mark.tells("rag_dispatch_failed")
@pytest.mark.tells("rag_dispatch_resumed")
async def test_an_outage_is_logged_when_it_begins_and_when_it_ends_not_at_every_look() -> None:
    store, queue, telemetry = MemoryStore(SystemClock()), MemoryJobQueue(), RecordingTelemetry()
    board, timings = AwayForAWhile(store), WorkerTimings(outage=0.001, follow=0.001)
    upkeep = ScheduleMaintenance(MemoryDatabase(store), telemetry)
    dispatcher = Dispatcher(board, queue, upkeep, SystemClock(), telemetry, timings, WORKER, window=10)

    running = asyncio.create_task(dispatcher.run())
    await eventually(board.answered_twice, "it looked after the outage too")
    dispatcher.stop()
    await running

    assert [event.name for event in telemetry.events] == ["rag_dispatch_failed", "rag_dispatch_resumed"]


class ExpiresAfterAnOutage(AwayForAWhile):
    """Notes when leases were expired."""

    expired: list[float]

    async def lead(self) -> bool:
        await super().lead()
        return True

    async def expire_leases(self) -> int:
        self.expired.append(SystemClock().monotonic())
        return 0


async def test_after_an_outage_workers_have_a_lease_of_time_to_renew_before_any_expires() -> None:
    store, telemetry = MemoryStore(SystemClock()), RecordingTelemetry()
    board = ExpiresAfterAnOutage(store)
    board.expired = []
    timings = WorkerTimings(outage=0.001, poll_shortest=0.001, poll_longest=0.001, expire=0.001, lease=0.2)
    upkeep = ScheduleMaintenance(MemoryDatabase(store), telemetry)
    dispatcher = Dispatcher(board, MemoryJobQueue(), upkeep, SystemClock(), telemetry, timings, WORKER, window=10)
    began = SystemClock().monotonic()

    async def expires() -> bool:
        return bool(board.expired)

    running = asyncio.create_task(dispatcher.run())
    await eventually(expires, "leases are expired again")
    dispatcher.stop()
    await running

    assert board.expired[0] - began >= 0.2


class Leading(MemoryJobBoard):
    """Notes the first time at which leases were expired."""

    expired: float | None = None

    async def expire_leases(self) -> int:
        self.expired = self.expired or SystemClock().monotonic()
        return 0


async def test_a_leader_that_has_just_started_waits_a_lease_before_it_expires_any() -> None:
    store, telemetry = MemoryStore(SystemClock()), RecordingTelemetry()
    board, timings = Leading(store), WorkerTimings(poll_shortest=0.001, poll_longest=0.001, expire=0.001, lease=0.2)
    upkeep = ScheduleMaintenance(MemoryDatabase(store), telemetry)
    dispatcher = Dispatcher(board, MemoryJobQueue(), upkeep, SystemClock(), telemetry, timings, WORKER, window=10)
    began = SystemClock().monotonic()

    async def expires() -> bool:
        return board.expired is not None

    running = asyncio.create_task(dispatcher.run())
    await eventually(expires, "leases are expired")
    dispatcher.stop()
    await running

    assert board.expired is not None
    assert board.expired - began >= 0.2


async def test_a_worker_is_seen_every_third_of_a_lease_whether_it_leads_or_not() -> None:
    store, telemetry = MemoryStore(SystemClock()), RecordingTelemetry()
    board, timings = MemoryJobBoard(store), WorkerTimings(follow=0.001, lease=0.03)
    store.leader = object()
    upkeep = ScheduleMaintenance(MemoryDatabase(store), telemetry)
    dispatcher = Dispatcher(board, MemoryJobQueue(), upkeep, SystemClock(), telemetry, timings, WORKER, window=10)
    seen: set[datetime] = set()

    async def beats() -> bool:
        seen.update(one.seen_at for one in await board.workers())
        return len(seen) >= 3

    running = asyncio.create_task(dispatcher.run())
    await eventually(beats, "it was seen three times")
    dispatcher.stop()
    await running

    [stored] = await board.workers()
    assert (stored.identity, stored.ended_at) == (WORKER, None)


@pytest.mark.tells("rag_upkeep_enqueued")
async def test_upkeep_of_many_workspaces_does_not_keep_jobs_waiting_and_all_of_it_is_done() -> None:
    store, queue, telemetry = MemoryStore(SystemClock()), MemoryJobQueue(), RecordingTelemetry()
    database, board, org_id = MemoryDatabase(store), EverythingDue(store), uuid4()
    tenants = [WorkspaceRef(org_id, uuid4()) for _ in range(TENANTS)]
    async with database.transaction(org_id) as transaction:
        for one in tenants:
            await transaction.workspaces.create(
                one.workspace_id, str(one.workspace_id), WorkspaceKind.GENERAL, None, WorkspaceSettings()
            )
    board.due_once = [MaintenanceTask(one, JobKind.SNAPSHOT, "scheduled") for one in tenants]
    upkeep = ScheduleMaintenance(database, telemetry)
    dispatcher = Dispatcher(board, queue, upkeep, SystemClock(), telemetry, WorkerTimings(), WORKER, window=10_000)

    first = await dispatcher.step()
    handed_over = await queue.depth(QueueName.BULK)
    await dispatcher.step()
    await dispatcher.step()

    assert first == 2 * UPKEEP_STEP, "so many were enqueued, and handed over in the same look"
    assert handed_over == UPKEEP_STEP
    assert await queue.depth(QueueName.BULK) == TENANTS
    assert board.looks == 1


class Counted(MemoryJobBoard):
    """Counts what it is told to, and leads as long as it is told to."""

    jobs: dict[tuple[JobState, JobKind], int]
    is_leader = True
    looks = 0

    async def lead(self) -> bool:
        self.looks += 1
        return self.is_leader

    async def counts(self) -> dict[tuple[JobState, JobKind], int]:
        return self.jobs


async def test_the_gauge_falls_to_zero_and_a_former_leader_exports_none() -> None:
    store, telemetry = MemoryStore(SystemClock()), RecordingTelemetry()
    board, timings = Counted(store), WorkerTimings(counts=0, poll_longest=0.001, follow=0.001)
    board.jobs = {(JobState.QUEUED, JobKind.INGEST): 3}
    upkeep = ScheduleMaintenance(MemoryDatabase(store), telemetry)
    dispatcher = Dispatcher(board, MemoryJobQueue(), upkeep, SystemClock(), telemetry, timings, WORKER, window=10)

    async def shows(*values: float) -> bool:
        return tuple(value for (name, _), value in telemetry.gauges.items() if name == "rag_jobs") == values

    running = asyncio.create_task(dispatcher.run())
    await eventually(lambda: shows(3), "the gauge shows what waits")
    board.jobs = {}
    await eventually(lambda: shows(0), "the gauge falls to zero")
    board.is_leader = False
    await eventually(lambda: shows(), "who no longer leads exports none")
    board.is_leader = True
    await eventually(lambda: shows(), "nothing waits")
    board.jobs = {(JobState.QUEUED, JobKind.INGEST): 1}
    await eventually(lambda: shows(1), "it leads again")
    dispatcher.stop()
    await running
    assert telemetry.gauges == {}


class Everything(Counted):
    """Has something of each thing that the leader counts, until it `is_at_rest`."""

    is_at_rest = False

    async def counts(self) -> dict[tuple[JobState, JobKind], int]:
        return {} if self.is_at_rest else {(state, JobKind.INGEST): 3 for state in (JobState.QUEUED, JobState.DEAD)}

    async def oldest_waits(self) -> dict[JobKind, float]:
        return {} if self.is_at_rest else {JobKind.INGEST: 7.5}

    async def corpus_counts(self) -> tuple[dict[str, int], int]:
        return ({}, 0) if self.is_at_rest else ({one.value: 2 for one in DocumentStatus}, 4)

    async def budget_shares(self) -> dict[tuple[str, str], float]:
        return {} if self.is_at_rest else {("organisation", "day_usd"): 0.9, ("workspace", "day_pages"): 0.1}

    async def workers(self) -> list[WorkerRecord]:
        now = SystemClock().now()
        return (
            [] if self.is_at_rest else [WorkerRecord(WORKER, now, now - timedelta(hours=ago), None) for ago in (0, 1)]
        )


async def test_every_gauge_of_the_leader_rises_and_falls_back_to_zero() -> None:
    """Those of all processes tell what a process is as long as it lives."""
    of_processes = {"rag_build_info", "rag_database_connections", "rag_database_connections_max"}
    store, telemetry = MemoryStore(SystemClock()), RecordingTelemetry()
    board, timings = Everything(store), WorkerTimings(counts=0, corpus=0)
    upkeep = ScheduleMaintenance(MemoryDatabase(store), telemetry)
    dispatcher = Dispatcher(board, MemoryJobQueue(), upkeep, SystemClock(), telemetry, timings, WORKER, window=10)

    await dispatcher.step()
    raised = dict(telemetry.gauges)
    board.is_at_rest = True
    await dispatcher.step()

    gauges = {one.name for one in METRICS if one.kind is MetricKind.GAUGE}
    assert {name for name, _ in raised} == gauges - of_processes
    assert all(raised.values()), raised
    assert telemetry.gauges == dict.fromkeys(raised, 0)


class Blinking(Counted):
    """The database is away as the jobs are counted for the first time."""

    async def counts(self) -> dict[tuple[JobState, JobKind], int]:
        raise DependencyUnavailable("Postgres does not answer.", dependency="postgres")


async def test_a_former_leader_exports_no_documents_either_where_it_never_counted_jobs() -> None:
    store, telemetry = MemoryStore(SystemClock()), RecordingTelemetry()
    board, timings = Blinking(store), WorkerTimings(counts=60, poll_longest=0.001, follow=0.001, outage=0.001)
    upkeep = ScheduleMaintenance(MemoryDatabase(store), telemetry)
    dispatcher = Dispatcher(board, MemoryJobQueue(), upkeep, SystemClock(), telemetry, timings, WORKER, window=10)

    async def shows(is_shown: bool) -> bool:
        return any(name == "rag_documents" for name, _ in telemetry.gauges) == is_shown

    running = asyncio.create_task(dispatcher.run())
    await eventually(lambda: shows(True), "the leader counts documents")
    board.is_leader = False
    await eventually(lambda: shows(False), "who no longer leads exports none")
    dispatcher.stop()
    await running


class WithWorkers(MemoryJobBoard):
    """Knows workers that were seen last so many seconds ago."""

    seen_ago: list[float]

    async def workers(self) -> list[WorkerRecord]:
        now = SystemClock().now()
        return [WorkerRecord(WORKER, now, now - timedelta(seconds=ago), None) for ago in self.seen_ago]


async def test_the_leader_tells_workers_that_run_from_those_that_died_within_the_hour() -> None:
    store, telemetry = MemoryStore(SystemClock()), RecordingTelemetry()
    board, timings = WithWorkers(store), WorkerTimings(lease=30)
    board.seen_ago = [1, 59, 61, 3600, 3670]
    upkeep = ScheduleMaintenance(MemoryDatabase(store), telemetry)
    dispatcher = Dispatcher(board, MemoryJobQueue(), upkeep, SystemClock(), telemetry, timings, WORKER, window=10)

    await dispatcher.step()

    counted = {
        dict(labels)["state"]: value for (name, labels), value in telemetry.gauges.items() if name == "rag_workers"
    }
    assert counted == {"running": 2, "died": 2}

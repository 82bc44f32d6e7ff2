"""What a dispatcher does in one look."""

import asyncio
from uuid import uuid4

from tests.memory_store.jobs.job_board import MemoryJobBoard
from tests.memory_store.jobs.queue import MemoryJobQueue
from tests.memory_store.session.database import MemoryDatabase
from tests.memory_store.session.store import MemoryStore
from tests.memory_store.telemetry import RecordingTelemetry
from tests.waiting import eventually

from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.jobs.job import JobKind, JobState, MaintenanceTask, QueueName
from agentic_rag.jobs.schedule_maintenance import ScheduleMaintenance
from agentic_rag.kernel.errors import DependencyUnavailable
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.settings import WorkspaceSettings
from agentic_rag.workspaces.workspace import WorkspaceKind
from agentic_rag_worker.dispatcher import UPKEEP_STEP, Dispatcher
from agentic_rag_worker.timings import WorkerTimings

TENANTS = 2 * UPKEEP_STEP + 1


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


async def test_an_outage_is_logged_when_it_begins_and_when_it_ends_not_at_every_look() -> None:
    store, queue, telemetry = MemoryStore(SystemClock()), MemoryJobQueue(), RecordingTelemetry()
    board, timings = AwayForAWhile(store), WorkerTimings(outage=0.001, follow=0.001)
    upkeep = ScheduleMaintenance(MemoryDatabase(store), telemetry)
    dispatcher = Dispatcher(board, queue, upkeep, SystemClock(), telemetry, timings, window=10)

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
    dispatcher = Dispatcher(board, MemoryJobQueue(), upkeep, SystemClock(), telemetry, timings, window=10)
    began = SystemClock().monotonic()

    async def expires() -> bool:
        return bool(board.expired)

    running = asyncio.create_task(dispatcher.run())
    await eventually(expires, "leases are expired again")
    dispatcher.stop()
    await running

    assert board.expired[0] - began >= 0.2


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
    dispatcher = Dispatcher(board, queue, upkeep, SystemClock(), telemetry, WorkerTimings(), window=10_000)

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
    dispatcher = Dispatcher(board, MemoryJobQueue(), upkeep, SystemClock(), telemetry, timings, window=10)

    async def shows(*values: float) -> bool:
        return tuple(telemetry.gauges.values()) == values

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

"""What becomes of a job whose process ends."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from agentic_rag.adapters.memory.cache import MemoryAnswerCache
from agentic_rag.adapters.memory.database import MemoryDatabase
from agentic_rag.adapters.memory.queue import MemoryJobQueue
from agentic_rag.adapters.memory.store import MemoryStore
from agentic_rag.adapters.memory.telemetry import RecordingTelemetry
from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.adapters.system.ids import RandomIds
from agentic_rag.domain.jobs import JobKind, JobState, Lease, NewJob, RetryPolicy
from agentic_rag.domain.tenancy import WorkspaceKind, WorkspaceRef, WorkspaceSettings
from agentic_rag_worker.heartbeat import Heartbeat
from agentic_rag_worker.runner import JobRunner, RunOutcome
from agentic_rag_worker.wiring import WorkerTimings


class SlowToEnd:
    """A body that still has something to do after it was cancelled, and sees how its job stands then."""

    deadline_seconds = stall_seconds = 60.0

    def __init__(self, database: MemoryDatabase) -> None:
        self._database = database
        self.began = asyncio.Event()
        self.state_at_end: JobState | None = None

    async def run(self, lease: Lease, progress: object) -> None:
        self.began.set()
        try:
            await asyncio.Event().wait()
        finally:
            for _ in range(10):
                await asyncio.sleep(0)
            async with self._database.transaction(lease.job.workspace.org_id) as transaction:
                job = await transaction.jobs.get(lease.job.workspace, lease.job.job_id)
            self.state_at_end = None if job is None else job.state

    async def record_failure(self, *_: object) -> None:
        raise AssertionError("nothing failed")


@pytest.fixture
def database() -> MemoryDatabase:
    store = MemoryStore(SystemClock())
    return MemoryDatabase(store, MemoryAnswerCache(store.clock))


async def test_a_job_goes_back_only_after_its_body_has_ended(database: MemoryDatabase) -> None:
    workspace = WorkspaceRef(uuid4(), uuid4())
    async with database.transaction(workspace.org_id) as transaction:
        await transaction.workspaces.create(
            workspace.workspace_id, "w", WorkspaceKind.GENERAL, None, WorkspaceSettings()
        )
        ref, _ = await transaction.jobs.enqueue(NewJob(workspace, JobKind.COMPACT, "key", {}))
    body, clock, telemetry = SlowToEnd(database), SystemClock(), RecordingTelemetry()
    bodies: Any = {JobKind.COMPACT: body}
    runner = JobRunner(
        database, MemoryJobQueue(), bodies, RetryPolicy(3, 10),
        Heartbeat(lambda: database, clock, telemetry, timedelta(seconds=30)),
        clock, RandomIds(), telemetry, "worker", WorkerTimings(),
    )  # fmt: skip

    running = asyncio.create_task(runner.run(ref))
    await body.began.wait()
    running.cancel()

    assert await running is RunOutcome.RELEASED
    assert body.state_at_end is JobState.RUNNING
    async with database.transaction(workspace.org_id) as transaction:
        job = await transaction.jobs.get(workspace, ref.job_id)
    assert job is not None
    assert (job.state, job.attempts) == (JobState.QUEUED, 0)

"""What every `JobStore` says of a job that waits for its turn."""

import time
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest
from tests.contract.backends import Backend
from tests.memory_store.jobs import jobs as memory_jobs

from agentic_rag.adapters.postgres.jobs import jobs as postgres_jobs
from agentic_rag.adapters.postgres.jobs.jobs import PostgresJobStore
from agentic_rag.jobs.job import JobKind, JobRef, NewJob, QueueName
from agentic_rag.jobs.turns import QueuePlace
from agentic_rag.tenancy.principals import WorkspaceRef


async def queue(adapter: Backend, workspace: WorkspaceRef, count: int, **more: float) -> list[JobRef]:
    made: list[JobRef] = []
    for _ in range(count):
        async with adapter.database.transaction(workspace.org_id) as transaction:
            job = NewJob(workspace, JobKind.INGEST, str(uuid4()), {}, QueueName.BULK, **more)
            made.append((await transaction.jobs.enqueue(job))[0])
    return made


async def place(adapter: Backend, ref: JobRef) -> QueuePlace | None:
    async with adapter.database.transaction(ref.workspace.org_id) as transaction:
        return await transaction.jobs.place(ref)


async def finish(adapter: Backend, ref: JobRef) -> None:
    async with adapter.database.transaction(ref.workspace.org_id) as transaction:
        lease = await transaction.jobs.lease(ref, "one", timedelta(minutes=1))
        assert lease is not None
        assert await transaction.jobs.finish(ref, lease.fence)


async def make_older(adapter: Backend, workspace: WorkspaceRef) -> None:
    """As if the jobs of a workspace had ended a minute earlier."""
    age = timedelta(minutes=1)
    async with adapter.database.transaction(workspace.org_id) as transaction:
        if isinstance(transaction.jobs, PostgresJobStore):
            older = "UPDATE rag_jobs SET updated_at = updated_at - $2::interval WHERE workspace_id = $1"
            await transaction.jobs._connection.execute(older, workspace.workspace_id, age)
        else:
            jobs = transaction.jobs._working.write(workspace).jobs
            for key, one in jobs.items():
                jobs[key] = replace(one, job=replace(one.job, updated_at=one.job.updated_at - age))


async def test_a_job_waits_behind_the_older_ones_of_its_workspace_and_the_turns_of_the_others(
    adapter: Backend,
) -> None:
    org_id = await adapter.organisation()
    ours, crowd, idle = [await adapter.workspace(org_id) for _ in range(3)]
    other = await adapter.workspace()
    own = await queue(adapter, ours, 3)
    await queue(adapter, crowd, 5)
    await queue(adapter, idle, 2, delay_seconds=60.0)
    await queue(adapter, other, 9)

    # Each other workspace gives as many as its own has before it, and one more when it is its turn first.
    assert [await place(adapter, one) for one in own] == [
        QueuePlace(0 + 1, None),
        QueuePlace(1 + 2, None),
        QueuePlace(2 + 3, None),
    ]


async def test_a_job_that_does_not_wait_has_no_place(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    [later] = await queue(adapter, workspace, 1, delay_seconds=60.0)
    [done, first] = await queue(adapter, workspace, 2)
    await finish(adapter, done)

    assert [await place(adapter, one) for one in (later, done, JobRef(workspace, uuid4()))] == [None] * 3
    assert await place(adapter, first) == QueuePlace(0, None)


async def test_the_time_is_estimated_from_what_was_finished_lately(adapter: Backend) -> None:
    org_id = await adapter.organisation()
    ours, others = [await adapter.workspace(org_id) for _ in range(2)]
    for one in await queue(adapter, others, 4):
        await finish(adapter, one)
    first, second = await queue(adapter, ours, 2)

    soon, later = await place(adapter, first), await place(adapter, second)

    assert soon is not None
    assert later is not None
    assert soon.estimated_seconds is not None
    assert later.estimated_seconds is not None
    assert 0 < soon.estimated_seconds < later.estimated_seconds < 60


async def test_the_rate_is_that_of_the_newest_however_many_there_were(
    adapter: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (postgres_jobs, memory_jobs):
        monkeypatch.setattr(module, "MOST_FINISHED", 4)
    org_id = await adapter.organisation()
    early, late = [await adapter.workspace(org_id) for _ in range(2)]
    for one in await queue(adapter, early, 6):
        await finish(adapter, one)
    await make_older(adapter, early)
    began = time.monotonic()
    for one in await queue(adapter, late, 4):
        await finish(adapter, one)
    [waiting] = await queue(adapter, early, 1)

    found = await place(adapter, waiting)

    assert found is not None
    assert found.estimated_seconds is not None
    assert found.estimated_seconds * 4 < time.monotonic() - began + 0.5

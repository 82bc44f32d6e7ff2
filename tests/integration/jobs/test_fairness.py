"""Ten thousand jobs of one tenant do not delay ten of another; partitions split the queue, never a workspace."""

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from uuid import UUID, uuid4

import asyncpg
import pytest
import redis.asyncio
from tests.integration.jobs.data_plane import QUICK, DataPlane, until

from agentic_rag.adapters.postgres.workspaces.organisations import PostgresOrganisations
from agentic_rag.jobs.job import JobKind, Lease, NewJob, QueueName, partition_of
from agentic_rag.jobs.ports import JobProgress
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_worker.job_handlers import Handler
from agentic_rag_worker.worker import WorkerOptions, run_worker

pytestmark = [pytest.mark.integration, pytest.mark.network]

BACKLOG = 10_000

FILL = """
INSERT INTO rag_jobs (org_id, workspace_id, job_id, kind, key, created_at, run_after)
SELECT $1, $2, gen_random_uuid(), 'compact', n::text, now() - interval '1 hour' + n * interval '1 ms',
       now() - interval '1 hour'
FROM generate_series(1, $3) n
"""


@dataclass
class Cheap:
    """Does nothing, and notes for whom."""

    done: list[WorkspaceRef] = field(default_factory=list)

    async def run(self, lease: Lease, progress: JobProgress) -> None:
        self.done.append(lease.job.workspace)


class CheapPlane(DataPlane):
    """A data plane whose COMPACT jobs are cheap."""

    cheap: Cheap

    @property
    def handlers(self) -> Mapping[JobKind, Handler]:
        return {JobKind.COMPACT: Handler(lambda lease, progress: self.cheap.run(lease, progress), 60.0, 60.0)}


@pytest.fixture
def cheap_plane(plane: DataPlane) -> CheapPlane:
    plane.__class__ = CheapPlane
    assert isinstance(plane, CheapPlane)
    plane.cheap = Cheap()
    return plane


async def fill(plane: DataPlane, workspace: WorkspaceRef, jobs: int) -> None:
    """Queue many jobs at once, as old work."""
    owner = await asyncpg.connect(plane.database_url)
    await owner.execute(FILL, workspace.org_id, workspace.workspace_id, jobs)
    await owner.execute("ANALYZE rag_jobs")
    await owner.close()


async def enqueue(plane: DataPlane, workspace: WorkspaceRef, jobs: int) -> None:
    async with plane.database.transaction(workspace.org_id) as transaction:
        for number in range(jobs):
            await transaction.jobs.enqueue(NewJob(workspace, JobKind.COMPACT, f"{number}", {}))


async def another_tenant(plane: DataPlane) -> WorkspaceRef:
    workspace = WorkspaceRef(uuid4(), uuid4())
    await PostgresOrganisations(plane.pool).ensure_organisation(workspace.org_id, "other")
    await plane.add_workspace(workspace)
    return workspace


async def test_a_backlog_of_ten_thousand_lets_ten_jobs_of_another_tenant_pass_one_for_one(
    cheap_plane: CheapPlane,
) -> None:
    slots = 4
    other = await another_tenant(cheap_plane)
    await fill(cheap_plane, cheap_plane.workspace, BACKLOG)
    done = cheap_plane.cheap.done

    async with cheap_plane.worker(slots=slots):
        await until(lambda: len(done) >= 50, "the backlog is being worked off")
        arrived = len(done)
        await enqueue(cheap_plane, other, 10)
        await until(lambda: done.count(other) == 10, "the other tenant's jobs are done")

    places = [place for place, workspace in enumerate(done) if workspace == other]
    # What was handed over before they came goes first: the window, and what runs. After that every
    # second job is theirs.
    waited = places[0] - arrived
    assert waited <= 2 * slots + slots
    assert places[-1] - places[0] <= 2 * 10 + 4 * slots


CROWD = """
WITH crowd AS (
    INSERT INTO rag_workspaces (org_id, workspace_id, name, kind)
    SELECT $1, gen_random_uuid(), 'crowd ' || n, 'general' FROM generate_series(1, $2) n
    RETURNING workspace_id
)
INSERT INTO rag_jobs (org_id, workspace_id, job_id, kind, key, created_at)
SELECT $1, workspace_id, gen_random_uuid(), 'compact', n::text, now() - interval '1 hour'
FROM crowd, generate_series(1, $3) n
"""

STARTED_BEFORE = """
SELECT count(*) FROM rag_job_attempts other, rag_job_attempts own
WHERE own.workspace_id = $1 AND other.started_at > $2 AND other.started_at < own.started_at
"""


async def test_a_new_tenants_job_starts_behind_two_jobs_a_slot_of_a_tenant_with_two_hundred_workspaces(
    cheap_plane: CheapPlane,
) -> None:
    slots, crowd = 4, await another_tenant(cheap_plane)
    newcomer, done = await another_tenant(cheap_plane), cheap_plane.cheap.done
    owner = await asyncpg.connect(cheap_plane.database_url)
    await owner.execute(CROWD, crowd.org_id, 200, 50)
    await owner.execute("ANALYZE rag_jobs")

    async with cheap_plane.worker(slots=slots):
        await until(lambda: len(done) >= 50, "the backlog is being worked off")
        await enqueue(cheap_plane, newcomer, 1)
        # Not the job's `created_at`: that is the begin of a transaction which nobody sees before its commit.
        accepted = await owner.fetchval("SELECT clock_timestamp()")
        await until(lambda: newcomer in done, "the newcomer's job is done")

    before = await owner.fetchval(STARTED_BEFORE, newcomer.workspace_id, accepted)
    await owner.close()
    assert before <= 2 * slots


async def test_looking_for_due_jobs_costs_little_however_long_the_backlog(cheap_plane: CheapPlane) -> None:
    other = await another_tenant(cheap_plane)
    await fill(cheap_plane, cheap_plane.workspace, BACKLOG)
    await fill(cheap_plane, other, 10)
    board = cheap_plane.job_board()
    seconds: list[float] = []
    for _ in range(20):
        began = time.perf_counter()
        due = await board.due(QueueName.BULK, 16)
        seconds.append(time.perf_counter() - began)
    await board.aclose()

    assert [ref.workspace for ref in due].count(other) == 8
    assert statistics.median(seconds) < 0.015, "it runs every 50 ms while there is work"


async def test_jobs_in_back_off_do_not_hide_due_ones(cheap_plane: CheapPlane) -> None:
    others = [await another_tenant(cheap_plane) for _ in range(3)]
    for workspace in others:
        await fill(cheap_plane, workspace, 5)
    async with cheap_plane.pool.transaction(others[0].org_id) as connection:
        await connection.execute("UPDATE rag_jobs SET run_after = now() + interval '1 hour'")
    board = cheap_plane.job_board()

    due = await board.due(QueueName.BULK, 2)
    more = await board.due(QueueName.BULK, 9)

    await board.aclose()
    assert {ref.workspace for ref in due} == set(others[1:])
    assert [ref.workspace for ref in more].count(others[0]) == 0
    assert [ref.workspace for ref in more].count(others[1]) in (4, 5)


@pytest.mark.parametrize("partitions", [2, 5, 16])
async def test_the_partitions_divide_the_workspaces_between_them(cheap_plane: CheapPlane, partitions: int) -> None:
    workspaces = [await another_tenant(cheap_plane) for _ in range(8)]
    for workspace in workspaces:
        await enqueue(cheap_plane, workspace, 2)
    board = cheap_plane.job_board()

    divided = [await board.due(QueueName.BULK, 100, partition, partitions) for partition in range(partitions)]

    await board.aclose()
    for partition, refs in enumerate(divided):
        assert {partition_of(ref.workspace, partitions) for ref in refs} <= {partition}
    assert sum(len(refs) for refs in divided) == 16


async def test_a_worker_takes_jobs_of_the_partitions_it_serves_only(cheap_plane: CheapPlane) -> None:
    cheap_plane.partitions = 2
    mine, theirs = await _one_in_each(cheap_plane)
    done = cheap_plane.cheap.done
    await enqueue(cheap_plane, mine, 5)
    await enqueue(cheap_plane, theirs, 5)

    async with AsyncExitStack() as workers:
        await workers.enter_async_context(_serving(cheap_plane, 0))
        await until(lambda: done.count(mine) == 5, "its partition is done")
        assert done.count(theirs) == 0
        await workers.enter_async_context(_serving(cheap_plane, 1))
        await until(lambda: done.count(theirs) == 5, "the other partition is done")


async def test_the_partitions_of_a_worker_share_its_slots(cheap_plane: CheapPlane) -> None:
    cheap_plane.partitions = 4
    for _ in range(4):
        await enqueue(cheap_plane, await another_tenant(cheap_plane), 10)
    running = peak = 0

    class Counting(Cheap):
        async def run(self, lease: Lease, progress: JobProgress) -> None:
            nonlocal running, peak
            running += 1
            peak = max(peak, running)
            await until(lambda: True, "a turn of the loop")
            self.done.append(lease.job.workspace)
            running -= 1

    cheap_plane.cheap = Counting()
    async with cheap_plane.worker(slots=3):
        await until(lambda: len(cheap_plane.cheap.done) == 40, "all done")

    assert peak <= 3


async def test_jobs_handed_over_before_the_partitions_changed_are_handed_over_again(cheap_plane: CheapPlane) -> None:
    await enqueue(cheap_plane, cheap_plane.workspace, 1)
    board = cheap_plane.job_board()
    due = await board.due(QueueName.BULK, 1)
    await board.aclose()
    await cheap_plane.queue.offer(QueueName.BULK, due)
    await cheap_plane.queue.aclose()
    del cheap_plane.__dict__["queue"]
    cheap_plane.partitions = 3

    async with cheap_plane.worker():
        await until(lambda: len(cheap_plane.cheap.done) == 1, "done")

    async with redis.asyncio.Redis.from_url(cheap_plane.redis_url) as server:
        assert await server.exists(f"arq:job:{due[0].job_id}:{due[0].fence}"), "the old one expires by itself"


@asynccontextmanager
async def _serving(plane: CheapPlane, partition: int) -> AsyncIterator[None]:
    stop = asyncio.Event()
    options = WorkerOptions(slots=2, interactive_slots=1, served=(partition,), timings=QUICK)
    task = asyncio.create_task(run_worker(plane, plane.handlers, options, stop=stop))
    yield
    stop.set()
    await task


async def _one_in_each(plane: CheapPlane) -> tuple[WorkspaceRef, WorkspaceRef]:
    found: dict[int, WorkspaceRef] = {}
    while len(found) < 2:
        workspace = await another_tenant(plane)
        found[partition_of(workspace, 2)] = workspace
    return found[0], found[1]


def test_a_partition_depends_on_the_workspace_alone() -> None:
    workspace = WorkspaceRef(uuid4(), UUID(int=0x1_0000_0007))

    assert partition_of(workspace, 4) == 3
    assert partition_of(replace(workspace, org_id=uuid4()), 4) == 3

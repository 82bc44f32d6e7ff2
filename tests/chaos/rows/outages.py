"""Dependencies that go away and come back: Redis, Postgres; and the gap between a commit and the hand-over."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from uuid import uuid4

import redis.asyncio

from agentic_rag.embedded.stack import EmbeddedStack
from agentic_rag.settings import load_settings
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, WorkspaceRef
from tests.bench.reports import Row, at_least, at_most, exactly
from tests.chaos import corpus
from tests.chaos.children import Plan, WorkerProcess, crew
from tests.chaos.clean import clean_run, end_state
from tests.chaos.ground import LEASE_SECONDS, ROOT, Ground, Servers, new_ground, until
from tests.chaos.picture import Picture
from tests.programs import Program
from tests.provider_stub import Fault

BACK_SECONDS = 10.0
NOT_RECORDED = "rag_job_ending_not_recorded"


async def redis_stopped(servers: Servers, short: bool) -> list[Row]:
    """Redis stopped 10 s × 5, and FLUSHALL, in mid-ingest."""
    documents, outages, seconds = (30, 1, 1.0) if short else (400, 5, 10.0)
    folder = corpus.small(servers.home / f"redis-{short}", documents)
    wanted, _ = await clean_run(servers, folder)
    back: list[float] = []
    async with new_ground(servers) as ground, crew(ground) as workers:
        ground.stub.otherwise = lambda _: Fault(delay_seconds=0.5)
        await ground.sync(folder)
        workers.start()
        workers.start()
        for number in range(1, outages + 2):
            await _until_ready(ground, documents * number // (outages + 3))
            if number > outages:
                async with redis.asyncio.Redis.from_url(ground.variables["REDIS_URL"]) as client:
                    await client.flushall()
            else:
                servers.stack.redis.stop()
                await _until_hands_are_free(ground)
                await asyncio.sleep(seconds)  # the outage itself
                servers.stack.redis.start()
            back.append(await _until_work_goes_on(ground))
        await ground.until_idle()
        alive = len(workers.living)
        state = await end_state(f"Redis stopped {seconds:g} s × {outages} and FLUSHALL", ground, wanted)
    print(f"    after Redis came back, work went on within {[round(one, 1) for one in back]} s")
    return [
        at_most("Redis back: the next document is READY", max(back), BACK_SECONDS, " s", timed=False),
        exactly("Redis outages: workers still alive", alive, 2),
        state,
    ]


async def _until_ready(ground: Ground, count: int) -> None:
    async def there() -> bool:
        return await ground.ready() >= count

    await until(there, f"{count} documents are READY")


async def _until_hands_are_free(ground: Ground) -> None:
    """A worker whose slots are all taken asks Redis nothing: it would not notice the outage."""

    async def free() -> bool:
        return not await ground.value("SELECT count(*) FROM rag_jobs WHERE state = 'RUNNING'")

    await until(free, "what was under way has ended", 60)


async def _until_work_goes_on(ground: Ground) -> float:
    """Seconds until something began that had not begun before."""
    began = time.monotonic()
    attempts = "SELECT count(*) FROM rag_job_attempts"
    before = await ground.value(attempts)

    async def more() -> bool:
        return await ground.value(attempts) > before

    await until(more, "work goes on", 60)
    return time.monotonic() - began


async def postgres_restarted(servers: Servers, short: bool) -> list[Row]:
    """Postgres restarts in mid-ingest, with workers of the default three attempts."""
    documents, restarts = (20, 1) if short else (300, 3)
    folder = corpus.small(servers.home / f"postgres-{short}", documents)
    wanted, _ = await clean_run(servers, folder)
    with EmbeddedStack(servers.home / f"restarting-{short}") as stack:
        own = Servers(stack, servers.home)
        async with new_ground(own, AGENTIC_RAG_JOB_BACKOFF_MS="5000") as ground, crew(ground) as workers:
            ground.stub.otherwise = lambda _: Fault(delay_seconds=0.1)
            await ground.sync(folder)
            workers.start()
            workers.start()
            for number in range(1, restarts + 1):
                await _until_ready(ground, documents * number // (restarts + 2))
                stack.postgres.stop()
                stack.postgres.start()
                await _until_ready(ground, documents * number // (restarts + 2) + 1)
            await ground.until_idle()
            alive = len(workers.living)
            state = await end_state(f"Postgres restarted × {restarts}", ground, wanted)
    return [exactly("Postgres restarts: workers still alive", alive, 2), state]


async def postgres_away(servers: Servers, short: bool) -> list[Row]:
    """Postgres away N times for longer than a lease, under work that outlasts it, and as often as a job has attempts
    when each job is about to write: nobody is blamed.
    """
    rows: list[Row] = []
    # One that is billed condemns its job: not every job is met by both outages.
    attempts = {"AGENTIC_RAG_JOB_ATTEMPTS": "1"} if short else {}
    for outages in (2,) if short else range(1, 7):
        folder = corpus.small(servers.home / f"away-{outages}-{short}", 8)
        wanted, _ = await clean_run(servers, folder)
        with EmbeddedStack(servers.home / f"away-stack-{outages}-{short}") as stack:
            async with new_ground(Servers(stack, servers.home), **attempts) as ground, crew(ground) as workers:
                ground.stub.otherwise = lambda _: Fault(delay_seconds=LEASE_SECONDS * (12 if short else 25))
                await ground.sync(folder)
                workers.start()
                workers.start()
                for _ in range(outages):
                    await _until_jobs_are_held(ground)
                    stack.postgres.stop()
                    await asyncio.sleep(2 * LEASE_SECONDS)  # the outage itself
                    stack.postgres.start()
                await ground.until_idle()
                failed = await ground.value("SELECT count(*) FROM rag_documents WHERE status <> 'READY'")
                state = await end_state(f"Postgres away {outages} × 2 leases", ground, wanted)
            rows += [exactly(f"Postgres away {outages} × 2 leases: documents that are not READY", failed, 0), state]
            if outages == 2:
                rows += await _away_as_jobs_write(Servers(stack, servers.home), stack, folder, wanted, attempts)
    return rows


async def _away_as_jobs_write(
    servers: Servers, stack: EmbeddedStack, folder: Path, wanted: Picture, attempts: Mapping[str, str]
) -> list[Row]:
    """Each outage ends an attempt of every job: were it billed, the last one would end the jobs."""
    documents = len([*folder.iterdir()])
    async with new_ground(servers, **attempts) as ground, crew(ground) as workers:
        outages = load_settings(ground.variables, dotenv=ground.home / "none").jobs.attempts
        await ground.sync(folder)
        worker = workers.start([Plan("embed.paid")], AGENTIC_RAG_WORKER_CONCURRENCY=str(documents))
        for _ in range(outages):
            await worker.until_reached(documents)
            met = len(worker.told(NOT_RECORDED))
            stack.postgres.stop()
            worker.go_on()
            await _until_told_of_jobs(worker, documents, met)
            worker.hold_again()
            await asyncio.sleep(2 * LEASE_SECONDS)  # the outage itself
            stack.postgres.start()
        worker.go_on()
        await ground.until_idle()
        failed = await ground.value("SELECT count(*) FROM rag_documents WHERE status <> 'READY'")
        state = await end_state(f"Postgres away {outages} × as jobs write", ground, wanted)
    return [exactly(f"Postgres away {outages} × as jobs write: documents that are not READY", failed, 0), state]


async def _until_told_of_jobs(worker: WorkerProcess, jobs: int, met: int) -> None:
    """Until so many jobs met the outage, whose end could not be written down; `met` lines are of earlier ones."""

    async def told() -> bool:
        return len({line["job_id"] for line in worker.told(NOT_RECORDED)[met:]}) == jobs

    await until(told, f"{jobs} jobs met the outage", 60)


async def _until_jobs_are_held(ground: Ground) -> None:
    async def held() -> bool:
        leases = "SELECT count(*) FROM rag_jobs WHERE state = 'RUNNING' AND lease_until > clock_timestamp()"
        return bool(await ground.value(leases)) or not await ground.unfinished()

    await until(held, "a job is held")


async def handovers(servers: Servers, short: bool) -> list[Row]:
    """A process that commits work and dies before anybody handed it over, × 50; and one that dies before the commit."""
    times, together = (1, 1) if short else (50, 5)
    folder = corpus.small(servers.home / f"handover-{short}", times)
    wanted, _ = await clean_run(servers, folder)
    async with new_ground(servers, AGENTIC_RAG_JOB_ATTEMPTS="100") as ground, crew(ground) as workers:
        committed = sorted(path.name for path in folder.iterdir())
        rolled_back = corpus.small(ground.home / "never", times, first=500)
        never = sorted(path.name for path in rolled_back.iterdir())
        for start in range(0, times, together):
            piece = slice(start, start + together)
            await asyncio.gather(
                *(_die_submitting(ground, folder / name, "enqueue.committed") for name in committed[piece]),
                *(_die_submitting(ground, rolled_back / name, "enqueue.uncommitted") for name in never[piece]),
            )
        jobs = await ground.value("SELECT count(*) FROM rag_jobs WHERE kind = 'ingest'")
        # Whoever leads dies with the jobs in its hands: before it hands them over, and right after.
        for number in range(2 if short else 10):
            leader = workers.start([Plan(("handover.begin", "handover.done")[number % 2])])
            await leader.until_reached()
            leader.kill()
        workers.start()
        await ground.until_idle()
        ran = await ground.value("SELECT count(*) FROM rag_jobs WHERE state = 'DONE' AND kind = 'ingest'")
        ghosts = await ground.value("SELECT count(*) FROM rag_documents WHERE source_path = ANY($1)", never)
        # An original is kept before the transaction that names it, so a process killed in between leaves a blob.
        wanted["blobs without a name"] = times
        found = await end_state(f"crash between commit and hand-over × {times}", ground, wanted)
    return [
        exactly("crash between commit and hand-over: jobs that ran", ran, times),
        exactly("rolled-back transactions: jobs and documents", jobs - times + ghosts, 0),
        found,
    ]


async def _die_submitting(ground: Ground, path: Path, step: str) -> None:
    """Hand over one document in a process of its own, and kill that at the step."""
    folder = ground.home / f"submit-{path.stem}"
    (folder / "source").mkdir(parents=True)
    shutil.copy2(path, folder / "source" / path.name)
    plans = json.dumps([asdict(Plan(step))])
    with (folder / "log").open("wb") as log:
        child = Program(
            [sys.executable, "-m", "tests.chaos.submit_main", folder / "source", str(ground.workspace.workspace_id)],
            env=ground.environment(CHAOS_PLANS=plans, CHAOS_FOLDER=str(folder)), cwd=ROOT, stdout=log, stderr=log,
        )  # fmt: skip
    worker = WorkerProcess(child, folder / "log", folder)
    try:
        await worker.until_reached()
    finally:
        worker.kill()


async def fairness(servers: Servers, short: bool) -> list[Row]:
    """Tenant A queues 10,000 jobs, then B queues 10: B's interleave one for one with A's, and all slots are used."""
    backlog, few, slots = (500, 5, 4) if short else (10_000, 10, 8)
    second = WorkspaceRef(DEFAULT_ORG_ID, uuid4())
    async with new_ground(servers, AGENTIC_RAG_WORKER_CONCURRENCY=str(slots)) as ground, crew(ground) as workers:
        await ground.add_workspace(second)
        # Compactions of nothing: the cheapest job, held for half a second each, so that slots can be counted.
        await _queue(ground, ground.workspace, backlog)
        pause = Plan("compact.begin", "pause", seconds=0.2)
        workers.start([pause])
        workers.start([pause])
        begun = "SELECT count(*) FROM rag_job_attempts WHERE workspace_id = $1"

        async def busy() -> bool:
            return await ground.value(begun, ground.workspace.workspace_id) > 4 * slots

        await until(busy, "A's backlog is being worked off")
        await _queue(ground, second, few)

        async def served() -> bool:
            return await ground.value(begun, second.workspace_id) == few

        await until(served, "B's jobs have begun")
        rows = await ground.rows(
            "SELECT workspace_id, started_at, coalesce(ended_at, clock_timestamp()) AS ended_at FROM rag_job_attempts "
            "ORDER BY started_at"
        )
        left = await ground.value("SELECT count(*) FROM rag_jobs WHERE state = 'QUEUED'")
    ours = [place for place, row in enumerate(rows) if row["workspace_id"] == second.workspace_id]
    between = ours[-1] - ours[0] + 1 - few
    first, last = rows[ours[0]]["started_at"], rows[ours[-1]]["started_at"]
    most = max(sum(one["started_at"] <= row["started_at"] < one["ended_at"] for one in rows) for row in rows)
    busy_seconds = sum(
        max(0.0, (min(row["ended_at"], last) - max(row["started_at"], first)).total_seconds()) for row in rows
    )
    share = busy_seconds / (2 * slots * (last - first).total_seconds())
    # One for one, up to what is handed over or starts at one time.
    allowed = few + 2 * slots
    print(f"    order around B's jobs: {''.join('B' if i in ours else 'a' for i in range(ours[0], ours[-1] + 1))}")
    return [
        Row(f"A has {backlog} jobs queued, B {few}: A's jobs between B's first and last", str(between),
            f"≤ {allowed}", between <= allowed and left > 0),
        exactly("fairness: jobs at one time, of all slots", most, 2 * slots),
        at_least("fairness: slots busy meanwhile", share, 0.7, ""),
    ]  # fmt: skip


async def crowd(servers: Servers, short: bool) -> list[Row]:
    """One job of a new organisation behind 200 workspaces × 50 jobs of another, two workers."""
    workspaces, jobs, slots = (60, 5, 4) if short else (200, 50, 8)
    newcomer = WorkspaceRef(uuid4(), uuid4())
    async with new_ground(servers, AGENTIC_RAG_WORKER_CONCURRENCY=str(slots)) as ground, crew(ground) as workers:
        async with ground.connection() as connection:
            await connection.execute("INSERT INTO rag_organizations (org_id, name) VALUES ($1, 'new')", newcomer.org_id)
        await ground.add_workspace(newcomer)
        for _ in range(workspaces):
            crowded = WorkspaceRef(DEFAULT_ORG_ID, uuid4())
            await ground.add_workspace(crowded)
            await _queue(ground, crowded, jobs)
        pause = Plan("compact.begin", "pause", seconds=0.05)
        workers.start([pause])
        workers.start([pause])

        async def busy() -> bool:
            return await ground.value("SELECT count(*) FROM rag_job_attempts") > 4 * slots

        await until(busy, "the crowd is being worked off")
        await _queue(ground, newcomer, 1)

        async def begun() -> bool:
            return await ground.value("SELECT EXISTS (SELECT FROM rag_job_attempts WHERE org_id = $1)", newcomer.org_id)

        await until(begun, "the newcomer's job has begun")
        before = await ground.value(
            "SELECT count(*) FROM rag_job_attempts other, rag_jobs job "
            "JOIN rag_job_attempts own USING (org_id, workspace_id, job_id) "
            "WHERE job.org_id = $1 AND other.started_at > job.created_at AND other.started_at < own.started_at",
            newcomer.org_id,
        )
    name = f"one job behind {workspaces} workspaces × {jobs} of another organisation: jobs that start before it"
    return [Row(name, str(before), f"≤ {2 * slots}", before <= 2 * slots)]


async def _queue(ground: Ground, workspace: WorkspaceRef, count: int) -> None:
    """Jobs as `jobs.enqueue` writes them, in one statement."""
    async with ground.connection() as connection:
        await connection.execute(
            "INSERT INTO rag_jobs (org_id, workspace_id, job_id, kind, key, created_at) "
            "SELECT $1, $2, gen_random_uuid(), 'compact', 'backlog-' || n, clock_timestamp() "
            "FROM generate_series(1, $3) n",
            workspace.org_id, workspace.workspace_id, count,
        )  # fmt: skip

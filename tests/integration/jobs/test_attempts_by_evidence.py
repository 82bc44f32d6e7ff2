"""Attempts are counted by evidence: a worker that lives on lost the database, and no document is convicted for that."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.integration.jobs.data_plane import QUICK, DataPlane, Hold, until
from tests.line import Line

from agentic_rag.documents.document import DocumentStatus
from agentic_rag.jobs.job import EXCUSED, GiveUp, Job, JobAttempt, JobRef, JobState, Lease, QueueName, RetryPolicy
from agentic_rag.kernel.errors import Permanent

pytestmark = [pytest.mark.integration, pytest.mark.network]

TIMINGS = replace(QUICK, lease=2.0)
"""On a busy machine a worker must find time to renew a lease before it lapses."""
ATTEMPTS = RetryPolicy(attempts=2, backoff_ms=10)


@dataclass
class FarWorker:
    """A worker with a line of its own to the database, and an embedder that waits."""

    plane: DataPlane
    line: Line
    hold: Hold


@pytest.fixture
async def workers(plane: DataPlane) -> AsyncIterator[list[FarWorker]]:
    """Two of them, that work from one queue."""
    login = urlsplit(plane.database_url).netloc.rpartition("@")[0]
    async with AsyncExitStack() as stack:
        made: list[FarWorker] = []
        for _ in range(2):
            line = Line(plane.database_url)
            await line.mend()
            stack.push_async_callback(line.cut)
            parts = urlsplit(line.url)
            url = parts._replace(netloc=f"{login}@{parts.netloc}").geturl()
            far = DataPlane(url, plane.redis_url, plane.blob_root, retry_policy=ATTEMPTS, workspace=plane.workspace)
            stack.push_async_callback(far.aclose)
            await stack.enter_async_context(far.worker(timings=TIMINGS))
            made.append(FarWorker(far, line, far.hold_embedder()))
        yield made
        for one in made:
            await one.line.mend()
            one.hold.go_on.set()


async def attempts_of(plane: DataPlane) -> tuple[Job, Sequence[JobAttempt]]:
    (job,) = await plane.jobs()
    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        return job, await transaction.jobs.attempts(plane.workspace, job.job_id)


async def value(plane: DataPlane, statement: str, *arguments: object) -> object:
    async with plane.pool.transaction(plane.workspace.org_id) as connection:
        return await connection.fetchval(statement, *arguments)


async def who_is_at_it(workers: Sequence[FarWorker]) -> FarWorker:
    await until(lambda: any(one.hold.reached.is_set() for one in workers), "a worker is at it")
    return next(one for one in workers if one.hold.reached.is_set())


async def finish(plane: DataPlane, workers: Sequence[FarWorker]) -> tuple[Job, Sequence[JobAttempt]]:
    for one in workers:
        one.plane.embedder.before = None
        one.hold.go_on.set()
    await plane.until_idle()
    document = await plane.document("a.md")
    assert document is not None
    assert (document.status, document.fault) == (DocumentStatus.READY, None)
    return await attempts_of(plane)


async def test_after_an_outage_a_worker_takes_its_own_lease_again(
    plane: DataPlane, folder: Path, workers: list[FarWorker]
) -> None:
    (folder / "a.md").write_text("Water flows.")
    await plane.sync(folder)
    await who_is_at_it(workers)

    for one in workers:
        await one.line.cut()
    lapsed = "SELECT bool_and(lease_until < clock_timestamp() - interval '2 seconds') FROM rag_jobs"
    await until(lambda: value(plane, lapsed), "the lease has lapsed for as long as it lasts")
    for one in workers:
        await one.line.mend()
    held = "SELECT bool_and(state = 'RUNNING' AND lease_until > clock_timestamp()) FROM rag_jobs"
    await until(lambda: value(plane, held), "the lease is held again")
    job, attempts = await finish(plane, workers)

    assert job.state is JobState.DONE
    assert [(one.attempt, one.outcome) for one in attempts] == [(1, "DONE")]


@pytest.mark.tells("rag_job_not_leased")
async def test_a_job_that_is_offered_in_an_outage_is_run_after_it(
    plane: DataPlane, folder: Path, workers: list[FarWorker]
) -> None:
    for one in workers:
        await one.line.cut()
        one.hold.go_on.set()
    (folder / "a.md").write_text("Water flows.")
    await plane.sync(folder)
    (waiting,) = await plane.jobs()

    await workers[0].plane.queue.offer(QueueName.BULK, [JobRef(plane.workspace, waiting.job_id, 0)])
    told = [one.plane.telemetry.events for one in workers]
    await until(
        lambda: any(event.name == "rag_job_not_leased" for events in told for event in events),
        "a worker could not take it",
    )
    for one in workers:
        await one.line.mend()
    job, attempts = await finish(plane, workers)

    assert job.state is JobState.DONE
    assert [(one.attempt, one.outcome) for one in attempts] == [(1, "DONE")]


@pytest.mark.tells("rag_lease_renewal_failed", "job_id")
async def test_lapses_of_workers_that_live_on_use_up_no_attempt(
    plane: DataPlane, folder: Path, workers: list[FarWorker]
) -> None:
    """More of them than a job has attempts, each worker cut off for itself."""
    (folder / "a.md").write_text("Water flows.")
    await plane.sync(folder)
    lapses = ATTEMPTS.attempts + 1
    for lapse in range(1, lapses + 1):
        holder = await who_is_at_it(workers)
        await holder.line.cut()
        other = next(one for one in workers if one is not holder)
        await until(other.hold.reached.is_set, f"the other worker is at it after {lapse} lapses")
        _, attempts = await attempts_of(plane)
        assert attempts[-1].attempt == lapse + 1
        name, ended = attempts[-2].worker, attempts[-2].ended_at
        assert isinstance(ended, datetime)
        holder.hold = holder.plane.hold_embedder()
        await holder.line.mend()
        seen = "SELECT seen_at > $2 FROM rag_workers WHERE worker = $1"
        await until(lambda seen=seen, told=(name, ended): value(plane, seen, *told), "it is seen to live on")

    job, attempts = await finish(plane, workers)

    assert job.state is JobState.DONE
    # Whether the worker of the last lapse lives is looked at when a further attempt begins.
    assert [one.outcome for one in attempts] == [*(lapses - 1) * [EXCUSED], "LAPSED", "DONE"]


async def test_a_job_that_dies_after_its_publish_convicts_nobody(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water flows.")
    await plane.ingest_folder(folder)
    (job,) = await plane.jobs()
    lost = Permanent("The worker died.", code="WORKER_LOST")
    async with plane.pool.transaction(plane.workspace.org_id) as connection:
        await connection.execute("UPDATE rag_documents SET status = 'PROCESSING'")  # by the attempt that dies

    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        await plane.ingest.record_failure(transaction, Lease(job, 1, job.created_at), lost, GiveUp())

    document = await plane.document("a.md")
    assert document is not None
    assert (document.status, document.fault) == (DocumentStatus.READY, None)

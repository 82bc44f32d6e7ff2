"""A process that is stopped, not dead, keeps its connections: what it holds through them must not stop the others."""

import asyncio
import contextlib
from datetime import timedelta
from pathlib import Path

import pytest
from tests.api.builders import a_run
from tests.integration.jobs.data_plane import QUICK, DataPlane, until

from agentic_rag.adapters.postgres.answering.runs import SHARE_RUNS, PostgresRunStore
from agentic_rag.adapters.postgres.erasure.erasure_sql import LOCK_RUNS
from agentic_rag.adapters.postgres.jobs.job_board import PostgresJobBoard
from agentic_rag.adapters.postgres.session.connection import PostgresConnection
from agentic_rag.adapters.postgres.session.pool import PoolOptions, PostgresPool
from agentic_rag.jobs.job import JobRef, JobState, QueueName
from agentic_rag.kernel.errors import DependencyUnavailable

pytestmark = [pytest.mark.integration, pytest.mark.network]


async def test_a_dispatcher_that_falls_silent_loses_the_lead(outbox: DataPlane) -> None:
    silent = PostgresJobBoard(outbox.database_url, lead_seconds=1.0)
    other = PostgresJobBoard(outbox.database_url)
    await other.counts()  # connected, so that nothing but one statement lies between the next two lines
    assert await silent.lead()
    assert not await other.lead()

    await until(other.lead, "the other dispatcher leads")

    # And should it wake up, it learns that it was replaced: no statement of its own goes through as the leader's.
    with contextlib.suppress(DependencyUnavailable):
        await silent.counts()
    assert not await silent.lead()
    await silent.aclose()
    await other.aclose()


async def test_a_process_stopped_inside_a_transaction_gives_its_locks_back(outbox: DataPlane) -> None:
    pool = PostgresPool(outbox.database_url, PoolOptions(idle_transaction_seconds=0.2))
    lock = "SELECT FROM rag_workspaces WHERE workspace_id = $1 FOR UPDATE"

    async def stop_inside_a_transaction() -> None:
        async with pool.transaction(outbox.workspace.org_id) as stopped:
            await stopped.execute(lock, outbox.workspace.workspace_id)
            async with outbox.pool.transaction(outbox.workspace.org_id) as waiting:
                await waiting.execute(lock, outbox.workspace.workspace_id)
            await stopped.execute("SELECT 1")

    with pytest.raises(DependencyUnavailable):
        await stop_inside_a_transaction()
    await pool.aclose()


async def test_a_process_stopped_before_it_executes_a_prepared_statement_keeps_no_erasure_waiting(
    outbox: DataPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = PostgresPool(outbox.database_url, PoolOptions(brief_transaction_seconds=0.3))
    runs, workspace_id = PostgresRunStore(pool), outbox.workspace.workspace_id

    async def stop(connection: PostgresConnection, *_: object) -> None:
        await connection.execute(SHARE_RUNS, [workspace_id])
        # The server waits for the execution, and does not count the client as idle.
        await connection._driver.prepare("SELECT 41")
        async with outbox.pool.transaction(outbox.workspace.org_id) as erasure, asyncio.timeout(10):
            await erasure.execute(LOCK_RUNS, workspace_id)
        await connection.execute("SELECT 1")

    monkeypatch.setattr(runs, "_record", stop)
    with pytest.raises(DependencyUnavailable):
        await runs.record([a_run(workspace=outbox.workspace)])
    await pool.aclose()


async def test_a_locked_job_does_not_keep_other_leases_from_lapsing(outbox: DataPlane, folder: Path) -> None:
    for name in ("a.md", "b.md"):
        (folder / name).write_text(f"Water flows in {name}.")
    await outbox.sync(folder)
    locked, free = [JobRef(outbox.workspace, job.job_id) for job in await outbox.jobs()]
    async with outbox.database.transaction(outbox.workspace.org_id) as transaction:
        for ref in (locked, free):
            assert await transaction.jobs.lease(ref, "stopped", timedelta(seconds=-1))
    board = outbox.job_board()

    async with outbox.pool.transaction(outbox.workspace.org_id) as holder:
        await holder.execute("SELECT FROM rag_jobs WHERE job_id = $1 FOR SHARE", locked.job_id)
        async with asyncio.timeout(5):
            assert await board.expire_leases() == 1

    states = {job.job_id: job.state for job in await outbox.jobs()}
    assert states == {locked.job_id: JobState.RUNNING, free.job_id: JobState.QUEUED}
    assert await board.expire_leases() == 1
    await board.aclose()


async def test_jobs_that_lost_their_workers_run_their_last_attempt_alone(plane: DataPlane, folder: Path) -> None:
    for n in range(3):
        (folder / f"{n}.md").write_text(f"Water flows in suspect pipe {n}.")
    await plane.sync(folder)
    suspects = await plane.jobs()
    board = plane.job_board()
    for _ in range(plane.retry_policy.attempts - 1):
        async with plane.database.transaction(plane.workspace.org_id) as transaction:
            for job in suspects:
                assert await transaction.jobs.lease(JobRef(plane.workspace, job.job_id), "killed", timedelta(0))
        await until(lambda: _all_lapsed(board, plane), "the leases lapsed")
    await board.aclose()
    # What a killed worker was handed first is still in the queue.
    await plane.queue.offer(QueueName.BULK, [JobRef(plane.workspace, job.job_id) for job in suspects])
    for n in range(3):
        (folder / f"other {n}.md").write_text(f"Water flows in pipe {n}.")
    await plane.sync(folder)
    running: list[str] = []
    beside_suspects: list[int] = []

    async def embedding(text: str) -> None:
        running.append(text)
        for _ in range(10):
            if any("suspect" in one for one in running):
                beside_suspects.append(len(running))
            await asyncio.sleep(0.01)
        running.remove(text)

    plane.embedder.before = lambda texts: asyncio.ensure_future(embedding(texts[0]))
    async with plane.worker(slots=4, timings=QUICK):
        await plane.until_idle()

    assert set(beside_suspects) == {1}
    assert [job.state for job in await plane.jobs()] == [JobState.DONE] * 6


async def _all_lapsed(board: PostgresJobBoard, plane: DataPlane) -> bool:
    await board.expire_leases()
    return all(job.state is JobState.QUEUED for job in await plane.jobs())

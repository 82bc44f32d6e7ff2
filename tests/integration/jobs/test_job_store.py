"""The outbox: one job per key, one holder per lease, every effect fenced."""

from datetime import timedelta
from uuid import uuid4

import pytest
from tests.integration.jobs.data_plane import DataPlane

from agentic_rag.jobs.job import (
    GiveUp,
    Job,
    JobKind,
    JobRef,
    JobState,
    Lease,
    NewJob,
    QueueName,
    Retry,
)
from agentic_rag.kernel.errors import InvalidInput, Permanent, Retryable
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.tenancy.principals import WorkspaceRef

pytestmark = [pytest.mark.integration, pytest.mark.network]

LONG = timedelta(seconds=60)
OVER = timedelta(seconds=-1)


async def enqueue(outbox: DataPlane, key: str = "a", workspace: WorkspaceRef | None = None) -> JobRef:
    async with outbox.database.transaction(outbox.workspace.org_id) as transaction:
        job = NewJob(workspace or outbox.workspace, JobKind.COMPACT, key, {}, document_id=uuid4())
        return (await transaction.jobs.enqueue(job))[0]


async def take(outbox: DataPlane, ref: JobRef, ttl: timedelta = LONG, worker: str = "one") -> Lease | None:
    async with outbox.database.transaction(outbox.workspace.org_id) as transaction:
        return await transaction.jobs.lease(ref, worker, ttl)


async def taken(outbox: DataPlane, ref: JobRef, ttl: timedelta = LONG, worker: str = "one") -> Lease:
    lease = await take(outbox, ref, ttl, worker)
    assert lease is not None
    return lease


async def stored(outbox: DataPlane, ref: JobRef) -> Job:
    async with outbox.database.transaction(outbox.workspace.org_id) as transaction:
        job = await transaction.jobs.get(ref.workspace, ref.job_id)
    assert job is not None
    return job


async def expire(outbox: DataPlane) -> int:
    board = outbox.job_board()
    try:
        return await board.expire_leases()
    finally:
        await board.aclose()


async def test_enqueuing_twice_gives_one_job(outbox: DataPlane) -> None:
    new = NewJob(outbox.workspace, JobKind.COMPACT, "a", {})
    async with outbox.database.transaction(outbox.workspace.org_id) as transaction:
        first, was_new = await transaction.jobs.enqueue(new)
    async with outbox.database.transaction(outbox.workspace.org_id) as transaction:
        second, was_new_again = await transaction.jobs.enqueue(new)

    assert (was_new, was_new_again) == (True, False)
    assert first == second
    assert len(await outbox.jobs()) == 1


async def test_a_finished_job_makes_room_for_another_of_its_key(outbox: DataPlane) -> None:
    first = await enqueue(outbox)
    lease = await taken(outbox, first)
    async with outbox.database.transaction(outbox.workspace.org_id) as transaction:
        assert await transaction.jobs.finish(first, lease.fence)

    assert await enqueue(outbox) != first


async def test_a_job_rolled_back_with_its_subject_was_never_there(outbox: DataPlane) -> None:
    async def register_and_fail() -> None:
        async with outbox.database.transaction(outbox.workspace.org_id) as transaction:
            await transaction.jobs.enqueue(NewJob(outbox.workspace, JobKind.COMPACT, "a", {}))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await register_and_fail()

    assert await outbox.jobs() == ()


async def test_only_one_worker_gets_a_lease(outbox: DataPlane) -> None:
    ref = await enqueue(outbox)

    assert await take(outbox, ref) is not None
    assert await take(outbox, ref, worker="two") is None


async def test_after_a_lapse_every_effect_of_the_old_holder_is_refused(outbox: DataPlane) -> None:
    ref = await enqueue(outbox)
    old = await taken(outbox, ref, OVER)
    assert await expire(outbox) == 1
    new = await taken(outbox, ref, worker="two")

    assert new.fence > old.fence
    assert new.job.attempts == 2
    async with outbox.database.transaction(outbox.workspace.org_id) as transaction:
        jobs = transaction.jobs
        assert not await jobs.renew(ref, old.fence, LONG, 1)
        assert not await jobs.holds(ref, old.fence)
        assert not await jobs.finish(ref, old.fence)
        assert not await jobs.fail(ref, old.fence, Permanent("late"), GiveUp())
        assert not await jobs.release(ref, old.fence)
        assert await jobs.holds(ref, new.fence)
        assert await jobs.finish(ref, new.fence)
    async with outbox.database.transaction(outbox.workspace.org_id) as transaction:
        attempts = await transaction.jobs.attempts(outbox.workspace, ref.job_id)
    assert [(attempt.worker, attempt.outcome) for attempt in attempts] == [("one", "LAPSED"), ("two", "DONE")]


async def test_a_lease_is_void_from_the_moment_it_is_expired(outbox: DataPlane) -> None:
    ref = await enqueue(outbox)
    old = await taken(outbox, ref, OVER)
    await expire(outbox)

    async with outbox.database.transaction(outbox.workspace.org_id) as transaction:
        assert not await transaction.jobs.finish(ref, old.fence)
    assert (await stored(outbox, ref)).state is JobState.QUEUED


async def test_a_lease_that_runs_is_not_expired(outbox: DataPlane) -> None:
    await taken(outbox, await enqueue(outbox))

    assert await expire(outbox) == 0


async def test_a_transient_failure_waits_and_then_runs_again(outbox: DataPlane) -> None:
    ref = await enqueue(outbox)
    lease = await taken(outbox, ref)
    async with outbox.database.transaction(outbox.workspace.org_id) as transaction:
        assert await transaction.jobs.fail(ref, lease.fence, Retryable("busy"), Retry(3600))

    job = await stored(outbox, ref)
    assert (job.state, job.attempts, job.error_code) == (JobState.QUEUED, 1, "TRANSIENT")
    assert await take(outbox, ref) is None


async def test_a_dead_letter_keeps_every_attempt_with_its_redacted_chain(outbox: DataPlane) -> None:
    ref = await enqueue(outbox)
    first = await taken(outbox, ref)
    async with outbox.database.transaction(outbox.workspace.org_id) as transaction:
        await transaction.jobs.fail(ref, first.fence, Retryable("busy"), Retry(0))
    second = await taken(outbox, ref)
    error = Permanent("refused")
    error.__cause__ = ConnectionError("postgres://rag:hunter2@db said no; api_key=sk-abcdefghijklmnop")
    async with outbox.database.transaction(outbox.workspace.org_id) as transaction:
        await transaction.jobs.fail(ref, second.fence, error, GiveUp())

    async with outbox.database.transaction(outbox.workspace.org_id) as transaction:
        attempts = await transaction.jobs.attempts(outbox.workspace, ref.job_id)
    assert (await stored(outbox, ref)).state is JobState.DEAD
    assert [attempt.outcome for attempt in attempts] == ["RETRY", "DEAD"]
    assert attempts[1].error_chain[0] == "Permanent [PERMANENT]: refused"
    assert attempts[1].error_chain[1].startswith("ConnectionError: postgres://***@db said no")
    assert "hunter2" not in str(attempts)
    assert "sk-abc" not in str(attempts)


async def test_a_released_job_does_not_count_the_attempt(outbox: DataPlane) -> None:
    ref = await enqueue(outbox)
    lease = await taken(outbox, ref)
    async with outbox.database.transaction(outbox.workspace.org_id) as transaction:
        assert await transaction.jobs.release(ref, lease.fence)

    assert (await taken(outbox, ref)).job.attempts == 1


async def test_cancelling_takes_the_fence_from_a_running_job(outbox: DataPlane) -> None:
    ref = await enqueue(outbox)
    lease = await taken(outbox, ref)
    document_id = (await stored(outbox, ref)).document_id
    assert document_id is not None

    async with outbox.database.transaction(outbox.workspace.org_id) as transaction:
        cancelled = await transaction.jobs.cancel_for_document(outbox.workspace, document_id, JobKind.COMPACT)
        assert not await transaction.jobs.holds(ref, lease.fence)
    assert cancelled == 1
    assert (await stored(outbox, ref)).state is JobState.CANCELLED


async def test_a_job_that_another_version_wrote_is_listed_counted_and_leased_by_its_name(outbox: DataPlane) -> None:
    ref = await enqueue(outbox)
    await enqueue(outbox, "known")
    async with outbox.pool.transaction(outbox.workspace.org_id) as connection:
        await connection.execute("UPDATE rag_jobs SET kind = 'fly' WHERE job_id = $1", ref.job_id)
    board = outbox.job_board()

    listed = await outbox.jobs(JobKind.UNKNOWN)
    counts = await board.counts()
    lease = await taken(outbox, ref)

    await board.aclose()
    assert [(job.job_id, job.kind, job.kind_name) for job in listed] == [(ref.job_id, JobKind.UNKNOWN, "fly")]
    assert counts == {(JobState.QUEUED, JobKind.COMPACT): 1, (JobState.QUEUED, JobKind.UNKNOWN): 1}
    assert (lease.job.kind_name, lease.job.arguments) == ("fly", {})


async def test_due_jobs_take_turns_between_workspaces_oldest_first(outbox: DataPlane) -> None:
    other = WorkspaceRef(outbox.workspace.org_id, uuid4())
    await outbox.add_workspace(other)
    busy = [await enqueue(outbox, f"busy {n}") for n in range(5)]
    quiet = [await enqueue(outbox, "quiet", other)]
    board = outbox.job_board()

    due = await board.due(QueueName.BULK, 3)

    await board.aclose()
    assert due == [busy[0], quiet[0], busy[1]]


async def test_one_dispatcher_leads_until_its_connection_ends(outbox: DataPlane) -> None:
    first, second = outbox.job_board(), outbox.job_board()
    assert await first.lead()
    assert not await second.lead()
    assert await first.lead()

    await first.aclose()

    assert await second.lead()
    await second.aclose()


async def test_jobs_are_counted_by_state_and_kind(outbox: DataPlane) -> None:
    await enqueue(outbox, "a")
    await taken(outbox, await enqueue(outbox, "b"))
    board = outbox.job_board()

    counts = await board.counts()

    await board.aclose()
    assert counts == {(JobState.QUEUED, JobKind.COMPACT): 1, (JobState.RUNNING, JobKind.COMPACT): 1}


async def test_pages_show_the_newest_first_and_never_skip(outbox: DataPlane) -> None:
    refs = [await enqueue(outbox, f"{n}") for n in range(5)]
    seen: list[Job] = []
    after = None
    while True:
        async with outbox.database.transaction(outbox.workspace.org_id) as transaction:
            page = await transaction.jobs.page(outbox.workspace, PageRequest(2, after))
        seen += page.items
        if not page.has_next:
            break
        after = page.cursors[-1]

    assert [job.job_id for job in seen] == [ref.job_id for ref in reversed(refs)]


async def test_a_foreign_cursor_is_refused(outbox: DataPlane) -> None:
    async with outbox.database.transaction(outbox.workspace.org_id) as transaction:
        with pytest.raises(InvalidInput):
            await transaction.jobs.page(outbox.workspace, PageRequest(2, "bm9uc2Vuc2U="))

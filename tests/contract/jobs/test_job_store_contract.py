"""What every `JobStore` and every `JobBoard` over it promise."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from tests.builders import new_document
from tests.contract.backends import Backend

from agentic_rag.documents.document import document_id_for
from agentic_rag.jobs.job import GiveUp, Job, JobAttempt, JobKind, JobRef, JobState, Lease, NewJob, QueueName, Retry
from agentic_rag.jobs.ports import JobBoard, JobStore
from agentic_rag.kernel.errors import InvalidInput, NotFound, Permanent, Retryable
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.tenancy.principals import WorkspaceRef

LONG = timedelta(minutes=1)
OVER = timedelta(seconds=-1)
ALL = 10_000
"""More jobs than this session makes: the board sees those of every test."""


@asynccontextmanager
async def jobs_of(adapter: Backend, org_id: UUID) -> AsyncIterator[JobStore]:
    async with adapter.database.transaction(org_id) as transaction:
        yield transaction.jobs


@asynccontextmanager
async def board_of(adapter: Backend) -> AsyncIterator[JobBoard]:
    board = adapter.job_board()
    try:
        yield board
    finally:
        await board.aclose()


def new_job(workspace: WorkspaceRef, key: str = "a", queue: QueueName = QueueName.BULK) -> NewJob:
    return NewJob(
        workspace, JobKind.INGEST, key, {"path": "ä.md"}, queue, {"traceparent": "00-1-2-01"}, document_id=uuid4()
    )


async def enqueue(
    adapter: Backend, workspace: WorkspaceRef, key: str = "a", queue: QueueName = QueueName.BULK
) -> JobRef:
    async with jobs_of(adapter, workspace.org_id) as jobs:
        return (await jobs.enqueue(new_job(workspace, key, queue)))[0]


async def take(adapter: Backend, ref: JobRef, ttl: timedelta = LONG, worker: str = "one") -> Lease | None:
    async with jobs_of(adapter, ref.workspace.org_id) as jobs:
        return await jobs.lease(ref, worker, ttl)


async def taken(adapter: Backend, ref: JobRef, ttl: timedelta = LONG, worker: str = "one") -> Lease:
    lease = await take(adapter, ref, ttl, worker)
    assert lease is not None
    return lease


async def stored(adapter: Backend, ref: JobRef) -> Job:
    async with jobs_of(adapter, ref.workspace.org_id) as jobs:
        job = await jobs.get(ref.workspace, ref.job_id)
    assert job is not None
    return job


async def attempts_at(adapter: Backend, ref: JobRef) -> tuple[JobAttempt, ...]:
    async with jobs_of(adapter, ref.workspace.org_id) as jobs:
        return await jobs.attempts(ref.workspace, ref.job_id)


async def due_in(adapter: Backend, *workspaces: WorkspaceRef, queue: QueueName = QueueName.BULK) -> list[JobRef]:
    async with board_of(adapter) as board:
        return [ref for ref in await board.due(queue, ALL) if ref.workspace in workspaces]


async def test_a_job_is_kept_as_it_was_written(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    new = new_job(workspace, queue=QueueName.INTERACTIVE)

    async with jobs_of(adapter, workspace.org_id) as jobs:
        ref, was_new = await jobs.enqueue(new)
        job = await jobs.get(workspace, ref.job_id)

    assert was_new
    assert job is not None
    assert (job.workspace, job.kind, job.key, job.queue) == (workspace, new.kind, new.key, new.queue)
    assert (job.arguments, job.trace_carrier, job.document_id) == (new.arguments, new.trace_carrier, new.document_id)
    assert (job.state, job.attempts, job.progress, job.error_code) == (JobState.QUEUED, 0, 0, None)
    assert job.run_after <= job.created_at <= job.updated_at


async def test_an_unfinished_job_stands_for_all_of_its_key(adapter: Backend) -> None:
    workspace, other = await adapter.workspace(), await adapter.workspace()
    first = await enqueue(adapter, workspace)
    await taken(adapter, first)

    assert await enqueue(adapter, workspace) == first
    assert await enqueue(adapter, workspace, "A") != first
    assert await enqueue(adapter, other) != first


@pytest.mark.parametrize("gives_up", [False, True])
async def test_an_ended_job_makes_room_for_another_of_its_key(adapter: Backend, gives_up: bool) -> None:
    first = await enqueue(adapter, await adapter.workspace())
    lease = await taken(adapter, first)
    async with jobs_of(adapter, first.workspace.org_id) as jobs:
        if gives_up:
            assert await jobs.fail(first, lease.fence, Permanent("no"), GiveUp())
        else:
            assert await jobs.finish(first, lease.fence)

    assert await enqueue(adapter, first.workspace) != first


async def test_a_job_rolled_back_with_its_subject_was_never_there(adapter: Backend) -> None:
    workspace = await adapter.workspace()

    async def enqueue_and_fail() -> None:
        async with jobs_of(adapter, workspace.org_id) as jobs:
            await jobs.enqueue(new_job(workspace))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await enqueue_and_fail()

    assert await due_in(adapter, workspace) == []


async def test_a_job_of_an_unknown_workspace_is_refused(adapter: Backend) -> None:
    workspace = WorkspaceRef(await adapter.organisation(), uuid4())

    with pytest.raises(NotFound):
        await enqueue(adapter, workspace)


async def test_another_organisation_sees_and_takes_nothing(adapter: Backend) -> None:
    ref = await enqueue(adapter, await adapter.workspace())
    foreign = WorkspaceRef(await adapter.organisation(), ref.workspace.workspace_id)
    disguised = JobRef(foreign, ref.job_id)

    assert await take(adapter, disguised) is None
    async with jobs_of(adapter, foreign.org_id) as jobs:
        assert await jobs.get(foreign, ref.job_id) is None
        assert (await jobs.page(foreign, PageRequest())).items == ()
        assert await jobs.attempts(foreign, ref.job_id) == ()


async def test_only_one_worker_gets_a_lease(adapter: Backend) -> None:
    ref = await enqueue(adapter, await adapter.workspace())

    lease = await taken(adapter, ref)

    assert await take(adapter, ref, worker="two") is None
    assert (lease.job.state, lease.job.attempts) == (JobState.RUNNING, 1)
    [attempt] = await attempts_at(adapter, ref)
    assert (attempt.attempt, attempt.worker, attempt.ended_at, attempt.outcome) == (1, "one", None, None)


async def test_renewing_moves_the_deadline_and_progress_never_goes_back(adapter: Backend) -> None:
    ref = await enqueue(adapter, await adapter.workspace())
    lease = await taken(adapter, ref, OVER)
    async with jobs_of(adapter, ref.workspace.org_id) as jobs:
        assert await jobs.renew(ref, lease.fence, LONG, 5)
        assert await jobs.renew(ref, lease.fence, LONG, 3)

    async with board_of(adapter) as board:
        await board.expire_leases()

    assert (await stored(adapter, ref)).progress == 5
    async with jobs_of(adapter, ref.workspace.org_id) as jobs:
        assert await jobs.holds(ref, lease.fence)


async def test_after_a_lapse_every_effect_of_the_old_holder_is_refused(adapter: Backend) -> None:
    ref = await enqueue(adapter, await adapter.workspace())
    old = await taken(adapter, ref, OVER)
    async with board_of(adapter) as board:
        assert await board.expire_leases() >= 1
    assert (await stored(adapter, ref)).state is JobState.QUEUED

    new = await taken(adapter, ref, worker="two")

    assert new.fence > old.fence
    assert new.job.attempts == 2
    async with jobs_of(adapter, ref.workspace.org_id) as jobs:
        assert not await jobs.renew(ref, old.fence, LONG, 1)
        assert not await jobs.holds(ref, old.fence)
        assert not await jobs.finish(ref, old.fence)
        assert not await jobs.fail(ref, old.fence, Permanent("late"), GiveUp())
        assert not await jobs.release(ref, old.fence)
        assert await jobs.finish(ref, new.fence)
        assert not await jobs.finish(ref, new.fence)
    attempts = await attempts_at(adapter, ref)
    assert [(attempt.worker, attempt.outcome) for attempt in attempts] == [("one", "LAPSED"), ("two", "DONE")]
    assert attempts[0].error_code == "LEASE_LOST"


async def test_a_transient_failure_waits_and_then_runs_again(adapter: Backend) -> None:
    ref = await enqueue(adapter, await adapter.workspace())
    lease = await taken(adapter, ref)
    async with jobs_of(adapter, ref.workspace.org_id) as jobs:
        assert await jobs.fail(ref, lease.fence, Retryable("busy"), Retry(3600))

    job = await stored(adapter, ref)
    assert (job.state, job.attempts, job.error_code, job.error_message) == (JobState.QUEUED, 1, "TRANSIENT", "busy")
    assert job.run_after - job.updated_at >= timedelta(seconds=3599)
    assert await take(adapter, ref) is None
    assert await due_in(adapter, ref.workspace) == []


async def test_a_dead_letter_keeps_every_attempt_with_its_redacted_chain(adapter: Backend) -> None:
    ref = await enqueue(adapter, await adapter.workspace())
    first = await taken(adapter, ref)
    async with jobs_of(adapter, ref.workspace.org_id) as jobs:
        await jobs.fail(ref, first.fence, Retryable("busy"), Retry(0))
    second = await taken(adapter, ref)
    error = Permanent("refused")
    error.__cause__ = ConnectionError("postgres://rag:hunter2@db said no")
    async with jobs_of(adapter, ref.workspace.org_id) as jobs:
        await jobs.fail(ref, second.fence, error, GiveUp())

    attempts = await attempts_at(adapter, ref)

    assert (await stored(adapter, ref)).state is JobState.DEAD
    assert [attempt.outcome for attempt in attempts] == ["RETRY", "DEAD"]
    assert attempts[1].error_chain == (
        "Permanent [PERMANENT]: refused",
        "ConnectionError: postgres://***@db said no",
    )
    assert await take(adapter, ref) is None


async def test_a_job_that_succeeds_at_last_shows_no_error(adapter: Backend) -> None:
    ref = await enqueue(adapter, await adapter.workspace())
    first = await taken(adapter, ref)
    async with jobs_of(adapter, ref.workspace.org_id) as jobs:
        await jobs.fail(ref, first.fence, Retryable("busy"), Retry(0))
    second = await taken(adapter, ref)
    async with jobs_of(adapter, ref.workspace.org_id) as jobs:
        await jobs.finish(ref, second.fence)

    job = await stored(adapter, ref)

    assert (job.state, job.attempts, job.error_code, job.error_message) == (JobState.DONE, 2, None, None)


async def test_a_released_job_is_due_at_once_and_its_attempt_never_was(adapter: Backend) -> None:
    ref = await enqueue(adapter, await adapter.workspace())
    lease = await taken(adapter, ref)
    async with jobs_of(adapter, ref.workspace.org_id) as jobs:
        assert await jobs.release(ref, lease.fence)
        assert not await jobs.holds(ref, lease.fence)

    assert await attempts_at(adapter, ref) == ()
    assert await due_in(adapter, ref.workspace) == [ref]
    assert (await taken(adapter, ref)).job.attempts == 1


async def test_a_postponed_job_is_due_after_its_delay_and_its_attempt_never_was(adapter: Backend) -> None:
    ref = await enqueue(adapter, await adapter.workspace())
    lease = await taken(adapter, ref)
    async with jobs_of(adapter, ref.workspace.org_id) as jobs:
        assert await jobs.release(ref, lease.fence, 3_600.0)

    job = await stored(adapter, ref)
    assert await attempts_at(adapter, ref) == ()
    assert await due_in(adapter, ref.workspace) == []
    assert (job.state, job.attempts) == (JobState.QUEUED, 0)
    assert timedelta(minutes=59) < job.run_after - job.updated_at <= timedelta(hours=1)


async def test_cancelling_takes_the_fence_from_a_running_job_and_leaves_other_kinds(adapter: Backend) -> None:
    ref = await enqueue(adapter, await adapter.workspace())
    lease = await taken(adapter, ref)
    document_id = lease.job.document_id
    assert document_id is not None

    async with jobs_of(adapter, ref.workspace.org_id) as jobs:
        erasing, _ = await jobs.enqueue(NewJob(ref.workspace, JobKind.DELETE, "a", {}, document_id=document_id))
        cancelled = await jobs.cancel_for_document(ref.workspace, document_id, JobKind.INGEST)
        again = await jobs.cancel_for_document(ref.workspace, document_id, JobKind.INGEST)
        assert not await jobs.holds(ref, lease.fence)

    assert (cancelled, again) == (1, 0)
    assert (await stored(adapter, ref)).state is JobState.CANCELLED
    assert (await stored(adapter, erasing)).state is JobState.QUEUED
    assert [attempt.outcome for attempt in await attempts_at(adapter, ref)] == ["LAPSED"]


async def test_due_jobs_take_turns_between_workspaces_oldest_first(adapter: Backend) -> None:
    crowded, quiet = await adapter.workspace(), await adapter.workspace()
    many = [await enqueue(adapter, crowded, f"{number}") for number in range(3)]
    one = await enqueue(adapter, quiet)

    assert await due_in(adapter, crowded, quiet) == [many[0], one, many[1], many[2]]


async def test_what_is_due_carries_a_turn_that_grows_whenever_the_job_comes_back(adapter: Backend) -> None:
    ref = await enqueue(adapter, await adapter.workspace())
    [first] = await due_in(adapter, ref.workspace)
    lease = await taken(adapter, ref)
    assert await due_in(adapter, ref.workspace) == []
    async with jobs_of(adapter, ref.workspace.org_id) as jobs:
        await jobs.release(ref, lease.fence)

    [second] = await due_in(adapter, ref.workspace)

    assert second.fence > lease.fence > first.fence


async def test_a_queue_shows_its_own_jobs_and_no_more_than_asked(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    hasty = await enqueue(adapter, workspace, "hasty", QueueName.INTERACTIVE)
    patient = [await enqueue(adapter, workspace, key) for key in ("a", "b")]

    assert await due_in(adapter, workspace) == patient
    assert await due_in(adapter, workspace, queue=QueueName.INTERACTIVE) == [hasty]
    async with board_of(adapter) as board:
        assert len(await board.due(QueueName.BULK, 1)) == 1


async def test_jobs_are_counted_by_state_and_kind(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    states = [(state, JobKind.INGEST) for state in (JobState.QUEUED, JobState.RUNNING)]
    async with board_of(adapter) as board:
        before = await board.counts()
        await enqueue(adapter, workspace, "a")
        await taken(adapter, await enqueue(adapter, workspace, "b"))
        after, waits = await board.counts(), await board.oldest_waits()

    assert [after[state] - before.get(state, 0) for state in states] == [1, 1]
    assert waits[JobKind.INGEST] >= 0


async def test_documents_are_counted_over_all_organisations(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    async with board_of(adapter) as board:
        before, _ = await board.corpus_counts()
        async with adapter.database.transaction(workspace.org_id) as transaction:
            await transaction.documents.register(workspace, new_document(workspace, "one.md"))
        after, lag = await board.corpus_counts()
        async with adapter.database.transaction(workspace.org_id) as transaction:
            await transaction.publisher.erase(workspace, document_id_for(workspace, "one.md"))
        erased, _ = await board.corpus_counts()

    assert after["PENDING"] - before.get("PENDING", 0) == 1
    assert lag >= 0
    assert sum(erased.values()) == sum(before.values())


async def test_one_board_leads_until_it_closes(adapter: Backend) -> None:
    async with board_of(adapter) as second:
        async with board_of(adapter) as first:
            assert await first.lead()
            assert not await second.lead()
            assert await first.lead()

        assert await second.lead()


async def test_pages_show_the_newest_first_and_never_skip(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    refs = [await enqueue(adapter, workspace, f"{number}") for number in range(5)]
    seen: list[UUID] = []
    after = None
    while True:
        async with jobs_of(adapter, workspace.org_id) as jobs:
            page = await jobs.page(workspace, PageRequest(2, after))
        seen += [job.job_id for job in page.items]
        if not page.has_next:
            break
        after = page.cursors[-1]
        if len(seen) == 2:
            await enqueue(adapter, workspace, "meanwhile")

    assert seen == [ref.job_id for ref in reversed(refs)]


async def test_a_page_may_be_of_some_states_and_kinds(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    running = await enqueue(adapter, workspace, "running")
    await taken(adapter, running)
    queued = await enqueue(adapter, workspace, "queued")
    async with jobs_of(adapter, workspace.org_id) as jobs:
        by_state = await jobs.page(workspace, PageRequest(), states=[JobState.RUNNING])
        by_kind = await jobs.page(workspace, PageRequest(), kinds=[JobKind.DELETE])
        by_both = await jobs.page(workspace, PageRequest(), [JobState.QUEUED, JobState.DEAD], [JobKind.INGEST])

    assert [job.job_id for job in by_state.items] == [running.job_id]
    assert by_kind.items == ()
    assert [job.job_id for job in by_both.items] == [queued.job_id]


@pytest.mark.parametrize(
    "request_", [PageRequest(0), PageRequest(101), PageRequest(2, "bm9uc2Vuc2U="), PageRequest(2, "no cursor")]
)
async def test_a_page_that_cannot_be_is_refused(adapter: Backend, request_: PageRequest) -> None:
    workspace = await adapter.workspace()

    async with jobs_of(adapter, workspace.org_id) as jobs:
        with pytest.raises(InvalidInput):
            await jobs.page(workspace, request_)

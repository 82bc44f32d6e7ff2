"""Every operation in every state: the tables of the domain decide, and an illegal move changes nothing."""

import enum
from collections.abc import Awaitable, Callable
from datetime import timedelta
from uuid import uuid4

import pytest
from tests.builders import new_document
from tests.contract.backends import Backend

from agentic_rag.documents.document import STATUS_TRANSITIONS, Document, DocumentStatus
from agentic_rag.jobs.job import (
    GiveUp,
    Job,
    JobAttempt,
    JobKind,
    JobRef,
    JobState,
    NewJob,
    Replay,
    Retry,
)
from agentic_rag.jobs.ports import JobStore
from agentic_rag.kernel.errors import Permanent, Retryable

LONG, OVER = timedelta(minutes=1), timedelta(seconds=-1)


class JobOperation(enum.Enum):
    """What a store can do to a job."""

    LEASE = "lease"
    RENEW = "renew"
    FINISH = "finish"
    RETRY = "retry"
    GIVE_UP = "give up"
    REJECT = "reject"
    RELEASE = "release"
    EXPIRE = "expire"
    CANCEL = "cancel"
    REPLAY = "replay"
    PURGE = "purge"


MOVES: dict[JobOperation, tuple[set[JobState], JobState]] = {
    JobOperation.LEASE: ({JobState.QUEUED}, JobState.RUNNING),
    JobOperation.RENEW: ({JobState.RUNNING}, JobState.RUNNING),
    JobOperation.FINISH: ({JobState.RUNNING}, JobState.DONE),
    JobOperation.RETRY: ({JobState.RUNNING}, JobState.QUEUED),
    JobOperation.GIVE_UP: ({JobState.RUNNING}, JobState.DEAD),
    JobOperation.REJECT: ({JobState.RUNNING}, JobState.DONE),
    JobOperation.RELEASE: ({JobState.RUNNING}, JobState.QUEUED),
    JobOperation.EXPIRE: ({JobState.RUNNING}, JobState.QUEUED),
    JobOperation.CANCEL: ({JobState.QUEUED, JobState.RUNNING}, JobState.CANCELLED),
    JobOperation.REPLAY: ({JobState.DEAD}, JobState.QUEUED),
    JobOperation.PURGE: ({JobState.DEAD}, JobState.PURGED),
}
"""The states in which an operation is legal, and the state that it leads to."""


class OneJob:
    """A job, and the fence of its last lease."""

    def __init__(self, backend: Backend, ref: JobRef, job: NewJob) -> None:
        self.backend = backend
        self.ref = ref
        self.job = job
        self.fence = 0

    async def apply(self, operation: JobOperation) -> bool:
        """Do it; whether the store says that it did."""
        if operation is JobOperation.EXPIRE:
            return await self._expire()
        async with self.backend.database.transaction(self.ref.workspace.org_id) as transaction:
            return await OPERATIONS[operation](self, transaction.jobs)

    async def stored(self) -> tuple[Job, tuple[JobAttempt, ...]]:
        async with self.backend.database.transaction(self.ref.workspace.org_id) as transaction:
            job = await transaction.jobs.get(self.ref.workspace, self.ref.job_id)
            assert job is not None
            return job, await transaction.jobs.attempts(self.ref.workspace, self.ref.job_id)

    async def lease(self, jobs: JobStore, ttl: timedelta = LONG) -> bool:
        lease = await jobs.lease(self.ref, "worker", ttl)
        if lease is not None:
            self.fence = lease.fence
        return lease is not None

    async def _expire(self) -> bool:
        before = (await self.stored())[0].state
        async with self.backend.database.transaction(self.ref.workspace.org_id) as transaction:
            await transaction.jobs.renew(self.ref, self.fence, OVER, 0)
        board = self.backend.job_board()
        await board.expire_leases()
        await board.aclose()
        return (await self.stored())[0].state is not before


async def replay(one: OneJob, jobs: JobStore) -> bool:
    return await jobs.replay(one.ref) is Replay.REPLAYED


async def cancel(one: OneJob, jobs: JobStore) -> bool:
    assert one.job.document_id is not None
    return await jobs.cancel_for_document(one.ref.workspace, one.job.document_id, one.job.kind) == 1


OPERATIONS: dict[JobOperation, Callable[[OneJob, JobStore], Awaitable[bool]]] = {
    JobOperation.LEASE: lambda one, jobs: one.lease(jobs),
    JobOperation.RENEW: lambda one, jobs: jobs.renew(one.ref, one.fence, LONG, 1),
    JobOperation.FINISH: lambda one, jobs: jobs.finish(one.ref, one.fence),
    JobOperation.RETRY: lambda one, jobs: jobs.fail(one.ref, one.fence, Retryable("busy"), Retry(0)),
    JobOperation.GIVE_UP: lambda one, jobs: jobs.fail(one.ref, one.fence, Permanent("no"), GiveUp()),
    JobOperation.REJECT: lambda one, jobs: jobs.fail(one.ref, one.fence, Permanent("no"), GiveUp(is_rejection=True)),
    JobOperation.RELEASE: lambda one, jobs: jobs.release(one.ref, one.fence),
    JobOperation.CANCEL: cancel,
    JobOperation.REPLAY: replay,
    JobOperation.PURGE: lambda one, jobs: jobs.purge(one.ref),
}

WAYS: dict[JobState, tuple[JobOperation, ...]] = {
    JobState.QUEUED: (),
    JobState.RUNNING: (JobOperation.LEASE,),
    JobState.DONE: (JobOperation.LEASE, JobOperation.FINISH),
    JobState.DEAD: (JobOperation.LEASE, JobOperation.GIVE_UP),
    JobState.CANCELLED: (JobOperation.CANCEL,),
    JobState.PURGED: (JobOperation.LEASE, JobOperation.GIVE_UP, JobOperation.PURGE),
}
"""How a new job comes into each state."""


async def job_in(backend: Backend, state: JobState) -> OneJob:
    workspace = await backend.workspace()
    new = NewJob(workspace, JobKind.COMPACT, "a", {"path": "a.md"}, document_id=uuid4())
    async with backend.database.transaction(workspace.org_id) as transaction:
        ref, _ = await transaction.jobs.enqueue(new)
    one = OneJob(backend, ref, new)
    for operation in WAYS[state]:
        assert await one.apply(operation)
    assert (await one.stored())[0].state is state
    return one


@pytest.mark.parametrize("state", list(JobState), ids=lambda state: state.value)
@pytest.mark.parametrize("operation", list(JobOperation), ids=lambda operation: operation.value)
async def test_a_job_moves_as_the_table_says_and_not_otherwise(
    adapter: Backend, state: JobState, operation: JobOperation
) -> None:
    one = await job_in(adapter, state)
    before = await one.stored()

    done = await one.apply(operation)

    after = await one.stored()
    sources, target = MOVES[operation]
    if state in sources:
        assert (done, after[0].state) == (True, target)
    else:
        assert (done, after) == (False, before)


def test_every_operation_has_its_move_and_finished_jobs_have_none() -> None:
    assert set(MOVES) == set(JobOperation)
    ends = set(JobState) - {state for sources, _ in MOVES.values() for state in sources}
    assert ends == {JobState.DONE, JobState.CANCELLED, JobState.PURGED}
    assert {target for _, target in MOVES.values()} == set(JobState)


HOLDS = (JobOperation.RENEW, JobOperation.FINISH, JobOperation.RETRY, JobOperation.GIVE_UP, JobOperation.RELEASE)


@pytest.mark.parametrize("operation", HOLDS, ids=lambda operation: operation.value)
@pytest.mark.parametrize("off", [-1, 1])
async def test_a_running_job_moves_for_nobody_but_its_holder(
    adapter: Backend, operation: JobOperation, off: int
) -> None:
    one = await job_in(adapter, JobState.RUNNING)
    before = await one.stored()
    one.fence += off

    assert not await one.apply(operation)
    assert await one.stored() == before


DOCUMENT_WAYS: dict[DocumentStatus, tuple[DocumentStatus, ...]] = {
    DocumentStatus.PENDING: (),
    DocumentStatus.PROCESSING: (DocumentStatus.PROCESSING,),
    DocumentStatus.READY: (DocumentStatus.PROCESSING, DocumentStatus.READY),
    DocumentStatus.FAILED: (DocumentStatus.FAILED,),
}


@pytest.mark.parametrize("source", list(DocumentStatus), ids=lambda status: status.value)
@pytest.mark.parametrize("target", list(DocumentStatus), ids=lambda status: status.value)
async def test_a_document_moves_as_the_table_says_and_not_otherwise(
    adapter: Backend, source: DocumentStatus, target: DocumentStatus
) -> None:
    workspace = await adapter.workspace()
    document_id = (await adapter.register(workspace, new_document(workspace, "a.md"))).document_id

    async def move(status: DocumentStatus) -> tuple[bool, Document | None]:
        async with adapter.database.transaction(workspace.org_id) as transaction:
            moved = await transaction.documents.set_status(workspace, document_id, status)
        async with adapter.database.transaction(workspace.org_id) as transaction:
            return moved, await transaction.documents.get(workspace, document_id)

    async with adapter.database.transaction(workspace.org_id) as transaction:
        before = await transaction.documents.get(workspace, document_id)
    for status in DOCUMENT_WAYS[source]:
        moved, before = await move(status)
        assert moved
    assert before is not None
    assert before.status is source

    moved, after = await move(target)

    assert after is not None
    if target in STATUS_TRANSITIONS[source]:
        assert (moved, after.status) == (True, target)
    else:
        assert (moved, after) == (False, before)

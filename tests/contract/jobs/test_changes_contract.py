"""What changed lately, for whom, and cancelled jobs, over every backend."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest
from tests.builders import new_document
from tests.contract.backends import Backend
from tests.memory_store.telemetry import RecordingTelemetry

from agentic_rag.documents.document import Document, DocumentStatus
from agentic_rag.documents.document_access import list_scope
from agentic_rag.ingestion.live.cancel_job import CANCELLABLE, CancelJob, CancelOutcome
from agentic_rag.ingestion.submit import ingest_job
from agentic_rag.jobs.job import JobKind, JobRef, JobState, NewJob
from agentic_rag.kernel.errors import Forbidden, NotFound
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.tenancy.audit import AuditAction, AuditFilter
from agentic_rag.tenancy.principals import Principal, Role, WorkspaceRef

LONG = timedelta(minutes=1)
WHILE = 60.0


def boss(workspace: WorkspaceRef) -> Principal:
    return Principal(workspace.org_id, "boss", Role.ADMIN)


def member(workspace: WorkspaceRef, name: str) -> Principal:
    return Principal(workspace.org_id, name, Role.MEMBER)


async def ingesting(adapter: Backend, *readers: str) -> tuple[Document, JobRef]:
    """A document of ada's that waits for its ingestion, for everybody or for these readers."""
    workspace = await adapter.workspace()
    async with adapter.database.transaction(workspace.org_id) as transaction:
        access = {"access_id": await transaction.access.intern(workspace, readers)} if readers else {}
        document = await transaction.documents.register(
            workspace, new_document(workspace, "a.md", uploaded_by="user:ada", **access)
        )
        ref, _ = await transaction.jobs.enqueue(ingest_job(workspace, document.document_id, bytes(32), {}))
    return document, ref


async def seen_by(adapter: Backend, principal: Principal, workspace: WorkspaceRef) -> tuple[set[UUID], set[UUID]]:
    async with adapter.database.transaction(workspace.org_id) as transaction:
        scope = await list_scope(transaction, principal, workspace)
        jobs = await transaction.jobs.changed(workspace, WHILE, 10, scope)
        documents = await transaction.documents.changed(workspace, WHILE, 10, scope)
    return {one.job_id for one in jobs}, {one.document_id for one in documents}


async def test_what_changed_is_shown_to_whom_a_list_shows_it(adapter: Backend) -> None:
    document, ref = await ingesting(adapter, "user:ada")
    both = ({ref.job_id}, {document.document_id})

    assert await seen_by(adapter, boss(ref.workspace), ref.workspace) == both
    assert await seen_by(adapter, member(ref.workspace, "ada"), ref.workspace) == both
    assert await seen_by(adapter, member(ref.workspace, "olga"), ref.workspace) == (set(), set())


async def test_the_newest_changes_come_first_within_the_time_and_the_number(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    refs: list[JobRef] = []
    for number in range(3):
        await adapter.register(workspace, new_document(workspace, f"{number}.md"))
        async with adapter.database.transaction(workspace.org_id) as transaction:
            refs.append((await transaction.jobs.enqueue(NewJob(workspace, JobKind.COMPACT, str(number), {})))[0])
    async with adapter.database.transaction(workspace.org_id) as transaction:
        assert await transaction.jobs.lease(refs[0], "one", LONG)

    async with adapter.database.transaction(workspace.org_id) as transaction:
        jobs = await transaction.jobs.changed(workspace, WHILE, 2)
        documents = await transaction.documents.changed(workspace, WHILE, 2)
        late = (
            await transaction.jobs.changed(workspace, -WHILE, 9),
            await transaction.documents.changed(workspace, -WHILE, 9),
        )
    assert [(one.job_id, one.state) for one in jobs] == [
        (refs[0].job_id, JobState.RUNNING),
        (refs[2].job_id, JobState.QUEUED),
    ]
    assert [one.source_path for one in documents] == ["2.md", "1.md"]
    assert (list(late[0]), list(late[1])) == ([], [])


@pytest.mark.parametrize("running", [False, True])
async def test_a_cancelled_job_ends_for_its_worker_and_shows_on_its_document(adapter: Backend, running: bool) -> None:
    document, ref = await ingesting(adapter)
    cancel, caller = CancelJob(adapter.database, RecordingTelemetry()), member(ref.workspace, "ada")
    async with adapter.database.transaction(ref.workspace.org_id) as transaction:
        lease = await transaction.jobs.lease(ref, "one", LONG) if running else None

    done = await cancel.run(caller, ref.workspace, ref.job_id)
    again = await cancel.run(caller, ref.workspace, ref.job_id)

    assert (done.outcome, done.job.state) == (CancelOutcome.CANCELLED, JobState.CANCELLED)
    assert (again.outcome, again.job.state) == (CancelOutcome.ALREADY_ENDED, JobState.CANCELLED)
    async with adapter.database.transaction(ref.workspace.org_id) as transaction:
        shown = await transaction.documents.get(ref.workspace, document.document_id)
        assert shown is not None
        assert (shown.status, shown.fault.code if shown.fault else "") == (DocumentStatus.FAILED, "JOB_CANCELLED")
        assert lease is None or not await transaction.jobs.renew(ref, lease.fence, LONG, 1)
        assert lease is None or not await transaction.jobs.finish(ref, lease.fence)
        entries = await transaction.audit.page(PageRequest(5), AuditFilter(action=AuditAction.CANCEL_JOB.value))
    assert [(one.actor, one.subject) for one in entries.items] == [("user:ada", str(ref.job_id))]


async def test_a_job_is_cancelled_by_who_may_write_its_document(adapter: Backend) -> None:
    _, ref = await ingesting(adapter)
    hidden = (await ingesting(adapter, "user:ada"))[1]
    cancel = CancelJob(adapter.database, RecordingTelemetry())

    with pytest.raises(Forbidden):
        await cancel.run(member(ref.workspace, "olga"), ref.workspace, ref.job_id)
    with pytest.raises(NotFound):
        await cancel.run(member(hidden.workspace, "olga"), hidden.workspace, hidden.job_id)
    found = await cancel.run(boss(hidden.workspace), hidden.workspace, hidden.job_id)
    assert found.outcome is CancelOutcome.CANCELLED


@pytest.mark.parametrize("kind", [JobKind.ERASE, JobKind.COMPACT, JobKind.SYNC])
async def test_work_that_must_be_done_is_not_cancelled(adapter: Backend, kind: JobKind) -> None:
    workspace = await adapter.workspace()
    async with adapter.database.transaction(workspace.org_id) as transaction:
        ref, _ = await transaction.jobs.enqueue(NewJob(workspace, kind, "a", {}))
    cancel = CancelJob(adapter.database, RecordingTelemetry())

    with pytest.raises(NotFound):
        await cancel.run(member(workspace, "ada"), workspace, ref.job_id)
    found = await cancel.run(boss(workspace), workspace, ref.job_id)
    wanted = CancelOutcome.CANCELLED if kind in CANCELLABLE else CancelOutcome.NOT_CANCELLABLE
    assert (found.outcome, found.job.state is JobState.QUEUED) == (wanted, kind not in CANCELLABLE)

"""Dead letters over every backend: replays that forget nothing, purges, and the audit entries of both."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from tests.builders import new_document
from tests.contract.backends import Backend
from tests.memory_store.telemetry import RecordingTelemetry

from agentic_rag.documents.document import Document, DocumentFault, DocumentStatus, document_id_for
from agentic_rag.ingestion.submit import CONTENT_PROVENANCE, ingest_job
from agentic_rag.jobs.job import GiveUp, Job, JobAttempt, JobKind, JobRef, JobState, NewJob, Replay
from agentic_rag.kernel.errors import InvalidInput, NotFound, Permanent
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.operations.dead_letters import DeadLetters
from agentic_rag.tenancy.audit import AuditAction, AuditEntry, AuditFilter, AuditRecord
from agentic_rag.tenancy.principals import WorkspaceRef

LONG = timedelta(minutes=1)
OLD, NEW = bytes(32), bytes([1] * 32)
TRACE = {"traceparent": f"00-{'ab' * 16}-{'cd' * 8}-01"}


def letters(adapter: Backend) -> DeadLetters:
    return DeadLetters(adapter.database, RecordingTelemetry())


async def registered(adapter: Backend, workspace: WorkspaceRef, content: bytes, path: str = "a.md") -> Document:
    return await adapter.register(
        workspace, new_document(workspace, path, provenance={CONTENT_PROVENANCE: content.hex()})
    )


async def die(adapter: Backend, ref: JobRef, message: str = "broken") -> None:
    """One attempt that ends for good, shown on the document as a worker shows it."""
    async with adapter.database.transaction(ref.workspace.org_id) as transaction:
        lease = await transaction.jobs.lease(ref, "worker", LONG)
        assert lease is not None
        if lease.job.document_id is not None:
            fault = DocumentFault("PERMANENT", message, lease.job.attempts, False)
            await transaction.documents.set_status(ref.workspace, lease.job.document_id, DocumentStatus.FAILED, fault)
        assert await transaction.jobs.fail(ref, lease.fence, Permanent(message), GiveUp())


async def dead_ingest(adapter: Backend, content: bytes = OLD) -> JobRef:
    workspace = await adapter.workspace()
    document = await registered(adapter, workspace, content)
    async with adapter.database.transaction(workspace.org_id) as transaction:
        ref, _ = await transaction.jobs.enqueue(ingest_job(workspace, document.document_id, content, TRACE))
    await die(adapter, ref)
    return ref


async def dead(adapter: Backend, kind: JobKind = JobKind.COMPACT) -> JobRef:
    workspace = await adapter.workspace()
    async with adapter.database.transaction(workspace.org_id) as transaction:
        ref, _ = await transaction.jobs.enqueue(
            NewJob(workspace, kind, "a", {"path": "private.md"}, trace_carrier=TRACE)
        )
    await die(adapter, ref, "a private message")
    return ref


async def look(adapter: Backend, ref: JobRef) -> tuple[Job, tuple[JobAttempt, ...]]:
    async with adapter.database.transaction(ref.workspace.org_id) as transaction:
        job = await transaction.jobs.get(ref.workspace, ref.job_id)
        assert job is not None
        return job, await transaction.jobs.attempts(ref.workspace, ref.job_id)


async def document_of(adapter: Backend, workspace: WorkspaceRef) -> Document | None:
    async with adapter.database.transaction(workspace.org_id) as transaction:
        return await transaction.documents.get(workspace, document_id_for(workspace, "a.md"))


async def audited(adapter: Backend, org_id: UUID) -> list[AuditRecord]:
    async with adapter.database.transaction(org_id) as transaction:
        return list((await transaction.audit.page(PageRequest())).items)


async def test_a_replay_gives_a_fresh_allowance_and_forgets_no_attempt(adapter: Backend) -> None:
    ref = await dead_ingest(adapter)

    replayed = await letters(adapter).replay(ref.workspace, ref.job_id, "ada")

    assert replayed.outcome is Replay.REPLAYED
    assert (replayed.job.state, replayed.job.attempts, replayed.job.attempts_against_limit) == (JobState.QUEUED, 1, 0)
    document = await document_of(adapter, ref.workspace)
    assert document is not None
    assert (document.status, document.fault) == (DocumentStatus.PENDING, None)
    await die(adapter, ref, "broken again")
    job, attempts = await look(adapter, ref)
    assert (job.attempts, job.attempts_against_limit) == (2, 1)
    assert [(one.attempt, one.outcome, one.error_chain) for one in attempts] == [
        (1, "DEAD", ("Permanent [PERMANENT]: broken",)),
        (2, "DEAD", ("Permanent [PERMANENT]: broken again",)),
    ]


async def test_replaying_twice_has_one_effect_and_one_audit_entry(adapter: Backend) -> None:
    ref = await dead(adapter)

    first = await letters(adapter).replay(ref.workspace, ref.job_id, "ada")
    second = await letters(adapter).replay(ref.workspace, ref.job_id, "ada")

    assert (first.outcome, second.outcome) == (Replay.REPLAYED, Replay.NOT_DEAD)
    assert first.job == second.job
    [entry] = await audited(adapter, ref.workspace.org_id)
    assert (entry.action, entry.actor, entry.subject) == ("dead_letter.replay", "ada", str(ref.job_id))
    assert (entry.workspace_id, entry.detail) == (
        ref.workspace.workspace_id,
        {"kind": "compact", "code": "PERMANENT", "attempts": 1},
    )


async def test_a_replay_is_handed_over_anew(adapter: Backend) -> None:
    ref = await dead(adapter)
    async with adapter.database.transaction(ref.workspace.org_id) as transaction:
        before = await transaction.jobs.lease(ref, "late", LONG)

    await letters(adapter).replay(ref.workspace, ref.job_id, "ada")

    async with adapter.database.transaction(ref.workspace.org_id) as transaction:
        lease = await transaction.jobs.lease(ref, "worker", LONG)
    assert before is None
    assert lease is not None
    assert lease.fence >= 3, "the lease, the replay and the new lease each raised it"


async def test_a_letter_whose_key_is_at_work_again_is_superseded(adapter: Backend) -> None:
    ref = await dead(adapter)
    async with adapter.database.transaction(ref.workspace.org_id) as transaction:
        await transaction.jobs.enqueue(NewJob(ref.workspace, JobKind.COMPACT, "a", {}))

    replayed = await letters(adapter).replay(ref.workspace, ref.job_id, "ada")

    assert (replayed.outcome, replayed.job.state) == (Replay.SUPERSEDED, JobState.DEAD)
    assert await audited(adapter, ref.workspace.org_id) == []


async def test_a_letter_about_older_content_is_superseded(adapter: Backend) -> None:
    ref = await dead_ingest(adapter, OLD)
    await registered(adapter, ref.workspace, NEW)

    replayed = await letters(adapter).replay(ref.workspace, ref.job_id, "ada")

    assert replayed.outcome is Replay.SUPERSEDED


@pytest.mark.parametrize("returns", [False, True])
async def test_a_letter_about_an_erased_document_is_superseded_even_when_that_came_back(
    adapter: Backend, returns: bool
) -> None:
    ref = await dead_ingest(adapter)
    async with adapter.database.transaction(ref.workspace.org_id) as transaction:
        assert await transaction.publisher.erase(ref.workspace, document_id_for(ref.workspace, "a.md")) is not None
    if returns:
        await registered(adapter, ref.workspace, OLD)

    replayed = await letters(adapter).replay(ref.workspace, ref.job_id, "ada")

    assert replayed.outcome is Replay.SUPERSEDED
    assert replayed.job.arguments == {}


async def test_a_failed_deletion_of_a_document_that_came_back_is_superseded(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    document = await registered(adapter, workspace, OLD)
    new = NewJob(workspace, JobKind.DELETE, "a", {}, document_id=document.document_id)
    async with adapter.database.transaction(workspace.org_id) as transaction:
        ref, _ = await transaction.jobs.enqueue(new)
        lease = await transaction.jobs.lease(ref, "worker", LONG)
        assert lease is not None
        await transaction.jobs.fail(ref, lease.fence, Permanent("no"), GiveUp())
    await registered(adapter, workspace, NEW)

    assert (await letters(adapter).replay(workspace, ref.job_id, "ada")).outcome is Replay.SUPERSEDED


async def test_a_purge_leaves_kind_code_and_times_only(adapter: Backend) -> None:
    ref = await dead(adapter)

    first = await letters(adapter).purge(ref.workspace, ref.job_id, "ada")
    second = await letters(adapter).purge(ref.workspace, ref.job_id, "ada")

    assert (first.purged, second.purged) == (True, False)
    job, attempts = await look(adapter, ref)
    assert (job.state, job.arguments, job.trace_carrier, job.error_message, attempts) == (
        JobState.PURGED, {}, {}, None, (),
    )  # fmt: skip
    assert (job.kind, job.error_code, job.attempts) == (JobKind.COMPACT, "PERMANENT", 1)
    [entry] = await audited(adapter, ref.workspace.org_id)
    assert entry.action == "dead_letter.purge"
    assert "private" not in str(entry)


async def test_what_is_not_there_or_not_ours_is_not_found(adapter: Backend) -> None:
    ref = await dead(adapter)
    foreign = WorkspaceRef(await adapter.organisation(), ref.workspace.workspace_id)

    for workspace, job_id in ((ref.workspace, uuid4()), (foreign, ref.job_id)):
        with pytest.raises(NotFound) as refused:
            await letters(adapter).replay(workspace, job_id, "eve")
        assert refused.value.code == "JOB_NOT_FOUND"
        with pytest.raises(NotFound):
            await letters(adapter).purge(workspace, job_id, "eve")

    assert (await look(adapter, ref))[0].state is JobState.DEAD


async def test_dead_letters_can_be_listed_by_code(adapter: Backend) -> None:
    ref = await dead(adapter)
    async with adapter.database.transaction(ref.workspace.org_id) as transaction:
        found = await transaction.jobs.page(ref.workspace, PageRequest(), [JobState.DEAD], codes=["PERMANENT", "X"])
        none = await transaction.jobs.page(ref.workspace, PageRequest(), [JobState.DEAD], codes=["X"])

    assert [job.job_id for job in found.items] == [ref.job_id]
    assert none.items == ()


def entry(subject: str, workspace_id: UUID | None = None) -> AuditEntry:
    return AuditEntry(AuditAction.SNAPSHOT, subject, "ada", workspace_id, {"chunks": 3, "kept": True}, "ab" * 16)


async def test_the_audit_log_shows_the_newest_first_page_by_page(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    for number in range(3):
        async with adapter.database.transaction(workspace.org_id) as transaction:
            await transaction.audit.record(entry(f"{number}", workspace.workspace_id if number else None))

    async with adapter.database.transaction(workspace.org_id) as transaction:
        first = await transaction.audit.page(PageRequest(2))
        second = await transaction.audit.page(PageRequest(2, first.cursors[-1]))
        of_workspace = await transaction.audit.page(PageRequest(), AuditFilter(workspace.workspace_id))
        with pytest.raises(InvalidInput):
            await transaction.audit.page(PageRequest(0))

    assert [one.subject for one in (*first.items, *second.items)] == ["2", "1", "0"]
    assert (first.has_next, second.has_next) == (True, False)
    assert [one.subject for one in of_workspace.items] == ["2", "1"]
    newest = first.items[0]
    assert (newest.action, newest.actor, newest.trace_id) == ("snapshot.create", "ada", "ab" * 16)
    assert newest.detail == {"chunks": 3, "kept": True}


async def test_an_act_that_is_rolled_back_leaves_no_entry(adapter: Backend) -> None:
    org_id = await adapter.organisation()

    async def fail() -> None:
        async with adapter.database.transaction(org_id) as transaction:
            await transaction.audit.record(entry("1"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()

    assert await audited(adapter, org_id) == []


async def test_another_organisation_sees_no_entry(adapter: Backend) -> None:
    org_id = await adapter.organisation()
    async with adapter.database.transaction(org_id) as transaction:
        await transaction.audit.record(entry("1"))

    assert await audited(adapter, await adapter.organisation()) == []
    assert len(await audited(adapter, org_id)) == 1


def test_a_replayed_job_counts_only_what_it_used() -> None:
    assert replace(_job(), attempts=7, attempts_before=5).attempts_against_limit == 2


def _job() -> Job:
    from tests.contract.jobs.test_job_queue_contract import given_up

    return given_up({})


async def test_what_is_told_once_stands_once_however_many_tell_it(adapter: Backend) -> None:
    org_id = (await adapter.workspace()).org_id
    other = (await adapter.workspace()).org_id

    async def tell(org_id: UUID, subject: str, key: str) -> bool:
        async with adapter.database.transaction(org_id) as transaction:
            return await transaction.audit.record_once(entry(subject), key)

    together = await asyncio.gather(*(tell(org_id, "ours", "day 1") for _ in range(8)))
    later = [
        await tell(org_id, "ours", "day 2"),
        await tell(org_id, "mine", "day 1"),
        await tell(other, "ours", "day 1"),
    ]

    assert sorted(together) == [*(7 * [False]), True]
    assert later == [True, True, True]
    async with adapter.database.transaction(org_id) as transaction:
        assert len((await transaction.audit.page(PageRequest())).items) == 3

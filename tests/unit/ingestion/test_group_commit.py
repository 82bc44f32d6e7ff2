"""Documents that wait for a publish share the next one, and never each other's fate."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID, uuid4

import pytest

from agentic_rag.documents.document import Revision
from agentic_rag.documents.revision_diff import KeptChunk
from agentic_rag.ingestion.group_commit import GroupCommitPublisher
from agentic_rag.ingestion.ports import DocumentPublication, Published
from agentic_rag.jobs.job import JobKind, NewJob
from agentic_rag.kernel.errors import DependencyUnavailable, Permanent
from agentic_rag.tenancy.principals import WorkspaceRef

WORKSPACE = WorkspaceRef(uuid4(), uuid4())


class Recorder:
    """A database whose publisher notes its batches, waits while `gate` is shut, and refuses or fails by document."""

    def __init__(self) -> None:
        self.batches: list[list[UUID]] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.begun = asyncio.Event()
        self.failures: dict[UUID, Exception] = {}
        self.refusals: dict[UUID, str] = {}
        self.jobs_enqueued: list[NewJob] = []

    @asynccontextmanager
    async def transaction(self, org_id: UUID) -> AsyncIterator[Any]:
        yield self

    @property
    def publisher(self) -> "Recorder":
        return self

    @property
    def jobs(self) -> "Recorder":
        return self

    @property
    def originals(self) -> "Recorder":
        return self

    async def supersede(self, workspace: WorkspaceRef, document_ids: Sequence[UUID]) -> int:
        """There are no originals."""
        return 0

    async def enqueue(self, job: NewJob) -> None:
        self.jobs_enqueued.append(job)

    async def publish(
        self, workspace: WorkspaceRef, space_id: int, batch: Sequence[DocumentPublication]
    ) -> list[Published]:
        ids = [publication.document_id for publication in batch]
        self.batches.append(ids)
        self.begun.set()
        await self.gate.wait()
        for document_id in ids:
            if document_id in self.failures:
                raise self.failures[document_id]
        version = len(self.batches)
        return [
            Published(one, None, self.refusals[one]) if one in self.refusals else Published(one, version) for one in ids
        ]


def publication(kept: int = 0, document_id: UUID | None = None) -> DocumentPublication:
    document_id = document_id or uuid4()
    revision = Revision(uuid4(), document_id, "", b"", (), "", "")
    chunks: tuple[KeptChunk, ...] = (None,) * kept  # type: ignore[assignment]
    return DocumentPublication(document_id, revision, b"", (), chunks, (), None)


async def publish_behind(
    recorder: Recorder, group: GroupCommitPublisher, first: DocumentPublication, others: list[DocumentPublication]
) -> list[Published | BaseException]:
    """Publish `first`, and the others while it is in flight."""
    recorder.gate.clear()
    tasks = [asyncio.create_task(group.publish(WORKSPACE, 1, first))]
    await recorder.begun.wait()
    tasks += [asyncio.create_task(group.publish(WORKSPACE, 1, one)) for one in others]
    await asyncio.sleep(0)
    recorder.gate.set()
    return await asyncio.gather(*tasks, return_exceptions=True)


async def test_a_document_alone_is_published_at_once() -> None:
    recorder, one = Recorder(), publication()

    published = await GroupCommitPublisher(recorder).publish(WORKSPACE, 1, one)  # type: ignore[arg-type]

    assert published == Published(one.document_id, 1)


async def test_documents_behind_a_publish_in_flight_go_together() -> None:
    recorder, others = Recorder(), [publication() for _ in range(5)]

    results = await publish_behind(recorder, GroupCommitPublisher(recorder), publication(), others)  # type: ignore[arg-type]

    assert [len(batch) for batch in recorder.batches] == [1, 5]
    assert {result.version for result in results[1:] if isinstance(result, Published)} == {2}


async def test_a_batch_is_bounded_in_documents_and_chunks() -> None:
    recorder = Recorder()
    group = GroupCommitPublisher(recorder, max_documents=3, max_chunks=10)  # type: ignore[arg-type]

    await publish_behind(recorder, group, publication(), [publication(kept) for kept in (1, 1, 1, 1, 6, 6, 50)])

    assert [len(batch) for batch in recorder.batches] == [1, 3, 2, 1, 1]


async def test_one_document_never_stands_twice_in_a_batch() -> None:
    recorder, document_id = Recorder(), uuid4()
    twice = [publication(document_id=document_id), publication(document_id=document_id)]

    await publish_behind(recorder, GroupCommitPublisher(recorder), publication(), twice)  # type: ignore[arg-type]

    assert recorder.batches[1:] == [[document_id], [document_id]]


async def test_a_refused_document_does_not_hinder_the_others() -> None:
    recorder, stale, fine = Recorder(), publication(), publication()
    recorder.refusals[stale.document_id] = "STALE"

    results = await publish_behind(recorder, GroupCommitPublisher(recorder), publication(), [stale, fine])  # type: ignore[arg-type]

    assert results[1:] == [Published(stale.document_id, None, "STALE"), Published(fine.document_id, 2)]


async def test_a_document_that_cannot_be_published_fails_alone() -> None:
    recorder, bad, fine = Recorder(), publication(), publication()
    recorder.failures[bad.document_id] = Permanent("no")

    results = await publish_behind(recorder, GroupCommitPublisher(recorder), publication(), [bad, fine])  # type: ignore[arg-type]

    assert isinstance(results[1], Permanent)
    assert isinstance(results[2], Published)


async def test_an_outage_reaches_every_waiter_and_the_next_publish_works() -> None:
    recorder, one, two = Recorder(), publication(), publication()
    recorder.failures[one.document_id] = DependencyUnavailable("away", dependency="postgres")
    group = GroupCommitPublisher(recorder)  # type: ignore[arg-type]

    results = await publish_behind(recorder, group, publication(), [one, two])

    assert [type(result) for result in results[1:]] == [DependencyUnavailable, DependencyUnavailable]
    assert (await group.publish(WORKSPACE, 1, publication())).version is not None


async def test_a_waiter_that_is_cancelled_takes_only_itself_out() -> None:
    recorder, one, two = Recorder(), publication(), publication()
    group = GroupCommitPublisher(recorder)  # type: ignore[arg-type]
    recorder.gate.clear()
    first = asyncio.create_task(group.publish(WORKSPACE, 1, publication()))
    await recorder.begun.wait()
    leaver = asyncio.create_task(group.publish(WORKSPACE, 1, one))
    stayer = asyncio.create_task(group.publish(WORKSPACE, 1, two))
    await asyncio.sleep(0)

    leaver.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaver
    recorder.gate.set()
    await asyncio.gather(first, stayer)

    assert recorder.batches[1] == [two.document_id]


async def test_many_publishes_ask_for_a_compaction() -> None:
    recorder = Recorder()
    group = GroupCommitPublisher(recorder, compact_every=3)  # type: ignore[arg-type]

    for _ in range(7):
        await group.publish(WORKSPACE, 1, publication())

    assert [job.kind for job in recorder.jobs_enqueued] == [JobKind.COMPACT, JobKind.COMPACT]


async def test_publishes_of_short_lived_processes_ask_for_a_compaction_too() -> None:
    recorder = Recorder()

    for _ in range(4):
        await GroupCommitPublisher(recorder, compact_every=3).publish(WORKSPACE, 1, publication())  # type: ignore[arg-type]

    assert [job.kind for job in recorder.jobs_enqueued] == [JobKind.COMPACT]


async def test_an_unforeseen_fault_reaches_its_own_waiter_only() -> None:
    recorder = Recorder()
    bad, fine = publication(), publication()
    recorder.failures[bad.document_id] = ZeroDivisionError("a defect")

    results = await publish_behind(recorder, GroupCommitPublisher(recorder), publication(), [bad, fine])  # type: ignore[arg-type]

    assert isinstance(results[1], ZeroDivisionError)
    assert isinstance(results[2], Published)

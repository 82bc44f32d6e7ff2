"""A snapshot that begins with its first read answers as one that began at once, or says that it is outdated."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import pytest
from tests.builders import DIMENSIONS, EVERYBODY, entities_of, new_document
from tests.contract.backends import Backend
from tests.contract.tenancy.test_access_store_contract import NIGHT, restrict
from tests.integration.postgres.statements import WatchedPool
from tests.memory_store.telemetry import RecordingTelemetry

from agentic_rag.adapters.postgres.retrieval import resident
from agentic_rag.adapters.postgres.retrieval.resident import ResidentCorpusStore
from agentic_rag.adapters.postgres.session.connection import PostgresConnection
from agentic_rag.adapters.postgres.session.database import PostgresDatabase
from agentic_rag.adapters.postgres.session.pool import BEGIN_SNAPSHOT
from agentic_rag.documents.document import DocumentFilter, document_id_for
from agentic_rag.kernel.database import CorpusSnapshot
from agentic_rag.kernel.errors import DependencyUnavailable, NotFound, SnapshotOutdated
from agentic_rag.retrieval.candidates import SearchScope
from agentic_rag.retrieval.query import RetrievalQuery
from agentic_rag.retrieval.retrieve import RetrievalResult, Retrieve
from agentic_rag.tenancy.access import ANONYMOUS_READER, ReadIdentity
from agentic_rag.tenancy.entering import entering_as
from agentic_rag.tenancy.principals import Principal, Role, WorkspaceRef
from agentic_rag_migrations import HEAD

pytestmark = pytest.mark.integration

READERS = (ANONYMOUS_READER, ReadIdentity(NIGHT))
PASSAGES = [f"Ada turns the rotor of unit {number}" for number in range(12)]
NAMED = {text: entities_of("Ada", "Rotor") for text in PASSAGES}


class Process:
    """A serving process: what it holds, and what it sends."""

    def __init__(self, url: str, capacity: int = 1 << 20) -> None:
        self.pool = WatchedPool(url)
        self.residents = ResidentCorpusStore(self.pool, capacity)
        self.database = PostgresDatabase(self.pool, HEAD, residents=self.residents)

    async def ranked(self, workspace: WorkspaceRef, readers: ReadIdentity) -> tuple[RetrievalResult, bool]:
        """What a question finds that defers its snapshot and opens another where it is outdated, and whether it is."""
        try:
            return await ranked(self.database, workspace, readers, may_defer=True), False
        except SnapshotOutdated:
            return await ranked(self.database, workspace, readers), True


@pytest.fixture
async def process(migrated_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Process]:
    monkeypatch.setattr(resident, "REST_AFTER_A_READ", 0)
    process = Process(migrated_url)
    yield process
    await process.residents.aclose()
    await process.pool.aclose()


@pytest.fixture
async def holding_nothing(migrated_url: str) -> AsyncIterator[Process]:
    """A process that reads all from the tables."""
    process = Process(migrated_url, 0)
    yield process
    await process.pool.aclose()


async def ranked(
    database: Any, workspace: WorkspaceRef, readers: ReadIdentity, text: str = "Ada rotor", **how: bool
) -> RetrievalResult:
    async with database.snapshot(workspace, readers=readers, **how) as snapshot:
        scope = SearchScope(snapshot.access.access_ids)
        query = RetrievalQuery(workspace.workspace_id, text, None, scope, top_k=8, with_beside=True)
        return await Retrieve(RecordingTelemetry()).run(snapshot, query)


async def test_a_question_that_defers_its_snapshot_finds_what_the_tables_say_through_all_that_changes_them(
    stores: Backend, process: Process
) -> None:
    workspace = await stores.workspace()

    async def publish(path: str, count: int) -> None:
        await stores.publish(workspace, path, PASSAGES[:count], entities=NAMED)

    async def erase(path: str) -> None:
        async with stores.database.transaction(workspace.org_id) as transaction:
            await transaction.publisher.erase(workspace, document_id_for(workspace, path))

    async def compact() -> None:
        async with stores.database.transaction(workspace.org_id) as transaction:
            await transaction.publisher.compact(workspace)

    async def retitle(path: str) -> None:
        await stores.register(workspace, new_document(workspace, path, title=f"Ada {uuid4()}"))

    changes: list[tuple[Callable[[], Coroutine[Any, Any, object]], bool]] = [
        (lambda: publish("a.md", 5), True),
        (lambda: publish("b.md", 9), True),
        (lambda: retitle("b.md"), True),
        (lambda: publish("a.md", 7), True),
        (lambda: restrict(stores, workspace, "b.md", NIGHT), True),
        (lambda: erase("a.md"), True),
        (lambda: compact(), True),
        (lambda: publish("a.md", 12), True),
    ]
    await process.ranked(workspace, ANONYMOUS_READER)
    for change, makes_another_state in changes:
        await change()
        for readers in READERS:
            expected = await ranked(stores.database, workspace, readers)
            found, was_outdated = await process.ranked(workspace, readers)
            assert found == expected
            assert was_outdated is (makes_another_state and readers is ANONYMOUS_READER)
            await process.residents.settled()
            assert await process.ranked(workspace, readers) == (expected, False), "and once it is held"


async def one_text(snapshot: CorpusSnapshot) -> object:
    return await snapshot.documents.chunks([0], EVERYBODY)


READS: dict[str, Callable[[CorpusSnapshot], Coroutine[Any, Any, object]]] = {
    "texts": one_text,
    "texts with those beside": lambda one: one.documents.chunks([0], EVERYBODY, with_beside=True),
    "no text": lambda one: one.documents.chunks([], EVERYBODY),
    "titles": lambda one: one.documents.titles([0], EVERYBODY),
    "vectors": lambda one: one.vectors.nearest(np.ones(DIMENSIONS, np.float32), 1, 5, SearchScope(EVERYBODY)),
    "a filter": lambda one: one.documents.ordinals_matching(DocumentFilter(source_path_prefix="b"), EVERYBODY),
}


@pytest.mark.parametrize("read", READS)
async def test_the_first_read_after_an_erasure_says_that_the_snapshot_is_outdated(
    stores: Backend, holding_nothing: Process, read: str
) -> None:
    workspace = await stores.workspace()
    for path in ("a.md", "b.md"):
        await stores.publish(workspace, path, PASSAGES)
    async with holding_nothing.database.snapshot(workspace) as snapshot:
        await one_text(snapshot)
    async with stores.database.transaction(workspace.org_id) as transaction:
        await transaction.publisher.erase(workspace, document_id_for(workspace, "a.md"))
    holding_nothing.pool.statements.clear()

    async with holding_nothing.database.snapshot(workspace, may_defer=True) as snapshot:
        assert holding_nothing.pool.statements == []
        with pytest.raises(SnapshotOutdated):
            await READS[read](snapshot)


async def test_all_reads_of_a_deferred_snapshot_are_of_the_instant_of_the_first(
    stores: Backend, holding_nothing: Process
) -> None:
    workspace = await stores.workspace()
    await stores.publish(workspace, "a.md", ["first"])
    async with holding_nothing.database.snapshot(workspace) as snapshot:
        await one_text(snapshot)

    async with holding_nothing.database.snapshot(workspace, may_defer=True) as snapshot:
        before = await one_text(snapshot)
        await stores.publish(workspace, "a.md", ["second"])
        assert (await one_text(snapshot), snapshot.version) == (before, 1)
    begun = [one for one in holding_nothing.pool.statements if one.startswith(BEGIN_SNAPSHOT)]
    assert len(begun) == 2


async def test_a_head_that_says_more_than_the_process_remembers_defers_nothing(
    stores: Backend, process: Process
) -> None:
    workspace = await stores.workspace()
    await stores.publish(workspace, "a.md", ["first"])
    async with process.database.snapshot(workspace) as snapshot:
        assert snapshot.version == 1
    await stores.publish(workspace, "a.md", ["second"])

    await process.database.head(workspace)

    async with process.database.snapshot(workspace, may_defer=True) as snapshot:
        assert snapshot.version == 2
        assert await snapshot.documents.chunks([1], EVERYBODY)


async def test_what_was_read_for_one_caller_lets_no_other_in(stores: Backend, process: Process) -> None:
    workspace = await stores.workspace()
    await stores.publish(workspace, "a.md", ["secret"])
    async with process.database.snapshot(workspace) as snapshot:
        await one_text(snapshot)
    async with stores.database.transaction(workspace.org_id) as transaction:
        await transaction.workspaces.set_access(workspace.workspace_id, NIGHT, NIGHT)
    stranger = Principal(workspace.org_id, "mallory", Role.MEMBER)

    with entering_as(stranger):
        async with process.database.snapshot(workspace, may_defer=True) as snapshot:
            with pytest.raises(SnapshotOutdated):
                await one_text(snapshot)
        with pytest.raises(NotFound):
            async with process.database.snapshot(workspace):
                pass
    other = WorkspaceRef(uuid4(), workspace.workspace_id)
    with pytest.raises(NotFound):
        async with process.database.snapshot(other, may_defer=True):
            pass


class InterruptedPool(WatchedPool):
    """Its next snapshots begin as `interrupt` has it."""

    interrupt: Callable[[], Awaitable[object]] | None = None
    begun = 0

    @asynccontextmanager
    async def snapshot(self, org_id: UUID, *, held: Sequence[str] = ()) -> AsyncGenerator[PostgresConnection]:
        self.begun += 1
        if self.interrupt is not None:
            await self.interrupt()
        async with super().snapshot(org_id, held=held) as connection:
            yield connection


@pytest.fixture
async def interrupted(stores: Backend, migrated_url: str) -> AsyncIterator[tuple[InterruptedPool, Any]]:
    """A pool, and what opens a deferred snapshot on it."""
    workspace = await stores.workspace()
    await stores.publish(workspace, "a.md", ["first"])
    pool = InterruptedPool(migrated_url)
    database = PostgresDatabase(pool, HEAD)
    async with database.snapshot(workspace):
        pool.begun = 0
    yield pool, lambda: database.snapshot(workspace, may_defer=True)
    await pool.aclose()


async def test_every_read_of_a_snapshot_that_cannot_begin_says_that_the_server_does_not_answer(
    interrupted: tuple[InterruptedPool, Any],
) -> None:
    pool, open_snapshot = interrupted

    async def refuse() -> None:
        raise DependencyUnavailable("Postgres does not answer.", dependency="postgres")

    pool.interrupt = refuse
    async with open_snapshot() as snapshot:
        found = await asyncio.gather(*(one_text(snapshot) for _ in range(3)), return_exceptions=True)

    assert [type(one) for one in found] == [DependencyUnavailable] * 3
    assert pool.begun == 1


async def test_a_read_that_was_cancelled_while_its_snapshot_began_leaves_the_snapshot_usable(
    interrupted: tuple[InterruptedPool, Any],
) -> None:
    pool, open_snapshot = interrupted
    is_beginning = asyncio.Event()

    async def stand_still() -> None:
        is_beginning.set()
        await asyncio.Event().wait()

    pool.interrupt = stand_still
    async with open_snapshot() as snapshot:
        reading = asyncio.create_task(one_text(snapshot))
        await is_beginning.wait()
        reading.cancel()
        await asyncio.wait([reading])
        pool.interrupt = None

        assert reading.cancelled()
        assert await one_text(snapshot)

"""Followers of a workspace: one poll for all, and to each what it may see."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any
from uuid import UUID, uuid4

import pytest
from tests.builders import new_document
from tests.contract.backends import Backend, memory_backend
from tests.memory_store.telemetry import RecordingTelemetry

from agentic_rag.documents.document import DocumentFault, DocumentStatus
from agentic_rag.ingestion.live import follow_changes
from agentic_rag.ingestion.live.follow_changes import FollowChanges, Followed, Follower
from agentic_rag.jobs.job import JobKind, NewJob
from agentic_rag.kernel.errors import DependencyUnavailable
from agentic_rag.tenancy.principals import Principal, Role, WorkspaceRef


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow_changes, "POLL_SECONDS", 0.005)


@pytest.fixture
async def backend() -> AsyncGenerator[Backend]:
    async with memory_backend(None) as backend:  # type: ignore[arg-type]
        yield backend


class CountedDatabase:
    """Counts transactions; `fails` raises instead of opening one."""

    def __init__(self, backend: Backend) -> None:
        self._database = backend.database
        self.opened = 0
        self.fails = 0

    def transaction(self, org_id: UUID) -> Any:
        self.opened += 1
        if self.fails:
            self.fails -= 1
            raise DependencyUnavailable("away", dependency="postgres")
        return self._database.transaction(org_id)


async def add(backend: Backend, workspace: WorkspaceRef, path: str, *readers: str) -> None:
    async with backend.database.transaction(workspace.org_id) as transaction:
        access = {"access_id": await transaction.access.intern(workspace, readers)} if readers else {}
        await transaction.documents.register(workspace, new_document(workspace, path, **access))


async def heard(follower: Follower[Any], number: int) -> list[Any]:
    found: list[Any] = []
    async with asyncio.timeout(5), aclosing(follower.changes()) as changes:
        async for row, _ in changes:
            found.append(row)
            if len(found) == number:
                break
    return found


async def test_each_reader_is_told_what_it_may_see_and_nothing_else(backend: Backend) -> None:
    workspace = await backend.workspace()
    follow = FollowChanges(backend.database, RecordingTelemetry())
    callers = [
        Principal(workspace.org_id, "boss", Role.ADMIN),
        Principal(workspace.org_id, "ada", Role.MEMBER),
        Principal(workspace.org_id, "olga", Role.MEMBER),
    ]
    async with (
        follow.documents(workspace, lambda: callers[0]) as boss,
        follow.documents(workspace, lambda: callers[1]) as ada,
        follow.documents(workspace, lambda: callers[2]) as olga,
    ):
        await add(backend, workspace, "hers.md", "user:ada")
        await add(backend, workspace, "open.md")

        rows = [await heard(one, count) for one, count in ((boss, 2), (ada, 2), (olga, 1))]
    told = [sorted(row.source_path for row in found) for found in rows]
    assert told == [["hers.md", "open.md"], ["hers.md", "open.md"], ["open.md"]]


async def test_who_loses_a_right_is_told_nothing_more(backend: Backend) -> None:
    workspace = await backend.workspace()
    caller = [Principal(workspace.org_id, "boss", Role.ADMIN)]
    async with FollowChanges(backend.database, RecordingTelemetry()).documents(
        workspace, lambda: caller[0]
    ) as follower:
        caller[0] = Principal(workspace.org_id, "boss", Role.MEMBER)
        await add(backend, workspace, "hers.md", "user:ada")
        await add(backend, workspace, "open.md")

        assert [one.source_path for one in await heard(follower, 1)] == ["open.md"]


async def test_status_and_reason_are_told_and_what_did_not_change_is_told_once(backend: Backend) -> None:
    workspace = await backend.workspace()
    caller = Principal(workspace.org_id, "boss", Role.ADMIN)
    async with FollowChanges(backend.database, RecordingTelemetry()).documents(workspace, lambda: caller) as follower:
        await add(backend, workspace, "a.md")
        (first,) = await heard(follower, 1)
        await asyncio.sleep(0.03)
        async with backend.database.transaction(workspace.org_id) as transaction:
            fault = DocumentFault("PARSE_CORRUPT", "broken", 1, retryable=False)
            await transaction.documents.set_status(workspace, first.document_id, DocumentStatus.FAILED, fault)
        (second,) = await heard(follower, 1)

    assert (first.status, second.status, second.fault) == (DocumentStatus.PENDING, DocumentStatus.FAILED, fault)


async def test_many_readers_cost_one_poll_and_the_last_one_ends_it(backend: Backend) -> None:
    workspace = await backend.workspace()
    database = CountedDatabase(backend)
    follow = FollowChanges(database, RecordingTelemetry())  # type: ignore[arg-type]
    caller = Principal(workspace.org_id, "ada", Role.MEMBER)
    opened = [follow.jobs(workspace, lambda: caller) for _ in range(50)]
    for one in opened:
        await one.__aenter__()
    await asyncio.sleep(0.05)
    assert 1 <= database.opened <= 12
    for one in opened:
        await one.__aexit__(None, None, None)

    assert follow._feeds == {}
    after = database.opened
    await asyncio.sleep(0.02)
    assert database.opened == after


@pytest.mark.tells("rag_follow_failed")
async def test_a_database_that_is_away_costs_no_change(backend: Backend) -> None:
    workspace = await backend.workspace()
    database = CountedDatabase(backend)
    caller = Principal(workspace.org_id, "boss", Role.ADMIN)
    telemetry = RecordingTelemetry()
    async with FollowChanges(database, telemetry).jobs(workspace, lambda: caller) as follower:  # type: ignore[arg-type]
        database.fails = 3
        async with backend.database.transaction(workspace.org_id) as transaction:
            await transaction.jobs.enqueue(NewJob(workspace, JobKind.COMPACT, "a", {}))

        assert [one.kind for one in await heard(follower, 1)] == [JobKind.COMPACT]
    assert database.fails == 0


async def test_a_reader_who_never_reads_holds_a_bounded_number_and_is_told_that_it_missed_some() -> None:
    workspace = WorkspaceRef(uuid4(), uuid4())
    follower: Follower[Any] = Follower(lambda: Principal(workspace.org_id, "ada", Role.MEMBER), Followed.DOCUMENTS)

    class Row:
        def __init__(self, number: int) -> None:
            self.document_id = UUID(int=number)

    for number in range(follow_changes.MOST_ROWS + 5):
        follower.tell([Row(number)], (), is_cut=False)

    assert len(follower._waiting) == follow_changes.MOST_ROWS
    async with aclosing(follower.changes()) as changes:
        first, second = await anext(changes), await anext(changes)
    assert (first[0].document_id.int, first[1], second[1]) == (5, True, False)

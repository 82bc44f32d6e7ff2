"""Follows the jobs and documents of a workspace: one poll of a process for all who follow it."""

from __future__ import annotations

import asyncio
import enum
import time
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from uuid import UUID

from agentic_rag.documents.document import Document
from agentic_rag.documents.document_access import list_scope
from agentic_rag.jobs.job import Job
from agentic_rag.kernel.concurrency import detached_task
from agentic_rag.kernel.database import Database, Transaction
from agentic_rag.kernel.errors import DependencyUnavailable, Retryable, no_such_workspace
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.tenancy.access import ListScope, may_manage_access, read_identity
from agentic_rag.tenancy.entering import entering_as
from agentic_rag.tenancy.principals import Principal, WorkspaceRef

POLL_SECONDS = 0.5

OVERLAP_SECONDS = 5.0
"""How far each poll looks back beyond the last one: a change is seen when its transaction ends, and has the time at
which it began. One that takes longer may be missed.
"""

ENTERING_SECONDS = 2.0
"""Between two looks, on a workspace where nothing changes, whether its readers may still enter it."""

MOST_ROWS = 1000
"""Rows that one poll reads, and changes that wait for one reader."""


class Followed(enum.Enum):
    """What is followed."""

    JOBS = "jobs"
    DOCUMENTS = "documents"


Row = Job | Document
One = TypeVar("One", Job, Document)


@dataclass(slots=True)
class Follower(Generic[One]):
    """One reader: the newest state of each thing that changed since it read."""

    who: Callable[[], Principal]
    """The caller, as it is now: roles and keys change meanwhile."""
    followed: Followed
    _waiting: dict[UUID, One] = field(default_factory=dict[UUID, One])
    _came: asyncio.Event = field(default_factory=asyncio.Event)
    _has_missed: bool = False
    _is_shut_out: bool = False

    def tell(self, rows: Sequence[One], hidden: Collection[UUID], *, is_cut: bool) -> None:
        """Keep the rows until they are read, and forget what the reader may not see any more."""
        for key in hidden:
            self._waiting.pop(key, None)
        for row in rows:
            self._waiting.pop(_id(row), None)
            self._waiting[_id(row)] = row
        while len(self._waiting) > MOST_ROWS:
            is_cut = True
            del self._waiting[next(iter(self._waiting))]
        self._has_missed |= is_cut
        if rows or is_cut:
            self._came.set()

    def shut_out(self) -> None:
        """The workspace is gone, or closed to the reader."""
        self._waiting.clear()
        self._is_shut_out = True
        self._came.set()

    async def changes(self) -> AsyncGenerator[tuple[One, bool]]:
        """Each change, oldest first, and whether others before it were missed. Errors: `NotFound` code
        WORKSPACE_NOT_FOUND, once the reader may not enter the workspace any more.
        """
        while True:
            await self._came.wait()
            self._came.clear()
            if self._is_shut_out:
                raise no_such_workspace()
            while self._waiting:
                row = self._waiting.pop(next(iter(self._waiting)))
                missed, self._has_missed = self._has_missed, False
                yield row, missed


class FollowChanges:
    """Hands the changes of a workspace to whoever may see them. Each change is judged anew for each reader."""

    def __init__(self, database: Database, telemetry: Telemetry) -> None:
        self._database = database
        self._telemetry = telemetry
        self._feeds: dict[WorkspaceRef, _Feed] = {}

    @asynccontextmanager
    async def jobs(self, workspace: WorkspaceRef, who: Callable[[], Principal]) -> AsyncGenerator[Follower[Job]]:
        """A reader of the jobs that change from now on, while the block runs."""
        follower: Follower[Job] = Follower(who, Followed.JOBS)
        async with self._follow(workspace, follower):
            yield follower

    @asynccontextmanager
    async def documents(
        self, workspace: WorkspaceRef, who: Callable[[], Principal]
    ) -> AsyncGenerator[Follower[Document]]:
        """The same of documents."""
        follower: Follower[Document] = Follower(who, Followed.DOCUMENTS)
        async with self._follow(workspace, follower):
            yield follower

    @asynccontextmanager
    async def _follow(self, workspace: WorkspaceRef, follower: Follower[Any]) -> AsyncGenerator[None]:
        feed = self._feeds.get(workspace)
        if feed is None:
            feed = self._feeds[workspace] = _Feed(self._database, self._telemetry, workspace)
        feed.followers.append(follower)
        try:
            yield
        finally:
            feed.followers.remove(follower)
            if not feed.followers:
                del self._feeds[workspace]
                await feed.aclose()


class _Feed:
    """The poll of one workspace."""

    def __init__(self, database: Database, telemetry: Telemetry, workspace: WorkspaceRef) -> None:
        self.followers: list[Follower[Any]] = []
        self._database = database
        self._telemetry = telemetry
        self._workspace = workspace
        self._seen: dict[UUID, tuple[object, ...]] = {}
        self._entered = time.monotonic()
        """When it was last asked who may enter."""
        self._task = detached_task(self._poll(), "follow-changes")

    async def aclose(self) -> None:
        """Stop polling."""
        self._task.cancel()
        await asyncio.wait([self._task])

    async def _poll(self) -> None:
        looked = time.monotonic()
        while True:
            await asyncio.sleep(POLL_SECONDS)
            began = time.monotonic()
            try:
                await self._look(began - looked + OVERLAP_SECONDS)
            except (DependencyUnavailable, Retryable) as error:
                # The next look goes back as far as this one.
                self._telemetry.event("rag_follow_failed", level="warning", code=error.code)
            else:
                looked = began

    async def _look(self, seconds: float) -> None:
        followed = {one.followed for one in self.followers}
        async with self._database.transaction(self._workspace.org_id) as transaction:
            rows = {one: await self._changed(transaction, one, seconds, None) for one in Followed if one in followed}
        seen = {_id(row): _state(row) for found in rows.values() for row in found}
        fresh = {key for key, state in seen.items() if self._seen.get(key) != state}
        self._seen = seen
        now = time.monotonic()
        if not fresh and now - self._entered < ENTERING_SECONDS:
            return
        self._entered = now
        groups: dict[tuple[object, ...], list[Follower[Any]]] = {}
        for one in self.followers:
            principal = one.who()
            key = (may_manage_access(principal), read_identity(principal).principals, one.followed)
            groups.setdefault(key, []).append(one)
        for group in groups.values():
            shown = await self._visible(group[0].who(), group[0].followed, rows.get(group[0].followed, ()), seconds)
            for one in group:
                if shown is None:
                    one.shut_out()
                    continue
                told = [row for row in shown if _id(row) in fresh]
                one.tell(told, fresh.difference(map(_id, told)), is_cut=bool(fresh) and len(shown) >= MOST_ROWS)

    async def _visible(
        self, principal: Principal, followed: Followed, rows: Sequence[Row], seconds: float
    ) -> Sequence[Row] | None:
        """Those of the rows that the caller may see, oldest first; None for one who may not enter the workspace."""
        with entering_as(principal):
            async with self._database.transaction(self._workspace.org_id) as transaction:
                if await transaction.workspaces.get(self._workspace.workspace_id) is None:
                    return None
                if not may_manage_access(principal):
                    scope = await list_scope(transaction, principal, self._workspace)
                    rows = await self._changed(transaction, followed, seconds, scope)
        return rows[::-1]

    async def _changed(
        self, transaction: Transaction, followed: Followed, seconds: float, scope: ListScope | None
    ) -> Sequence[Row]:
        store = transaction.jobs if followed is Followed.JOBS else transaction.documents
        return await store.changed(self._workspace, seconds, MOST_ROWS, scope)


def _id(row: Row) -> UUID:
    return row.job_id if isinstance(row, Job) else row.document_id


def _state(row: Row) -> tuple[object, ...]:
    """What of a row is worth telling. A lease that is renewed is not."""
    if isinstance(row, Job):
        return row.state, row.attempts, row.progress, row.error_code, row.run_after
    return row.status, row.chunks_done, row.chunk_count, row.fault, row.title, row.access_id, row.updated_at

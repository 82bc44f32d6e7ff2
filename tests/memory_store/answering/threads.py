"""`answering.ports.ThreadStore` in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from tests.memory_store.session.pages import page_newest_first
from tests.memory_store.session.state import WorkspaceState
from tests.memory_store.session.store import Working

from agentic_rag.answering.threads.thread import Thread
from agentic_rag.kernel.pagination import Page, PageRequest
from agentic_rag.tenancy.principals import WorkspaceRef


@dataclass(frozen=True, slots=True)
class MemoryThreadStore:
    """Threads are what the stored runs say of them, and titles."""

    working: Working

    async def page(self, workspace: WorkspaceRef, subject: str, request: PageRequest) -> Page[Thread]:
        state = self.working.read(workspace)
        found = () if state is None else tuple(_threads(state, subject))
        return page_newest_first(found, _place, request)

    async def get(self, workspace: WorkspaceRef, thread_id: UUID, subject: str) -> Thread | None:
        state = self.working.read(workspace)
        found = () if state is None else _threads(state, subject)
        return next((one for one in found if one.thread_id == thread_id), None)

    async def rename(self, workspace: WorkspaceRef, thread_id: UUID, subject: str, title: str) -> None:
        if await self.get(workspace, thread_id, subject) is not None:
            self.working.write(workspace).thread_titles[thread_id] = title

    async def delete(self, workspace: WorkspaceRef, thread_id: UUID, subject: str) -> int | None:
        if await self.get(workspace, thread_id, subject) is None:
            return None
        state = self.working.write(workspace)
        gone = [run.run_id for run in state.runs.values() if run.thread == thread_id]
        for run_id in gone:
            del state.runs[run_id]
        state.thread_titles.pop(thread_id, None)
        return len(gone)

    async def delete_run(self, workspace: WorkspaceRef, run_id: UUID, subject: str) -> bool:
        run = None if (state := self.working.read(workspace)) is None else state.runs.get(run_id)
        if run is None or run.subject != subject:
            return False
        del self.working.write(workspace).runs[run_id]
        return True


def _threads(state: WorkspaceState, subject: str) -> Iterator[Thread]:
    for thread_id in {run.thread for run in state.runs.values() if run.subject == subject and run.thread is not None}:
        runs = sorted(
            (one for one in state.runs.values() if one.thread == thread_id),
            key=lambda one: (one.created_at, one.run_id),
        )
        yield Thread(
            state.workspace.ref,
            thread_id,
            subject,
            state.thread_titles.get(thread_id),
            runs[0].question,
            len(runs),
            runs[0].created_at,
            runs[-1].created_at,
        )


def _place(one: Thread) -> tuple[datetime, str]:
    return one.last_at, str(one.thread_id)

"""Lists, renames and deletes the threads of a caller, and deletes single runs."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from agentic_rag.answering.runs.read import ReadRuns
from agentic_rag.answering.runs.record import RunRecorder
from agentic_rag.answering.threads.thread import Thread
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import NotFound, no_such_thread
from agentic_rag.kernel.pagination import Page, PageRequest
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.tenancy.audit import AuditAction
from agentic_rag.tenancy.principals import Principal, WorkspaceRef, validate_name
from agentic_rag.tenancy.record_audit import audit


@dataclass(frozen=True, slots=True)
class ManageThreads:
    """The use case behind `threads`, `renameThread`, `deleteThread`, `deleteRun`, `rag thread`, `rag run delete` and
    `DELETE /v1/responses/{id}`. A thread belongs to the subject that began it: to everybody else, admins included, it
    is not there.
    """

    database: Database
    telemetry: Telemetry
    read_runs: ReadRuns
    recorder: RunRecorder

    async def page(self, principal: Principal, workspace: WorkspaceRef, request: PageRequest) -> Page[Thread]:
        """The caller's threads that still hold a run, the one asked in last first. Errors: `InvalidInput` (cursor, page
        size).
        """
        async with self.database.transaction(workspace.org_id) as transaction:
            return await transaction.threads.page(workspace, principal.subject_id, request)

    async def get(self, principal: Principal, workspace: WorkspaceRef, thread_id: UUID) -> Thread | None:
        """The caller's thread, or None."""
        async with self.database.transaction(workspace.org_id) as transaction:
            return await transaction.threads.get(workspace, thread_id, principal.subject_id)

    async def rename(self, principal: Principal, workspace: WorkspaceRef, thread_id: UUID, title: str) -> Thread:
        """Name it. Errors: `NotFound` code THREAD_NOT_FOUND, `InvalidInput` path `title`."""
        name = validate_name(title, ("title",))
        async with self.database.transaction(workspace.org_id) as transaction:
            await transaction.threads.rename(workspace, thread_id, principal.subject_id, name)
            found = await transaction.threads.get(workspace, thread_id, principal.subject_id)
        if found is None:
            raise no_such_thread()
        return found

    async def delete(self, principal: Principal, workspace: WorkspaceRef, thread_id: UUID) -> int:
        """Delete it with its runs, their stages, and what was said of them; the number of runs. What they cost stays in
        the usage. A run that is being answered in it is not stored. Errors: `NotFound` code THREAD_NOT_FOUND.
        """
        subject = principal.subject_id
        async with self.database.transaction(workspace.org_id) as transaction:
            runs = await transaction.threads.delete(workspace, thread_id, subject)
            if runs is None:
                raise no_such_thread()
            act = AuditAction.DELETE_THREAD
            await audit(transaction, self.telemetry, act, workspace, thread_id, subject, runs=runs)
        return runs

    async def delete_run(self, principal: Principal, workspace: WorkspaceRef, run_id: UUID) -> None:
        """Delete one run of the caller's, in a thread or not, with its stages and what was said of it. What it cost
        stays in the usage. A run that was answered a moment ago is stored first. Errors: `NotFound` code RUN_NOT_FOUND.
        """
        run, subject = await self.read_runs.get(principal, workspace, run_id), principal.subject_id
        if run is not None and self.recorder.find(workspace, run_id) is not None:
            await self.recorder.drain()
        async with self.database.transaction(workspace.org_id) as transaction:
            if run is None or not await transaction.threads.delete_run(workspace, run_id, subject):
                raise NotFound("There is no such run of yours in this workspace.", code="RUN_NOT_FOUND")
            await audit(transaction, self.telemetry, AuditAction.DELETE_RUN, workspace, run_id, subject)

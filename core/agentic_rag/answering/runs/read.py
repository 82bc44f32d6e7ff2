"""Reading stored runs: one's own, all of them for who manages the workspace; of each what its reader may read now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from agentic_rag.answering.ports import RunStore
from agentic_rag.answering.run import Run
from agentic_rag.answering.runs.redaction import cited_documents, withheld, without_lookups
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.pagination import Page, PageRequest
from agentic_rag.tenancy.access import manages, readers
from agentic_rag.tenancy.principals import Principal, WorkspaceRef


class ReadRuns:
    """A run whose sources its reader may not read (any more) is shown without their words."""

    def __init__(self, database: Database, runs: RunStore) -> None:
        self._database = database
        self._runs = runs

    async def get(self, principal: Principal, workspace: WorkspaceRef, run_id: UUID) -> Run | None:
        """The run, or None: somebody else's looks like none. Errors: `DependencyUnavailable`."""
        run = await self._runs.get(workspace, run_id)
        return None if run is None else await self.shown(principal, run)

    async def page(self, principal: Principal, workspace: WorkspaceRef, request: PageRequest) -> Page[Run]:
        """Runs, newest first. Errors: `InvalidInput` (cursor, page size), `DependencyUnavailable`."""
        subject = None if manages(principal) else principal.subject
        page = await self._runs.page(workspace, request, subject)
        return replace(page, items=tuple(await self._withheld(principal, workspace, page.items)))

    async def shown(self, principal: Principal, run: Run) -> Run | None:
        """What the caller may see of a run that is at hand."""
        if run.subject != principal.subject and not manages(principal):
            return None
        (shown,) = await self._withheld(principal, run.workspace, [run])
        return shown

    async def _withheld(self, principal: Principal, workspace: WorkspaceRef, runs: Sequence[Run]) -> list[Run]:
        if not runs:
            return []
        reading = readers(principal)
        async with self._database.transaction(workspace.org_id) as transaction:
            access = await transaction.access.readable(workspace, reading)
            if access.is_everything:
                return list(runs)
            used = sorted({one for run in runs for one in cited_documents(run.answer)})
            hidden = await transaction.access.unreadable(workspace, used, reading)
        return [
            withheld(
                run
                if run.subject == principal.subject and run.versions.corpus_version >= access.version
                else without_lookups(run),
                hidden,
            )
            for run in runs
        ]

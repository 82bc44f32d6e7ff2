"""`erasure.ports.WorkspaceErasureStore` in memory: what leaves is gone at once, for it needs no batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from tests.memory_store.session.store import OrganisationState, Working

from agentic_rag.erasure.ports import ErasureTrace
from agentic_rag.erasure.workspace_erasure import WORK, WorkspaceErasure
from agentic_rag.jobs.job import JobKind, JobState
from agentic_rag.tenancy.principals import WorkspaceRef


class MemoryWorkspaceErasures:
    """Inside a transaction of one organisation."""

    def __init__(self, working: Working, org_id: UUID) -> None:
        self._working = working
        self._org_id = org_id

    async def running(self, workspace: WorkspaceRef) -> Mapping[str, int]:
        """The number of unfinished jobs that somebody asked for, by kind."""
        state = self._working.read(workspace)
        jobs = () if state is None else [one.job for one in state.jobs.values()]
        return Counter(
            job.kind.value
            for job in jobs
            if job.kind in WORK
            and (job.state is JobState.RUNNING or (job.state is JobState.QUEUED and job.kind is not JobKind.SYNC))
            and not (job.kind is JobKind.DELETE and job.run_after > self._working.now())
        )

    async def begin(self, workspace: WorkspaceRef, blob_owner: str, requested_by: str) -> None:
        """Drop the workspace."""
        documents = len(self._working.write(workspace).documents)
        self._working.drop(workspace)
        counts = {"rag_documents": documents, "rag_workspaces": 1}
        self._note(workspace.workspace_id, requested_by, counts)

    async def begin_organisation(self, requested_by: str) -> Sequence[WorkspaceRef]:
        """Drop the organisation; its workspaces are for `begin`."""
        audit = self._working.organisation(self._org_id).audit
        self._working.put_organisation(self._org_id, OrganisationState(audit=audit))
        self._note(self._org_id, requested_by, {})
        return [one for one in self._working.states if one.org_id == self._org_id]

    async def drop_rows(self, workspace: WorkspaceRef, limit: int) -> int:
        """Nothing is left."""
        return 0

    async def doom_blobs(self, workspace: WorkspaceRef) -> int:
        """Nothing is left."""
        return 0

    async def unnamed(self, keys: Sequence[str]) -> list[str]:
        """Those of the keys that no original of the organisation has."""
        states = [state for ref, state in self._working.states.items() if ref.org_id == self._org_id]
        named = {original.key for state in states for original in state.originals.values()}
        return sorted(set(keys) - named)

    async def count(self, workspace: WorkspaceRef, store: str, number: int) -> None:
        """Count nothing more."""

    async def finish(self, workspace: WorkspaceRef) -> bool:
        """It is finished."""
        return True

    async def finish_organisation(self) -> Sequence[WorkspaceRef]:
        """Nothing came since."""
        return ()

    async def get(self, subject_id: UUID) -> WorkspaceErasure | None:
        """The erasure of a workspace, or of the organisation by its own id."""
        return next((one for one in await self.all() if one.subject_id == subject_id), None)

    async def all(self, most: int | None = None) -> list[WorkspaceErasure]:
        """Newest first."""
        return list(self._working.organisation(self._org_id).erasures[:most])

    async def traces(self, subject_id: UUID) -> list[ErasureTrace]:
        """A workspace that is there again."""
        state = self._working.read(WorkspaceRef(self._org_id, subject_id))
        return [] if state is None else [ErasureTrace("rag_workspaces", 1)]

    def _note(self, subject_id: UUID, requested_by: str, counts: Mapping[str, int]) -> None:
        state, now = self._working.organisation(self._org_id), self._working.now()
        made = WorkspaceErasure(self._org_id, subject_id, requested_by, now, now, counts)
        kept = [one for one in state.erasures if one.subject_id != subject_id]
        self._working.put_organisation(self._org_id, replace(state, erasures=(made, *kept)))

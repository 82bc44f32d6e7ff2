"""`operations.ports.EvalRunStore` in memory."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from tests.memory_store.session.state import StoredEval
from tests.memory_store.session.store import Working

from agentic_rag.operations.evaluation import EvalDataset, EvalRun, EvalScore
from agentic_rag.tenancy.principals import WorkspaceRef


class MemoryEvalRunStore:
    """Inside a transaction."""

    def __init__(self, working: Working) -> None:
        self._working = working

    async def begin(self, workspace: WorkspaceRef, job_id: UUID, asked: EvalDataset, k: int) -> None:
        """Keep the questions of a job that was written in this transaction."""
        run = EvalRun(workspace, job_id, asked, k, 0, None, self._working.now())
        self._working.write(workspace).evals[job_id] = StoredEval(run, {})

    async def get(self, workspace: WorkspaceRef, job_id: UUID) -> EvalRun | None:
        """The evaluation, or None."""
        stored = self._stored(workspace, job_id)
        if stored is None or stored.run.report is not None:
            return None if stored is None else stored.run
        return replace(stored.run, answered=len(stored.scores))

    async def scores(self, workspace: WorkspaceRef, job_id: UUID) -> list[EvalScore]:
        """What came out of the questions so far, in their order; empty again once there is a report."""
        stored = self._stored(workspace, job_id)
        return [] if stored is None else [score for _, score in sorted(stored.scores.items())]

    async def keep(self, workspace: WorkspaceRef, job_id: UUID, position: int, score: EvalScore) -> None:
        """What came out of the question at a position; what was there before is replaced."""
        evals = self._working.write(workspace).evals
        stored = evals[job_id]
        evals[job_id] = replace(stored, scores={**stored.scores, position: score})

    async def finish(self, workspace: WorkspaceRef, job_id: UUID, report: str) -> None:
        """Keep the report (JSON text) instead of the single scores."""
        evals = self._working.write(workspace).evals
        run = evals[job_id].run
        evals[job_id] = StoredEval(replace(run, report=report, answered=len(run.dataset.questions)), {})

    def _stored(self, workspace: WorkspaceRef, job_id: UUID) -> StoredEval | None:
        state = self._working.read(workspace)
        return None if state is None else state.evals.get(job_id)

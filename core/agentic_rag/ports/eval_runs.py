"""Evaluations that jobs run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from agentic_rag.domain.eval_runs import EvalRun, EvalScore, EvalSet
from agentic_rag.domain.tenancy import WorkspaceRef


class EvalRunStore(Protocol):
    """Inside a transaction of one organisation. An evaluation goes with its job."""

    async def begin(self, workspace: WorkspaceRef, job_id: UUID, asked: EvalSet, k: int) -> None:
        """Keep the questions of a job that was written in this transaction."""
        ...

    async def get(self, workspace: WorkspaceRef, job_id: UUID) -> EvalRun | None:
        """The evaluation, or None."""
        ...

    async def scores(self, workspace: WorkspaceRef, job_id: UUID) -> Sequence[EvalScore]:
        """What came out of the questions so far, in their order; empty again once there is a report."""
        ...

    async def keep(self, workspace: WorkspaceRef, job_id: UUID, position: int, score: EvalScore) -> None:
        """What came out of the question at a position, counted from 0; what was there before is replaced."""
        ...

    async def finish(self, workspace: WorkspaceRef, job_id: UUID, report: str) -> None:
        """Keep the report (JSON text) instead of the single scores."""
        ...

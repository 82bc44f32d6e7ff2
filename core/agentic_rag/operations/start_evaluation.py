"""Enqueues and reads evaluations. A worker runs them (the body of EVAL jobs is in the eval package)."""

from __future__ import annotations

from uuid import UUID

from agentic_rag.jobs.job import JobKind, NewJob
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import NotFound, no_such_workspace
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.operations.evaluation import EvalDataset, EvalRun, fingerprint, validate_dataset
from agentic_rag.tenancy.audit import AuditAction
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.tenancy.record_audit import audit


class Evaluations:
    """Evaluations of workspaces. `k` is the number of passages per answer."""

    def __init__(self, database: Database, telemetry: Telemetry, k: int) -> None:
        self._database = database
        self._telemetry = telemetry
        self._k = k

    async def start(self, workspace: WorkspaceRef, asked: EvalDataset, actor: str) -> EvalRun:
        """Enqueue an evaluation, or return the unfinished one of the same questions.

        Errors: `InvalidInput` code DATASET_INVALID, `NotFound` code WORKSPACE_NOT_FOUND.
        """
        validate_dataset(asked)
        job = NewJob(
            workspace,
            JobKind.EVAL,
            fingerprint(asked.questions, self._k),
            {"dataset": asked.name, "questions": str(len(asked.questions))},
            trace_carrier=self._telemetry.carrier(),
        )
        async with self._database.transaction(workspace.org_id) as transaction:
            if await transaction.workspaces.get(workspace.workspace_id) is None:
                raise no_such_workspace()
            ref, is_new = await transaction.jobs.enqueue(job)
            if is_new:
                await transaction.eval_runs.begin(workspace, ref.job_id, asked, self._k)
                await audit(
                    transaction,
                    self._telemetry,
                    AuditAction.EVALUATE,
                    workspace,
                    ref.job_id,
                    actor,
                    questions=len(asked.questions),
                )
            found = await transaction.eval_runs.get(workspace, ref.job_id)
        if found is None:
            raise NotFound("The evaluation was removed at this moment: start it again.", code="EVALUATION_NOT_FOUND")
        return found

    async def get(self, workspace: WorkspaceRef, job_id: UUID) -> EvalRun | None:
        """The evaluation of a job, or None."""
        async with self._database.transaction(workspace.org_id) as transaction:
            return await transaction.eval_runs.get(workspace, job_id)

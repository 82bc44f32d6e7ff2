"""Evaluations as jobs: their body in a worker, starting one, and finding its report."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from agentic_rag.jobs.job import JobKind
from agentic_rag.kernel.errors import NotFound
from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag.operations.evaluation import EvalDataset, EvalRun, read_figures
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_cli.listing import require_id, the_workspace
from agentic_rag_cli.session import ContainerSession, Session

if TYPE_CHECKING:
    from agentic_rag.bootstrap import Container
    from agentic_rag_eval.job import Examiner
    from agentic_rag_worker.job_handlers import JobHandler


def evaluation_bodies(container: Container) -> Mapping[JobKind, JobHandler]:
    """What runs evaluations in a worker: the questions are asked as `rag eval` asks them."""
    from agentic_rag_eval.job import EvalHandler

    async def examine(workspace: WorkspaceRef) -> Examiner:
        from agentic_rag_cli.commands.evaluation.eval_asking import ask_here, judge_here
        from agentic_rag_eval.job import Examiner

        session = ContainerSession(container)
        judge = judge_here(session) if container.settings.models.enable_llm_judge else None
        return Examiner(await ask_here(session, workspace), judge)

    return {JobKind.EVAL: EvalHandler(container.database, examine)}


async def start(session: Session, workspace: str | None, asked: EvalDataset) -> str:
    """Queue an evaluation; the public id of its job."""
    chosen = (await the_workspace(session, workspace)).ref
    begun = await session.evaluations.start(chosen, asked, "cli")
    return encode(NodeKind.JOB, chosen.workspace_id, begun.job_id)


async def read_report(session: Session, job: str, workspace: str | None) -> Mapping[str, Any]:
    """The report of a job. Errors: `NotFound` codes EVALUATION_NOT_FOUND, REPORT_MISSING (not done yet)."""
    ref = (await the_workspace(session, workspace, job)).ref
    found = await session.evaluations.get(ref, require_id(job, NodeKind.JOB))
    if found is None:
        raise NotFound(f"{job} is no evaluation; `rag job list` shows the jobs.", code="EVALUATION_NOT_FOUND")
    if found.report is None:
        raise NotFound(
            f"{found.answered} of {len(found.dataset.questions)} questions are answered: `rag job show {job}` "
            f"tells how "
            "the work stands.",
            code="REPORT_MISSING",
        )
    return json.loads(found.report)


def eval_json(run: EvalRun) -> dict[str, Any]:
    """How far an evaluation is, and its figures once it is done."""
    figures = {} if run.report is None else read_figures(run.report)
    return {
        "dataset": run.dataset.name,
        "questions": len(run.dataset.questions),
        "answered": run.answered,
        "figures": {name: one.mean for name, one in figures.items()},
    }

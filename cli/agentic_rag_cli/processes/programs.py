"""The long-running programs. Their imports happen at start."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from agentic_rag.jobs.job import JobKind
from agentic_rag.settings import Settings
from agentic_rag.tenancy.principals import WorkspaceRef

if TYPE_CHECKING:
    from agentic_rag.bootstrap import Container
    from agentic_rag_eval.job import Examiner
    from agentic_rag_worker.job_handlers import Handler


def run_server(settings: Settings) -> None:
    """Serve until SIGTERM. Errors: those of the container; code PORT_IN_USE."""
    from agentic_rag_server.main import run_server as serve

    serve(settings)


def run_worker(settings: Settings) -> None:
    """Run jobs until SIGTERM, then drain. Errors: those of the container."""
    from agentic_rag_worker.worker import run_program

    run_program(settings, evaluation_bodies)


def evaluation_bodies(container: Container) -> Mapping[JobKind, Handler]:
    """The job handlers of evaluations. They ask questions as `rag eval` does."""
    from agentic_rag_eval.job import RunEvaluation
    from agentic_rag_worker.job_handlers import Handler

    async def examine(workspace: WorkspaceRef) -> Examiner:
        from agentic_rag_cli.commands.evaluation.eval_asking import ask_here, judge_here
        from agentic_rag_eval.job import Examiner

        judge = judge_here(container) if container.settings.models.enable_llm_judge else None
        return Examiner(await ask_here(container, workspace), judge)

    # The slowest single step is the answer of a chat model with its judge.
    return {JobKind.EVAL: Handler(RunEvaluation(container.database, examine).run, 86_400.0, 300.0)}

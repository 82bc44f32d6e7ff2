"""`rag job`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from agentic_rag.jobs.job import JobAttempt, JobKind, JobState
from agentic_rag.kernel.errors import NotFound
from agentic_rag.kernel.formatting import format_count
from agentic_rag.kernel.public_ids import NodeKind
from agentic_rag.operations.evaluation import EvalRun
from agentic_rag_cli.client.ids import require_id
from agentic_rag_cli.commands.evaluation.evaluating import eval_json
from agentic_rag_cli.commands.jobs.job_views import about, attempt_json, attempt_line, error_text, jobs_json
from agentic_rag_cli.in_process import System
from agentic_rag_cli.options import JsonOption, LimitOption, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import in_process

app = typer.Typer(
    help="Background jobs: ingestion, deletion, maintenance.", no_args_is_help=True, rich_markup_mode=None
)


@app.command("list")
def list_jobs(
    context: typer.Context,
    workspace: WorkspaceOption = None,
    state: Annotated[
        list[JobState] | None, typer.Option("--state", help="Only these; may be repeated.", case_sensitive=False)
    ] = None,
    limit: LimitOption = 20,
    as_json: JsonOption = False,
) -> None:
    """List jobs, newest first; state DEAD means a dead letter.

    Example: rag job list --state DEAD
    """

    async def work(system: System) -> list[dict[str, Any]]:
        chosen = (await system.workspace(workspace)).ref
        found = await system.collect(lambda tx, page: tx.jobs.page(chosen, page, state or ()), limit)
        return await jobs_json(system, chosen, found)

    shown = in_process(context, work)
    rows = [
        (row["id"], row["kind"], row["state"], row["attempts"], (row["error"] or {}).get("code"), about(row))
        for row in shown
    ]
    terminal.show(shown, terminal.table(("ID", "KIND", "STATE", "ATTEMPTS", "ERROR", "ABOUT"), rows), as_json=as_json)


@app.command("show")
def show(
    context: typer.Context,
    job: Annotated[str, typer.Argument(metavar="JOB", help="Id of the job.")],
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show one job with its arguments, and what went wrong in each attempt.

    Example: rag job show SgGYwN4AAHAA…
    """
    job_id = require_id(job, NodeKind.JOB)

    async def work(system: System) -> tuple[dict[str, Any], tuple[JobAttempt, ...], EvalRun | None]:
        ref = (await system.workspace(workspace, job)).ref
        found = await system.job(ref, job_id)
        if found is None:
            raise NotFound(f"There is no job {job}; `rag job list` shows them.", code="JOB_NOT_FOUND")
        evaluation = await system.container.evaluations.get(ref, job_id) if found.kind is JobKind.EVAL else None
        [row] = await jobs_json(system, ref, [found])
        async with system.container.database.transaction(ref.org_id) as transaction:
            return row, await transaction.jobs.attempts(ref, job_id), evaluation

    shown, attempts, evaluation = in_process(context, work)
    tries = [attempt_json(one) for one in attempts]
    asked = {} if evaluation is None else {"evaluation": eval_json(evaluation)}
    if as_json:
        terminal.result_json({**shown, **asked, "attemptHistory": tries})
        return
    error, arguments, document = (shown.pop(name) for name in ("error", "arguments", "document"))
    if shown["state"] != JobState.RUNNING.value:
        del shown["progress"]  # counted at each renewal of the lease: a quick job has none
    named = {"document": document["sourcePath"]} if document else {}
    terminal.result(terminal.table(("FIELD", "VALUE"), [*shown.items(), *named.items(), *arguments.items()]))
    if evaluation is not None:
        terminal.result(
            f"\n{evaluation.answered} of {format_count(len(evaluation.dataset.questions), 'question')} answered"
        )
        for name, mean in eval_json(evaluation)["figures"].items():
            terminal.result(f"  {name:<24}{100 * mean:>7.1f} %")
    for one in tries:
        terminal.result(f"\n{attempt_line(one)}")
        for line in one["errorChain"]:
            terminal.result(f"  {line}")
    if error:
        terminal.result(f"\nlast error {error_text(error)}")

"""`rag job`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from agentic_rag.documents.document import Document
from agentic_rag.jobs.job import LAPSED, Job, JobAttempt, JobKind, JobState
from agentic_rag.kernel.error_redaction import redact_arguments
from agentic_rag.kernel.errors import NotFound
from agentic_rag.kernel.formatting import format_count
from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag.kernel.telemetry import parse_trace_id
from agentic_rag.operations.evaluation import EvalRun
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_cli.client.ids import require_id
from agentic_rag_cli.commands.evaluation.evaluate import eval_json
from agentic_rag_cli.in_process import System
from agentic_rag_cli.options import JsonOption, LimitOption, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.output.json_view import json_fields
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


async def jobs_json(system: System, workspace: WorkspaceRef, jobs: Sequence[Job]) -> list[dict[str, Any]]:
    """Jobs of a workspace, each with its document."""
    known = await system.documents_of(workspace, jobs)
    return [_job_json(one, known.get(one.document_id) if one.document_id else None) for one in jobs]


def _job_json(job: Job, document: Document | None) -> dict[str, Any]:
    """A job and its document, if that still exists; secrets in its arguments are masked."""
    workspace_id = job.workspace.workspace_id
    document_id = encode(NodeKind.DOCUMENT, workspace_id, job.document_id) if job.document_id else None
    return {
        "id": encode(NodeKind.JOB, workspace_id, job.job_id),
        "kind": job.kind_name,
        **json_fields(job, "state", "queue", "key"),
        "documentId": document_id,
        "document": None if document is None else {"id": document_id, "sourcePath": document.source_path},
        "arguments": redact_arguments(job.arguments),
        **json_fields(job, "attempts", "progress"),
        "traceId": parse_trace_id(job.trace_carrier),
        "error": None if job.error_code is None else {"code": job.error_code, "message": job.error_message},
        **json_fields(job, "run_after", "created_at", "updated_at"),
    }


def attempt_json(attempt: JobAttempt) -> dict[str, Any]:
    """One attempt at a job."""
    return json_fields(attempt, "attempt", "worker", "started_at", "ended_at", "outcome", "error_code", "error_chain")


def about(row: Mapping[str, Any]) -> str:
    """The subject of a job: the document's source path, or the key of workspace-wide work."""
    if row["document"] is not None:
        return str(row["document"]["sourcePath"])
    return "a document that is gone" if row["documentId"] else str(row["key"])


def attempt_line(attempt: Mapping[str, Any]) -> str:
    """One line for an attempt: worker, time, outcome and, where the outcome alone says little, the reason."""
    line = f"attempt {attempt['attempt']} by {attempt['worker']} at {attempt['startedAt']}: "
    if attempt["outcome"] == LAPSED:
        why = "its worker was killed, hung or cut off and its lease ran out; tried again by itself"
        return f"{line}{LAPSED} [{attempt['errorCode']}] {why}"
    return line + (attempt["outcome"] or "runs")


def error_text(error: Mapping[str, Any]) -> str:
    """A job's last error. Purged dead letters and erased documents keep the code only."""
    return f"[{error['code']}]: {error['message'] or 'its text was removed, by a purge or an erasure'}"

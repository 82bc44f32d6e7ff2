"""`rag job`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from agentic_rag.jobs.job import LAPSED, JobKind, JobState
from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag.kernel.formatting import format_count
from agentic_rag.kernel.public_ids import NodeKind
from agentic_rag_cli.client import live_queries, operator_queries
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.client.ids import require_id
from agentic_rag_cli.options import JsonOption, LimitOption, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import on_graphql

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

    async def work(client: GraphQLClient) -> list[dict[str, Any]]:
        chosen, states = await client.workspace_id(workspace), [one.name for one in state or ()]
        return await client.nodes(operator_queries.JOBS, limit, workspaceId=chosen, states=states)

    shown = [job_json(one) for one in on_graphql(context, work)]
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
    require_id(job, NodeKind.JOB)

    async def work(client: GraphQLClient) -> tuple[dict[str, Any], dict[str, Any] | None]:
        public_id = await client.node_id(workspace, job, NodeKind.JOB)
        found = await client.fetch(operator_queries.JOB, id=public_id)
        if found is None:
            raise NotFound(f"There is no job {job}; `rag job list` shows them.", code="JOB_NOT_FOUND")
        asks = found["kind"] == JobKind.EVAL.value
        return found, await client.fetch(operator_queries.EVALUATION, jobId=public_id) if asks else None

    found, evaluation = on_graphql(context, work)
    shown, tries = job_json(found), found["attemptHistory"]
    asked = {} if evaluation is None else {"evaluation": _evaluation_json(evaluation)}
    if as_json:
        terminal.result_json({**shown, **asked, "attemptHistory": tries})
        return
    error, arguments, document = (shown.pop(name) for name in ("error", "arguments", "document"))
    if shown["state"] != JobState.RUNNING.value:
        del shown["progress"]  # counted at each renewal of the lease: a quick job has none
    named = {"document": document["sourcePath"]} if document else {}
    terminal.result(terminal.table(("FIELD", "VALUE"), [*shown.items(), *named.items(), *arguments.items()]))
    if evaluation is not None:
        questions = format_count(evaluation["questions"], "question")
        terminal.result(f"\n{evaluation['answered']} of {questions} answered")
        for one in evaluation["figures"]:
            terminal.result(f"  {one['name']:<24}{100 * one['mean']:>7.1f} %")
    for one in tries:
        terminal.result(f"\n{_attempt_line(one)}")
        for line in one["errorChain"]:
            terminal.result(f"  {line}")
    if error:
        terminal.result(f"\nlast error {_error_text(error)}")


@app.command("cancel")
def cancel(
    context: typer.Context,
    job: Annotated[str, typer.Argument(metavar="JOB", help="Id of the job; `rag job list` shows them.")],
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Cancel an ingestion, a synchronisation, an evaluation or a calibration that waits or runs. What readers see of
    the document stays.

    Example: rag job cancel SgGYwN4AAHAA…
    """
    require_id(job, NodeKind.JOB)

    async def work(client: GraphQLClient) -> dict[str, Any]:
        return await client.fetch(live_queries.CANCEL_JOB, id=await client.node_id(workspace, job, NodeKind.JOB))

    found = on_graphql(context, work)
    if found["outcome"] == "NOT_CANCELLABLE":
        raise InvalidInput(
            f"A job of the kind {found['job']['kind']} must end: it is not cancelled.", code="JOB_NOT_CANCELLABLE"
        )
    text = "Cancelled." if found["outcome"] == "CANCELLED" else "It had ended."
    terminal.show({name: found[name] for name in ("outcome", "job")}, text, as_json=as_json)


def job_json(job: Mapping[str, Any]) -> dict[str, Any]:
    """A job with its document, if that still exists; secrets in its arguments are masked."""
    names = ("id", "kind", "state", "queue", "key", "documentId", "document")
    code, arguments = job["errorCode"], job["arguments"] or ()
    return {
        **{name: job[name] for name in names},
        "arguments": {one["name"]: one["value"] for one in arguments},
        **{name: job[name] for name in ("attempts", "progress", "traceId")},
        "error": None if code is None else {"code": code, "message": job["errorMessage"]},
        **{name: job[name] for name in ("runAfter", "createdAt", "updatedAt")},
    }


def _evaluation_json(found: Mapping[str, Any]) -> dict[str, Any]:
    """The progress of an evaluation, and its figures once it is finished."""
    return {**found, "figures": {one["name"]: one["mean"] for one in found["figures"]}}


def about(row: Mapping[str, Any]) -> str:
    """The subject of a job: the document's source path, or the key of workspace-wide work."""
    if row["document"] is not None:
        return str(row["document"]["sourcePath"])
    return "a document that is gone" if row["documentId"] else str(row["key"])


def _attempt_line(attempt: Mapping[str, Any]) -> str:
    """One line for an attempt: worker, time, outcome and, where the outcome alone says little, the reason."""
    line = f"attempt {attempt['attempt']} by {attempt['worker']} at {attempt['startedAt']}: "
    if attempt["outcome"] == LAPSED:
        why = "its worker was killed, hung or cut off and its lease ran out; tried again by itself"
        return f"{line}{LAPSED} [{attempt['errorCode']}] {why}"
    return line + (attempt["outcome"] or "runs")


def _error_text(error: Mapping[str, Any]) -> str:
    """A job's last error. Purged dead letters and erased documents keep the code only."""
    return f"[{error['code']}]: {error['message'] or 'its text was removed, by a purge or an erasure'}"

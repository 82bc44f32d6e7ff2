"""`rag embeddings`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from agentic_rag.kernel.errors import AgenticRagError, Permanent, Retryable
from agentic_rag.models.embedding.recall_gate import DEFAULT_K, MAX_K, RecallQuestion, build_recall_gate
from agentic_rag_cli.client import operator_queries, queries
from agentic_rag_cli.client.estimate_queries import ESTIMATE_SWITCH
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.commands.documents.ingestion import StallWatch
from agentic_rag_cli.commands.models.similarity import calibrate_similarity
from agentic_rag_cli.exits import ExitCode, error_line
from agentic_rag_cli.options import JsonOption, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.output.estimate_view import embedding_text
from agentic_rag_cli.output.recall import recall_json, recall_line
from agentic_rag_cli.wiring import on_graphql
from agentic_rag_eval.dataset import load_dataset

app = typer.Typer(help="Embedding models of a workspace.", no_args_is_help=True, rich_markup_mode=None)

app.command("calibrate")(calibrate_similarity)


@app.command("list")
def list_spaces(context: typer.Context, workspace: WorkspaceOption = None, as_json: JsonOption = False) -> None:
    """List a workspace's embedding spaces: the one that answers, one being filled, those kept for a while.

    Example: rag embeddings list -w handbook
    """
    _show(on_graphql(context, lambda client: _spaces(client, workspace)), as_json)


@app.command("status")
def status(context: typer.Context, workspace: WorkspaceOption = None, as_json: JsonOption = False) -> None:
    """Show the switch that is under way, or the space that answers.

    Example: rag embeddings status -w handbook
    """
    found = on_graphql(context, lambda client: _spaces(client, workspace))
    filling = [one for one in found if one["state"] == "FILLING"]
    _show(filling or [one for one in found if one["state"] == "ACTIVE"], as_json)


@app.command("switch")
def switch(
    context: typer.Context,
    to: Annotated[str, typer.Option("--to", help="`deterministic`, `onnx[:NAME]`, or `openai:MODEL[:DIMENSIONS]`.")],
    workspace: WorkspaceOption = None,
    gate: Annotated[
        Path | None,
        typer.Option("--gate", help="JSONL file of questions with gold_ids: refuse the switch when recall falls."),
    ] = None,
    gate_k: Annotated[int, typer.Option("--gate-k", min=1, max=MAX_K, help="k of the gate's recall@k.")] = DEFAULT_K,
    gate_tolerance: Annotated[
        float, typer.Option("--gate-tolerance", min=0.0, max=1.0, help="How far recall may fall.")
    ] = 0.0,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until the workspace answers in it.")] = False,
    estimate: Annotated[bool, typer.Option("--estimate", help="Say what it would cost, and change nothing.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Switch a workspace to another embedding model, without a pause: questions are answered all the while.

    With --wait and no worker running, a worker is started for as long as the command lasts. Exits with 5 when the gate
    refuses.

    Example: rag embeddings switch --to openai:text-embedding-3-small -w handbook --gate golden.jsonl --wait
    """
    if estimate:
        found = on_graphql(context, lambda client: _estimate(client, workspace, to))
        terminal.show(found, embedding_text(found), as_json=as_json)
        return
    judged = None if gate is None else gate_from(gate, gate_k, gate_tolerance)

    async def work(client: GraphQLClient) -> Mapping[str, Any]:
        workspace_id = await client.workspace_id(workspace)
        begun = await begin_switch(client, workspace_id, to, judged)
        if not wait or begun["jobId"] is None:
            return begun["space"]
        return await wait_for_switch(client, workspace_id, begun)

    try:
        record = on_graphql(context, work, with_worker=wait)
    except AgenticRagError as error:
        if error.code != "SWITCH_GATE_REFUSED":
            raise
        terminal.note(error_line(error))
        raise typer.Exit(ExitCode.THRESHOLD) from error
    _show([record], as_json)


async def _estimate(client: GraphQLClient, workspace: str | None, to: str) -> dict[str, Any]:
    return await client.fetch(ESTIMATE_SWITCH, workspaceId=await client.workspace_id(workspace), to=to)


@app.command("cancel")
def cancel(context: typer.Context, workspace: WorkspaceOption = None, as_json: JsonOption = False) -> None:
    """Cancel the running switch; the workspace keeps its current embedding space.

    Example: rag embeddings cancel -w handbook
    """

    async def work(client: GraphQLClient) -> dict[str, Any]:
        cancelled = await client.fetch(queries.CANCEL_SWITCH, workspaceId=await client.workspace_id(workspace))
        return cancelled["space"]

    _show([on_graphql(context, work)], as_json)


@app.command("recall")
def recall(context: typer.Context, workspace: WorkspaceOption = None, as_json: JsonOption = False) -> None:
    """Measure a workspace's dense search against exact search, on questions made from its own passages.

    Exits with 5 when less than 95 % is found. Example: rag embeddings recall -w handbook
    """

    async def work(client: GraphQLClient) -> dict[str, Any]:
        return await measure_recall(client, await client.workspace_id(workspace))

    report = on_graphql(context, work)
    terminal.show(recall_json(report), recall_line(report), as_json=as_json)
    if not report["isEnough"]:
        raise typer.Exit(ExitCode.THRESHOLD)


async def measure_recall(client: GraphQLClient, workspace_id: str) -> dict[str, Any]:
    """The recall of a workspace. Errors: `NotFound` code NOTHING_TO_ASK."""
    return await client.fetch_long(operator_queries.DENSE_RECALL, workspaceId=workspace_id)


async def _spaces(client: GraphQLClient, workspace: str | None) -> Sequence[Mapping[str, Any]]:
    return await client.fetch(queries.SPACES, workspaceId=await client.workspace_id(workspace))


def _show(spaces: Sequence[Mapping[str, Any]], as_json: bool) -> None:
    rows = [
        (one["name"], one["state"], f"{one['done']}/{one['total']}", one["dropAfter"], _verdict(one["verdict"]))
        for one in spaces
    ]
    terminal.show(spaces, terminal.table(("SPACE", "STATE", "DONE", "DROPPED AFTER", "GATE"), rows), as_json=as_json)


def _verdict(verdict: Mapping[str, Any] | None) -> str | None:
    if verdict is None:
        return None
    refused = "" if verdict["passed"] else " (refused)"
    return f"recall@{verdict['k']} {verdict['before']:.4f} -> {verdict['after']:.4f}{refused}"


_POLL_SECONDS = 0.2


def gate_from(path: Path, k: int, tolerance: float) -> dict[str, Any]:
    """The gate over a data set, as GraphQL's `RecallGateInput`. Gold ids may be source paths, plain ids, or ids of the
    API. Errors: `InvalidInput` codes DATASET_MISSING, DATASET_INVALID, GATE_INVALID.
    """
    questions = load_dataset(path)
    build_recall_gate([RecallQuestion(one.question, tuple(one.gold_ids)) for one in questions], k, tolerance)
    asked = [{"question": one.question, "goldIds": list(one.gold_ids)} for one in questions]
    return {"questions": asked, "k": k, "tolerance": tolerance}


async def begin_switch(
    client: GraphQLClient, workspace_id: str, to: str, gate: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Start the switch; returns the space, filling or active already, and the job that fills it."""
    return await client.fetch(queries.SWITCH, input={"workspaceId": workspace_id, "to": to, "gate": gate})


async def wait_for_switch(client: GraphQLClient, workspace_id: str, begun: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return when the space is active. Errors: the error code of its job (SWITCH_GATE_REFUSED among them),
    SWITCH_CANCELLED, SWITCH_STALLED after two minutes without progress.
    """
    watch = StallWatch()
    with terminal.ProgressLine("re-embedding") as bar:
        while True:
            # The job first: once it is done, the space that it filled is active.
            job = None if begun["jobId"] is None else await client.fetch(queries.JOB_STATE, id=begun["jobId"])
            spaces = await client.fetch(queries.SPACES, workspaceId=workspace_id)
            space = next((one for one in spaces if one["name"] == begun["space"]["name"]), begun["space"])
            bar.update(space["done"], space["total"])
            if space["state"] == "ACTIVE":
                return space
            if job is not None and job["state"] == "DEAD":
                raise AgenticRagError(job["errorMessage"] or "The job gave up.", code=job["errorCode"])
            if job is None or job["state"] in ("DONE", "CANCELLED"):
                raise Permanent("The switch was cancelled.", code="SWITCH_CANCELLED")
            if watch.is_stalled((space["done"], job["progress"])):
                raise Retryable(
                    "The switch made no progress for two minutes: see `rag job list` and the worker's log. It goes on "
                    "when a worker does.",
                    code="SWITCH_STALLED",
                )
            await asyncio.sleep(_POLL_SECONDS)

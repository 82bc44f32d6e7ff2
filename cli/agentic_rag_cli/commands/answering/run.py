"""`rag run`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from agentic_rag.answering.answer import Outcome
from agentic_rag.kernel.errors import NotFound
from agentic_rag.kernel.public_ids import NodeKind
from agentic_rag_cli.client import live_queries, queries, thread_queries
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.client.ids import node_id, require_id
from agentic_rag_cli.commands.answering import compare, prove
from agentic_rag_cli.commands.answering.rate import rate
from agentic_rag_cli.options import JsonOption, LimitOption, SinceOption, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.output.answer_view import answer_json, answer_text
from agentic_rag_cli.wiring import on_asked_server, on_graphql

app = typer.Typer(
    help="Questions that were asked, and how they were answered.", no_args_is_help=True, rich_markup_mode=None
)


@app.command("list")
def list_runs(
    context: typer.Context,
    workspace: WorkspaceOption = None,
    words: Annotated[str, typer.Option("--words", help="Only runs with this in their question.")] = "",
    outcome: Annotated[
        list[Outcome] | None, typer.Option("--outcome", help="Only these; may be repeated.", case_sensitive=False)
    ] = None,
    since: SinceOption = None,
    limit: LimitOption = 20,
    as_json: JsonOption = False,
) -> None:
    """List runs, newest first.

    Example: rag run list --words crane --outcome uncertain --outcome abstained
    """
    wanted = {"words": words, "outcomes": [one.value for one in outcome or []], "since": since}

    async def work(client: GraphQLClient) -> list[dict[str, Any]]:
        return await client.nodes(queries.RUNS, limit, workspaceId=await client.workspace_id(workspace), filter=wanted)

    found = [_row_json(one) for one in on_graphql(context, work)]
    rows = [(one["id"], one["outcome"], one["cache"], f"{1000 * one['seconds']:.0f}", one["question"]) for one in found]
    terminal.show(found, terminal.table(("ID", "OUTCOME", "CACHE", "MS", "QUESTION"), rows), as_json=as_json)


@app.command("show")
def show(
    context: typer.Context,
    run: Annotated[str, typer.Argument(metavar="RUN", help="Id of the run.")],
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a run: the answer with its citations, then what each stage did and how long it took.

    Example: rag run show UgGYwN4AAHAA…
    """

    async def work(client: GraphQLClient) -> dict[str, Any]:
        return (await _stored_run(client, workspace, run))[1]

    found = on_graphql(context, work)
    rows = [(one["stage"], f"{1000 * one['seconds']:.2f}", one["outcome"]) for one in found["stages"]]
    stages = terminal.table(("STAGE", "MS", "OUTCOME"), rows)
    text = f"Q: {found['question']}\n\n{answer_text(found)}\n\n{stages}{_spend_text(found['debug']['chat'])}"
    terminal.show({**answer_json(found), **_details_json(found)}, text, as_json=as_json)


@app.command("cancel")
def cancel(
    context: typer.Context,
    run: Annotated[str, typer.Argument(metavar="RUN", help="Id of the run, as `rag ask --stream` prints it.")],
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Stop a run that goes on. Whoever waits for it gets the error RUN_CANCELLED.

    Example: rag run cancel UgGYwN4AAHAA…
    """
    require_id(run, NodeKind.RUN)

    async def work(client: GraphQLClient) -> dict[str, Any]:
        return await client.fetch(live_queries.CANCEL_RUN, id=await client.node_id(workspace, run, NodeKind.RUN))

    found = on_graphql(context, work)
    text = "Cancelled." if found["cancelled"] else "It had ended."
    terminal.show({"cancelled": found["cancelled"]}, text, as_json=as_json)


@app.command("delete")
def delete(
    context: typer.Context,
    run: Annotated[str, typer.Argument(metavar="RUN", help="Id of a run of yours.")],
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Delete a run of yours with its stages and what was said of it. What it cost stays in the usage.

    Example: rag run delete UgGYwN4AAHAA…
    """
    require_id(run, NodeKind.RUN)

    async def work(client: GraphQLClient) -> dict[str, Any]:
        return await client.fetch(thread_queries.DELETE_RUN, id=await client.node_id(workspace, run, NodeKind.RUN))

    found = on_asked_server(context, work)
    terminal.show({"deletedId": found["deletedId"]}, "Deleted.", as_json=as_json)


def _spend_text(chat: dict[str, Any] | None) -> str:
    """What the chat model cost the run; empty without one."""
    if chat is None:
        return ""
    cost = "price not known" if chat["costUsd"] is None else f"{chat['costUsd']:.6f} USD"
    calls = "1 call" if chat["calls"] == 1 else f"{chat['calls']} calls"
    return f"\n\nChat model: {calls}, {chat['inputTokens']} + {chat['outputTokens']} tokens, {cost}"


app.command("replay")(compare.replay)
app.command("diff")(compare.diff)
app.command("verify")(prove.verify)
app.command("rate")(rate)


async def _stored_run(client: GraphQLClient, workspace: str | None, run: str) -> tuple[str, dict[str, Any]]:
    """The workspace's public id and the run. Errors: `NotFound` code RUN_NOT_FOUND, `InvalidInput` code INVALID_ID."""
    require_id(run, NodeKind.RUN)
    chosen = await client.workspace_id(workspace, run)
    found = await client.fetch(queries.RUN, id=node_id(chosen, run, NodeKind.RUN))
    if found is None:
        raise NotFound(f"There is no run {run}; `rag run list` shows them.", code="RUN_NOT_FOUND")
    return chosen, found


def _row_json(run: Mapping[str, Any]) -> dict[str, Any]:
    """A run as a row of a list."""
    version = {"corpusVersion": run["versions"]["corpusVersion"], "createdAt": run["createdAt"]}
    return {name: run[name] for name in ("id", "question", "outcome", "cache", "seconds")} | version


def _details_json(run: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that `rag run show` adds to the answer: versions, gate, plan, stages."""
    debug, plan = run["debug"], run["debug"]["plan"]
    return {
        **{name: run[name] for name in ("traceId", "subject", "createdAt", "versions")},
        "gate": {**run["gate"], "planType": run["gate"]["planType"].lower()},
        "plan": None
        if plan is None
        else {
            **plan,
            "subQuestions": [part["text"] for part in plan["subQuestions"]],
            "answerType": plan["answerType"].lower(),
        },
        "rewrittenQuery": debug["rewrittenQuery"],
        "stages": run["stages"],
    }

"""`rag gate`."""

from __future__ import annotations

import enum
import json
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag.kernel.public_ids import NodeKind
from agentic_rag_cli.client import gate_queries
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.client.ids import require_id
from agentic_rag_cli.commands.answering.gate_learn import learn
from agentic_rag_cli.options import JsonOption, WorkspaceOption
from agentic_rag_cli.output import gate_view, terminal
from agentic_rag_cli.wiring import on_graphql

app = typer.Typer(
    help="Whether the documents will do, or the web should be asked.", no_args_is_help=True, rich_markup_mode=None
)

app.command("learn")(learn)


class JudgingMode(enum.Enum):
    """A mode in which runs are judged."""

    SHADOW = "shadow"
    ON = "on"


_FORMATS = ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"]
SinceOption = Annotated[
    datetime, typer.Option("--since", formats=_FORMATS, metavar="INSTANT", help="From then on: 2026-11-01 (UTC).")
]


@app.command("status")
def status(context: typer.Context, workspace: WorkspaceOption = None, as_json: JsonOption = False) -> None:
    """Show how the gate stands in a workspace: its mode, its thresholds, and what keeps runs from the web.

    Example: rag gate status -w handbook
    """

    async def work(client: GraphQLClient) -> dict[str, Any]:
        return await client.fetch(gate_queries.STATUS, workspaceId=await client.workspace_id(workspace))

    found = on_graphql(context, work)
    terminal.show(found, gate_view.status_text(found), as_json=as_json)


@app.command("explain")
def explain(
    context: typer.Context,
    run: Annotated[str | None, typer.Argument(metavar="RUN", help="Id of the run; `rag run list` shows them.")] = None,
    question: Annotated[
        str | None, typer.Option("--question", "-q", help="Decide about this question instead; no run is stored.")
    ] = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Explain a decision: each signal with its weight, what lowered the plan, and what would change it.

    Example: rag gate explain UgGYwN4AAHAA…

    Example: rag gate explain --question "What are the latest tariffs?"
    """
    if (run is None) == (question is None):
        raise InvalidInput("Name a RUN or give a --question, one of the two.", path=("question",))
    if run is not None:
        require_id(run, NodeKind.RUN)

    async def work(client: GraphQLClient) -> dict[str, Any]:
        if run is None:
            asked = {"question": question, "workspaceId": await client.workspace_id(workspace)}
            dry = await client.fetch(gate_queries.DRY_RUN, input=asked)
            return {"id": None, "question": question, "gate": dry["decision"]}
        found = await client.fetch(gate_queries.RUN_DECISION, id=await client.node_id(workspace, run, NodeKind.RUN))
        if found is None:
            raise NotFound(f"There is no run {run}; `rag run list` shows them.", code="RUN_NOT_FOUND")
        return found

    found = on_graphql(context, work)
    terminal.show(gate_view.decision_json(found), gate_view.decision_text(found), as_json=as_json)


@app.command("report")
def report(
    context: typer.Context,
    since: SinceOption,
    mode: Annotated[
        JudgingMode | None, typer.Option("--mode", help="Of the runs of this mode only; `shadow` is the base line.")
    ] = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Report what the gate decided: shares, latency, hit rate and cost by plan, by intent and by mode, and what lowered
    plans. Counts your own runs, and all of them where you manage the workspace.

    Example: rag gate report --since 2026-11-01 --mode shadow
    """

    async def work(client: GraphQLClient) -> dict[str, Any]:
        asked = {"workspaceId": await client.workspace_id(workspace), "since": _instant(since)}
        return await client.fetch(gate_queries.REPORT, **asked, mode=None if mode is None else mode.name)

    found = on_graphql(context, work)
    terminal.show(found, gate_view.report_text(found), as_json=as_json)


@app.command("evaluation")
def evaluation(context: typer.Context, workspace: WorkspaceOption = None, as_json: JsonOption = False) -> None:
    """Show how the runs of the last 30 days turned out, plan by plan, and which plans the gate does without for a
    while. Takes the role admin.

    Example: rag gate evaluation -w handbook
    """

    async def work(client: GraphQLClient) -> list[dict[str, Any]]:
        return await client.fetch(gate_queries.EVALUATION, workspaceId=await client.workspace_id(workspace))

    found = on_graphql(context, work)
    terminal.show(gate_view.evaluation_json(found), gate_view.evaluation_text(found), as_json=as_json)


@app.command("replay")
def replay(
    context: typer.Context, since: SinceOption, workspace: WorkspaceOption = None, as_json: JsonOption = False
) -> None:
    """Take stored decisions again, from their stored signals with the weights in force, and name those that differ.

    Example: rag gate replay --since 2026-11-01
    """

    async def work(client: GraphQLClient) -> dict[str, Any]:
        asked = {"workspaceId": await client.workspace_id(workspace), "since": _instant(since)}
        return await client.fetch(gate_queries.REPLAY, **asked)

    found = on_graphql(context, work)
    terminal.show(gate_view.replay_json(found), gate_view.replay_text(found), as_json=as_json)


@app.command("cases")
def cases(context: typer.Context, since: SinceOption, workspace: WorkspaceOption = None) -> None:
    """Print the decisions of which outcome and feedback tell what a search was worth, one JSON object a line, for
    `rag gate learn`. Takes the role admin.

    Example: rag gate cases --since 2026-10-01 -w handbook > cases.jsonl
    """

    async def work(client: GraphQLClient) -> list[dict[str, Any]]:
        chosen = await client.workspace_id(workspace)
        found = await client.fetch(gate_queries.CASES, workspaceId=chosen, since=_instant(since))
        return [gate_view.case_json(one, chosen) for one in found]

    for one in on_graphql(context, work):
        terminal.result(json.dumps(one, ensure_ascii=False, sort_keys=True))


def _instant(since: datetime) -> str:
    return since.replace(tzinfo=UTC).isoformat()

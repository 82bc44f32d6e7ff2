"""`rag report`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import typer

from agentic_rag_cli.client import gate_queries, queries, web_queries
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.options import JsonOption, WorkspaceOption
from agentic_rag_cli.output import report_view, terminal
from agentic_rag_cli.wiring import on_graphql

app = typer.Typer(help="What a workspace did and cost, for a review.", no_args_is_help=True, rich_markup_mode=None)

WEEK, QUARTER = 7, 91
"""Days."""


@app.command("weekly")
def weekly(context: typer.Context, workspace: WorkspaceOption = None, as_json: JsonOption = False) -> None:
    """Report the last 7 days: runs, what they cost, what callers thought of them, and how plans of the gate turned out.
    Takes the role admin.

    Example: rag report weekly -w handbook
    """
    _report(context, WEEK, workspace, as_json=as_json)


@app.command("quarterly")
def quarterly(context: typer.Context, workspace: WorkspaceOption = None, as_json: JsonOption = False) -> None:
    """Report the last 91 days, as `weekly` does the last 7.

    Example: rag report quarterly --json
    """
    _report(context, QUARTER, workspace, as_json=as_json)


def _report(context: typer.Context, days: int, workspace: str | None, *, as_json: bool) -> None:
    until = datetime.now(UTC)
    since = until - timedelta(days=days)

    async def work(client: GraphQLClient) -> dict[str, Any]:
        chosen = {"workspaceId": await client.workspace_id(workspace)}
        period = {"from": since.date().isoformat(), "to": until.date().isoformat()}
        return {
            "since": since.isoformat(),
            "until": until.isoformat(),
            "gate": await client.fetch(gate_queries.REPORT, since=since.isoformat(), **chosen),
            "replay": await client.fetch(gate_queries.REPLAY, since=since.isoformat(), **chosen),
            "evaluation": await client.fetch(gate_queries.EVALUATION, **chosen),
            "usage": await client.fetch(gate_queries.USAGE_OF_WORKSPACE, **period, **chosen),
            "budgets": await client.fetch(queries.BUDGETS, **chosen),
            "webBudgets": await client.fetch(web_queries.WEB_BUDGETS, **chosen),
        }

    found = on_graphql(context, work)
    terminal.show(report_view.report_json(found), report_view.report_text(found), as_json=as_json)

"""`rag report`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import typer

from agentic_rag_cli.client import gate_queries, queries, web_queries
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.options import JsonOption, WorkspaceOption
from agentic_rag_cli.output import profile_view, report_view, terminal
from agentic_rag_cli.wiring import on_graphql

app = typer.Typer(
    help="What a workspace did and cost, and what its texts say, for a review.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

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


@app.command("marketing")
def marketing(
    context: typer.Context,
    brand: Annotated[list[str], typer.Option("--brand", help="A name to look for; may be repeated.")],
    days: Annotated[int | None, typer.Option("--days", min=1, max=36_500, help="Only texts of the last days.")] = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Report what the documents and pages say of brands: share of voice, tone, channels, and labels of advertisements.
    Each figure comes with the sentences behind it.

    Example: rag report marketing --brand Acme --brand Globex --days 30
    """
    since = None if days is None else (datetime.now(UTC) - timedelta(days=days)).isoformat()

    async def work(client: GraphQLClient) -> dict[str, Any]:
        chosen = await client.workspace_id(workspace)
        return await client.fetch(web_queries.MARKETING, workspaceId=chosen, brands=brand, since=since)

    found = on_graphql(context, work)
    terminal.show(found, profile_view.marketing_text(found), as_json=as_json)


@app.command("code")
def code(context: typer.Context, workspace: WorkspaceOption = None, as_json: JsonOption = False) -> None:
    """Report how stale the code of a workspace is: work left over (TODO, FIXME), versions of packages that are apart,
    and tests that failed by reports among the files. Nothing is run.

    Example: rag report code -w repository
    """

    async def work(client: GraphQLClient) -> dict[str, Any]:
        return await client.fetch(web_queries.CODE, workspaceId=await client.workspace_id(workspace))

    found = on_graphql(context, work)
    terminal.show(found, profile_view.code_text(found), as_json=as_json)


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

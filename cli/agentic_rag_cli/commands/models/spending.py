"""`rag usage` and `rag budget`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from agentic_rag.kernel.public_ids import decode
from agentic_rag.models.billing.limits import DEFAULT_SOFT_SHARE, SpendingLimits, first_of_month
from agentic_rag_cli.client import queries, web_queries
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.options import JsonOption, TenantOption, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import on_graphql

app = typer.Typer(help="Limits on what is spent on models.", no_args_is_help=True, rich_markup_mode=None)

_DATE = "%Y-%m-%d"


def usage(
    context: typer.Context,
    first: Annotated[
        datetime | None,
        typer.Option("--from", formats=[_DATE], help="First day (UTC); the month's first when not given."),
    ] = None,
    last: Annotated[
        datetime | None, typer.Option("--to", formats=[_DATE], help="Last day (UTC), itself included; today.")
    ] = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what calls of models used, by workspace, day and model, and what they cost by the price table.

    Example: rag usage --from 2026-11-01 --to 2026-11-30
    """
    today = datetime.now(UTC).date()
    until = last.date() if last else today
    since = first.date() if first else first_of_month(until)
    days = {"from": since.isoformat(), "to": until.isoformat()}
    report = on_graphql(context, lambda client: client.fetch(queries.USAGE, **days), tenant=tenant)
    lines = [_line_json(line) for line in report["lines"]]
    if as_json:
        terminal.result_json({**report, "lines": lines})
        return
    rows = [
        (
            line["day"],
            line["workspace"][:8],
            line["kind"],
            f"{line['provider']}:{line['model']}",
            "own" if line["ownKey"] else "platform",
            line["calls"],
            line["inputTokens"],
            line["outputTokens"],
            f"{line['costUsd']:.6f}" if line["unpricedCalls"] < line["calls"] else "unknown",
        )
        for line in lines
    ]
    head = ("DAY", "WORKSPACE", "KIND", "MODEL", "KEY", "CALLS", "TOKENS IN", "TOKENS OUT", "USD")
    terminal.result(terminal.table(head, rows))
    terminal.result(f"{report['costUsd']:.6f} USD by the price table of {report['pricedOn']}")
    if report["unpricedCalls"]:
        terminal.result(
            f"The price of {report['unpricedCalls']} calls is not known, so no budget holds them: the operator "
            "states it in AGENTIC_RAG_MODEL_PRICES."
        )


@app.command("show")
def show(context: typer.Context, workspace: WorkspaceOption = None, as_json: JsonOption = False) -> None:
    """Show the spending limits of a workspace and its organisation, and how much of each is spent.

    Example: rag budget show -w handbook
    """

    async def work(client: GraphQLClient) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        chosen = await client.workspace_id(workspace)
        money = await client.fetch(queries.BUDGETS, workspaceId=chosen)
        return money, await client.fetch(web_queries.WEB_BUDGETS, workspaceId=chosen)

    found, calls = on_graphql(context, work)
    rows = [
        (
            one["scope"],
            one["period"],
            one["kind"] or "all",
            f"{one['limitUsd']:.4f}",
            f"{one['spentUsd']:.6f}",
            f"{datetime.fromisoformat(one['resetsAt']):%Y-%m-%d %H:%M} UTC",
        )
        for one in found
    ]
    counted = [
        (
            one["scope"],
            {"search": "searches", "page": "pages"}[one["kind"]],
            one["limit"],
            one["used"],
            f"{datetime.fromisoformat(one['resetsAt']):%Y-%m-%d %H:%M} UTC",
        )
        for one in calls
    ]
    tables = [
        terminal.table(("SCOPE", "PERIOD", "OF", "LIMIT USD", "SPENT USD", "BEGINS ANEW"), rows),
        terminal.table(("SCOPE", "OF THE WEB A DAY", "LIMIT", "MADE", "BEGINS ANEW"), counted),
    ]
    terminal.show([*found, *calls], "\n\n".join(tables), as_json=as_json)


@app.command("set")
def set_limits(
    context: typer.Context,
    day: Annotated[float | None, typer.Option("--day", help="US dollars a day; none when not given.")] = None,
    month: Annotated[float | None, typer.Option("--month", help="US dollars a month; none when not given.")] = None,
    embedding: Annotated[
        float | None, typer.Option("--embedding", help="US dollars a day for embedding; none when not given.")
    ] = None,
    chat: Annotated[
        float | None, typer.Option("--chat", help="US dollars a day for chat models; none when not given.")
    ] = None,
    soft_share: Annotated[
        float, typer.Option("--soft-share", help="Share of a limit at which a warning event is logged.")
    ] = DEFAULT_SOFT_SHARE,
    searches: Annotated[
        int | None, typer.Option("--searches", help="Searches of the web a day; the default when not given.")
    ] = None,
    pages: Annotated[
        int | None, typer.Option("--pages", help="Pages of the web a day; the default when not given.")
    ] = None,
    workspace: WorkspaceOption = None,
    tenant: TenantOption = None,
) -> None:
    """Set the spending limits of an organisation, or of one workspace with -w. A limit that is not given is removed.

    Example: rag budget set --day 5 --month 100 --chat 3
    """
    limits = SpendingLimits(day, month, soft_share, searches, pages, embedding, chat)

    async def work(client: GraphQLClient) -> None:
        workspace_id = None if workspace is None else await client.workspace_id(workspace)
        wish = {"workspaceId": workspace_id, "dayUsd": day, "monthUsd": month, "softShare": soft_share}
        wish |= {"daySearches": searches, "dayPages": pages}
        wish |= {"dayEmbeddingUsd": embedding, "dayChatUsd": chat}
        await client.fetch(queries.SET_BUDGET, input=wish)

    on_graphql(context, work, tenant=None if workspace else tenant)
    has_ceiling = limits.has_ceiling or searches is not None or pages is not None
    terminal.result("set" if has_ceiling else "there is no ceiling any more")


def _line_json(line: dict[str, Any]) -> dict[str, Any]:
    workspace = {"workspace": str(decode(line["workspaceId"]).workspace_id)}
    tokens = {name: int(line[name]) for name in ("inputTokens", "outputTokens")}
    return workspace | {name: value for name, value in line.items() if name != "workspaceId"} | tokens

"""`rag usage` and `rag budget`."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from agentic_rag.models.billing.limits import DEFAULT_SOFT_SHARE, Ceiling, SpendingLimits, first_of_month
from agentic_rag_cli.options import JsonOption, TenantOption, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import in_process

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentic_rag.models.billing.manage_budgets import UsageReport
    from agentic_rag_cli.session import Session

app = typer.Typer(help="Ceilings on what models cost.", no_args_is_help=True, rich_markup_mode=None)

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
    from agentic_rag.models.billing.prices import PRICED_ON

    today = datetime.now(UTC).date()
    until = last.date() if last else today
    since = first.date() if first else first_of_month(until)

    async def work(session: Session) -> UsageReport:
        return await session.spending.usage((await session.tenants.named(tenant)).org_id, since, until)

    report = in_process(context, work)
    if as_json:
        terminal.result_json(_report_json(report, PRICED_ON))
        return
    rows = [
        (
            f"{line.key.day:%Y-%m-%d}",
            str(line.key.workspace_id)[:8],
            line.key.kind,
            f"{line.key.provider}:{line.key.model}",
            "own" if line.key.own_key else "platform",
            line.calls,
            line.input_tokens,
            line.output_tokens,
            f"{line.cost_usd:.6f}" if line.unpriced_calls < line.calls else "unknown",
        )
        for line in report.lines
    ]
    head = ("DAY", "WORKSPACE", "KIND", "MODEL", "KEY", "CALLS", "TOKENS IN", "TOKENS OUT", "USD")
    terminal.result(terminal.table(head, rows))
    terminal.result(f"{report.cost_usd:.6f} USD by the price table of {PRICED_ON:%Y-%m-%d}")
    if report.unpriced_calls:
        terminal.result(
            f"The price of {report.unpriced_calls} calls is not known, so no budget holds them: the operator states it "
            "in AGENTIC_RAG_MODEL_PRICES."
        )


@app.command("show")
def show(context: typer.Context, workspace: WorkspaceOption = None, as_json: JsonOption = False) -> None:
    """Show the ceilings that hold for a workspace, its organisation's among them, and what is spent of each.

    Example: rag budget show -w handbook
    """
    from agentic_rag_cli.listing import the_workspace

    async def work(session: Session) -> Sequence[Ceiling]:
        return await session.spending.ceilings((await the_workspace(session, workspace)).ref)

    found = in_process(context, work)
    if as_json:
        terminal.result_json(
            [
                {
                    "scope": one.scope,
                    "period": one.period,
                    "limitUsd": one.limit_usd,
                    "spentUsd": one.spent_usd,
                    "resetsAt": one.resets_at.isoformat(),
                }
                for one in found
            ]
        )
        return
    rows = [
        (one.scope, one.period, f"{one.limit_usd:.4f}", f"{one.spent_usd:.6f}", f"{one.resets_at:%Y-%m-%d %H:%M} UTC")
        for one in found
    ]
    terminal.result(terminal.table(("SCOPE", "PERIOD", "LIMIT USD", "SPENT USD", "BEGINS ANEW"), rows))


@app.command("set")
def set_limits(
    context: typer.Context,
    day: Annotated[float | None, typer.Option("--day", help="US dollars a day; none when not given.")] = None,
    month: Annotated[float | None, typer.Option("--month", help="US dollars a month; none when not given.")] = None,
    soft_share: Annotated[
        float, typer.Option("--soft-share", help="Part of a ceiling from which on an event warns.")
    ] = DEFAULT_SOFT_SHARE,
    workspace: WorkspaceOption = None,
    tenant: TenantOption = None,
) -> None:
    """Set the ceilings of an organisation, or of one workspace with -w; what is not given has none.

    Example: rag budget set --day 5 --month 100
    """
    from agentic_rag_cli.in_process import OPERATOR
    from agentic_rag_cli.listing import the_workspace

    limits = SpendingLimits(day, month, soft_share)

    async def work(session: Session) -> None:
        ref = None if workspace is None else (await the_workspace(session, workspace)).ref
        org_id, key = (
            ((await session.tenants.named(tenant)).org_id, None) if ref is None else (ref.org_id, ref.workspace_id)
        )
        await session.spending.set_limits(org_id, key, limits, OPERATOR.subject)

    in_process(context, work)
    terminal.result("set" if limits.has_ceiling else "there is no ceiling any more")


def _report_json(report: UsageReport, priced_on: date) -> dict[str, object]:
    return {
        "lines": [
            {
                "workspace": str(line.key.workspace_id),
                "day": line.key.day.isoformat(),
                "kind": line.key.kind,
                "provider": line.key.provider,
                "model": line.key.model,
                "ownKey": line.key.own_key,
                "calls": line.calls,
                "inputTokens": line.input_tokens,
                "outputTokens": line.output_tokens,
                "costUsd": line.cost_usd,
                "unpricedCalls": line.unpriced_calls,
            }
            for line in report.lines
        ],
        "costUsd": report.cost_usd,
        "unpricedCalls": report.unpriced_calls,
        "pricedOn": priced_on.isoformat(),
    }

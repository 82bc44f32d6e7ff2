"""`rag audit`."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from agentic_rag_cli.client import queries
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.options import JsonOption, LimitOption, SinceOption, TenantOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import on_graphql

app = typer.Typer(help="The audit log.", no_args_is_help=True, rich_markup_mode=None)

WorkspaceOption = Annotated[str | None, typer.Option("--workspace", "-w", help="Only what was done in this workspace.")]
ActorOption = Annotated[str | None, typer.Option("--actor", help="Only what they did: `user:NAME`, `key:NAME`.")]
ActionOption = Annotated[str | None, typer.Option("--action", help="Only these acts: document, document.delete …")]
UntilOption = Annotated[str | None, typer.Option("--until", metavar="INSTANT", help="Before then (ISO 8601).")]


@app.callback()
def audit() -> None:
    """The audit log."""


@app.command("list")
def list_entries(
    context: typer.Context,
    workspace: WorkspaceOption = None,
    actor: ActorOption = None,
    action: ActionOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    limit: LimitOption = 50,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show who did what in the organisation, newest first.

    Example: rag audit list --action document.delete --limit 10
    """
    wanted = {"actor": actor, "action": action, "since": since, "until": until}
    shown = _entries(context, tenant, workspace, wanted, limit)
    rows = [(one["createdAt"], one["actor"], one["action"], one["subject"]) for one in shown]
    terminal.show(shown, terminal.table(("AT", "WHO", "WHAT", "SUBJECT"), rows), as_json=as_json)


@app.command("export")
def export(
    context: typer.Context,
    since: SinceOption = None,
    until: UntilOption = None,
    tenant: TenantOption = None,
) -> None:
    """Print every entry of the organisation as one JSON object a line, newest first. Where one breaks off,
    `--until` with the time of its last line goes on.

    Example: rag audit export --since 2026-01-01 > audit.jsonl
    """

    async def work(client: GraphQLClient) -> None:
        # Page by page: the log may be larger than memory.
        async for page in client.pages(queries.AUDIT_LOG, since=since, until=until):
            for one in page:
                terminal.result(json.dumps(_shown(one), ensure_ascii=False))

    on_graphql(context, work, tenant=tenant)


def _entries(
    context: typer.Context, tenant: str | None, workspace: str | None, wanted: dict[str, Any], limit: int | None
) -> list[dict[str, Any]]:
    async def work(client: GraphQLClient) -> list[dict[str, Any]]:
        workspace_id = None if workspace is None else await client.workspace_id(workspace)
        return await client.nodes(queries.AUDIT_LOG, limit, workspaceId=workspace_id, **wanted)

    return [_shown(one) for one in on_graphql(context, work, tenant=tenant)]


def _shown(entry: dict[str, Any]) -> dict[str, Any]:
    return {**entry, "detail": {one["name"]: one["value"] for one in entry["detail"]}}

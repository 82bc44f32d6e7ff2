"""`rag audit`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from agentic_rag_cli.options import JsonOption, LimitOption, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import in_process

if TYPE_CHECKING:
    from agentic_rag.tenancy.audit import AuditRecord
    from agentic_rag_cli.session import Session

app = typer.Typer(help="Who did what.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def audit() -> None:
    """Who did what."""


@app.command("list")
def list_entries(
    context: typer.Context, workspace: WorkspaceOption = None, limit: LimitOption = 50, as_json: JsonOption = False
) -> None:
    """Show who replayed, purged, deleted or switched what in a workspace, newest first.

    Example: rag audit list --limit 10
    """
    from agentic_rag_cli.listing import collect, the_workspace
    from agentic_rag_cli.views import audit_json

    async def work(session: Session) -> list[AuditRecord]:
        ref = (await the_workspace(session, workspace)).ref
        return await collect(lambda request: session.audit(ref, request), limit)

    shown = [audit_json(one) for one in in_process(context, work)]
    if as_json:
        terminal.result_json(shown)
        return
    rows = [(row["createdAt"], row["actor"], row["action"], row["subject"]) for row in shown]
    terminal.result(terminal.table(("AT", "WHO", "WHAT", "SUBJECT"), rows))

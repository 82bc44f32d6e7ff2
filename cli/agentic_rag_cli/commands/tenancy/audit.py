"""`rag audit`."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import typer

from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag.tenancy.audit import AuditRecord
from agentic_rag_cli.in_process import System
from agentic_rag_cli.options import JsonOption, LimitOption, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.output.json_view import json_fields
from agentic_rag_cli.wiring import in_process

app = typer.Typer(help="The audit log.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def audit() -> None:
    """The audit log."""


@app.command("list")
def list_entries(
    context: typer.Context, workspace: WorkspaceOption = None, limit: LimitOption = 50, as_json: JsonOption = False
) -> None:
    """Show who replayed, purged, deleted or switched what in a workspace, newest first.

    Example: rag audit list --limit 10
    """

    async def work(system: System) -> list[AuditRecord]:
        workspace_id = (await system.workspace(workspace)).ref.workspace_id
        return await system.collect(lambda tx, request: tx.audit.page(request, workspace_id), limit)

    shown = [audit_json(one) for one in in_process(context, work)]
    rows = [(row["createdAt"], row["actor"], row["action"], row["subject"]) for row in shown]
    terminal.show(shown, terminal.table(("AT", "WHO", "WHAT", "SUBJECT"), rows), as_json=as_json)


def audit_json(record: AuditRecord) -> dict[str, Any]:
    """One entry of the audit log."""
    return {
        **json_fields(record, "created_at", "actor", "action"),
        "subject": _subject(record),
        **json_fields(record, "detail", "trace_id"),
    }


_AUDITED = {"document": NodeKind.DOCUMENT, "dead_letter": NodeKind.JOB, "snapshot": NodeKind.SNAPSHOT}
"""The kind of an act's subject, by the first part of the act's name."""


def _subject(record: AuditRecord) -> str:
    """The public id as lists show it; the name for subjects without one (an embedding space, a workspace)."""
    kind = _AUDITED.get(record.action.partition(".")[0])
    if kind is None or record.workspace_id is None:
        return record.subject
    # A snapshot belongs to its source workspace, not to the workspace restored from it.
    source = record.detail.get("source")
    workspace_id = record.workspace_id if source is None else UUID(str(source))
    try:
        return encode(kind, workspace_id, UUID(record.subject))
    except ValueError:
        return record.subject

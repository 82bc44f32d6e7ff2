"""`rag saved`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from agentic_rag.kernel.public_ids import NodeKind
from agentic_rag_cli.client import thread_queries
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.client.ids import require_id
from agentic_rag_cli.options import JsonOption, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import on_asked_server

app = typer.Typer(
    help="Questions of yours that are asked again after each publish, and tell when their answer changed.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("add")
def add(
    context: typer.Context,
    run: Annotated[str, typer.Argument(metavar="RUN", help="Id of the run to compare with.")],
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Have the question of a run asked again after each publish. Saved again, it is compared with the new run.

    Example: rag saved add UgGYwN4AAHAA…
    """
    require_id(run, NodeKind.RUN)

    async def work(client: GraphQLClient) -> dict[str, Any]:
        public_id = await client.node_id(workspace, run, NodeKind.RUN)
        found: dict[str, Any] = await client.fetch(thread_queries.SAVE_QUESTION, runId=public_id)
        return found

    found = on_asked_server(context, work)["saved"]
    terminal.show(found, f"Saved as {found['id']}: {found['question']}", as_json=as_json)


@app.command("list")
def list_saved(context: typer.Context, workspace: WorkspaceOption = None, as_json: JsonOption = False) -> None:
    """List your saved questions and whether their answers changed. `rag run diff RUN NEWER` shows how.

    Example: rag saved list -w handbook
    """

    async def work(client: GraphQLClient) -> list[dict[str, Any]]:
        chosen = await client.workspace_id(workspace)
        found: list[dict[str, Any]] = await client.fetch(thread_queries.SAVED_QUESTIONS, workspaceId=chosen)
        return found

    found = on_asked_server(context, work)
    rows = [(one["id"], _state(one), one["runId"], one["newerRunId"] or "-", one["question"]) for one in found]
    terminal.show(found, terminal.table(("ID", "STATE", "RUN", "NEWER", "QUESTION"), rows), as_json=as_json)


@app.command("remove")
def remove(
    context: typer.Context,
    saved: Annotated[str, typer.Argument(metavar="SAVED", help="Id; `rag saved list` shows it.")],
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Ask a question no more; its runs stay.

    Example: rag saved remove UQGYwN4AAHAA…
    """
    require_id(saved, NodeKind.SAVED)

    async def work(client: GraphQLClient) -> dict[str, Any]:
        public_id = await client.node_id(workspace, saved, NodeKind.SAVED)
        found: dict[str, Any] = await client.fetch(thread_queries.REMOVE_SAVED_QUESTION, id=public_id)
        return found

    found = on_asked_server(context, work)
    terminal.show({"removedId": found["removedId"]}, "Removed.", as_json=as_json)


def _state(one: Mapping[str, Any]) -> str:
    """The state, with the stage or the reason."""
    detail = one["stage"] if one["state"] == "CHANGED" else one["reason"]
    return one["state"] if detail is None else f"{one['state']} ({detail})"

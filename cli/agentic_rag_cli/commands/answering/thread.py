"""`rag thread`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from agentic_rag.kernel.errors import no_such_thread
from agentic_rag.kernel.public_ids import NodeKind
from agentic_rag_cli.client import thread_queries
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.client.ids import require_id
from agentic_rag_cli.options import JsonOption, LimitOption, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.output.answer_view import answer_text
from agentic_rag_cli.wiring import on_asked_server

MOST_SHOWN = 30
PAGE = 15
"""Turns of a request: with all that they cite, more pass what one query may bring."""

app = typer.Typer(
    help="Conversations of yours: `rag ask --thread new` begins one. Nobody else sees them.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

ThreadArgument = Annotated[str, typer.Argument(metavar="THREAD", help="Id of the thread; `rag thread list` shows it.")]


@app.command("list")
def list_threads(
    context: typer.Context,
    workspace: WorkspaceOption = None,
    limit: LimitOption = 20,
    as_json: JsonOption = False,
) -> None:
    """List your conversations, the one asked in last first.

    Example: rag thread list -w handbook
    """

    async def work(client: GraphQLClient) -> list[dict[str, Any]]:
        return await client.nodes(thread_queries.THREADS, limit, workspaceId=await client.workspace_id(workspace))

    found = on_asked_server(context, work)
    rows = [(one["id"], str(one["turns"]), one["lastAt"][:16].replace("T", " "), one["title"]) for one in found]
    terminal.show(found, terminal.table(("ID", "TURNS", "LAST", "TITLE"), rows), as_json=as_json)


@app.command("show")
def show(
    context: typer.Context, thread: ThreadArgument, workspace: WorkspaceOption = None, as_json: JsonOption = False
) -> None:
    """Show the questions and answers of a conversation, oldest first; at most the newest 30.

    Example: rag thread show VAGYwN4AAHAA…
    """

    async def work(client: GraphQLClient) -> dict[str, Any]:
        public_id = await _public_id(client, workspace, thread)
        runs: list[dict[str, Any]] = []
        after: str | None = None
        while True:
            found: dict[str, Any] | None = await client.fetch(
                thread_queries.THREAD, id=public_id, first=PAGE, after=after
            )
            if found is None:
                raise no_such_thread()
            runs += found["runs"]["nodes"]
            shown = found["runs"]["pageInfo"]
            if len(runs) >= MOST_SHOWN or not shown["hasNextPage"]:
                return {**found, "runs": runs[::-1]}
            after = shown["endCursor"]

    found = on_asked_server(context, work)
    turns = [f"Q: {one['question']}\n\n{answer_text(one)}" for one in found["runs"]]
    terminal.show(found, "\n\n".join((found["title"], *turns)), as_json=as_json)


@app.command("rename")
def rename(
    context: typer.Context,
    thread: ThreadArgument,
    title: Annotated[str, typer.Argument(help="1 to 200 printable characters.")],
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Name a conversation. One without a name is called like its oldest question.

    Example: rag thread rename VAGYwN4AAHAA… "The lease"
    """

    async def work(client: GraphQLClient) -> dict[str, Any]:
        public_id = await _public_id(client, workspace, thread)
        found: dict[str, Any] = await client.fetch(thread_queries.RENAME_THREAD, id=public_id, title=title)
        return found

    found = on_asked_server(context, work)["thread"]
    terminal.show(found, f"It is called {found['title']!r} now.", as_json=as_json)


@app.command("delete")
def delete(
    context: typer.Context, thread: ThreadArgument, workspace: WorkspaceOption = None, as_json: JsonOption = False
) -> None:
    """Delete a conversation with its runs, their stages and what was said of them. What they cost stays in the usage.

    Example: rag thread delete VAGYwN4AAHAA…
    """

    async def work(client: GraphQLClient) -> dict[str, Any]:
        return await client.fetch(thread_queries.DELETE_THREAD, id=await _public_id(client, workspace, thread))

    found = on_asked_server(context, work)
    told = {"deletedId": found["deletedId"], "deletedRuns": found["deletedRuns"]}
    runs = "1 run" if told["deletedRuns"] == 1 else f"{told['deletedRuns']} runs"
    terminal.show(told, f"Deleted, with {runs}.", as_json=as_json)


async def _public_id(client: GraphQLClient, workspace: str | None, thread: str) -> str:
    """Errors: `InvalidInput` code INVALID_ID, those of `choose_workspace`."""
    require_id(thread, NodeKind.THREAD)
    return await client.node_id(workspace, thread, NodeKind.THREAD)

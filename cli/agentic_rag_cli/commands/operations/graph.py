"""`rag graph`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import typer

from agentic_rag_cli.client import operator_queries, queries
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.exits import ExitCode
from agentic_rag_cli.options import JsonOption, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import on_graphql

app = typer.Typer(
    help="The entity graph: in Postgres, or in the Neo4j of NEO4J_URI, which follows it.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("status")
def status(context: typer.Context, workspace: WorkspaceOption = None, as_json: JsonOption = False) -> None:
    """Show where the graph of each workspace stands, and whether it holds what it should.

    Exit code 0: all are equal to Postgres; 3: one is behind or differs; 4: Neo4j does not answer.

    Example: rag graph status --workspace reports
    """

    async def work(client: GraphQLClient) -> list[dict[str, Any]]:
        chosen = None if workspace is None else await client.workspace_id(workspace)
        every = [one for one in await client.fetch(queries.WORKSPACES) if chosen in (None, one["id"])]
        return [
            {
                "workspaceId": one["id"],
                "workspace": one["name"],
                **await client.fetch_long(operator_queries.GRAPH_STATUS, workspaceId=one["id"]),
            }
            for one in every
        ]

    found = on_graphql(context, work)
    rows = [
        (
            one["workspace"],
            one["store"],
            one["graphVersion"],
            one["corpusVersion"],
            "–" if one["fault"] else _counts(one),
            one["fault"] or ("equal" if one["equal"] else "differs" if one["lag"] == 0 else "behind"),
        )
        for one in found
    ]
    terminal.show(found, terminal.table(("WORKSPACE", "STORE", "AT", "OF", "HOLDS", "STATE"), rows), as_json=as_json)
    if any(one["fault"] for one in found):
        raise typer.Exit(ExitCode.UNAVAILABLE)
    if not all(one["equal"] for one in found):
        raise typer.Exit(ExitCode.PARTIAL)


@app.command("rebuild")
def rebuild(context: typer.Context, workspace: WorkspaceOption = None, as_json: JsonOption = False) -> None:
    """Empty a workspace's graph in Neo4j and fill it again from Postgres, by a job. Answers go on without it, flagged.

    Example: rag graph rebuild --workspace reports
    """

    async def work(client: GraphQLClient) -> dict[str, Any]:
        chosen = await client.workspace_id(workspace)
        return await client.fetch(operator_queries.REBUILD_GRAPH, workspaceId=chosen)

    rebuilt = on_graphql(context, work)
    if as_json:
        terminal.result_json({name: rebuilt[name] for name in ("jobId", "workerRunning")})
    elif rebuilt["jobId"] is None:
        terminal.result("The graph is kept in Postgres, where every publish writes it: there is nothing to rebuild.")
    else:
        terminal.result(f"job {rebuilt['jobId']} fills the graph; `rag graph status` shows how far it is")
        if not rebuilt["workerRunning"]:
            terminal.note("no worker is running: `rag up` or `rag worker` starts one")


def _counts(status: Mapping[str, Any]) -> str:
    expected = status["expected"]
    held = status["held"] or expected
    return ", ".join(
        f"{name} {held[name]}" if held[name] == wanted else f"{name} {held[name]} of {wanted}"
        for name, wanted in expected.items()
    )

"""`rag mcp`."""

from __future__ import annotations

from typing import Annotated

import typer

from agentic_rag_cli.client import queries
from agentic_rag_cli.client.access import asked_server, token_of
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.in_process import System
from agentic_rag_cli.options import UrlOption
from agentic_rag_cli.wiring import in_process, run_async, wiring_of


def mcp(
    context: typer.Context,
    workspace: Annotated[
        str | None, typer.Option("--workspace", "-w", help="Name of the workspace; left out, tools may name any.")
    ] = None,
    url: UrlOption = None,
) -> None:
    """Serve the Model Context Protocol on standard input and output, for hosts that start their servers.

    The tools are those of /mcp: of a server with --url, else of the system in this process.

    Example: rag mcp --workspace handbook
    """
    wiring = wiring_of(context)
    settings = wiring.settings()
    address = asked_server(settings, url)

    async def with_server() -> None:
        async with wiring.remote(settings, address) as client:
            await _check(client, workspace)
        from agentic_rag_cli.client.mcp_bridge import serve_stdio

        timeout = settings.answering.budget_ms[1]
        await serve_stdio(address, token_of(settings), timeout, workspace, wiring.transport)

    async def with_system(system: System) -> None:
        async with system.client() as client:
            await _check(client, workspace)
        await system.serve_mcp(workspace)

    if address:
        run_async(with_server())
    else:
        in_process(context, with_system)


async def _check(client: GraphQLClient, workspace: str | None) -> None:
    """See that the server answers this token, and has the workspace. Errors: those of `GraphQLClient`."""
    if workspace is None:
        await client.fetch(queries.WORKSPACES)
    else:
        await client.workspace_id(workspace)

"""`rag serve`."""

from __future__ import annotations

from typing import Annotated

import typer

from agentic_rag_cli.client.access import with_local_issuer
from agentic_rag_cli.options import WithParentOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.processes.children import stop_with_parent
from agentic_rag_cli.wiring import run_async, wiring_of


def serve(
    context: typer.Context,
    host: Annotated[str | None, typer.Option("--host", help="Address to listen on (AGENTIC_RAG_HOST).")] = None,
    port: Annotated[
        int | None, typer.Option("--port", min=0, max=65535, help="Port to listen on (AGENTIC_RAG_PORT).")
    ] = None,
    processes: Annotated[
        int, typer.Option("--processes", "-p", min=1, max=64, help="Server processes that share the port.")
    ] = 1,
    with_parent: WithParentOption = False,
    listener: Annotated[int | None, typer.Option("--listener", hidden=True)] = None,
    beside: Annotated[int, typer.Option("--beside", min=1, max=64, hidden=True)] = 1,
) -> None:
    """Run the server: GraphQL at /graphql, and /healthz, /readyz, /metrics. Needs Postgres and Redis.

    Of several processes a dead one is started again; each has its own connections and its own memory.

    It makes no credential: `rag key bootstrap` makes the first, or AGENTIC_RAG_TOKEN (32 characters or more) opens it.

    Example: AGENTIC_RAG_ENABLED=true DATABASE_URL=… REDIS_URL=… rag serve --port 8080
    """
    wiring = wiring_of(context)
    settings = wiring.settings()
    given = {"host": host, "port": port}
    settings = settings.change(server={name: value for name, value in given.items() if value is not None})
    if with_parent:
        stop_with_parent()
    with wiring.servers(settings) as ready:
        if processes == 1:
            from agentic_rag_server.main import run_server

            run_server(with_local_issuer(ready), processes=beside, listener=listener)
            return
        from agentic_rag_cli.processes.supervisor import supervise_servers

        run_async(supervise_servers(ready, processes, lambda _, line: terminal.note(line)))

"""`rag serve`."""

from __future__ import annotations

from typing import Annotated

import typer

from agentic_rag_cli.client.access import with_local_issuer
from agentic_rag_cli.options import WithParentOption
from agentic_rag_cli.processes.children import stop_with_parent
from agentic_rag_cli.wiring import wiring_of


def serve(
    context: typer.Context,
    host: Annotated[str | None, typer.Option("--host", help="Address to listen on (AGENTIC_RAG_HOST).")] = None,
    port: Annotated[
        int | None, typer.Option("--port", min=0, max=65535, help="Port to listen on (AGENTIC_RAG_PORT).")
    ] = None,
    with_parent: WithParentOption = False,
) -> None:
    """Run the server: GraphQL at /graphql, and /healthz, /readyz, /metrics. Needs Postgres and Redis.

    It makes no credential: `rag key bootstrap` makes the first, or AGENTIC_RAG_TOKEN (32 characters or more) opens it.

    Example: AGENTIC_RAG_ENABLED=true DATABASE_URL=… REDIS_URL=… rag serve --port 8080
    """
    from agentic_rag_server.main import run_server

    wiring = wiring_of(context)
    settings = wiring.settings()
    given = {"host": host, "port": port}
    settings = settings.change(server={name: value for name, value in given.items() if value is not None})
    if with_parent:
        stop_with_parent()
    with wiring.servers(settings) as ready:
        run_server(with_local_issuer(ready))

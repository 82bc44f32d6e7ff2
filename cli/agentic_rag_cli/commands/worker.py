"""`rag worker`."""

from __future__ import annotations

import typer

from agentic_rag_cli.options import WithParentOption
from agentic_rag_cli.wiring import wiring_of


def worker(context: typer.Context, with_parent: WithParentOption = False) -> None:
    """Run a worker, which ingests, deletes and compacts; any number may run, on any host.

    Example: DATABASE_URL=… REDIS_URL=… rag worker
    """
    from agentic_rag_cli.processes import stop_with_parent
    from agentic_rag_cli.programs import run_worker

    wiring = wiring_of(context)
    settings = wiring.settings()
    if with_parent:
        stop_with_parent()
    with wiring.servers(settings) as ready:
        run_worker(ready)

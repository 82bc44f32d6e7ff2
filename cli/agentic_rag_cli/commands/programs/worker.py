"""`rag worker`."""

from __future__ import annotations

from typing import Annotated

import typer

from agentic_rag_cli.options import WithParentOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.processes.children import stop_with_parent
from agentic_rag_cli.wiring import run_async, wiring_of


def worker(
    context: typer.Context,
    processes: Annotated[
        int | None,
        typer.Option("--processes", "-p", min=1, max=64, help="Worker processes (AGENTIC_RAG_WORKER_PROCESSES)."),
    ] = None,
    with_parent: WithParentOption = False,
) -> None:
    """Run a worker, which ingests, deletes and compacts; any number may run, on any host.

    Of several processes a dead one is started again, and each has the next metrics port.

    Example: DATABASE_URL=… REDIS_URL=… rag worker --processes 4
    """
    wiring = wiring_of(context)
    settings = wiring.settings()
    if with_parent:
        stop_with_parent()
    count = settings.jobs.worker_processes if processes is None else processes
    with wiring.servers(settings) as ready:
        if count == 1:
            from agentic_rag_cli.commands.evaluation.eval_asking import evaluation_bodies
            from agentic_rag_worker.worker import run_program

            run_program(ready, evaluation_bodies)
            return
        from agentic_rag_cli.processes.supervisor import supervise

        run_async(supervise(ready, count, lambda _, line: terminal.note(line)))

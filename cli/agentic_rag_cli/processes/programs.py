"""The long-running programs, imported only when they are started."""

from __future__ import annotations

from agentic_rag.settings import Settings


def run_server(settings: Settings) -> None:
    """Serve until SIGTERM. Errors: those of the container; code PORT_IN_USE."""
    from agentic_rag_server.main import run_server as serve

    serve(settings)


def run_worker(settings: Settings) -> None:
    """Work until SIGTERM, then drain. Errors: those of the container."""
    from agentic_rag_cli.commands.evaluation.evaluating import evaluation_bodies
    from agentic_rag_worker.program import run_program

    run_program(settings, evaluation_bodies)

"""The long-running programs, joined to the wired system."""

from __future__ import annotations

from agentic_rag.settings import Settings


def run_server(settings: Settings) -> None:
    """Serve until SIGTERM. Errors: those of the container; code PORT_IN_USE."""
    import agentic_rag_server

    agentic_rag_server.run(settings)


def run_worker(settings: Settings) -> None:
    """Work until SIGTERM, then drain. Errors: those of the container."""
    import agentic_rag_worker

    agentic_rag_worker.run_worker(settings)

"""`rag worker`: settings in, a working worker out."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable

from agentic_rag.bootstrap import build_container
from agentic_rag.domain.errors import Misconfigured
from agentic_rag.settings import Settings
from agentic_rag_worker.main import WorkerOptions, run_worker
from agentic_rag_worker.wiring import WorkerTimings


def worker_options(settings: Settings) -> WorkerOptions:
    """What the settings say about a worker."""
    return WorkerOptions(
        slots=settings.worker_concurrency,
        metrics_host=settings.host,
        metrics_port=settings.worker_metrics_port or None,
        timings=WorkerTimings(lease=settings.job_lease_seconds, grace=settings.drain_seconds),
    )


def run_program(settings: Settings) -> None:
    """Work until SIGINT or SIGTERM, then drain. Errors: `Misconfigured` (PORT_IN_USE, no DATABASE_URL)."""
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(_work(settings))


async def _work(settings: Settings) -> None:
    options = worker_options(settings)
    async with build_container(settings) as container:
        try:
            await run_worker(container, options)
        except OSError as error:
            raise Misconfigured(
                f"{options.metrics_host}:{options.metrics_port} cannot be used for the worker's metrics ({error}): "
                "set AGENTIC_RAG_WORKER_METRICS_PORT to a free port, or to 0 for none.",
                code="PORT_IN_USE",
            ) from error


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    if sys.platform == "win32":
        return None
    import uvloop

    return uvloop.new_event_loop

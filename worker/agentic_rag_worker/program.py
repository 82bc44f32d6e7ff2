"""`rag worker`: settings in, a working worker out."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import CoroutineType
from typing import Any

from arq.connections import ArqRedis

from agentic_rag.bootstrap import Container, build_container, route_library_logs, settle_collector
from agentic_rag.jobs.job import JobKind, RetryPolicy
from agentic_rag.jobs.ports import DeadPayloads, JobBoard, JobQueue
from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import Misconfigured
from agentic_rag.kernel.ids import Ids
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.settings import Settings
from agentic_rag_worker.job_handlers import (
    CompactHandler,
    DeleteHandler,
    GraphHandler,
    HydeHandler,
    IndexHandler,
    IngestHandler,
    JobHandler,
    ReembedHandler,
    RetentionHandler,
    SnapshotHandler,
)
from agentic_rag_worker.main import WorkerOptions, run_worker
from agentic_rag_worker.malloc import return_large_blocks
from agentic_rag_worker.wiring import WorkerTimings


@dataclass(frozen=True, slots=True)
class WorkerParts:
    """Implements `wiring.WorkerContainer` with the parts of a container."""

    database: Database
    queue: JobQueue
    bodies: Mapping[JobKind, JobHandler]
    clock: Clock
    ids: Ids
    telemetry: Telemetry
    retry_policy: RetryPolicy
    queue_name: str
    partitions: int
    dead_payloads: Callable[[], DeadPayloads]
    job_board: Callable[[], JobBoard]
    heartbeat_database: Callable[[], Database]
    arq_pool: Callable[[], ArqRedis]
    readiness: Callable[[], CoroutineType[Any, Any, Mapping[str, str | None]]]


MoreHandlers = Callable[[Container], Mapping[JobKind, JobHandler]]
"""Of kinds whose bodies live in packages that this one does not know."""


def worker_parts(container: Container, more: MoreHandlers | None = None) -> WorkerParts:
    """The parts of a container that a worker uses."""
    others: Mapping[JobKind, JobHandler] = {} if more is None else more(container)
    return WorkerParts(
        database=container.database,
        queue=container.queue,
        bodies={**job_handlers(container), **others},
        clock=container.clock,
        ids=container.ids,
        telemetry=container.telemetry,
        retry_policy=container.retry_policy,
        queue_name=container.queue_name,
        partitions=container.partitions,
        dead_payloads=container.dead_payloads,
        job_board=container.job_board,
        heartbeat_database=container.heartbeat_database,
        arq_pool=container.arq_pool,
        readiness=container.readiness,
    )


def job_handlers(container: Container) -> Mapping[JobKind, JobHandler]:
    """What runs the jobs of each kind in this process."""
    return {
        JobKind.INGEST: IngestHandler(container.ingest),
        JobKind.DELETE: DeleteHandler(container.delete),
        JobKind.COMPACT: CompactHandler(container.database),
        JobKind.RETENTION: RetentionHandler(container.database, container.blobs),
        JobKind.SNAPSHOT: SnapshotHandler(container.take_snapshot),
        JobKind.GRAPH: GraphHandler(container.graph_sync),
        JobKind.HYDE: HydeHandler(container.write_passage),
        JobKind.REEMBED: ReembedHandler(container.switch_spaces),
        JobKind.INDEX: IndexHandler(container.keep_index),
    }


def worker_options(settings: Settings) -> WorkerOptions:
    """What the settings say about a worker."""
    return WorkerOptions(
        slots=settings.jobs.concurrency,
        served=settings.jobs.partition_numbers,
        metrics_host=settings.server.host,
        metrics_port=settings.jobs.metrics_port or None,
        attack_every_seconds=60 * settings.operations.leak_canaries_minutes,
        timings=WorkerTimings(
            lease=settings.jobs.lease_seconds,
            grace=settings.jobs.drain_seconds,
        ),
    )


def run_program(settings: Settings, more: MoreHandlers | None = None) -> None:
    """Work until SIGINT or SIGTERM, then drain. Errors: `Misconfigured` (PORT_IN_USE, no DATABASE_URL)."""
    return_large_blocks()
    route_library_logs(settings)
    settle_collector()
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(_work(settings, more))


async def _work(settings: Settings, more: MoreHandlers | None) -> None:
    options = worker_options(settings)
    async with build_container(settings) as container:
        try:
            attacks = container.leak_canaries if options.attack_every_seconds > 0 else None
            await run_worker(worker_parts(container, more), options, attacks=attacks)
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

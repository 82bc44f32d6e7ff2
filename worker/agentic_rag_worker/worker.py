"""`rag worker`: a process that runs a dispatcher, queue consumers, the lease heartbeat and a metrics server."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from agentic_rag import __version__
from agentic_rag.bootstrap import (
    Container,
    build_container,
    limit_arenas,
    loop_factory,
    route_library_logs,
    settle_collector,
)
from agentic_rag.jobs.job import JobKind, QueueName
from agentic_rag.jobs.message import QueueLayout
from agentic_rag.jobs.ports import JobBoard
from agentic_rag.jobs.schedule_maintenance import ScheduleMaintenance
from agentic_rag.jobs.workers import WorkerIdentity
from agentic_rag.kernel.errors import AgenticRagError, Misconfigured
from agentic_rag.settings import Settings
from agentic_rag_worker.arq_worker import DeadPayloadRecorder, Deliver, QueueConsumer
from agentic_rag_worker.canary_schedule import CanaryRound, CanarySchedule
from agentic_rag_worker.dispatcher import Dispatcher
from agentic_rag_worker.exclusive_lock import ExclusiveLock
from agentic_rag_worker.heartbeat import Heartbeat
from agentic_rag_worker.job_handlers import Handler, job_handlers
from agentic_rag_worker.login_watch import LoginWatch
from agentic_rag_worker.malloc import return_large_blocks
from agentic_rag_worker.message_validation import JobSlots
from agentic_rag_worker.metrics_http import MetricsServer
from agentic_rag_worker.runner import JobRunner
from agentic_rag_worker.timings import WorkerTimings

CANCEL_AGAIN_SECONDS = 0.2

ENDING_SECONDS = 2.0
"""How long dispatcher and consumers may take to end; after that they are waiting for a server that is away."""


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """The limits of a worker and the address of its metrics (port None: no metrics)."""

    slots: int = 8
    interactive_slots: int = 2
    served: tuple[int, ...] | None = None
    """The partitions of the bulk queue that this process consumes; None for all."""
    metrics_host: str = "127.0.0.1"
    metrics_port: int | None = None
    timings: WorkerTimings = WorkerTimings()
    canary_seconds: float = 0.0
    """How often a self-attack tests the isolation of organisations; 0: never."""

    @property
    def window(self) -> int:
        """How many jobs may wait in a queue. A newcomer starts behind them and behind what consumers are just taking,
        together at most two jobs a slot.
        """
        return self.slots + max(1, self.slots // 2)


MoreHandlers = Callable[[Container], Mapping[JobKind, Handler]]
"""Makes the handlers of kinds that live outside core."""


def worker_options(settings: Settings) -> WorkerOptions:
    """The options that the settings state."""
    return WorkerOptions(
        slots=settings.jobs.concurrency,
        served=settings.jobs.partition_numbers,
        metrics_host=settings.server.host,
        metrics_port=settings.jobs.metrics_port or None,
        canary_seconds=60 * settings.operations.schedule.canaries_minutes,
        timings=WorkerTimings(
            lease=settings.jobs.lease_seconds,
            grace=settings.jobs.drain_seconds,
        ),
    )


async def run_worker(
    parts: Container,
    handlers: Mapping[JobKind, Handler],
    options: WorkerOptions | None = None,
    *,
    stop: asyncio.Event | None = None,
    canaries: CanaryRound | None = None,
    watches: Sequence[LoginWatch] = (),
) -> None:
    """Work until `stop` (None: SIGTERM or SIGINT), then drain: running jobs finish within the grace or are released.

    A job of a kind without a handler becomes a dead letter.

    Errors: `OSError` when the metrics port is in use; an error that ends a service ends the worker.
    """
    options = options or WorkerOptions()
    timings = options.timings
    worker = _identity(options)
    heartbeat = Heartbeat(parts.heartbeat_database, parts.clock, parts.telemetry, timings.lease_ttl, worker)
    exclusive_lock = ExclusiveLock()
    runner = JobRunner(
        database=parts.database,
        queue=parts.queue,
        handlers=handlers,
        policy=parts.retry_policy,
        heartbeat=heartbeat,
        exclusive_lock=exclusive_lock,
        clock=parts.clock,
        ids=parts.ids,
        telemetry=parts.telemetry,
        worker=worker,
        timings=timings,
    )
    async with contextlib.AsyncExitStack() as closing:
        board = parts.job_board()
        closing.push_async_callback(board.aclose)
        closing.push_async_callback(_sign_off, board, worker)
        pool = parts.arq_pool()
        closing.push_async_callback(pool.aclose, close_connection_pool=True)
        await _serve_metrics(parts, options, closing)
        heartbeat.start()
        closing.push_async_callback(asyncio.to_thread, heartbeat.stop)
        dispatcher = _dispatcher(parts, board, options, worker)
        payloads = parts.dead_payloads()
        closing.push_async_callback(payloads.aclose)
        dead_payloads = DeadPayloadRecorder(payloads, parts.queue, parts.telemetry)
        consumers = [
            QueueConsumer(pool, key, deliver, dead_payloads, parts.telemetry, timings, slots)
            for key, deliver, slots in _queues(parts, options, runner, exclusive_lock)
        ]
        services = [*watches, dispatcher, *consumers, *_canary_schedules(parts, options, canaries, dispatcher)]
        with _stop_on_signals() if stop is None else contextlib.nullcontext(stop) as stopping:
            await _work(stopping, services, runner)


def _dispatcher(parts: Container, board: JobBoard, options: WorkerOptions, worker: WorkerIdentity) -> Dispatcher:
    return Dispatcher(
        board,
        parts.queue,
        ScheduleMaintenance(parts.database, parts.telemetry),
        parts.clock,
        parts.telemetry,
        options.timings,
        worker,
        window=options.window,
        partitions=parts.partitions,
    )


def _identity(options: WorkerOptions) -> WorkerIdentity:
    host, pid = socket.gethostname(), os.getpid()
    return WorkerIdentity(f"{host}:{pid}:{secrets.token_hex(4)}", host, pid, __version__, options.slots)


async def _sign_off(board: JobBoard, worker: WorkerIdentity) -> None:
    """Best effort: a worker that could not say that it ends looks like one that died."""
    with contextlib.suppress(AgenticRagError):
        await board.sign_off(worker)


def _canary_schedules(
    parts: Container, options: WorkerOptions, canaries: CanaryRound | None, dispatcher: Dispatcher
) -> list[CanarySchedule]:
    every = options.canary_seconds
    if canaries is None or every <= 0:
        return []
    return [CanarySchedule(canaries, every, lambda: dispatcher.leads, parts.clock, parts.telemetry)]


def _queues(
    parts: Container, options: WorkerOptions, runner: JobRunner, exclusive_lock: ExclusiveLock
) -> list[tuple[str, Deliver, JobSlots]]:
    """The key, delivery function and slots of each queue that this process consumes. The partitions of the bulk queue
    share their slots and pause while a job runs exclusively.
    """
    layout = QueueLayout(parts.key_prefix, parts.partitions)
    bulk, interactive = (
        JobSlots(options.slots, lambda: exclusive_lock.is_exclusive),
        JobSlots(options.interactive_slots),
    )
    run_interactive = partial(runner.run, queue=QueueName.INTERACTIVE)
    served = range(parts.partitions) if options.served is None else options.served
    return [
        (layout.key(QueueName.INTERACTIVE), run_interactive, interactive),
        *[(layout.key(QueueName.BULK, partition), runner.run, bulk) for partition in served],
    ]


async def _work(
    stop: asyncio.Event, services: Sequence[LoginWatch | Dispatcher | QueueConsumer | CanarySchedule], runner: JobRunner
) -> None:
    running = [asyncio.create_task(service.run(), name=type(service).__name__.lower()) for service in services]
    stopped = asyncio.create_task(stop.wait(), name="stop")
    try:
        await asyncio.wait([stopped, *running], return_when=asyncio.FIRST_COMPLETED)
        for service in services:
            service.stop()
        await runner.drain()
        ended, _ = await asyncio.wait(running, timeout=ENDING_SECONDS)
        for task in ended:
            task.result()
    finally:
        await _cancel([stopped, *running])


async def _cancel(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel until all have ended: redis-py 5 swallows a cancellation that arrives while it connects."""
    left = {task for task in tasks if not task.done()}
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=CANCEL_AGAIN_SECONDS)


async def _serve_metrics(parts: Container, options: WorkerOptions, closing: contextlib.AsyncExitStack) -> None:
    if options.metrics_port is None:
        return
    server = MetricsServer(parts.telemetry, parts.readiness, options.metrics_host, options.metrics_port)
    await server.start()
    closing.push_async_callback(server.aclose)


@contextlib.contextmanager
def _stop_on_signals() -> Iterator[asyncio.Event]:
    """An event that SIGTERM and SIGINT set."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    signals = (signal.SIGTERM, signal.SIGINT)
    for number in signals:
        loop.add_signal_handler(number, stop.set)
    try:
        yield stop
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


def run_program(settings: Settings, more: MoreHandlers | None = None) -> None:
    """Work until SIGINT or SIGTERM, then drain. Errors: `Misconfigured` (PORT_IN_USE, no DATABASE_URL,
    DATABASE_ROLE_TOO_STRONG).
    """
    return_large_blocks()
    limit_arenas()
    route_library_logs(settings)
    settle_collector()
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(_work_with(settings, more))


async def _work_with(settings: Settings, more: MoreHandlers | None) -> None:
    options = worker_options(settings)
    async with build_container(settings) as container:
        try:
            canaries = container.leak_canaries.run if options.canary_seconds > 0 else None
            login = LoginWatch(await container.watch_login())
            container.register.start()
            handlers = {**job_handlers(container), **({} if more is None else more(container))}
            await run_worker(container, handlers, options, canaries=canaries, watches=[login])
        except OSError as error:
            raise Misconfigured(
                f"{options.metrics_host}:{options.metrics_port} cannot be used for the worker's metrics ({error}): "
                "set AGENTIC_RAG_WORKER_METRICS_PORT to a free port, or to 0 for none.",
                code="PORT_IN_USE",
            ) from error

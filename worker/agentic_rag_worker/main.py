"""A worker process: dispatcher, consumers, heartbeat and metrics, until it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from agentic_rag.jobs.job import QueueName
from agentic_rag.jobs.message import QueueLayout
from agentic_rag.jobs.schedule_maintenance import ScheduleMaintenance
from agentic_rag_worker.arq_worker import DeadPayloadRecorder, Deliver, QueueConsumer
from agentic_rag_worker.canary_schedule import CanaryRounds, CanarySchedule
from agentic_rag_worker.dispatcher import Dispatcher
from agentic_rag_worker.exclusive_lock import ExclusiveLock
from agentic_rag_worker.heartbeat import Heartbeat
from agentic_rag_worker.message_validation import JobSlots
from agentic_rag_worker.metrics_http import MetricsServer
from agentic_rag_worker.runner import JobRunner
from agentic_rag_worker.wiring import WorkerContainer, WorkerTimings

CANCEL_AGAIN_SECONDS = 0.2

ENDING_SECONDS = 2.0
"""What dispatcher and consumers get to finish a look and a poll in; beyond it they wait for a server that is away."""


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """How much a worker takes on, and where it shows its metrics (None: nowhere)."""

    slots: int = 8
    interactive_slots: int = 2
    served: tuple[int, ...] | None = None
    """The partitions of the bulk queue this process takes jobs from; None for all."""
    metrics_host: str = "127.0.0.1"
    metrics_port: int | None = None
    timings: WorkerTimings = WorkerTimings()
    attack_every_seconds: float = 0.0
    """How often the walls between the organisations are attacked; 0: never."""


async def run_worker(
    container: WorkerContainer,
    options: WorkerOptions | None = None,
    *,
    stop: asyncio.Event | None = None,
    handle_signals: bool = True,
    attacks: CanaryRounds | None = None,
) -> None:
    """Work until SIGTERM, SIGINT or `stop`; then drain: running jobs finish within the grace period or are given back.

    Errors: `OSError` when the metrics port is in use; whatever ends a part unexpectedly ends the worker.
    """
    options = options or WorkerOptions()
    stop = stop or asyncio.Event()
    timings = options.timings
    heartbeat = Heartbeat(container.heartbeat_database, container.clock, container.telemetry, timings.lease_ttl)
    company = ExclusiveLock()
    runner = JobRunner(
        database=container.database,
        queue=container.queue,
        bodies=container.bodies,
        policy=container.retry_policy,
        heartbeat=heartbeat,
        company=company,
        clock=container.clock,
        ids=container.ids,
        telemetry=container.telemetry,
        worker=f"{socket.gethostname()}:{os.getpid()}",
        timings=timings,
    )
    async with contextlib.AsyncExitStack() as closing:
        board = container.job_board()
        closing.push_async_callback(board.aclose)
        pool = container.arq_pool()
        closing.push_async_callback(pool.aclose, close_connection_pool=True)
        await _serve_metrics(container, options, closing)
        heartbeat.start()
        closing.push_async_callback(asyncio.to_thread, heartbeat.stop)
        dispatcher = Dispatcher(
            board,
            container.queue,
            ScheduleMaintenance(container.database, container.telemetry),
            container.clock,
            container.telemetry,
            timings,
            window=2 * options.slots,
            partitions=container.partitions,
        )
        payloads = container.dead_payloads()
        closing.push_async_callback(payloads.aclose)
        findings = DeadPayloadRecorder(payloads, container.queue, container.telemetry)
        consumers = [
            QueueConsumer(pool, key, deliver, findings, container.telemetry, timings, slots)
            for key, deliver, slots in _queues(container, options, runner, company)
        ]
        with _stopping(stop, handle_signals=handle_signals):
            await _work(stop, [dispatcher, *consumers, *_patrols(container, options, attacks, dispatcher)], runner)


def _patrols(
    container: WorkerContainer, options: WorkerOptions, attacks: CanaryRounds | None, dispatcher: Dispatcher
) -> list[CanarySchedule]:
    every = options.attack_every_seconds
    if attacks is None or every <= 0:
        return []
    return [CanarySchedule(attacks, every, lambda: dispatcher.leads, container.clock, container.telemetry)]


def _queues(
    container: WorkerContainer, options: WorkerOptions, runner: JobRunner, company: ExclusiveLock
) -> list[tuple[str, Deliver, JobSlots]]:
    """The queues this process serves: their key, who takes what they deliver, and their slots. The partitions of the
    bulk queue share its slots, and wait while a job runs alone.
    """
    layout = QueueLayout(container.queue_name, container.partitions)
    bulk, interactive = JobSlots(options.slots, lambda: company.is_closed), JobSlots(options.interactive_slots)
    waited_for = partial(runner.run, queue=QueueName.INTERACTIVE)
    served = range(container.partitions) if options.served is None else options.served
    return [
        (layout.key(QueueName.INTERACTIVE), waited_for, interactive),
        *[(layout.key(QueueName.BULK, partition), runner.run, bulk) for partition in served],
    ]


class Service(Protocol):
    """What runs until it is told to stop."""

    async def run(self) -> None: ...

    def stop(self) -> None: ...


async def _work(stop: asyncio.Event, stoppables: Sequence[Service], runner: JobRunner) -> None:
    parts = [asyncio.create_task(part.run(), name=type(part).__name__.lower()) for part in stoppables]
    told = asyncio.create_task(stop.wait(), name="stop")
    try:
        await asyncio.wait([told, *parts], return_when=asyncio.FIRST_COMPLETED)
        for stoppable in stoppables:
            stoppable.stop()
        await runner.drain()
        ended, _ = await asyncio.wait(parts, timeout=ENDING_SECONDS)
        for part in ended:
            part.result()
    finally:
        await _cancel([told, *parts])


async def _cancel(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel until they have ended: redis-py 5 swallows a cancellation that meets it while connecting."""
    left = {task for task in tasks if not task.done()}
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=CANCEL_AGAIN_SECONDS)


async def _serve_metrics(
    container: WorkerContainer, options: WorkerOptions, closing: contextlib.AsyncExitStack
) -> None:
    if options.metrics_port is None:
        return
    server = MetricsServer(container.telemetry, container.readiness, options.metrics_host, options.metrics_port)
    await server.start()
    closing.push_async_callback(server.aclose)


@contextlib.contextmanager
def _stopping(stop: asyncio.Event, *, handle_signals: bool) -> Iterator[None]:
    if not handle_signals:
        yield
        return
    loop = asyncio.get_running_loop()
    signals = (signal.SIGTERM, signal.SIGINT)
    for number in signals:
        loop.add_signal_handler(number, stop.set)
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)

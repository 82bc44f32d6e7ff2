"""Takes job ids from a queue through arq.

arq only delivers. Its own retries and time-outs never decide: the function it calls ends without an error whatever
became of the job, its time-out lies beyond every job's deadline, and what it drops is offered again from the outbox.
What is no message of ours is set aside (`message_validation`).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

from arq.connections import ArqRedis
from arq.constants import in_progress_key_prefix
from arq.worker import func
from redis.exceptions import RedisError

from agentic_rag.jobs.job import JobRef
from agentic_rag.jobs.message import FUNCTION, UndecodableMessage, decode
from agentic_rag.jobs.ports import DeadPayloads, JobQueue
from agentic_rag.kernel.errors import AgenticRagError, DependencyUnavailable
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag_worker.message_validation import JobSlots, MessageValidation, PollingStopped, ValidatingWorker
from agentic_rag_worker.outage_log import OutageLog
from agentic_rag_worker.runner import RunOutcome
from agentic_rag_worker.timings import WorkerTimings

LONGEST_DELIVERY_SECONDS = 86_400
"""Beyond the longest deadline of any body."""

CLAIM_SECONDS = 5.0
"""How long a delivery that was picked up is kept from other workers. Longer than taking a lease, which is what settles
whose it is; no longer, for a worker that dies before it has the lease leaves a job that arq would not offer again. One
that runs beyond this is picked up once more, is not leased, and so leaves the queue.
"""

READ_LIMIT = 10_000
"""arq looks at this many entries a poll. Its default of 100 hides jobs behind those that killed workers left."""


Deliver = Callable[[JobRef], Awaitable[RunOutcome]]
"""Runs a delivered job. Errors: `DependencyUnavailable`, and then nothing was leased."""


class DeadPayloadRecorder:
    """Keeps what was no message of ours, and shows it where operators look."""

    def __init__(self, store: DeadPayloads, queue: JobQueue, telemetry: Telemetry) -> None:
        self._store = store
        self._queue = queue
        self._telemetry = telemetry

    async def keep(self, found: UndecodableMessage) -> None:
        """Store, count and mirror. Errors: `DependencyUnavailable` (nothing was stored)."""
        is_new = await self._store.keep(found)
        self._telemetry.event(
            "rag_job_message_dropped",
            level="warning",
            queue=found.queue,
            code=found.code,
            message=found.reason,
            payload_id=str(found.payload_id),
            bytes=len(found.payload),
        )
        if not is_new:
            return
        self._telemetry.count("rag_dead_letters_total", kind="payload")
        try:
            await self._queue.mirror_payload(found)
        except DependencyUnavailable as outage:
            self._telemetry.event(
                "rag_dead_letter_not_mirrored", level="warning", payload_id=str(found.payload_id), code=outage.code
            )


class QueueConsumer:
    """One arq worker per queue, restarted after an outage of Redis."""

    def __init__(
        self,
        pool: ArqRedis,
        key: str,
        run: Deliver,
        findings: DeadPayloadRecorder,
        telemetry: Telemetry,
        timings: WorkerTimings,
        slots: JobSlots,
    ) -> None:
        self._pool = pool
        self._key = key
        self._run = run
        self._outage = OutageLog(telemetry, "rag_queue_unreachable", "rag_queue_reachable", queue=key)
        self._validation = MessageValidation(findings.keep, timings.outage, self._outage.end)
        self._telemetry = telemetry
        self._timings = timings
        self._slots = slots
        self._worker: ValidatingWorker | None = None
        self._stopping = False

    async def run(self) -> None:
        """Consume until stopped."""
        while not self._stopping:
            self._worker = self._new_worker()
            try:
                await self._worker.main()
            except PollingStopped:
                return
            except (RedisError, OSError) as error:
                self._outage.begin(DependencyUnavailable.code, type(error).__name__)
                await asyncio.sleep(self._timings.outage)

    def stop(self) -> None:
        """Take nothing more; `run` ends when arq has cleared away the deliveries that run, or Redis is away."""
        self._stopping = True
        if self._worker is not None:
            self._worker.stop()

    def _new_worker(self) -> ValidatingWorker:
        return ValidatingWorker(
            self._validation,
            self._slots,
            min(CLAIM_SECONDS, self._timings.lease),
            functions=[func(self._deliver, name=FUNCTION, keep_result=0, timeout=LONGEST_DELIVERY_SECONDS)],
            queue_name=self._key,
            redis_pool=self._pool,
            handle_signals=False,
            job_timeout=LONGEST_DELIVERY_SECONDS,
            keep_result=0,
            poll_delay=self._timings.consumer_poll,
            queue_read_limit=READ_LIMIT,
            max_tries=1_000_000,
            job_serializer=self._pool.job_serializer,
            job_deserializer=self._pool.job_deserializer,
            log_results=False,
        )

    async def _deliver(self, ctx: dict[Any, Any], message: object) -> None:
        ended = asyncio.Event()
        marking = asyncio.create_task(self._keep_mark(in_progress_key_prefix + ctx["job_id"], ended), name="mark")
        try:
            await self._run(decode(message))
        except AgenticRagError as error:
            # Nothing was leased: the job is still QUEUED, and the dispatcher offers it again.
            self._telemetry.event("rag_job_not_leased", level="warning", queue=self._key, code=error.code)
        finally:
            # Not cancelled: redis-py loses a connection whose command a cancellation meets.
            ended.set()
            await marking

    async def _keep_mark(self, key: str, ended: asyncio.Event) -> None:
        """Renew arq's mark that a delivery is under way, for as long as it is."""
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), self._timings.lease / 3)
                return
            with contextlib.suppress(RedisError, OSError):  # a mark that lapses costs a delivery that finds the lease
                await self._pool.set(key, b"1", px=round(self._timings.lease * 1000))

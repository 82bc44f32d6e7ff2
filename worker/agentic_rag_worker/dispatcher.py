"""Hands due jobs from the outbox to the queue. Runs in every worker; one of them leads."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Sequence
from datetime import timedelta

from agentic_rag.documents.document import DocumentStatus
from agentic_rag.jobs.job import JobKind, JobState, MaintenanceTask, QueueName
from agentic_rag.jobs.ports import JobBoard, JobQueue
from agentic_rag.jobs.schedule_maintenance import ScheduleMaintenance
from agentic_rag.jobs.turns import LastTurns
from agentic_rag.jobs.workers import RECENT, SILENT_LEASES, WorkerCensus, WorkerIdentity
from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.errors import AgenticRagError
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag_worker.outage_log import OutageLog
from agentic_rag_worker.timings import WorkerTimings

UPKEEP_STEP = 100
"""Workspaces whose upkeep is enqueued in one look, each in a transaction of its own. Schedules come due in all of them
at once; jobs that people wait for are handed over in between.
"""


_GAUGES = ("rag_jobs", "rag_job_oldest_seconds", "rag_workers", "rag_documents", "rag_store_lag", "rag_budget_share")
"""Of the whole system: only the leader exports them."""


class Dispatcher:
    """Keeps at most `window` jobs waiting in each partition of each queue, so that fairness stays ours and an emptied
    Redis costs little.

    It records that its worker lives, whether it leads or not.

    From its start, and after an outage of the database, it expires no lease before a lease's time has passed: workers
    that live renew theirs first.

    A job counts as handed over only while it waits in the queue: what Redis lost is still QUEUED in the outbox, and is
    offered again at the next look.
    """

    def __init__(
        self,
        board: JobBoard,
        queue: JobQueue,
        upkeep: ScheduleMaintenance,
        clock: Clock,
        telemetry: Telemetry,
        timings: WorkerTimings,
        worker: WorkerIdentity,
        window: int,
        partitions: int = 1,
    ) -> None:
        self._board = board
        self._queue = queue
        self._upkeep = upkeep
        self._clock = clock
        self._telemetry = telemetry
        self._outage = OutageLog(telemetry, "rag_dispatch_failed", "rag_dispatch_resumed")
        self._timings = timings
        self._worker = worker
        self._window = window
        self._partitions = partitions
        self._next_expiry = 0.0
        self._next_beat = 0.0
        self._next_counts = 0.0
        self._next_corpus = 0.0
        self._next_upkeep = 0.0
        self._upkeep_due: Sequence[MaintenanceTask] = ()
        self._last_turns = LastTurns()
        self._exports = False
        self._counted: set[tuple[JobState, JobKind]] = set()
        self._ceilings: set[tuple[str, str]] = set()
        self._stopping = asyncio.Event()
        self.leads = False
        """Whether the last look was one of the leader's."""

    async def run(self) -> None:
        """Dispatch until stopped."""
        pause = self._timings.poll_shortest
        self._next_expiry = math.inf
        while not self._stopping.is_set():
            try:
                await self._beat()
                leads = self.leads = await self._board.lead()
                moved = await self.step() if leads else 0
            except AgenticRagError as error:
                self.leads = False
                self._next_beat, self._next_expiry = 0.0, math.inf
                self._forget_counts()
                self._outage.begin(error.code, error.message)
                pause = self._timings.outage
            else:
                self._outage.end()
                if self._next_expiry == math.inf:
                    self._next_expiry = self._clock.monotonic() + self._timings.lease
                if not leads:
                    self._upkeep_due = ()  # the one that leads looks for itself
                    self._forget_counts()
                    pause = self._timings.follow
                elif moved:
                    pause = self._timings.poll_shortest
                else:
                    pause = min(2 * pause, self._timings.poll_longest)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), pause)
        self._forget_counts()

    def stop(self) -> None:
        """End `run` after the look that is under way."""
        self._stopping.set()

    async def step(self) -> int:
        """One look, as the leader: how many jobs were handed over or came back. Errors: `DependencyUnavailable`."""
        now = self._clock.monotonic()
        moved = 0
        if now >= self._next_expiry:
            self._next_expiry = now + self._timings.expire
            moved += await self._board.expire_leases()
        if now >= self._next_counts:
            self._next_counts = now + self._timings.counts
            await self._count()
        if now >= self._next_corpus:
            self._next_corpus = now + self._timings.corpus
            await self._count_corpus()
        if not self._upkeep_due and now >= self._next_upkeep:
            self._next_upkeep = now + self._timings.upkeep
            self._upkeep_due = await self._board.upkeep()
        due, self._upkeep_due = self._upkeep_due[:UPKEEP_STEP], self._upkeep_due[UPKEEP_STEP:]
        moved += await self._upkeep.enqueue(due)
        moved += await self._fill(QueueName.INTERACTIVE, 0, 1)
        for partition in range(self._partitions):
            moved += await self._fill(QueueName.BULK, partition, self._partitions)
        return moved

    async def _beat(self) -> None:
        now = self._clock.monotonic()
        if now >= self._next_beat:
            await self._board.beat(self._worker)
            self._next_beat = now + self._timings.lease / 3

    async def _fill(self, queue: QueueName, partition: int, partitions: int) -> int:
        free = self._window - await self._queue.depth(queue, partition)
        if free <= 0:
            return 0
        # Of twice as many jobs as may wait, at least `window` do not wait yet.
        due = await self._board.due(queue, 2 * self._window, partition, partitions, self._last_turns)
        chosen = (await self._queue.absent(queue, due))[:free]
        for ref in chosen:
            self._last_turns.note(ref)
        return await self._queue.offer(queue, chosen)

    async def _count(self) -> None:
        counts = await self._board.counts()
        self._exports = True
        self._counted |= counts.keys()
        for state, kind in self._counted:
            self._telemetry.gauge("rag_jobs", counts.get((state, kind), 0), state=state.value, kind=kind.value)
        waits = await self._board.oldest_waits()
        for kind in {kind for _, kind in self._counted}:
            self._telemetry.gauge("rag_job_oldest_seconds", waits.get(kind, 0.0), kind=kind.value)
        silent_since = self._clock.now() - timedelta(seconds=SILENT_LEASES * self._timings.lease)
        workers = WorkerCensus.take(await self._board.workers(), silent_since)
        self._telemetry.gauge("rag_workers", len(workers.running), state="running")
        self._telemetry.gauge("rag_workers", workers.died_since(silent_since - RECENT), state="died")

    async def _count_corpus(self) -> None:
        documents, lag = await self._board.corpus_counts()
        self._exports = True
        for status in DocumentStatus:
            self._telemetry.gauge("rag_documents", documents.get(status.value, 0), status=status.value)
        self._telemetry.gauge("rag_store_lag", lag, store="graph")
        shares = await self._board.budget_shares()
        self._ceilings |= shares.keys()
        for scope, ceiling in self._ceilings:
            share = shares.get((scope, ceiling), 0.0)
            self._telemetry.gauge("rag_budget_share", share, scope=scope, ceiling=ceiling)

    def _forget_counts(self) -> None:
        """Only the leader counts: a value that it left behind would stand for ever."""
        if self._exports:
            self._exports = False
            self._counted.clear()
            self._ceilings.clear()
            self._next_counts = self._next_corpus = 0.0
            for metric in _GAUGES:
                self._telemetry.clear(metric)

"""Renews leases from a separate thread: a busy event loop does not lose them, a hung job does."""

from __future__ import annotations

import asyncio
import enum
import threading
from collections.abc import Callable
from datetime import timedelta

from agentic_rag.jobs.job import Lease
from agentic_rag.jobs.workers import WorkerIdentity
from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import AgenticRagError
from agentic_rag.kernel.telemetry import Telemetry


class StopReason(enum.Enum):
    """The reason why a running job has to stop."""

    LOST = "lost"
    """The fence is no longer current: another worker may hold the job."""
    STALLED = "stalled"
    LATE = "late"
    DRAINED = "drained"


class JobWatch:
    """One running job. `advance` may be called from any thread."""

    def __init__(
        self, lease: Lease, deadline_seconds: float, stall_seconds: float, started: float, stop: Callable[[], None]
    ) -> None:
        self.lease = lease
        self.stop_reason: StopReason | None = None
        self.steps = 0
        self.saw_outage = False
        """A renewal failed because the database was away."""
        self._ends = started + deadline_seconds
        self._stall = stall_seconds
        self._seen = 0
        self._moved = started
        self._stop = stop

    def advance(self) -> None:
        """Report one more step."""
        self.steps += 1

    def check(self, now: float) -> StopReason | None:
        """The reason to stop the job at `now` (seconds, monotonic); None while it may go on."""
        if self.steps != self._seen:
            self._seen, self._moved = self.steps, now
        if now >= self._ends:
            return StopReason.LATE
        if now - self._moved >= self._stall:
            return StopReason.STALLED
        return None

    def end(self, reason: StopReason) -> None:
        """Stop the job; only the first reason is kept."""
        if self.stop_reason is None:
            self.stop_reason = reason
            self._stop()


class Heartbeat:
    """Renews the leases of watched jobs every third of their length."""

    def __init__(
        self,
        connect: Callable[[], Database],
        clock: Clock,
        telemetry: Telemetry,
        lease_ttl: timedelta,
        worker: WorkerIdentity,
    ) -> None:
        self._connect = connect
        self._clock = clock
        self._telemetry = telemetry
        self._ttl = lease_ttl
        self._worker = worker
        self._watches: set[JobWatch] = set()
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._main, name="lease heartbeat", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread; blocks for at most one statement."""
        self._stopping.set()
        self._thread.join()

    def add(self, watch: JobWatch) -> None:
        """Renew the lease of a job from now on."""
        with self._lock:
            self._watches.add(watch)

    def remove(self, watch: JobWatch) -> None:
        """Renew its lease no longer."""
        with self._lock:
            self._watches.discard(watch)

    def _main(self) -> None:
        asyncio.run(self._beat())

    async def _beat(self) -> None:
        database = self._connect()
        try:
            # This blocks the thread, not only its loop: nothing else runs here.
            while not self._stopping.wait(self._ttl.total_seconds() / 3):
                with self._lock:
                    watches = list(self._watches)
                for watch in watches:
                    await self._renew(database, watch)
        finally:
            await database.aclose()

    async def _renew(self, database: Database, watch: JobWatch) -> None:
        reason = watch.check(self._clock.monotonic())
        if reason is not None:
            watch.end(reason)
        held = True
        try:
            async with database.transaction(watch.lease.job.workspace.org_id) as transaction:
                if reason is not None:
                    # A job that blocks the event loop keeps its process from telling it.
                    await transaction.jobs.blame(watch.lease, self._worker.name, f"The job is {reason.value}.")
                else:
                    held = await transaction.jobs.renew(watch.lease.ref, watch.lease.fence, self._ttl, watch.steps)
        except AgenticRagError as error:
            # Two more renewals are tried before the lease lapses, and more after it: the leader that lost the database
            # too expires nothing before workers had time to renew.
            watch.saw_outage = True
            self._telemetry.event(
                "rag_lease_renewal_failed", level="warning", job_id=str(watch.lease.job.job_id), code=error.code
            )
            return
        # A job that has just finished has no lease either; it is no longer watched.
        with self._lock:
            running = watch in self._watches
        if not held and running:
            watch.end(StopReason.LOST)

"""Keeps leases alive from a thread of its own, so that a busy event loop does not lose them and a hung job does."""

from __future__ import annotations

import asyncio
import enum
import threading
from collections.abc import Callable
from datetime import timedelta

from agentic_rag.jobs.job import JobRef, Lease
from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import AgenticRagError
from agentic_rag.kernel.telemetry import Telemetry


class StopReason(enum.Enum):
    """Why a running job has to stop."""

    LOST = "lost"
    """The fence is no longer current: somebody else's job now."""
    STALLED = "stalled"
    LATE = "late"
    DRAINED = "drained"


class JobWatch:
    """One running job as the heartbeat sees it. `advance` may be called from any thread."""

    def __init__(
        self, lease: Lease, deadline_seconds: float, stall_seconds: float, started: float, stop: Callable[[], None]
    ) -> None:
        self.lease = lease
        self.verdict: StopReason | None = None
        self.steps = 0
        self._ends = started + deadline_seconds
        self._stall = stall_seconds
        self._seen = 0
        self._moved = started
        self._stop = stop

    @property
    def ref(self) -> JobRef:
        """The job."""
        return JobRef(self.lease.job.workspace, self.lease.job.job_id)

    def advance(self) -> None:
        """One more step is done."""
        self.steps += 1

    def judge(self, now: float) -> StopReason | None:
        """Whether the job may keep its lease at `now` (seconds, monotonic)."""
        if self.steps != self._seen:
            self._seen, self._moved = self.steps, now
        if now >= self._ends:
            return StopReason.LATE
        if now - self._moved >= self._stall:
            return StopReason.STALLED
        return None

    def end(self, verdict: StopReason) -> None:
        """Stop the job; the first verdict counts."""
        if self.verdict is None:
            self.verdict = verdict
            self._stop()


class Heartbeat:
    """Renews the leases of watched jobs every third of their length."""

    def __init__(
        self, connect: Callable[[], Database], clock: Clock, telemetry: Telemetry, lease_ttl: timedelta
    ) -> None:
        self._connect = connect
        self._clock = clock
        self._telemetry = telemetry
        self._ttl = lease_ttl
        self._watches: set[JobWatch] = set()
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._main, name="lease heartbeat", daemon=True)

    def start(self) -> None:
        """Begin to beat."""
        self._thread.start()

    def stop(self) -> None:
        """Stop beating; blocks for at most one statement."""
        self._stopping.set()
        self._thread.join()

    def add(self, watch: JobWatch) -> None:
        """Keep the lease of a job that has just begun."""
        with self._lock:
            self._watches.add(watch)

    def remove(self, watch: JobWatch) -> None:
        """The job has ended."""
        with self._lock:
            self._watches.discard(watch)

    def _main(self) -> None:
        asyncio.run(self._beat())

    async def _beat(self) -> None:
        database = self._connect()
        try:
            # Waiting blocks the thread, not merely its loop: nothing else runs here.
            while not self._stopping.wait(self._ttl.total_seconds() / 3):
                with self._lock:
                    watches = list(self._watches)
                for watch in watches:
                    await self._renew(database, watch)
        finally:
            await database.aclose()

    async def _renew(self, database: Database, watch: JobWatch) -> None:
        verdict = watch.judge(self._clock.monotonic())
        if verdict is not None:
            watch.end(verdict)
            return
        try:
            async with database.transaction(watch.ref.workspace.org_id) as transaction:
                held = await transaction.jobs.renew(watch.ref, watch.lease.fence, self._ttl, watch.steps)
        except AgenticRagError as error:
            # The lease has two more beats to live; should it lapse, the fence keeps the job from doing harm.
            self._telemetry.event("rag_lease_renewal_failed", job_id=str(watch.ref.job_id), code=error.code)
            return
        # A job that has just finished is not held either: `remove` tells the two apart.
        with self._lock:
            running = watch in self._watches
        if not held and running:
            watch.end(StopReason.LOST)

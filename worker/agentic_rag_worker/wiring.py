"""What the composition root gives a worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from arq.connections import ArqRedis

from agentic_rag.jobs.job import JobKind, RetryPolicy
from agentic_rag.jobs.ports import DeadPayloads, JobBoard, JobQueue
from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.ids import Ids
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag_worker.job_handlers import JobHandler


class WorkerContainer(Protocol):
    """The parts a worker needs, wired. The worker closes what the factories make; the container the rest."""

    @property
    def database(self) -> Database: ...

    @property
    def queue(self) -> JobQueue: ...

    @property
    def bodies(self) -> Mapping[JobKind, JobHandler]:
        """What runs the jobs of each kind; a kind without a body is refused as a dead letter."""
        ...

    @property
    def clock(self) -> Clock: ...

    @property
    def ids(self) -> Ids: ...

    @property
    def telemetry(self) -> Telemetry: ...

    @property
    def retry_policy(self) -> RetryPolicy: ...

    @property
    def queue_name(self) -> str:
        """AGENTIC_RAG_QUEUE_NAME: what the queues' keys begin with."""
        ...

    @property
    def partitions(self) -> int:
        """AGENTIC_RAG_QUEUE_PARTITIONS: how many parts the bulk queue has."""
        ...

    def dead_payloads(self) -> DeadPayloads:
        """A new store of undecodable payloads, with a connection of its own."""
        ...

    def job_board(self) -> JobBoard:
        """A new board, with a connection of its own."""
        ...

    def heartbeat_database(self) -> Database:
        """A new database (one connection is enough) for the event loop it is called on."""
        ...

    def arq_pool(self) -> ArqRedis:
        """A new client for consuming, with the queue's JSON serialisers."""
        ...

    async def readiness(self) -> Mapping[str, str | None]:
        """Each dependency by name: None when it answers, else what is wrong."""
        ...


@dataclass(frozen=True, slots=True)
class WorkerTimings:
    """Every duration a worker goes by, in seconds."""

    lease: float = 25.0
    """A dead worker's job waits at most this long, and a dispatcher's look, to be run again."""
    poll_shortest: float = 0.05
    poll_longest: float = 0.25
    """The dispatcher looks again after the first when it found work, and ever later, up to the second, when not."""
    follow: float = 1.0
    """How often a dispatcher that does not lead tries to."""
    expire: float = 1.0
    counts: float = 5.0
    upkeep: float = 15.0
    """How often the leader looks for work that is due by time or size."""
    grace: float = 25.0
    """What running jobs get to finish in on SIGTERM; below the 30 s after which orchestrators kill."""
    consumer_poll: float = 0.05
    stall: float | None = None
    """Instead of what each kind of job allows itself to stand still."""
    deadline: float | None = None
    """Instead of the longest that each kind of job allows one attempt to take."""
    outage: float = 1.0
    """The pause after a failed call to Redis or Postgres."""

    @property
    def lease_ttl(self) -> timedelta:
        """The lease as a duration."""
        return timedelta(seconds=self.lease)

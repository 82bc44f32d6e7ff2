"""The queue and the dispatcher's view of it."""

from __future__ import annotations

from functools import cached_property

from arq.connections import ArqRedis
from redis.asyncio import ConnectionPool, Redis

from agentic_rag.adapters.postgres.jobs.dead_payloads import PostgresDeadPayloads
from agentic_rag.adapters.postgres.jobs.job_board import EXACT_SCAN_BYTES, CalibrationSchedule, PostgresJobBoard
from agentic_rag.adapters.redis.connection import queue_pool
from agentic_rag.adapters.redis.pools import pool_of
from agentic_rag.adapters.redis.queue import ArqJobQueue
from agentic_rag.bootstrap.models import ModelParts
from agentic_rag.jobs.job import RetryPolicy
from agentic_rag.jobs.ports import DeadPayloads, JobBoard, JobQueue


def redis_client(url: str, answer_seconds: float) -> Redis:
    """A client for a look at the server; the caller closes it. Errors: ValueError."""
    return Redis.from_pool(pool_of(ConnectionPool, url, socket_timeout=answer_seconds))


class JobParts(ModelParts):
    """The room `jobs`."""

    exact_scan_bytes = EXACT_SCAN_BYTES
    """Vectors of a workspace that are scanned exactly; above it an approximate index is built."""

    @property
    def partitions(self) -> int:
        return self.settings.jobs.partitions

    @property
    def retry_policy(self) -> RetryPolicy:
        return RetryPolicy(self.settings.jobs.attempts, self.settings.jobs.backoff_ms)

    def arq_pool(self) -> ArqRedis:
        """A new client for consuming; the caller closes it."""
        return queue_pool(self.settings.stores.redis_url)

    @cached_property
    def queue(self) -> JobQueue:
        return self._owned(ArqJobQueue(self.arq_pool(), self.key_prefix, self.partitions))

    def dead_payloads(self) -> DeadPayloads:
        """Undecodable payloads, on a connection of the dispatcher's role; the caller closes it."""
        return PostgresDeadPayloads(self.settings.stores.database_url)

    def job_board(self) -> JobBoard:
        """A dispatcher's view, with a connection of its own; the caller closes it."""
        return PostgresJobBoard(
            self.settings.stores.database_url,
            snapshot_every_hours=self.settings.operations.schedule.snapshots_hours,
            exact_scan_bytes=self.exact_scan_bytes,
            graph_home=self._graph_home,
            calibration=self._calibration_schedule,
        )

    @property
    def _calibration_schedule(self) -> CalibrationSchedule | None:
        """None also where AGENTIC_RAG_MIN_SUPPORT says that nothing is abstained on."""
        minutes = self.settings.operations.schedule.calibrate_minutes
        is_on = minutes > 0 and self.settings.answering.min_support > 0
        return CalibrationSchedule(quiet_seconds=60 * minutes) if is_on else None

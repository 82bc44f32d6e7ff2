"""Settings of the queue and of workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from agentic_rag.settings.variable import Env, split_list


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsConfig:
    """How jobs are queued, retried and run."""

    queue_name: Annotated[str, Env("AGENTIC_RAG_QUEUE_NAME")] = "agentic-rag"
    """Prefix of the queues in Redis."""
    attempts: Annotated[int, Env("AGENTIC_RAG_JOB_ATTEMPTS"), Meta(ge=1, le=100)] = 3
    """Attempts that end in an error before a job becomes a dead letter; deaths of its workers are counted apart."""
    backoff_ms: Annotated[int, Env("AGENTIC_RAG_JOB_BACKOFF_MS"), Meta(ge=0)] = 5000
    """First back-off; doubles with each attempt, full jitter."""
    lease_seconds: Annotated[float, Env("AGENTIC_RAG_JOB_LEASE_SECONDS"), Meta(ge=0.5)] = 25.0
    """A lease lapses after this long without a sign of life."""
    partitions: Annotated[int, Env("AGENTIC_RAG_QUEUE_PARTITIONS"), Meta(ge=1, le=256)] = 1
    """Parts of the bulk queue, by workspace; the same for every process."""
    worker_partitions: Annotated[str, Env("AGENTIC_RAG_WORKER_PARTITIONS")] = ""
    """Partitions a worker serves, as `0,2,5`; empty means all. Some worker must serve each."""
    worker_processes: Annotated[int, Env("AGENTIC_RAG_WORKER_PROCESSES"), Meta(ge=1, le=64)] = 1
    """Processes of `rag worker`; each has its own slots and the next metrics port."""
    concurrency: Annotated[int, Env("AGENTIC_RAG_WORKER_CONCURRENCY"), Meta(ge=1, le=256)] = 8
    """Jobs one worker process runs at a time."""
    metrics_port: Annotated[int, Env("AGENTIC_RAG_WORKER_METRICS_PORT"), Meta(ge=0, le=65535)] = 9464
    """Port of the worker's /metrics, /healthz, /readyz; 0 for none."""
    drain_seconds: Annotated[float, Env("AGENTIC_RAG_DRAIN_SECONDS"), Meta(ge=0)] = 20.0
    """How long SIGTERM waits for running jobs."""

    @property
    def partition_numbers(self) -> tuple[int, ...] | None:
        """AGENTIC_RAG_WORKER_PARTITIONS as numbers, each once; None for all."""
        return tuple(sorted({int(part) for part in split_list(self.worker_partitions)})) or None

    def problems(self) -> list[str]:
        """Settings that contradict each other, a line each."""
        try:
            served = self.partition_numbers or ()
        except ValueError:
            served = (-1,)
        if all(0 <= partition < self.partitions for partition in served):
            return []
        return [
            f"AGENTIC_RAG_WORKER_PARTITIONS={self.worker_partitions!r}: expected numbers from 0 to "
            f"{self.partitions - 1} (below AGENTIC_RAG_QUEUE_PARTITIONS), separated by commas"
        ]

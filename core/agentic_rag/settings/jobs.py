"""Settings of the queue and of workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from agentic_rag.settings.variable import Env, split_list

MOST_PARTITIONS = 256


def parse_partitions(text: str) -> tuple[int, tuple[int, ...] | None]:
    """The number of partitions, and those that are served where not all are. Errors: ValueError."""
    number, colon, served = text.partition(":")
    parts = [number, *split_list(served)]
    if not all(part.strip().isdecimal() for part in parts) or not 1 <= int(number) <= MOST_PARTITIONS:
        raise ValueError(f"expected a number from 1 to {MOST_PARTITIONS}, or one such as 8:0,2,5")
    numbers = tuple(sorted({int(part) for part in parts[1:]}))
    if any(part >= int(number) for part in numbers) or (colon and not numbers):
        raise ValueError(f"expected partitions from 0 to {int(number) - 1} after the colon, separated by commas")
    return int(number), numbers or None


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
    queue_partitions: Annotated[str, Env("AGENTIC_RAG_QUEUE_PARTITIONS", check=parse_partitions)] = "1"
    """Parts of the bulk queue, by workspace, 1 to 256; the same number for every process. `8:0,2,5` has a worker serve
    those of eight, else it serves all; some worker must serve each.
    """
    worker_processes: Annotated[int, Env("AGENTIC_RAG_WORKER_PROCESSES"), Meta(ge=1, le=64)] = 1
    """Processes of `rag worker`; each has its own slots and the next metrics port."""
    concurrency: Annotated[int, Env("AGENTIC_RAG_WORKER_CONCURRENCY"), Meta(ge=1, le=256)] = 8
    """Jobs one worker process runs at a time."""
    metrics_port: Annotated[int, Env("AGENTIC_RAG_WORKER_METRICS_PORT"), Meta(ge=0, le=65535)] = 9464
    """Port of the worker's /metrics, /healthz, /readyz; 0 for none."""
    drain_seconds: Annotated[float, Env("AGENTIC_RAG_DRAIN_SECONDS"), Meta(ge=0)] = 20.0
    """How long SIGTERM waits for running jobs."""

    @property
    def partitions(self) -> int:
        """Parts of the bulk queue."""
        return parse_partitions(self.queue_partitions)[0]

    @property
    def partition_numbers(self) -> tuple[int, ...] | None:
        """The parts that a worker serves, each once; None for all."""
        return parse_partitions(self.queue_partitions)[1]

"""The short hand-over from dispatcher to workers (Redis through arq): ids only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from agentic_rag.domain.dead_payloads import DeadPayload
from agentic_rag.domain.jobs import Job, JobRef, QueueName


class JobQueue(Protocol):
    """Jobs of a workspace go to its partition (`domain.jobs.partition_of`).

    Losing all of it loses nothing: the outbox is the truth. Errors: `DependencyUnavailable`.
    """

    async def offer(self, queue: QueueName, refs: Sequence[JobRef]) -> int:
        """Hand over jobs that are not waiting there yet; how many were new."""
        ...

    async def depth(self, queue: QueueName, partition: int = 0) -> int:
        """How many jobs wait in one partition of it."""
        ...

    async def mirror_dead(self, job: Job, code: str) -> None:
        """Show a new dead letter (ids, kind and code, no arguments) to whoever watches the queue's own tools."""
        ...

    async def mirror_payload(self, found: DeadPayload) -> None:
        """Show a payload that was no message of ours, its bytes as base64, to the same."""
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...

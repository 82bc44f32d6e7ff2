"""The short hand-over from dispatcher to workers (Redis through arq): ids only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from agentic_rag.domain.jobs import Job, JobRef, QueueName


class JobQueue(Protocol):
    """Losing all of it loses nothing: the outbox is the truth. Errors: `DependencyUnavailable`."""

    async def offer(self, queue: QueueName, refs: Sequence[JobRef]) -> int:
        """Hand over jobs that are not waiting there yet; how many were new."""
        ...

    async def depth(self, queue: QueueName) -> int:
        """How many jobs wait there."""
        ...

    async def mirror_dead(self, job: Job, code: str) -> None:
        """Show a new dead letter (ids, kind and code, no arguments) to whoever watches the queue's own tools."""
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...

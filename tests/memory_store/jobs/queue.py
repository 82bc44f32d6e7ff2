"""`jobs.ports.JobQueue` in memory."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass

from agentic_rag.jobs.job import Job, JobKind, JobRef, QueueName
from agentic_rag.jobs.message import QueueLayout, UndecodableMessage, delivery_id

MIRRORED = 1_000


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """What the queue shows of a job that gave up."""

    job: JobRef
    kind: JobKind
    code: str
    attempts: int


class MemoryJobQueue:
    """One entry per delivery id, first in, first out."""

    def __init__(self, partitions: int = 1) -> None:
        self._layout = QueueLayout("memory", partitions)
        self._waiting: dict[QueueName, OrderedDict[str, JobRef]] = {name: OrderedDict() for name in QueueName}
        self.dead_letters: deque[DeadLetter] = deque(maxlen=MIRRORED)
        """Newest first."""
        self.dead_payloads: deque[UndecodableMessage] = deque(maxlen=MIRRORED)
        """Newest first."""

    async def absent(self, queue: QueueName, refs: Sequence[JobRef]) -> list[JobRef]:
        """Those of the jobs that do not wait there yet."""
        return [ref for ref in refs if delivery_id(ref) not in self._waiting[queue]]

    async def offer(self, queue: QueueName, refs: Sequence[JobRef]) -> int:
        """Hand over jobs that are not waiting there yet; how many were new."""
        waiting = self._waiting[queue]
        before = len(waiting)
        for ref in refs:
            waiting.setdefault(delivery_id(ref), ref)
        return len(waiting) - before

    async def depth(self, queue: QueueName, partition: int = 0) -> int:
        """How many jobs wait in one partition of it."""
        waiting = self._waiting[queue].values()
        return sum(self._layout.partition(queue, ref) == partition for ref in waiting)

    async def mirror_dead(self, job: Job, code: str) -> None:
        """Show a new dead letter; the oldest of too many go."""
        self.dead_letters.appendleft(DeadLetter(JobRef(job.workspace, job.job_id), job.kind, code, job.attempts))

    async def mirror_payload(self, found: UndecodableMessage) -> None:
        """Show a payload that was no message of ours; the oldest of too many go."""
        self.dead_payloads.appendleft(found)

    def take(self, queue: QueueName) -> JobRef | None:
        """The job that waited longest, or None: what a worker in the same process does."""
        waiting = self._waiting[queue]
        return waiting.popitem(last=False)[1] if waiting else None

    async def aclose(self) -> None:
        """Nothing to release."""

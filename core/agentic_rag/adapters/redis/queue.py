"""The hand-over of job ids through arq."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Sequence

from arq.connections import ArqRedis
from arq.constants import in_progress_key_prefix

from agentic_rag.adapters.redis.connection import FAILURES, to_json, unavailable
from agentic_rag.domain.job_message import FUNCTION, delivery_id, encode, queue_key
from agentic_rag.domain.jobs import Job, JobRef, QueueName

MIRRORED = 1_000


class ArqJobQueue:
    """`ports.JobQueue`. arq keeps one entry per delivery id, so offering a waiting job again changes nothing."""

    def __init__(self, pool: ArqRedis, prefix: str) -> None:
        self._pool = pool
        self._prefix = prefix

    async def offer(self, queue: QueueName, refs: Sequence[JobRef]) -> int:
        """Hand over jobs that are not waiting there yet; how many were new."""
        new = 0
        try:
            for ref in refs:
                entry = await self._pool.enqueue_job(
                    FUNCTION, encode(ref), _job_id=delivery_id(ref), _queue_name=queue_key(self._prefix, queue)
                )
                new += entry is not None
        except FAILURES as error:
            raise unavailable() from error
        return new

    async def depth(self, queue: QueueName) -> int:
        """How many jobs wait there; arq lists running ones too until they end, these are not counted."""
        try:
            entries = await self._pool.zrange(queue_key(self._prefix, queue), 0, -1)
            if not entries:
                return 0
            running = await self._pool.exists(*[in_progress_key_prefix.encode() + entry for entry in entries])
        except FAILURES as error:
            raise unavailable() from error
        return len(entries) - int(running)

    async def mirror_dead(self, job: Job, code: str) -> None:
        """Push onto `PREFIX:dlq`, newest first, at most `MIRRORED` entries. The truth stays in `rag_jobs`."""
        letter = {
            "org": str(job.workspace.org_id),
            "workspace": str(job.workspace.workspace_id),
            "job": str(job.job_id),
            "kind": job.kind.value,
            "code": code,
            "attempts": job.attempts,
        }
        key = f"{self._prefix}:dlq"
        try:
            async with self._pool.pipeline(transaction=True) as commands:
                commands.lpush(key, to_json(letter))
                commands.ltrim(key, 0, MIRRORED - 1)
                await commands.execute()
        except FAILURES as error:
            raise unavailable() from error

    async def check(self) -> None:
        """Answer, or raise `DependencyUnavailable`."""
        try:
            await self._pool.ping()
        except FAILURES as error:
            raise unavailable() from error

    async def aclose(self) -> None:
        """Release connections."""
        await self._pool.aclose(close_connection_pool=True)

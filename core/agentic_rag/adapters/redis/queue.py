"""The job queue on arq: job ids only."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from arq.connections import ArqRedis
from arq.constants import in_progress_key_prefix, job_key_prefix

from agentic_rag.adapters.redis.connection import redis_errors, to_json
from agentic_rag.jobs.job import Job, JobRef, QueueName
from agentic_rag.jobs.message import FUNCTION, QueueLayout, UndecodableMessage, dead_letter_key, encode

MIRRORED = 1_000

MIRRORED_BYTES = 16 * 1024
"""Mirrored bytes of a payload; the database holds all of it."""

HAND_OVER_SECONDS = 600
"""Seconds until a queued entry expires: a job whose entry Redis lost (it may evict keys singly) is offered again then.
"""


class ArqJobQueue:
    """`jobs.ports.JobQueue`. arq keeps one entry per delivery id, so offering a waiting job again changes nothing."""

    def __init__(self, pool: ArqRedis, prefix: str, partitions: int = 1) -> None:
        self._pool = pool
        self._prefix = prefix
        self._layout = QueueLayout(prefix, partitions)

    async def offer(self, queue: QueueName, refs: Sequence[JobRef]) -> int:
        new = 0
        with redis_errors():
            for ref in refs:
                entry = await self._pool.enqueue_job(
                    FUNCTION,
                    encode(ref),
                    _job_id=self._layout.delivery_id(queue, ref),
                    _queue_name=self._layout.key(queue, self._layout.partition(queue, ref)),
                    _expires=HAND_OVER_SECONDS,
                )
                new += entry is not None
        return new

    async def absent(self, queue: QueueName, refs: Sequence[JobRef]) -> list[JobRef]:
        """In one round trip; arq takes three to find out for a single job."""
        with redis_errors():
            async with self._pool.pipeline(transaction=False) as commands:
                for ref in refs:
                    commands.exists(job_key_prefix + self._layout.delivery_id(queue, ref))
                found = await commands.execute() if refs else []
        return [ref for ref, is_there in zip(refs, found, strict=True) if not is_there]

    async def depth(self, queue: QueueName, partition: int = 0) -> int:
        """The number of waiting jobs. arq keeps running jobs in the same set until they end; they are subtracted."""
        with redis_errors():
            entries = await self._pool.zrange(self._layout.key(queue, partition), 0, -1)
            if not entries:
                return 0
            running = await self._pool.exists(*[in_progress_key_prefix.encode() + entry for entry in entries])
        return len(entries) - int(running)

    async def mirror_dead(self, job: Job, code: str) -> None:
        """Push onto `PREFIX:dlq`, newest first, at most `MIRRORED` entries, and publish on the channel of that name.
        `rag_jobs` remains the source of truth.
        """
        letter = {
            "org": str(job.workspace.org_id),
            "workspace": str(job.workspace.workspace_id),
            "job": str(job.job_id),
            "kind": job.kind_name,
            "code": code,
            "attempts": job.attempts,
        }
        await self._mirror(letter)

    async def mirror_payload(self, found: UndecodableMessage) -> None:
        """The same for an undecodable message; `rag_dead_payloads` remains the source of truth."""
        shown = found.payload[:MIRRORED_BYTES]
        await self._mirror(
            {
                "payload": str(found.payload_id),
                "queue": found.queue,
                "code": found.code,
                "bytes": len(found.payload),
                "truncated": len(shown) < len(found.payload),
                "base64": base64.b64encode(shown).decode(),
            }
        )

    async def _mirror(self, letter: dict[str, Any]) -> None:
        key, text = dead_letter_key(self._prefix), to_json(letter)
        with redis_errors():
            async with self._pool.pipeline(transaction=True) as commands:
                commands.lpush(key, text)
                commands.ltrim(key, 0, MIRRORED - 1)
                commands.publish(key, text)
                await commands.execute()

    async def check(self) -> None:
        with redis_errors():
            await self._pool.ping()

    async def aclose(self) -> None:
        await self._pool.aclose(close_connection_pool=True)

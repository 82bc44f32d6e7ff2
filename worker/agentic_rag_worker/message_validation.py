"""An arq worker that looks at what it takes off the queue before arq does.

What is no message of ours is kept byte for byte and taken out of the queue. Left to arq it would be lost (whatever does
not decode), end the worker (an entry whose name is not UTF-8), or come round for ever (a score of 0, a key of another
type). Nothing is ever unpickled: the only decoder is the queue's JSON one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from arq.constants import in_progress_key_prefix, job_key_prefix, retry_key_prefix
from arq.worker import Worker
from redis.exceptions import RedisError, ResponseError

from agentic_rag.jobs.message import UndecodableMessage, decode_envelope
from agentic_rag.jobs.redis_address import tag_of
from agentic_rag.kernel.errors import AgenticRagError, InvalidInput

INVALID = "JOB_MESSAGE_INVALID"


class JobSlots:
    """How many jobs the consumers of one process run at a time, together; none is begun while `are_closed`."""

    def __init__(self, limit: int, are_closed: Callable[[], bool] = lambda: False) -> None:
        self.limit = limit
        self.are_closed = are_closed
        self.taken = 0
        self.semaphore = asyncio.BoundedSemaphore(limit + 1)
        """One more than the limit, as arq has it: it acquires before it looks whether there is room."""


@dataclass(frozen=True, slots=True)
class MessageValidation:
    """Where findings go, and how long to wait when they cannot be kept now."""

    keep: Callable[[UndecodableMessage], Awaitable[None]]
    """Errors: `DependencyUnavailable`."""
    outage_seconds: float
    on_poll: Callable[[], None]
    """Called after each look that Redis answered."""


class PollingStopped(Exception):
    """A worker that was told to stop has stopped between two polls."""


class ValidatingWorker(Worker):
    """Shares its slots with the consumers of the process's other queues. It is stopped, not cancelled: redis-py loses
    the connection of a pipeline that a cancellation meets while it is put back.
    """

    _slots: JobSlots | None = None
    _holds_slot = False
    """Whether arq has taken a slot for the entry that it looks at."""

    def __init__(
        self, validation: MessageValidation, slots: JobSlots, in_progress_seconds: float, **options: Any
    ) -> None:
        super().__init__(max_jobs=slots.limit, **options)
        self._validation = validation
        # arq's own mark is kept as a lease is: a worker killed before it took one blocks its job no longer than that,
        # and a mark that ends too early costs a delivery that finds the job leased.
        self.in_progress_timeout_s = in_progress_seconds
        self.sem = slots.semaphore
        self._slots = slots
        self._tag = tag_of(self.queue_name)
        self._stopping = False

    def stop(self) -> None:
        """Take nothing more; `main` ends with `PollingStopped` when what runs has ended and been cleared away."""
        self._stopping = True
        self.allow_pick_jobs = False
        self.max_jobs = 0  # ends a poll that is looking at many entries with the one it is at

    async def main(self) -> None:
        try:
            await super().main()
        finally:
            # It ends with the error of one delivery: that of each other would be a traceback in the log.
            for task in self.tasks.values():
                task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())

    @property
    def job_counter(self) -> int:
        """Jobs that run in this process."""
        return 0 if self._slots is None else self._slots.taken

    @job_counter.setter
    def job_counter(self, value: int) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        if self._slots is not None:
            self._holds_slot = value > self._slots.taken
            self._slots.taken = value

    def _release_sem_dec_counter_on_complete(self) -> None:
        if self._slots is not None:
            self._slots.taken -= 1
        self.sem.release()

    async def _poll_iteration(self) -> None:
        await super()._poll_iteration()
        self._validation.on_poll()
        if self._stopping and not self.tasks:
            raise PollingStopped

    async def start_jobs(self, job_ids: list[bytes]) -> None:
        """Start what has a name that can be ours; set the rest aside."""
        if self._slots is not None and self._slots.are_closed():
            return
        named: list[bytes] = []
        for entry in job_ids:
            if not _is_readable(entry):
                await self._set_aside(entry, "The entry's name is not UTF-8.")
            elif not self._has_tag(entry):
                await self._set_aside(entry, f"The entry's name has not the hash tag {self._tag}.")
            elif entry.decode() not in self.tasks:  # it runs here, though its mark lapsed: the loop was blocked
                named.append(entry)
        await self._start(await self._without_worker(named))
        if job_ids:
            # arq takes a score of 0 for "no longer in the queue".
            for entry in await self.pool.zrangebyscore(self.queue_name, 0, 0):
                await self._set_aside(entry, "The entry's score is 0.")

    async def _start(self, entries: list[bytes]) -> None:
        """arq keeps the slot of an entry at which Redis fails: this one too would be taken for ever."""
        try:
            await super().start_jobs(entries)
        except (RedisError, OSError):
            if self._holds_slot:
                self._release_sem_dec_counter_on_complete()
            raise

    async def _without_worker(self, entries: list[bytes]) -> list[bytes]:
        """Those that no worker is at: entries stay in the queue while they run, and arq asks four times for each."""
        if not entries:
            return entries
        marks = await self.pool.mget([in_progress_key_prefix.encode() + entry for entry in entries])
        return [entry for entry, mark in zip(entries, marks, strict=True) if mark is None]

    async def run_job(self, job_id: str, score: int) -> None:
        """Run a message of ours; set anything else aside."""
        entry = job_id.encode()
        try:
            payload: bytes | None = await self.pool.get(job_key_prefix.encode() + entry)
            if payload is None:
                # The hand-over expired, or Redis dropped it: the outbox offers the job again.
                await self.finish_failed_job(job_id, None)
                return
            decode_envelope(self._decode_payload(payload))
        except (InvalidInput, ResponseError, ValueError, RecursionError) as error:
            await self._set_aside(entry, str(error) or type(error).__name__)
            return
        await super().run_job(job_id, score)

    async def finish_job(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, job_id: str, finish: bool, *outcome: Any
    ) -> None:
        if finish:
            await self._drop(job_id.encode())
        else:
            await super().finish_job(job_id, finish, *outcome)

    async def finish_failed_job(self, job_id: str, result_data: bytes | None) -> None:
        await self._drop(job_id.encode())

    async def _drop(self, entry: bytes) -> None:
        """Without results, which nobody keeps, and without arq's set of jobs to abort, which would lie in another slot
        of a cluster.
        """
        async with self.pool.pipeline(transaction=True) as commands:
            commands.zrem(self.queue_name, entry)
            if self._has_tag(entry):
                names = (job_key_prefix, in_progress_key_prefix, retry_key_prefix)
                commands.delete(*[name.encode() + entry for name in names])
            await commands.execute()

    def _has_tag(self, entry: bytes) -> bool:
        """Whether the keys of an entry lie in the slot of its queue; true but in a cluster."""
        return entry.startswith(self._tag.encode())

    def _decode_payload(self, payload: bytes) -> object:
        if self.job_deserializer is None:
            raise TypeError("a queue without a JSON decoder would unpickle")
        return self.job_deserializer(payload)

    async def _set_aside(self, entry: bytes, reason: str) -> None:
        """Keep first, then remove: dying in between costs a second look, nothing else."""
        try:
            payload = await self._payload(entry) if self._has_tag(entry) else None
            await self._validation.keep(
                UndecodableMessage(self.queue_name, entry, payload or b"", INVALID, reason[:500])
            )
        except AgenticRagError:
            await asyncio.sleep(self._validation.outage_seconds)
            if self._has_tag(entry):
                await self.pool.delete(in_progress_key_prefix.encode() + entry)
            return
        await self._drop(entry)

    async def _payload(self, entry: bytes) -> bytes | None:
        """Its bytes, or as Redis dumps what is of another type."""
        key = job_key_prefix.encode() + entry
        try:
            return await self.pool.get(key)
        except ResponseError:
            return await self.pool.dump(key)


def _is_readable(entry: bytes) -> bool:
    try:
        entry.decode()
    except UnicodeDecodeError:
        return False
    return True

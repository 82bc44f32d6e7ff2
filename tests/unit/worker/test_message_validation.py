"""What becomes of deliveries when Redis fails."""

import asyncio
import gc

import pytest
from arq.worker import func
from redis.exceptions import ConnectionError as Gone

from agentic_rag.adapters.redis.connection import from_json, to_json
from agentic_rag_worker.message_validation import JobSlots, MessageValidation, ValidatingWorker


class FailingPool:
    """Knows of no delivery under way, and fails at all else."""

    job_serializer, job_deserializer = to_json, from_json

    async def mget(self, keys: list[bytes]) -> list[None]:
        return [None for _ in keys]

    def pipeline(self, transaction: bool) -> "FailingPool":
        return self

    def info(self, section: str) -> None:
        raise Gone("no answer")

    async def __aenter__(self) -> "FailingPool":
        return self

    async def __aexit__(self, *_: object) -> None: ...

    async def watch(self, key: str) -> None:
        raise Gone(f"no answer about {key}")


async def deliver(ctx: object, message: object) -> None: ...


def failing_worker(slots: JobSlots) -> ValidatingWorker:
    async def keep(_: object) -> None: ...

    return ValidatingWorker(
        MessageValidation(keep, 0.0, lambda: None), slots, 1.0, functions=[func(deliver, name="run_job")],
        queue_name="q", redis_pool=FailingPool(), handle_signals=False,
    )  # fmt: skip


async def test_an_entry_at_which_redis_fails_keeps_no_slot() -> None:
    slots = JobSlots(2)
    worker = failing_worker(slots)

    for _ in range(5):
        with pytest.raises(Gone):
            await worker.start_jobs([b"one", b"two"])

    assert slots.taken == 0
    for _ in range(3):
        await slots.semaphore.acquire()


async def test_deliveries_that_fail_in_one_outage_leave_no_traceback_each() -> None:
    async def fail() -> None:
        raise Gone("no answer")

    told: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
    worker = failing_worker(JobSlots(2))
    worker.tasks = {name: asyncio.create_task(fail()) for name in ("one", "two")}

    with pytest.raises(Gone):
        await worker.main()
    await asyncio.wait(worker.tasks.values())
    del worker
    gc.collect()

    assert told == []

"""What every `JobQueue` promises."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from tests.memory_store.jobs.queue import MemoryJobQueue
from tests.stack import Stack, redis_sources

from agentic_rag.adapters.redis.connection import from_json, queue_pool
from agentic_rag.adapters.redis.queue import ArqJobQueue
from agentic_rag.jobs.job import Job, JobKind, JobRef, JobState, QueueName
from agentic_rag.jobs.ports import JobQueue
from agentic_rag.jobs.redis_address import key_prefix
from agentic_rag.kernel.errors import DependencyUnavailable
from agentic_rag.tenancy.principals import WorkspaceRef

REAL = [pytest.mark.integration, pytest.mark.network]
WORKSPACE = WorkspaceRef(uuid4(), uuid4())


@pytest.fixture(params=["memory", *(pytest.param(source, marks=REAL) for source in redis_sources())])
async def queue(request: pytest.FixtureRequest, session_stack: Stack) -> AsyncIterator[JobQueue]:
    """An empty queue."""
    made: JobQueue
    if request.param == "memory":
        made = MemoryJobQueue()
    else:
        url = session_stack.redis_url(request.param)
        made = ArqJobQueue(queue_pool(url), key_prefix(url, f"test-{uuid4()}"))
    yield made
    await made.aclose()


def refs(number: int) -> list[JobRef]:
    return [JobRef(WORKSPACE, uuid4(), fence=1) for _ in range(number)]


async def test_a_new_queue_is_empty(queue: JobQueue) -> None:
    assert [await queue.depth(name) for name in QueueName] == [0, 0]


async def test_a_job_that_waits_already_is_not_handed_over_again(queue: JobQueue) -> None:
    first, second, third = refs(3)
    assert await queue.offer(QueueName.BULK, [first, second]) == 2

    assert await queue.offer(QueueName.BULK, [second, third, third]) == 1
    assert await queue.depth(QueueName.BULK) == 3


async def test_a_job_that_came_back_is_handed_over_anew(queue: JobQueue) -> None:
    [ref] = refs(1)
    await queue.offer(QueueName.BULK, [ref])

    assert await queue.offer(QueueName.BULK, [JobRef(ref.workspace, ref.job_id, fence=ref.fence + 2)]) == 1


async def test_queues_do_not_mix(queue: JobQueue) -> None:
    await queue.offer(QueueName.BULK, refs(2))
    await queue.offer(QueueName.INTERACTIVE, refs(1))

    assert await queue.depth(QueueName.BULK) == 2
    assert await queue.depth(QueueName.INTERACTIVE) == 1


async def test_offering_nothing_changes_nothing(queue: JobQueue) -> None:
    assert await queue.offer(QueueName.BULK, []) == 0
    assert await queue.depth(QueueName.BULK) == 0


async def test_a_queue_that_is_down_says_so(unused_tcp_port: int) -> None:
    queue = ArqJobQueue(queue_pool(f"redis://127.0.0.1:{unused_tcp_port}/0", retries=0, timeout_seconds=0.5), "test")

    with pytest.raises(DependencyUnavailable) as refused:
        await queue.offer(QueueName.BULK, refs(1))

    assert refused.value.dependency == "redis"
    await queue.aclose()


def given_up(arguments: dict[str, str]) -> Job:
    now = datetime(2026, 3, 1, tzinfo=UTC)
    return Job(
        WORKSPACE, uuid4(), JobKind.INGEST, "a", JobState.DEAD, QueueName.BULK, arguments, 3, None, "PARSE_EMPTY",
        "a private message", 0, {}, now, now, now,
    )  # fmt: skip


@pytest.mark.parametrize("source", [pytest.param(source, marks=REAL) for source in redis_sources()])
async def test_dead_letters_are_shown_newest_first_without_what_they_hold(session_stack: Stack, source: str) -> None:
    url = session_stack.redis_url(source)
    prefix, pool = key_prefix(url, f"test-{uuid4()}"), queue_pool(url)
    queue = ArqJobQueue(pool, prefix)
    older, newer = given_up({"path": "private.md"}), given_up({"path": "private.md"})

    await queue.mirror_dead(older, "PARSE_EMPTY")
    await queue.mirror_dead(newer, "PARSE_CORRUPT")

    letters = [from_json(letter) for letter in await pool.lrange(f"{prefix}:dlq", 0, -1)]
    assert [(letter["job"], letter["code"]) for letter in letters] == [
        (str(newer.job_id), "PARSE_CORRUPT"),
        (str(older.job_id), "PARSE_EMPTY"),
    ]
    assert "private" not in str(letters)
    assert await queue.depth(QueueName.BULK) == 0
    await queue.aclose()


async def test_the_memory_queue_shows_dead_letters_newest_first() -> None:
    queue = MemoryJobQueue()
    older, newer = given_up({}), given_up({})

    await queue.mirror_dead(older, "PARSE_EMPTY")
    await queue.mirror_dead(newer, "PARSE_CORRUPT")

    assert [(letter.job.job_id, letter.code, letter.attempts) for letter in queue.dead_letters] == [
        (newer.job_id, "PARSE_CORRUPT", 3),
        (older.job_id, "PARSE_EMPTY", 3),
    ]


async def test_a_worker_in_the_same_process_takes_the_job_that_waited_longest() -> None:
    queue = MemoryJobQueue()
    first, second = refs(2)
    await queue.offer(QueueName.BULK, [first, second])

    assert queue.take(QueueName.BULK) == first
    assert queue.take(QueueName.BULK) == second
    assert queue.take(QueueName.BULK) is None

"""What every `RateBuckets` promises."""

import asyncio
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest
from tests.stack import Stack, redis_sources
from tests.waiting import eventually

from agentic_rag.adapters.redis.quick_connections import QuickConnections
from agentic_rag.adapters.redis.rate_buckets import RedisRateBuckets
from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.adapters.system.rate_buckets import MemoryRateBuckets
from agentic_rag.embedded.loopback import free_port
from agentic_rag.jobs.redis_address import key_prefix
from agentic_rag.kernel.errors import DependencyUnavailable
from agentic_rag.workspaces.ports import RateBuckets
from agentic_rag.workspaces.prefetched_buckets import PrefetchedBuckets
from agentic_rag.workspaces.rate_limits import Bucket

REAL = [pytest.mark.integration, pytest.mark.network]
PATIENT_SECONDS = 5.0
ORG = uuid4()
SLOW = Bucket("ask", 3)
"""One comes back every 20 s: within a test, none."""


@pytest.fixture(params=["memory", "leased", *(pytest.param(name, marks=REAL) for name in redis_sources())])
async def buckets(request: pytest.FixtureRequest, session_stack: Stack) -> AsyncIterator[RateBuckets]:
    if request.param == "memory":
        yield MemoryRateBuckets(SystemClock())
        return
    if request.param == "leased":
        yield PrefetchedBuckets(MemoryRateBuckets(SystemClock()), SystemClock())
        return
    url = session_stack.redis_url(request.param)
    redis = RedisRateBuckets(url, prefix=key_prefix(url, f"test-{uuid4()}"), timeout_seconds=PATIENT_SECONDS)
    yield redis
    await redis.aclose()


async def test_as_many_pass_as_a_minute_allows_and_the_next_is_told_when(buckets: RateBuckets) -> None:
    for _ in range(3):
        assert await buckets.take(ORG, [SLOW]) is None

    refused = await buckets.take(ORG, [SLOW])

    assert refused is not None
    assert refused.index == 0
    assert 10 < refused.seconds <= 20


@pytest.mark.parametrize(("per_minute", "processes", "each"), [(12, 3, 4), (2, 4, 1)])
async def test_processes_that_count_alone_let_in_no_more_together_than_one(
    per_minute: int, processes: int, each: int
) -> None:
    """One request a minute passes whatever the number of processes."""
    bucket = Bucket("ask", per_minute)
    alone = [MemoryRateBuckets(SystemClock(), processes=processes) for _ in range(processes)]

    let_in = [[await one.take(ORG, [bucket]) for _ in range(per_minute + 1)].count(None) for one in alone]

    assert let_in == [each] * processes


async def test_organisations_and_kinds_have_buckets_of_their_own(buckets: RateBuckets) -> None:
    for _ in range(3):
        await buckets.take(ORG, [SLOW])

    assert await buckets.take(uuid4(), [SLOW]) is None
    assert await buckets.take(ORG, [Bucket("write", 3)]) is None


async def test_a_request_that_one_bucket_refuses_takes_nothing_from_the_others(buckets: RateBuckets) -> None:
    one, other = Bucket("one", 1), Bucket("other", 2)
    await buckets.take(ORG, [one])

    refused = await buckets.take(ORG, [other, one])

    assert refused is not None
    assert refused.index == 1
    assert await buckets.take(ORG, [Bucket("other", 2, 2)]) is None


async def test_what_was_taken_comes_back(buckets: RateBuckets) -> None:
    fast = Bucket("fast", 6000, 6000)
    assert await buckets.take(ORG, [fast]) is None
    assert await buckets.take(ORG, [Bucket("fast", 6000, 10)]) is not None

    async def passes() -> bool:
        return await buckets.take(ORG, [Bucket("fast", 6000, 10)]) is None

    await eventually(passes, "ten of a hundred a second come back")


async def test_a_request_of_more_than_a_minute_s_worth_takes_it_all_and_passes(buckets: RateBuckets) -> None:
    assert await buckets.take(ORG, [Bucket("ask", 3, 5)]) is None
    assert await buckets.take(ORG, [SLOW]) is not None


@pytest.mark.network
async def test_a_redis_that_is_away_is_said_to_be() -> None:
    redis = RedisRateBuckets(f"redis://127.0.0.1:{free_port()}/0")
    with pytest.raises(DependencyUnavailable):
        await redis.take(ORG, [SLOW])
    await redis.aclose()


async def test_a_process_remembers_no_more_buckets_than_it_is_given_room_for() -> None:
    memory = MemoryRateBuckets(SystemClock(), max_buckets=2)
    for key in ("a", "b", "c"):
        await memory.take(ORG, [Bucket(key, 1)])

    assert await memory.take(ORG, [Bucket("a", 1)]) is None
    assert await memory.take(ORG, [Bucket("c", 1)]) is not None


@pytest.mark.integration
@pytest.mark.network
@pytest.mark.parametrize("source", redis_sources())
async def test_a_call_that_was_cancelled_leaves_its_answer_to_nobody(source: str, session_stack: Stack) -> None:
    connections = QuickConnections(session_stack.redis_url(source), connect_seconds=PATIENT_SECONDS)
    await connections.ask("PING")
    for _ in range(20):
        asking = asyncio.create_task(connections.ask("ECHO", "of somebody else"))
        await asyncio.sleep(0)
        asking.cancel()

        assert await connections.ask("ECHO", "mine") == b"mine"

    await connections.aclose()


@pytest.mark.integration
@pytest.mark.network
@pytest.mark.parametrize("source", redis_sources())
async def test_connections_that_the_server_closed_are_replaced(source: str, session_stack: Stack) -> None:
    url = session_stack.redis_url(source)
    connections, other = (QuickConnections(url, connect_seconds=PATIENT_SECONDS) for _ in range(2))
    own = await connections.ask("CLIENT", "ID")

    await other.ask("CLIENT", "KILL", "ID", own)

    assert await connections.ask("CLIENT", "ID") > own
    await connections.aclose()
    await other.aclose()

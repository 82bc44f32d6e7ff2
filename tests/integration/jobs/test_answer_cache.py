"""Cached answers: bounded in time, forgotten per workspace, and never in the way when Redis is."""

import asyncio
import time
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest
import redis.asyncio
from tests.integration.jobs.data_plane import until

from agentic_rag.adapters.cache_chain import ChainedAnswerCache
from agentic_rag.adapters.redis.cache import RedisAnswerCache
from agentic_rag.kernel.errors import DependencyUnavailable
from agentic_rag.tenancy.principals import WorkspaceRef

pytestmark = [pytest.mark.integration, pytest.mark.network]

HERE, THERE = WorkspaceRef(uuid4(), uuid4()), WorkspaceRef(uuid4(), uuid4())


@pytest.fixture
async def cache(fresh_redis: str) -> AsyncIterator[RedisAnswerCache]:
    cache = RedisAnswerCache(fresh_redis, prefix="one", timeout_seconds=1.0)
    yield cache
    await cache.aclose()


async def test_an_answer_is_found_in_its_own_workspace_only(cache: RedisAnswerCache) -> None:
    await cache.put(HERE, "question", b"answer", 60)

    assert await cache.get(HERE, "question") == b"answer"
    assert await cache.get(THERE, "question") is None
    assert await cache.get(HERE, "other") is None


async def test_forgetting_drops_one_workspace_and_counts_it(cache: RedisAnswerCache) -> None:
    for n in range(1_200):
        await cache.put(HERE, f"{n}", b"answer", 60)
    await cache.put(THERE, "question", b"answer", 60)

    assert await cache.forget(HERE) == 1_200
    assert await cache.get(HERE, "7") is None
    assert await cache.get(THERE, "question") == b"answer"


async def test_forgetting_leaves_no_key_behind(cache: RedisAnswerCache, fresh_redis: str) -> None:
    await cache.put(HERE, "question", b"answer", 60)
    await cache.forget(HERE)

    async with redis.asyncio.Redis.from_url(fresh_redis) as server:
        assert await server.dbsize() == 0


async def test_entries_expire_and_leave_the_index(cache: RedisAnswerCache, fresh_redis: str) -> None:
    await cache.put(HERE, "short", b"answer", 1)
    await cache.put(HERE, "long", b"answer", 600)

    await until(lambda: _gone(cache), "the entry expired")
    await until(lambda: _indexed(cache, fresh_redis, 2), "the index dropped it at the next put")
    assert await cache.forget(HERE) == 2


async def test_the_index_outlives_the_longest_entry(cache: RedisAnswerCache, fresh_redis: str) -> None:
    await cache.put(HERE, "long", b"answer", 600)
    await cache.put(HERE, "short", b"answer", 5)

    async with redis.asyncio.Redis.from_url(fresh_redis) as server:
        ttls = [await server.ttl(key) for key in await server.keys("*cache:*}")]
    assert len(ttls) == 1
    assert ttls[0] > 590


async def test_without_redis_everything_is_a_miss_but_forgetting_says_so() -> None:
    cache = RedisAnswerCache("redis://127.0.0.1:1", timeout_seconds=0.1)
    started = time.monotonic()

    await cache.put(HERE, "question", b"answer", 60)

    assert await cache.get(HERE, "question") is None
    assert not cache.available
    with pytest.raises(DependencyUnavailable):
        await cache.forget(HERE)
    assert time.monotonic() - started < 5
    await cache.aclose()


async def test_a_redis_that_hangs_costs_a_bounded_wait() -> None:
    closed = asyncio.Event()

    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()
        closed.set()

    server = await asyncio.start_server(hang, "127.0.0.1", 0)
    cache = RedisAnswerCache(f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}", timeout_seconds=0.05)

    async with asyncio.timeout(2):
        assert await cache.get(HERE, "question") is None

    assert not cache.available
    await cache.aclose()
    async with asyncio.timeout(2):
        await closed.wait()
    server.close()


async def test_the_cache_is_available_again_after_a_success(cache: RedisAnswerCache, fresh_redis: str) -> None:
    flaky = RedisAnswerCache(fresh_redis, timeout_seconds=1.0, pause_seconds=0.0)
    async with redis.asyncio.Redis.from_url(fresh_redis) as server:
        await server.lpush(f"agentic-rag:cache:{{{HERE.org_id}:{HERE.workspace_id}}}:question", "not a string")
        assert await flaky.get(HERE, "question") is None
        assert not flaky.available
        await server.flushall()

    assert await flaky.get(HERE, "question") is None
    assert flaky.available
    await flaky.aclose()


async def test_a_chain_serves_what_only_the_second_holds_and_forgets_in_both(
    cache: RedisAnswerCache, fresh_redis: str
) -> None:
    second = RedisAnswerCache(fresh_redis, prefix="two", timeout_seconds=1.0)
    chain = ChainedAnswerCache(cache, second)
    await chain.put(HERE, "question", b"answer", 60)
    await cache.forget(HERE)

    assert await chain.get(HERE, "question") == b"answer"
    assert await chain.forget(HERE) == 1
    assert await chain.get(HERE, "question") is None
    await chain.aclose()


async def _gone(cache: RedisAnswerCache) -> bool:
    return await cache.get(HERE, "short") is None


async def _indexed(cache: RedisAnswerCache, url: str, entries: int) -> bool:
    await cache.put(HERE, "another", b"answer", 600)
    async with redis.asyncio.Redis.from_url(url) as server:
        (index,) = await server.keys("*cache:*}")
        return await server.zcard(index) == entries

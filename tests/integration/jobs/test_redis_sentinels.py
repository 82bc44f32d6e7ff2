"""REDIS_URL names Sentinels: queue, cache, limits and passages go on at the server that they make primary."""

import uuid
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest
import redis.asyncio
from tests.integration.jobs.data_plane import DataPlane
from tests.redis_sentinels import RedisWatch, redis_watch
from tests.stack import FROM_SYSTEM, FROM_WHEEL, redis_program
from tests.waiting import eventually, made_good

from agentic_rag.adapters.redis.cache import RedisAnswerCache
from agentic_rag.adapters.redis.connection import queue_pool
from agentic_rag.adapters.redis.passages import RedisPassageExchange
from agentic_rag.adapters.redis.queue import ArqJobQueue
from agentic_rag.adapters.redis.rate_buckets import RedisRateBuckets
from agentic_rag.jobs.job import JobRef, JobState, QueueName
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.rate_limits import Bucket
from agentic_rag_cli.commands.operations.redis_check import check_redis

pytestmark = [pytest.mark.integration, pytest.mark.network]

WORKSPACE = WorkspaceRef(uuid.uuid4(), uuid.uuid4())


@pytest.fixture(params=[FROM_WHEEL, FROM_SYSTEM])
async def watch(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[RedisWatch]:
    folder = tmp_path / "redis"
    folder.mkdir()
    async with redis_watch(redis_program(request.param), folder) as ready:
        yield ready


async def test_all_that_uses_redis_goes_on_at_the_next_primary(watch: RedisWatch) -> None:
    cache, buckets = RedisAnswerCache(watch.url, pause_seconds=0.01), RedisRateBuckets(watch.url)
    passages, queue = RedisPassageExchange(watch.url), ArqJobQueue(queue_pool(watch.url), "test")
    ref = JobRef(WORKSPACE, uuid.uuid4())

    async def use() -> None:
        await queue.offer(QueueName.BULK, [ref])
        await queue.absent(QueueName.BULK, [ref])
        await passages.ask("key", "Why?", 60)
        await buckets.take(WORKSPACE.org_id, [Bucket("a", 1)])
        await cache.forget(WORKSPACE)
        await cache.put(WORKSPACE, "key", b"kept", 60)

    await made_good(use, "the service is used")
    first = await watch.named()
    assert first == watch.servers[0]

    await watch.kill(first)
    await eventually(lambda: _is_named(watch, watch.servers[1]), "the Sentinels chose the replica", seconds=60)
    await made_good(use, "the service is used at the next primary")

    assert await cache.get(WORKSPACE, "key") == b"kept"
    async with redis.asyncio.Redis(port=watch.servers[1], password="of the servers") as next_one:
        kinds = {key.split(b":")[0] + b":" + key.split(b":")[1] for key in await next_one.keys("*")}
    assert kinds >= {b"arq:job", b"agentic-rag:cache", b"agentic-rag:hyde", b"agentic-rag:rate"}
    for one in (cache, buckets, passages, queue):
        await one.aclose()


async def test_a_primary_that_became_a_replica_is_left(watch: RedisWatch) -> None:
    ref = JobRef(WORKSPACE, uuid.uuid4())
    async with aclosing(ArqJobQueue(queue_pool(watch.url), "test")) as queue:
        await made_good(queue.check, "the queue is used")
        async with redis.asyncio.Redis(port=watch.sentinels[0], password="of-the-sentinels") as sentinel:
            await sentinel.execute_command("SENTINEL", "FAILOVER", "rag-tests")
        await eventually(lambda: _is_named(watch, watch.servers[1]), "the servers changed places", seconds=60)
        await eventually(lambda: _is_replica(watch.servers[0]), "the first server follows the second", seconds=60)

        assert await made_good(lambda: queue.offer(QueueName.BULK, [ref]), "a job is offered") == 1


async def test_documents_are_ingested_over_a_failover(
    watch: RedisWatch, migrated_database: str, tmp_path: Path, folder: Path
) -> None:
    plane = DataPlane(migrated_database, watch.url, tmp_path / "blobs")
    await plane.prepare()
    async with plane.worker():
        (folder / "a.md").write_text("Water flows.")
        await plane.sync(folder)
        await plane.until_idle()
        await watch.kill(watch.servers[0])
        (folder / "b.md").write_text("Water flows back.")
        await made_good(lambda: plane.sync(folder), "the second document is taken")
        await plane.until_idle()

    assert [job.state for job in await plane.jobs()] == [JobState.DONE] * 2
    assert await plane.chunk_texts("b.md") == ["Water flows back."]
    await plane.aclose()


async def test_doctor_looks_at_the_primary_of_the_sentinels(watch: RedisWatch) -> None:
    found = await check_redis(watch.url)
    strange = await check_redis(watch.url.replace("service=rag-tests", "service=other"))

    assert found.status in ("ok", "degraded")
    assert found.code in (None, "REDIS_UNSUPPORTED")
    assert (strange.status, strange.code) == ("failed", "REDIS_UNREACHABLE")
    assert "knows no service other" in strange.detail


async def _is_named(watch: RedisWatch, port: int) -> bool:
    return await watch.named() == port


async def _is_replica(port: int) -> bool:
    try:
        async with redis.asyncio.Redis(port=port, password="of the servers") as client:
            return (await client.info("replication"))["role"] == "slave"
    except redis.exceptions.ConnectionError:
        return False  # a Sentinel closes the connections of a server that it changes

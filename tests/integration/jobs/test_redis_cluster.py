"""REDIS_URL names nodes of a Redis Cluster: all keys lie in one slot, and queue, cache, limits and passages follow it
to the primary that has it.
"""

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import pytest
from tests.integration.jobs.data_plane import DataPlane
from tests.redis_cluster import SLOT, RedisCluster, redis_cluster
from tests.stack import FROM_SYSTEM, FROM_WHEEL, redis_program
from tests.waiting import eventually, made_good

from agentic_rag.adapters.redis.cache import RedisAnswerCache
from agentic_rag.adapters.redis.connection import queue_pool
from agentic_rag.adapters.redis.passages import RedisPassageExchange
from agentic_rag.adapters.redis.queue import ArqJobQueue
from agentic_rag.adapters.redis.rate_buckets import RedisRateBuckets
from agentic_rag.jobs.job import JobRef, JobState, QueueName
from agentic_rag.jobs.message import QueueLayout
from agentic_rag.jobs.redis_address import key_prefix
from agentic_rag.kernel.errors import DependencyUnavailable
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.models.chat.request import LlmError
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.rate_limits import Bucket
from agentic_rag_cli.commands.operations.redis_check import check_redis

pytestmark = [pytest.mark.integration, pytest.mark.network]

WORKSPACE = WorkspaceRef(uuid.uuid4(), uuid.uuid4())


@pytest.fixture(scope="module", params=[FROM_WHEEL, pytest.param(FROM_SYSTEM, marks=pytest.mark.nightly)])
def nodes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisCluster]:
    with redis_cluster(redis_program(request.param), tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture
def cluster(nodes: RedisCluster) -> RedisCluster:
    """All nodes run, and each primary has a replica."""
    nodes.mend()
    return nodes


@pytest.fixture
async def plane(cluster: RedisCluster, migrated_database: str, tmp_path: Path) -> AsyncIterator[DataPlane]:
    made = DataPlane(migrated_database, cluster.url, tmp_path / "blobs", queue_name=f"test-{uuid.uuid4()}")
    await made.prepare()
    yield made
    await made.aclose()


class Users:
    """All that uses Redis."""

    def __init__(self, url: str, timeout_seconds: float = 0.1) -> None:
        prefix = key_prefix(url, f"test-{uuid.uuid4()}")
        self.cache = RedisAnswerCache(url, prefix=prefix, timeout_seconds=timeout_seconds, pause_seconds=0.01)
        self.buckets = RedisRateBuckets(url, prefix=prefix)
        self.passages = RedisPassageExchange(url, prefix=prefix)
        self.queue = ArqJobQueue(queue_pool(url), prefix, partitions=4)

    async def use(self) -> None:
        ref = JobRef(WORKSPACE, uuid.uuid4())
        assert await self.queue.absent(QueueName.BULK, [ref]) == [ref]
        await self.queue.offer(QueueName.BULK, [ref])
        await self.queue.depth(QueueName.BULK)
        await self.passages.ask("key", "Why?", 60)
        await self.passages.pending_request("key")
        await self.passages.give("key", LlmError("GONE"), 60)
        assert await self.passages.wait("key") == LlmError("GONE")
        await self.buckets.take(WORKSPACE.org_id, [Bucket("a", 1), Bucket("b", 1)])
        await self.cache.forget(WORKSPACE)
        await self.cache.put(WORKSPACE, "key", b"kept", 60)

    async def aclose(self) -> None:
        for one in (self.cache, self.buckets, self.passages, self.queue):
            await one.aclose()


async def test_all_that_uses_redis_goes_on_at_the_replica_of_a_killed_primary(cluster: RedisCluster) -> None:
    async with aclosing(Users(cluster.url)) as users:
        await made_good(users.use, "the cluster is used")
        first = cluster.owner()
        cluster.kill(first)

        await made_good(users.use, "the cluster is used at the next primary")

        assert cluster.owner() not in (first, -1)
        assert await users.cache.get(WORKSPACE, "key") == b"kept"


async def test_a_primary_that_became_a_replica_is_left(cluster: RedisCluster) -> None:
    async with aclosing(Users(cluster.url)) as users:
        await made_good(users.use, "the cluster is used")
        first = cluster.owner()
        cluster.ask((first + 3) % 6, "CLUSTER", "FAILOVER")
        await eventually(_held(lambda: cluster.is_replica(first)), "the two changed places")

        await made_good(users.use, "the cluster is used at the next primary")


async def test_documents_are_ingested_over_a_failover(cluster: RedisCluster, plane: DataPlane, folder: Path) -> None:
    async with plane.worker():
        (folder / "a.md").write_text("Water flows.")
        await plane.sync(folder)
        await plane.until_idle()
        cluster.kill(cluster.owner())
        (folder / "b.md").write_text("Water flows back.")
        await made_good(lambda: plane.sync(folder), "the second document is taken")
        await plane.until_idle()

    assert [job.state for job in await plane.jobs()] == [JobState.DONE] * 2
    assert await plane.chunk_texts("b.md") == ["Water flows back."]


async def test_documents_are_ingested_while_the_slot_moves(
    cluster: RedisCluster, plane: DataPlane, folder: Path
) -> None:
    number = 24
    hold = plane.hold_embedder()
    for one in range(number):
        (folder / f"{one}.md").write_text(f"Water flows {one} times.")
    async with plane.worker(slots=2):
        await plane.sync(folder)
        await hold.reached.wait()
        async with _moving_slot(cluster) as target:
            hold.go_on.set()
            await eventually(lambda: _was_told(plane, "rag_dispatch_failed"), "keys on both nodes are an outage")
        await plane.until_idle()

    assert cluster.owner() == target
    assert [job.state for job in await plane.jobs()] == [JobState.DONE] * number
    for one in range(number):
        assert await plane.chunk_texts(f"{one}.md") == [f"Water flows {one} times."]


async def test_answers_that_lie_on_the_other_node_are_not_said_to_be_forgotten(cluster: RedisCluster) -> None:
    workspace = WorkspaceRef(uuid.uuid4(), uuid.uuid4())
    async with aclosing(Users(cluster.url, timeout_seconds=1.0)) as users:
        for key in ("a", "b"):
            await users.cache.put(workspace, key, b"erased", 60)
        entry = next(key for key in _keys(cluster) if key.endswith(f"{workspace.workspace_id}}}:b".encode()))

        async with _moving_slot(cluster, [entry]):
            with pytest.raises(DependencyUnavailable):
                await users.cache.forget(workspace)
            with pytest.raises(DependencyUnavailable):
                await users.cache.holding(workspace, b"erased")
        assert await made_good(lambda: users.cache.holding(workspace, b"erased"), "the slot is found") >= 1
        await users.cache.forget(workspace)

    assert not any(str(workspace.workspace_id).encode() in key for key in _keys(cluster))


async def test_an_entry_whose_keys_lie_in_other_slots_is_set_aside(
    cluster: RedisCluster, plane: DataPlane, folder: Path
) -> None:
    queue = QueueLayout(plane.key_prefix).key(QueueName.BULK)
    (folder / "a.md").write_text("Water flows.")
    await plane.sync(folder)
    cluster.ask(cluster.owner(), "ZADD", queue, 1, b"alien", 2, b"\xff")
    async with plane.worker():
        await plane.until_idle()
        await eventually(_held(lambda: not cluster.ask(cluster.owner(), "ZCARD", queue)), "the queue is empty")

    async with aclosing(plane.dead_payloads()) as store:
        entries = {one.message.entry for one in (await store.page(PageRequest(10))).items}
    assert entries == {b"alien", b"\xff"}
    assert [job.state for job in await plane.jobs()] == [JobState.DONE]


async def test_doctor_looks_at_the_primary_with_the_slot(cluster: RedisCluster) -> None:
    whole = await check_redis(cluster.url)
    replica = next(node for node in range(6) if cluster.is_replica(node) and _follows(cluster, node, cluster.owner()))
    cluster.kill(replica)
    await eventually(_held(lambda: not cluster.ask(cluster.owner(), "ROLE")[2]), "the primary misses its replica")
    alone = await check_redis(cluster.url)

    assert "a cluster of 3 shards; the primary with our slot has 1 replica" in whole.detail
    assert whole.code in (None, "REDIS_UNSUPPORTED")
    assert "has 0 replicas" in alone.detail
    assert (alone.status, alone.code) in [("degraded", "REDIS_CLUSTER_DEGRADED"), ("degraded", "REDIS_UNSUPPORTED")]


@pytest.mark.parametrize("node", [0, 1, 2])
async def test_a_node_that_is_taken_for_one_server_is_told_with_the_scheme_to_write(
    cluster: RedisCluster, node: int
) -> None:
    url = cluster.node_url(node)
    async with aclosing(Users(url)) as users:
        with pytest.raises(DependencyUnavailable, match=r"write redis\+cluster://") as queue:
            await users.queue.offer(QueueName.BULK, [JobRef(WORKSPACE, uuid.uuid4())])
        with pytest.raises(DependencyUnavailable) as cache:
            await _forget_many(users.cache)
    check = await check_redis(url)

    assert queue.value.code == cache.value.code == check.code == "REDIS_CLUSTER"
    assert "redis+cluster://" in (check.remedy or "")


async def _forget_many(cache: RedisAnswerCache) -> None:
    """Of each three workspaces the entries of two lie on other nodes."""
    for _ in range(30):
        await cache.forget(WorkspaceRef(uuid.uuid4(), uuid.uuid4()))


async def test_one_server_that_is_taken_for_a_cluster_is_told(redis_url: str) -> None:
    check = await check_redis(redis_url.replace("redis://", "redis+cluster://").rpartition("/")[0])

    assert (check.status, check.code) == ("failed", "REDIS_CLUSTER")
    assert "redis://" in (check.remedy or "")


@asynccontextmanager
async def _moving_slot(cluster: RedisCluster, first: Sequence[bytes] | None = None) -> AsyncIterator[int]:
    """The slot goes to the primary that is given: the `first` of its keys, half of them by default, before the block,
    the others after it, as `redis-cli --cluster reshard` moves them.
    """
    source = cluster.owner()
    target = next(node for node in range(6) if node != source and not cluster.is_replica(node))
    cluster.ask(target, "CLUSTER", "SETSLOT", SLOT, "IMPORTING", cluster.name(source))
    cluster.ask(source, "CLUSTER", "SETSLOT", SLOT, "MIGRATING", cluster.name(target))
    keys = _keys(cluster, source)
    for key in keys[: len(keys) // 2] if first is None else first:
        cluster.move(source, target, key)
    yield target

    def is_empty() -> bool:
        for key in _keys(cluster, source):
            cluster.move(source, target, key)
        return not _keys(cluster, source)

    await eventually(_held(is_empty), "all keys have gone")
    for node in (target, source):
        cluster.ask(node, "CLUSTER", "SETSLOT", SLOT, "NODE", cluster.name(target))


def _keys(cluster: RedisCluster, node: int | None = None) -> list[bytes]:
    """Those of the slot on a node, by default its owner."""
    return cluster.ask(cluster.owner() if node is None else node, "CLUSTER", "GETKEYSINSLOT", SLOT, 10_000)


async def _was_told(plane: DataPlane, event: str) -> bool:
    return any(one.name == event for one in plane.telemetry.events)


def _follows(cluster: RedisCluster, replica: int, primary: int) -> bool:
    return int(cluster.ask(replica, "ROLE")[2]) == cluster.ports[primary][0]


def _held(condition: Callable[[], bool]) -> Callable[[], Awaitable[bool]]:
    """A look that blocks, away from the loop."""
    return lambda: asyncio.to_thread(condition)

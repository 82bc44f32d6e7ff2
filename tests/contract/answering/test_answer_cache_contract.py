"""What every `AnswerCache` promises."""

from collections.abc import AsyncIterator
from dataclasses import replace
from uuid import uuid4

import pytest
from tests.contract.backends import BACKENDS, Backend
from tests.memory_store.answering.cache import MemoryAnswerCache
from tests.stack import Stack, redis_sources
from tests.waiting import eventually

from agentic_rag.adapters.cache_chain import ChainedAnswerCache
from agentic_rag.adapters.redis.cache import RedisAnswerCache
from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.jobs.redis_address import key_prefix
from agentic_rag.kernel.errors import DependencyUnavailable
from agentic_rag.tenancy.principals import WorkspaceRef

REAL = [pytest.mark.integration, pytest.mark.network]
SERVED = ("postgres", *redis_sources(), "redis and postgres")
PATIENT_SECONDS = 5.0
"""The product gives Redis a tenth of a second; a busy test machine may need more."""


@pytest.fixture(
    params=[
        "memory",
        *(pytest.param(name, marks=REAL) for name in ("postgres", *redis_sources(), "redis and postgres")),
    ]
)
async def caching(request: pytest.FixtureRequest, session_stack: Stack) -> AsyncIterator[Backend]:
    """Every cache, and the two as production chains them, each beside a database that knows the workspaces."""
    name: str = request.param
    if name in BACKENDS:
        async with BACKENDS[name](request) as backend:
            yield backend
        return
    chained = name not in redis_sources()
    url = session_stack.redis_url(redis_sources()[0] if chained else name)
    redis = RedisAnswerCache(url, prefix=key_prefix(url, f"test-{uuid4()}"), timeout_seconds=PATIENT_SECONDS)
    async with BACKENDS["postgres" if chained else "memory"](request) as backend:
        cache = ChainedAnswerCache(redis, backend.cache) if chained else redis
        yield replace(backend, cache=cache)
        await cache.aclose()


async def test_a_value_is_kept_under_its_workspace_and_key(caching: Backend) -> None:
    workspace, other = await caching.workspace(), await caching.workspace()

    await caching.cache.put(workspace, "k", b"\x00value", 60)

    assert await caching.cache.get(workspace, "k") == b"\x00value"
    assert await caching.cache.get(workspace, "K") is None
    assert await caching.cache.get(other, "k") is None
    assert await caching.cache.get(WorkspaceRef(other.org_id, workspace.workspace_id), "k") is None
    assert caching.cache.available


async def test_a_value_is_replaced(caching: Backend) -> None:
    workspace = await caching.workspace()
    await caching.cache.put(workspace, "k", b"old", 60)

    await caching.cache.put(workspace, "k", b"new", 60)

    assert await caching.cache.get(workspace, "k") == b"new"


async def test_an_expired_value_is_absent(caching: Backend) -> None:
    workspace = await caching.workspace()

    await caching.cache.put(workspace, "k", b"value", 0)

    assert await caching.cache.get(workspace, "k") is None


async def test_forgetting_drops_the_entries_of_one_workspace(caching: Backend) -> None:
    workspace, other = await caching.workspace(), await caching.workspace()
    for key in ("a", "b"):
        await caching.cache.put(workspace, key, b"value", 60)
    await caching.cache.put(other, "a", b"value", 60)

    forgotten = await caching.cache.forget(workspace)

    assert forgotten == (4 if isinstance(caching.cache, ChainedAnswerCache) else 2)
    assert await caching.cache.forget(workspace) == 0
    assert await caching.cache.get(workspace, "a") is None
    assert await caching.cache.get(other, "a") == b"value"


async def test_an_erasure_empties_the_cache_of_its_workspace(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    published = await adapter.publish(workspace, "a.md", ["text"])
    await adapter.cache.put(workspace, "k", b"an answer from the text", 60)

    async with adapter.database.transaction(workspace.org_id) as transaction:
        await transaction.publisher.erase(workspace, published.document_id)

    assert await adapter.cache.get(workspace, "k") is None


async def test_an_unknown_workspace_has_no_entries(caching: Backend) -> None:
    workspace = WorkspaceRef(await caching.organisation(), uuid4())

    assert await caching.cache.get(workspace, "k") is None
    assert await caching.cache.forget(workspace) == 0


async def test_a_value_lives_as_long_as_it_was_given(caching: Backend) -> None:
    workspace = await caching.workspace()
    await caching.cache.put(workspace, "brief", b"value", 1)
    await caching.cache.put(workspace, "lasting", b"value", 60)
    assert await caching.cache.get(workspace, "brief") == b"value"

    async def is_gone() -> bool:
        return await caching.cache.get(workspace, "brief") is None

    await eventually(is_gone, "the brief entry expired")
    assert await caching.cache.get(workspace, "lasting") == b"value"


@pytest.mark.integration
@pytest.mark.network
async def test_what_only_the_lasting_cache_holds_is_served_from_there(session_stack: Stack) -> None:
    url = session_stack.redis_url(redis_sources()[0])
    lasting = MemoryAnswerCache(SystemClock())
    chain = ChainedAnswerCache(
        RedisAnswerCache(url, prefix=key_prefix(url, f"test-{uuid4()}"), timeout_seconds=PATIENT_SECONDS), lasting
    )
    workspace = WorkspaceRef(uuid4(), uuid4())
    await lasting.put(workspace, "k", b"value", 60)

    assert await chain.get(workspace, "k") == b"value"
    await chain.aclose()


async def test_a_cache_that_is_down_behaves_as_empty_and_says_so_to_an_erasure(unused_tcp_port: int) -> None:
    cache = RedisAnswerCache(f"redis://127.0.0.1:{unused_tcp_port}/0", timeout_seconds=0.5)
    workspace = WorkspaceRef(uuid4(), uuid4())

    await cache.put(workspace, "k", b"value", 60)

    assert await cache.get(workspace, "k") is None
    assert not cache.available
    with pytest.raises(DependencyUnavailable):
        await cache.forget(workspace)
    await cache.aclose()

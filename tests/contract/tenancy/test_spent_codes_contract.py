"""What every `SpendCode` promises."""

from collections.abc import AsyncIterator
from uuid import uuid4

import pytest
from tests.stack import Stack, redis_sources
from tests.waiting import eventually

from agentic_rag.adapters.redis.spent_codes import RedisSpentCodes
from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.adapters.system.spent_codes import MemorySpentCodes
from agentic_rag.embedded.loopback import free_port
from agentic_rag.jobs.redis_address import key_prefix
from agentic_rag.kernel.errors import DependencyUnavailable
from agentic_rag.tenancy.ports import SpendCode

REAL = [pytest.mark.integration, pytest.mark.network]
PATIENT_SECONDS = 5.0


@pytest.fixture(params=["memory", *(pytest.param(name, marks=REAL) for name in redis_sources())])
async def spend(request: pytest.FixtureRequest, session_stack: Stack) -> AsyncIterator[SpendCode]:
    if request.param == "memory":
        yield MemorySpentCodes(SystemClock()).spend
        return
    url = session_stack.redis_url(request.param)
    redis = RedisSpentCodes(url, prefix=key_prefix(url, f"test-{uuid4()}"), timeout_seconds=PATIENT_SECONDS)
    yield redis.spend
    await redis.aclose()


async def test_a_code_is_spent_once_and_another_one_is_another(spend: SpendCode) -> None:
    assert [await spend(name, 60.0) for name in ("one", "one", "two")] == [True, False, True]


async def test_a_code_is_forgotten_when_it_would_not_be_taken_any_more(spend: SpendCode) -> None:
    await spend("short", 0.05)

    async def forgotten() -> bool:
        return await spend("short", 60.0)

    await eventually(forgotten, "the code is forgotten")


@pytest.mark.integration
@pytest.mark.network
@pytest.mark.parametrize("source", redis_sources())
async def test_a_code_that_one_process_took_is_spent_for_those_beside_and_after_it(
    source: str, session_stack: Stack
) -> None:
    url = session_stack.redis_url(source)
    prefix = key_prefix(url, f"test-{uuid4()}")
    first, second = (RedisSpentCodes(url, prefix=prefix, timeout_seconds=PATIENT_SECONDS) for _ in range(2))
    assert await first.spend("one", 60.0)
    await first.aclose()

    assert not await second.spend("one", 60.0)
    await second.aclose()


@pytest.mark.network
async def test_where_redis_is_away_no_code_is_taken() -> None:
    redis = RedisSpentCodes(f"redis://127.0.0.1:{free_port()}/0")
    with pytest.raises(DependencyUnavailable):
        await redis.spend("one", 60.0)
    await redis.aclose()

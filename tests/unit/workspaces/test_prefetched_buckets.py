"""What a process may let through from what it took in advance."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.adapters.system.rate_buckets import MemoryRateBuckets
from agentic_rag.kernel.errors import DependencyUnavailable
from agentic_rag.workspaces.prefetched_buckets import KEPT_SECONDS, PrefetchedBuckets
from agentic_rag.workspaces.rate_limits import Bucket, RateLimitRefusal

ORG = uuid4()
PER_MINUTE = 6000
"""A hundred a second: ten in advance."""
ONE = Bucket("ask", PER_MINUTE)


@dataclass
class SetClock:
    """Stands where it is put."""

    seconds: float = 1000.0

    def now(self) -> datetime:
        return datetime(2026, 11, 22, tzinfo=UTC)

    def monotonic(self) -> float:
        return self.seconds


@dataclass
class Shared:
    """Shared buckets that remember what they gave."""

    clock: SetClock
    buckets: MemoryRateBuckets = field(init=False)
    calls: int = 0
    given: int = 0
    away: bool = False
    closed: asyncio.Event | None = None

    def __post_init__(self) -> None:
        self.buckets = MemoryRateBuckets(self.clock)

    async def take(self, org_id: UUID, buckets: Sequence[Bucket]) -> RateLimitRefusal | None:
        self.calls += 1
        if self.away:
            raise DependencyUnavailable("Away.", dependency="redis")
        if self.closed is not None:
            await self.closed.wait()
        refused = await self.buckets.take(org_id, buckets)
        if refused is None:
            self.given += buckets[0].cost
        return refused


def leased() -> tuple[PrefetchedBuckets, Shared]:
    shared = Shared(SetClock())
    return PrefetchedBuckets(shared, shared.clock), shared


async def test_a_tenth_of_a_seconds_worth_is_taken_in_advance() -> None:
    buckets, shared = leased()

    for _ in range(22):
        assert await buckets.take(ORG, [ONE]) is None

    assert (shared.calls, shared.given) == (2, 22)


async def test_a_limit_too_low_for_an_advance_is_counted_request_by_request() -> None:
    buckets, shared = leased()

    for _ in range(5):
        assert await buckets.take(ORG, [Bucket("ask", 599)]) is None

    assert (shared.calls, shared.given) == (5, 5)


async def test_what_is_not_used_within_a_second_is_lost() -> None:
    buckets, shared = leased()
    await buckets.take(ORG, [ONE])
    shared.clock.seconds += KEPT_SECONDS

    await buckets.take(ORG, [ONE])

    assert shared.calls == 2


async def test_the_last_requests_of_a_minute_pass_though_no_advance_is_left() -> None:
    buckets, shared = leased()
    await shared.buckets.take(ORG, [Bucket("ask", PER_MINUTE, PER_MINUTE - 3)])

    passed = [await buckets.take(ORG, [ONE]) is None for _ in range(4)]

    assert passed == [True, True, True, False]


async def test_a_refused_request_names_its_bucket_and_takes_nothing_from_the_others() -> None:
    buckets, shared = leased()
    other = Bucket("other", 3)
    for _ in range(3):
        assert await buckets.take(ORG, [ONE, other]) is None
    given = shared.given

    refused = await buckets.take(ORG, [ONE, other])

    assert refused is not None
    assert refused.index == 1
    passed = [await buckets.take(ORG, [ONE]) is None for _ in range(8)]
    assert all(passed)
    assert shared.given == given


async def test_a_failing_server_costs_nothing_of_what_is_held() -> None:
    buckets, shared = leased()
    await buckets.take(ORG, [ONE])
    shared.away = True
    with pytest.raises(DependencyUnavailable):
        await buckets.take(ORG, [Bucket("ask", PER_MINUTE, 50)])

    passed = [await buckets.take(ORG, [ONE]) is None for _ in range(10)]

    assert all(passed)


async def test_of_requests_at_the_same_time_one_brings_an_advance() -> None:
    buckets, shared = leased()
    shared.closed = asyncio.Event()
    asking = [asyncio.create_task(buckets.take(ORG, [ONE])) for _ in range(5)]
    await asyncio.sleep(0)
    shared.closed.set()
    await asyncio.gather(*asking)

    assert shared.given == 5 + 10


async def test_a_process_keeps_no_more_leases_than_it_has_room_for() -> None:
    shared = Shared(SetClock())
    buckets = PrefetchedBuckets(shared, shared.clock, max_leases=2)
    for key in ("a", "b", "c", "c", "b", "a"):
        await buckets.take(ORG, [Bucket(key, PER_MINUTE)])

    assert shared.calls == 4


@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(1, 80), st.floats(0, 2)), min_size=1, max_size=60),
    st.integers(100, 20_000),
)
async def test_processes_together_let_no_more_through_than_the_shared_bucket_gave(
    requests: list[tuple[int, int, float]], per_minute: int
) -> None:
    shared = Shared(SetClock())
    processes = [PrefetchedBuckets(shared, shared.clock) for _ in range(2)]
    passed = 0
    for process, cost, pause in requests:
        shared.clock.seconds += pause
        if await processes[process].take(ORG, [Bucket("ask", per_minute, cost)]) is None:
            passed += min(cost, per_minute)
        assert passed <= shared.given

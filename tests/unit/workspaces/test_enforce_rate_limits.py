import asyncio
from collections.abc import Sequence
from dataclasses import replace
from time import monotonic
from uuid import UUID, uuid4

import pytest
from tests.memory_store.answering.cache import MemoryAnswerCache
from tests.memory_store.session.database import MemoryDatabase
from tests.memory_store.session.store import MemoryStore
from tests.memory_store.telemetry import RecordingTelemetry
from tests.memory_store.workspaces.organisations import MemoryOrganisations
from tests.set_clock import SetClock

from agentic_rag.adapters.system.rate_buckets import MemoryRateBuckets
from agentic_rag.kernel.errors import DependencyUnavailable, RateLimited
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.kernel.patience import caller_waits
from agentic_rag.tenancy.principals import Principal, Role
from agentic_rag.workspaces.enforce_rate_limits import FRESH_SECONDS, PAUSE_SECONDS, Admission
from agentic_rag.workspaces.rate_limits import Bucket, RateLimitRefusal, RateLimits, Traffic

ASK, WRITE = {Traffic.ASK: 1}, {Traffic.WRITE: 1}


class Shared:
    """Buckets behind a server that can be away."""

    def __init__(self, clock: SetClock) -> None:
        self.buckets = MemoryRateBuckets(clock)
        self.away = False
        self.calls = 0

    async def take(self, org_id: UUID, buckets: Sequence[Bucket]) -> RateLimitRefusal | None:
        self.calls += 1
        if self.away:
            raise DependencyUnavailable("Away.", dependency="redis")
        return await self.buckets.take(org_id, buckets)


class World:
    """An organisation behind an admission."""

    def __init__(self, defaults: RateLimits, subject_share: float = 1.0) -> None:
        self.clock, self.telemetry = SetClock(), RecordingTelemetry()
        store = MemoryStore(self.clock)
        self.database = MemoryDatabase(store, MemoryAnswerCache(self.clock))
        self.organisations = MemoryOrganisations(store)
        self.shared = Shared(self.clock)
        self.admission = Admission(
            self.database,
            self.shared,
            MemoryRateBuckets(self.clock),
            defaults,
            self.clock,
            self.telemetry,
            subject_share=subject_share,
        )
        self.caller = Principal(uuid4(), "ada", Role.MEMBER)

    async def opened(self) -> "World":
        await self.organisations.ensure_organisation(self.caller.org_id, "one")
        return self

    def counted(self, metric: str) -> float:
        return sum(amount for (name, _), amount in self.telemetry.counters.items() if name == metric)


async def test_without_limits_nobody_is_counted() -> None:
    world = await World(RateLimits(0, 0, 0)).opened()
    for _ in range(50):
        await world.admission.admit(world.caller, ASK)

    assert world.shared.calls == 0


async def test_a_request_too_many_is_told_when_to_come_back_and_counted() -> None:
    world = await World(RateLimits(2, 0, 0)).opened()
    for _ in range(2):
        await world.admission.admit(world.caller, ASK)

    with pytest.raises(RateLimited) as refused:
        await world.admission.admit(world.caller, ASK)

    assert refused.value.retry_after_seconds == 30
    assert world.counted("rag_rate_limited_total") == 1
    world.clock.seconds += 30
    await world.admission.admit(world.caller, ASK)


async def test_asking_and_writing_have_limits_of_their_own() -> None:
    world = await World(RateLimits(1, 1, 1)).opened()

    await world.admission.admit(world.caller, ASK)
    await world.admission.admit(world.caller, WRITE)

    with pytest.raises(RateLimited):
        await world.admission.admit(world.caller, WRITE)


async def test_one_caller_leaves_the_others_their_share() -> None:
    world = await World(RateLimits(4, 0, 0), subject_share=0.5).opened()
    neighbour = replace(world.caller, subject="ben")
    for _ in range(2):
        await world.admission.admit(world.caller, ASK)

    with pytest.raises(RateLimited, match="this caller may send 2"):
        await world.admission.admit(world.caller, ASK)
    for _ in range(2):
        await world.admission.admit(neighbour, ASK)
    with pytest.raises(RateLimited, match="this organisation may send 4"):
        await world.admission.admit(replace(world.caller, subject="cleo"), ASK)


async def test_an_organisation_s_own_limit_holds_at_once_here_and_is_audited() -> None:
    world = await World(RateLimits(0, 0, 0)).opened()
    await world.admission.admit(world.caller, ASK)

    await world.admission.set_limits(world.caller.org_id, RateLimits(asks=1), "operator")
    await world.admission.admit(world.caller, ASK)

    with pytest.raises(RateLimited):
        await world.admission.admit(world.caller, ASK)
    assert await world.admission.in_force(world.caller.org_id) == RateLimits(1, 0, 0)
    async with world.database.transaction(world.caller.org_id) as transaction:
        (entry, *_) = (await transaction.audit.page(PageRequest(1))).items
    assert (entry.action, entry.actor, entry.detail["asks"]) == ("rate_limits.set", "operator", 1)


async def test_a_limit_that_another_process_set_holds_within_the_fresh_seconds() -> None:
    world = await World(RateLimits(0, 0, 0)).opened()
    await world.admission.admit(world.caller, ASK)
    async with world.database.transaction(world.caller.org_id) as transaction:
        await transaction.organisations.change(lambda settings: replace(settings, rates=RateLimits(asks=1)))

    world.clock.seconds += FRESH_SECONDS
    await world.admission.admit(world.caller, ASK)

    with pytest.raises(RateLimited):
        await world.admission.admit(world.caller, ASK)


@pytest.mark.tells("rag_rate_limits_local")
async def test_while_redis_is_away_a_process_holds_callers_to_the_limit_by_itself() -> None:
    world = await World(RateLimits(2, 0, 0)).opened()
    world.shared.away = True
    for _ in range(2):
        await world.admission.admit(world.caller, ASK)

    with pytest.raises(RateLimited):
        await world.admission.admit(world.caller, ASK)

    assert world.shared.calls == 1, "a server that failed is left alone for a while"
    assert world.counted("rag_rate_limit_fallbacks_total") == 3
    assert [event.name for event in world.telemetry.events] == ["rag_rate_limits_local"]


async def test_redis_counts_again_when_it_is_back() -> None:
    world = await World(RateLimits(2, 0, 0)).opened()
    world.shared.away = True
    await world.admission.admit(world.caller, ASK)
    world.shared.away = False

    world.clock.seconds += PAUSE_SECONDS
    await world.admission.admit(world.caller, ASK)
    await world.admission.admit(world.caller, ASK)

    assert world.shared.calls == 3
    assert world.counted("rag_rate_limit_fallbacks_total") == 1


async def test_an_organisation_that_was_never_made_goes_by_the_operator_s_limits() -> None:
    world = World(RateLimits(1, 0, 0))
    await world.admission.admit(world.caller, ASK)

    with pytest.raises(RateLimited):
        await world.admission.admit(world.caller, ASK)


async def test_the_first_look_at_limits_waits_for_no_database_that_hangs() -> None:
    world = await World(RateLimits(1, 0, 0)).opened()
    answers, look = asyncio.Event(), world.admission.in_force

    async def held(org_id: UUID) -> RateLimits:
        await answers.wait()
        return replace(await look(org_id), asks=3)

    world.admission.in_force = held  # type: ignore[method-assign]
    began = monotonic()
    with caller_waits(0.2):
        await world.admission.admit(world.caller, ASK)
        with pytest.raises(RateLimited):
            await world.admission.admit(world.caller, ASK)
    assert monotonic() - began < 1.0

    answers.set()
    await asyncio.sleep(0)
    world.clock.seconds += 60
    for _ in range(3):
        await world.admission.admit(world.caller, ASK)

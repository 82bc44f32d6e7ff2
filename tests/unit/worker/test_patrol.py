"""When the self-attack runs."""

import asyncio
from collections.abc import Callable

import pytest
from tests.memory_store.telemetry import RecordingTelemetry
from tests.waiting import eventually

from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.kernel.errors import DependencyUnavailable
from agentic_rag.operations.leak_canaries import CanaryReport
from agentic_rag_worker.canary_schedule import CanarySchedule


class Attacks:
    """Counts rounds; the first may fail."""

    def __init__(self, *, fails: bool = False) -> None:
        self.rounds = 0
        self.fails = fails

    async def run(self) -> CanaryReport:
        self.rounds += 1
        if self.fails:
            raise DependencyUnavailable("The database is away.", dependency="postgres")
        return CanaryReport(2, 6, (), (), 0)


async def while_patrolling(
    attacks: Attacks, seen: Callable[[], bool], *, leads: bool = True, every: float = 3600.0
) -> RecordingTelemetry:
    telemetry = RecordingTelemetry()
    patrol = CanarySchedule(attacks.run, every, lambda: leads, SystemClock(), telemetry, look_seconds=0.001)
    running = asyncio.create_task(patrol.run())

    async def condition() -> bool:
        return seen()

    await eventually(condition, "the patrol did what it should", 5.0)
    patrol.stop()
    await running
    return telemetry


@pytest.mark.tells("rag_tenant_canaries_checked")
async def test_the_worker_that_leads_attacks_at_once_and_says_what_it_checked() -> None:
    attacks = Attacks()

    telemetry = await while_patrolling(attacks, lambda: attacks.rounds > 0)

    assert attacks.rounds == 1
    [event] = telemetry.events
    assert (event.name, event.fields["checks"], event.fields["leaks"]) == ("rag_tenant_canaries_checked", 6, 0)


async def test_rounds_come_back_after_their_interval() -> None:
    attacks = Attacks()

    telemetry = await while_patrolling(attacks, lambda: attacks.rounds >= 3, every=0.002)

    assert {event.name for event in telemetry.events} == {"rag_tenant_canaries_checked"}
    assert len(telemetry.events) >= 3


async def test_a_worker_that_does_not_lead_attacks_nobody() -> None:
    attacks, looks = Attacks(), 0

    def looked() -> bool:
        nonlocal looks
        looks += 1
        return looks > 5

    await while_patrolling(attacks, looked, leads=False)

    assert attacks.rounds == 0


@pytest.mark.tells("rag_tenant_canaries_failed")
async def test_a_round_that_fails_is_counted_and_the_next_one_comes() -> None:
    attacks = Attacks(fails=True)

    telemetry = await while_patrolling(attacks, lambda: attacks.rounds >= 2, every=0.002)

    assert telemetry.counters[("rag_tenant_leak_checks_total", (("outcome", "failed"),))] >= 2

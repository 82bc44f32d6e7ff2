"""What stores promise of worker processes, and of attempts whose lease lapsed."""

import asyncio
from datetime import datetime, timedelta
from uuid import uuid4

import pytest
from tests.contract.backends import Backend
from tests.contract.jobs.test_job_store_contract import LONG, attempts_at, board_of, enqueue, jobs_of, taken

from agentic_rag.jobs.job import JobRef
from agentic_rag.jobs.workers import WorkerIdentity

NOW = timedelta(0)


def worker(name: str) -> WorkerIdentity:
    """A worker whose name no other test has."""
    return WorkerIdentity(f"{name}:{uuid4()}", "host", 7, "0.1.0", 8)


async def lapsed_with(adapter: Backend, ref: JobRef, one: WorkerIdentity, *, lives: bool, reason: str = "") -> None:
    """An attempt of this worker, whose lease lapses; the worker is seen before, and when it lives also afterwards."""
    async with board_of(adapter) as board:
        await board.beat(one)
        lease = await taken(adapter, ref, NOW, one.name)
        if reason:
            async with jobs_of(adapter, ref.workspace.org_id) as jobs:
                await jobs.blame(lease, one.name, reason)
        await board.expire_leases()
        if lives:
            await board.beat(one)


@pytest.mark.parametrize(
    ("lives", "reason", "outcome"), [(True, "", "OUTAGE"), (False, "", "LAPSED"), (True, "It stood still.", "LAPSED")]
)
async def test_a_lapse_counts_unless_its_worker_lived_on_and_did_not_give_the_job_up(
    adapter: Backend, lives: bool, reason: str, outcome: str
) -> None:
    ref = await enqueue(adapter, await adapter.workspace())

    await lapsed_with(adapter, ref, worker("w"), lives=lives, reason=reason)
    await taken(adapter, ref)

    first, second = await attempts_at(adapter, ref)
    assert (first.outcome, first.error_code, first.error_chain) == (outcome, "LEASE_LOST", (reason,) if reason else ())
    assert first.ended_at is not None
    assert first.ended_at <= second.started_at
    assert second.outcome is None


async def test_a_worker_that_comes_back_late_clears_the_attempts_before_the_last(adapter: Backend) -> None:
    ref, one = await enqueue(adapter, await adapter.workspace()), worker("late")
    await lapsed_with(adapter, ref, one, lives=False)
    await lapsed_with(adapter, ref, worker("dead"), lives=False)
    before = [attempt.outcome for attempt in await attempts_at(adapter, ref)]

    async with board_of(adapter) as board:
        await board.beat(one)
    await taken(adapter, ref)

    assert before == ["LAPSED", None]
    assert [attempt.outcome for attempt in await attempts_at(adapter, ref)] == ["OUTAGE", "LAPSED", None]


async def test_workers_lost_without_a_job_are_those_that_died_since_and_never_ran_it(adapter: Backend) -> None:
    ref, mine, other, earlier, drained, alive = (
        await enqueue(adapter, await adapter.workspace()),
        *(worker(name) for name in ("mine", "other", "earlier", "drained", "alive")),
    )

    async def lost(since: datetime) -> int:
        async with jobs_of(adapter, ref.workspace.org_id) as jobs:
            return await jobs.workers_lost_without(since, [mine.name], timedelta(seconds=0.2))

    async with board_of(adapter) as board:
        await board.beat(earlier)
        lease = await taken(adapter, ref, LONG, mine.name)
        since = lease.job.updated_at
        none = await lost(since)
        for one in (mine, other, drained):
            await board.beat(one)
        await board.sign_off(drained)
        await asyncio.sleep(0.25)
        await board.beat(alive)

    assert (none, await lost(since)) == (0, 1)


async def test_workers_are_listed_those_that_run_first(adapter: Backend) -> None:
    ended, runs = worker("ended"), worker("runs")
    async with board_of(adapter) as board:
        for one in (ended, runs, ended):
            await board.beat(one)
        await board.sign_off(ended)
        listed = [one for one in await board.workers() if one.identity in (ended, runs)]

    assert [one.identity for one in listed] == [runs, ended]
    assert [one.ended_at is None for one in listed] == [True, False]
    assert all(one.started_at <= one.seen_at for one in listed)

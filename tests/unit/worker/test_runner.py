"""What becomes of a job whose process ends."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from tests.memory_store.answering.cache import MemoryAnswerCache
from tests.memory_store.jobs.job_board import MemoryJobBoard
from tests.memory_store.jobs.queue import MemoryJobQueue
from tests.memory_store.session.database import MemoryDatabase
from tests.memory_store.session.store import MemoryStore
from tests.memory_store.telemetry import RecordingTelemetry

from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.adapters.system.ids import RandomIds
from agentic_rag.jobs.job import Job, JobKind, JobRef, JobState, Lease, NewJob, QueueName, RetryPolicy
from agentic_rag.jobs.workers import WorkerIdentity
from agentic_rag.kernel.errors import DependencyUnavailable, LeaseLost, Retryable
from agentic_rag.kernel.stages import run_stage
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.settings import WorkspaceSettings
from agentic_rag.workspaces.workspace import WorkspaceKind
from agentic_rag_worker.exclusive_lock import ExclusiveLock
from agentic_rag_worker.heartbeat import Heartbeat
from agentic_rag_worker.job_handlers import Handler
from agentic_rag_worker.runner import JobRunner, RunOutcome
from agentic_rag_worker.timings import WorkerTimings

WORKER = WorkerIdentity("host:1:a", "host", 1, "0.1.0", 8)


class SlowToEnd:
    """A body that still has something to do after it was cancelled, and sees how its job stands then."""

    def __init__(self, database: MemoryDatabase) -> None:
        self._database = database
        self.began = asyncio.Event()
        self.state_at_end: JobState | None = None

    async def run(self, lease: Lease, progress: object) -> None:
        self.began.set()
        try:
            await asyncio.Event().wait()
        finally:
            for _ in range(10):
                await asyncio.sleep(0)
            async with self._database.transaction(lease.job.workspace.org_id) as transaction:
                job = await transaction.jobs.get(lease.job.workspace, lease.job.job_id)
            self.state_at_end = None if job is None else job.state

    async def record_failure(self, *_: object) -> None:
        raise AssertionError("nothing failed")


class HeldByKey:
    """A body whose jobs run until the test lets them end; it notes which run beside each other."""

    def __init__(self) -> None:
        self.running: dict[str, asyncio.Event] = {}
        self.met: set[frozenset[str]] = set()

    async def run(self, lease: Lease, progress: object) -> None:
        self.running[lease.job.key] = asyncio.Event()
        self.met.add(frozenset(self.running))
        await self.running[lease.job.key].wait()
        del self.running[lease.job.key]

    async def record_failure(self, *_: object) -> None:
        return None


@dataclass(frozen=True)
class Outbox:
    """The jobs of a workspace, in memory."""

    store: MemoryStore
    database: MemoryDatabase
    workspace: WorkspaceRef

    async def enqueued(self, key: str, lost_workers: int = 0, kind: JobKind = JobKind.COMPACT) -> JobRef:
        """A job that lost some workers before. The reference is that of its first hand-over, as a message that a killed
        worker left in the queue has it.
        """
        async with self.database.transaction(self.workspace.org_id) as transaction:
            ref, _ = await transaction.jobs.enqueue(NewJob(self.workspace, kind, key, {}))
        for _ in range(lost_workers):
            async with self.database.transaction(self.workspace.org_id) as transaction:
                assert await transaction.jobs.lease(ref, "killed", timedelta(seconds=-1))
            assert await MemoryJobBoard(self.store).expire_leases() == 1
        return ref

    async def job(self, ref: JobRef) -> Job:
        async with self.database.transaction(self.workspace.org_id) as transaction:
            job = await transaction.jobs.get(self.workspace, ref.job_id)
        assert job is not None
        return job

    def runner(
        self,
        body: Any,
        exclusive_lock: ExclusiveLock | None = None,
        timings: WorkerTimings | None = None,
        telemetry: RecordingTelemetry | None = None,
        queue: MemoryJobQueue | None = None,
    ) -> JobRunner:
        clock, telemetry, handlers = (
            SystemClock(),
            telemetry or RecordingTelemetry(),
            {
                JobKind.COMPACT: Handler(
                    body.run, 60.0, 60.0, body.record_failure, is_done=getattr(body, "is_done", None)
                ),
                JobKind.FORGET: Handler(body.run, 60.0, 60.0, is_erasure=True),
            },
        )
        heartbeat = Heartbeat(lambda: self.database, clock, telemetry, timedelta(seconds=30), WORKER)
        return JobRunner(
            self.database, queue or MemoryJobQueue(), handlers, RetryPolicy(3, 10), heartbeat,
            exclusive_lock or ExclusiveLock(), clock, RandomIds(), telemetry, WORKER, timings or WorkerTimings(),
        )  # fmt: skip


@pytest.fixture
async def outbox() -> Outbox:
    store, workspace = MemoryStore(SystemClock()), WorkspaceRef(uuid4(), uuid4())
    database = MemoryDatabase(store, MemoryAnswerCache(store.clock))
    async with database.transaction(workspace.org_id) as transaction:
        await transaction.workspaces.create(
            workspace.workspace_id, "w", WorkspaceKind.GENERAL, None, WorkspaceSettings()
        )
    return Outbox(store, database, workspace)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while True:
            if condition():
                return
            await asyncio.sleep(0)


async def test_a_job_goes_back_only_after_its_body_has_ended(outbox: Outbox) -> None:
    ref = await outbox.enqueued("key")
    body = SlowToEnd(outbox.database)

    running = asyncio.create_task(outbox.runner(body).run(ref))
    await body.began.wait()
    running.cancel()

    assert await running is RunOutcome.RELEASED
    assert body.state_at_end is JobState.RUNNING
    job = await outbox.job(ref)
    assert (job.state, job.attempts) == (JobState.QUEUED, 0)


async def test_the_last_attempt_of_a_job_that_lost_workers_has_a_process_to_itself(outbox: Outbox) -> None:
    refs = {
        key: await outbox.enqueued(key, lost)
        for key, lost in {"early": 0, "once": 1, "suspect": 2, "other suspect": 2, "late": 0}.items()
    }
    body = HeldByKey()
    runner = outbox.runner(body)
    tasks = {key: asyncio.create_task(runner.run(refs[key])) for key in ("early", "once")}
    await until(lambda: set(body.running) == {"early", "once"})

    tasks["suspect"] = asyncio.create_task(runner.run(refs["suspect"]))
    await until(lambda: runner.exclusive_lock.is_exclusive)
    for key in ("other suspect", "late"):
        assert await runner.run(refs[key]) is RunOutcome.NOT_TAKEN
    body.running["early"].set()
    body.running["once"].set()
    await until(lambda: set(body.running) == {"suspect"})
    for key in ("other suspect", "late"):
        assert await runner.run(refs[key]) is RunOutcome.NOT_TAKEN
    body.running["suspect"].set()
    await asyncio.gather(*tasks.values())
    tasks["late"] = asyncio.create_task(runner.run(refs["late"]))
    await until(lambda: "late" in body.running)
    body.running["late"].set()
    await tasks["late"]

    assert all(met == {"suspect"} for met in body.met if "suspect" in met)
    assert {key: (job.state, job.attempts) for key in refs for job in [await outbox.job(refs[key])]} == {
        "early": (JobState.DONE, 1),
        "once": (JobState.DONE, 2),
        "suspect": (JobState.DONE, 3),
        "other suspect": (JobState.QUEUED, 2),
        "late": (JobState.DONE, 1),
    }


async def test_a_job_that_lost_a_worker_it_had_to_itself_is_a_dead_letter(outbox: Outbox) -> None:
    ref = await outbox.enqueued("poison", lost_workers=3)

    assert await outbox.runner(HeldByKey()).run(ref) is RunOutcome.DEAD

    assert (await outbox.job(ref)).error_code == "WORKER_LOST"


async def test_a_worker_told_to_stop_gives_up_waiting_for_company_to_leave(outbox: Outbox) -> None:
    first, suspect = await outbox.enqueued("first"), await outbox.enqueued("suspect", 2)
    body = HeldByKey()
    runner = outbox.runner(body)
    tasks = [asyncio.create_task(runner.run(first))]
    await until(lambda: "first" in body.running)
    tasks.append(asyncio.create_task(runner.run(suspect)))
    await until(lambda: runner.exclusive_lock.is_exclusive)

    draining = asyncio.create_task(runner.drain())
    await asyncio.sleep(0)
    body.running["first"].set()
    await draining

    assert await asyncio.gather(*tasks) == [RunOutcome.DONE, RunOutcome.NOT_TAKEN]
    assert (await outbox.job(suspect)).attempts == 2


async def test_a_slow_job_beside_a_suspect_holds_up_no_small_one(outbox: Outbox) -> None:
    slow, suspect, small = (
        await outbox.enqueued("slow"),
        await outbox.enqueued("suspect", 2),
        await outbox.enqueued("small"),
    )
    body = HeldByKey()
    runner = outbox.runner(body, ExclusiveLock(wait_seconds=0.05, pause_seconds=30))
    slow_run = asyncio.create_task(runner.run(slow))
    await until(lambda: "slow" in body.running)

    assert await runner.run(suspect) is RunOutcome.NOT_TAKEN, "it waited for the slow one, and gave up"
    small_run = asyncio.create_task(runner.run(small))
    await until(lambda: "small" in body.running)
    assert await runner.run(suspect) is RunOutcome.NOT_TAKEN, "the others have their time now"
    assert not runner.exclusive_lock.is_exclusive
    for ended in body.running.values():
        ended.set()

    assert await asyncio.gather(slow_run, small_run) == [RunOutcome.DONE, RunOutcome.DONE]
    assert (await outbox.job(suspect)).attempts == 2


async def test_what_somebody_waits_for_runs_beside_a_job_alone(outbox: Outbox) -> None:
    suspect, asked = await outbox.enqueued("suspect", 2), await outbox.enqueued("asked")
    body = HeldByKey()
    runner = outbox.runner(body)
    tasks = [asyncio.create_task(runner.run(suspect))]
    await until(lambda: "suspect" in body.running)

    tasks.append(asyncio.create_task(runner.run(asked, QueueName.INTERACTIVE)))
    await until(lambda: set(body.running) == {"suspect", "asked"})
    for ended in body.running.values():
        ended.set()

    assert await asyncio.gather(*tasks) == [RunOutcome.DONE, RunOutcome.DONE]


class Failing:
    """A body that fails with an error a number of times, then ends."""

    def __init__(self, times: int, error: Callable[[], BaseException], before: Callable[[Any], Any] = id) -> None:
        self.left = times
        self._error = error
        self._before = before

    async def run(self, lease: Lease, progress: Any) -> None:
        if self.left:
            self.left -= 1
            await asyncio.sleep(0)
            self._before(progress)
            raise self._error()

    async def record_failure(self, *_: object) -> None:
        return None


def away(cause: BaseException) -> DependencyUnavailable:
    error = DependencyUnavailable("Postgres does not answer.", dependency="postgres")
    error.__cause__ = cause
    return error


async def run_until_ended(outbox: Outbox, runner: JobRunner, ref: JobRef) -> Job:
    for _ in range(100):
        await runner.run(ref)
        await MemoryJobBoard(outbox.store).expire_leases()
        job = await outbox.job(ref)
        if job.state not in (JobState.QUEUED, JobState.RUNNING):
            return job
        await asyncio.sleep(max(0.0, (job.run_after - outbox.store.clock.now()).total_seconds()))
    raise AssertionError("it never ended")


@pytest.mark.parametrize("outages", [1, 3, 6])
async def test_outages_of_the_database_use_up_no_attempt(outbox: Outbox, outages: int) -> None:
    ref = await outbox.enqueued("key")

    job = await run_until_ended(outbox, outbox.runner(Failing(outages, lambda: away(ConnectionError()))), ref)

    assert (job.state, job.attempts) == (JobState.DONE, 1)


async def test_a_job_that_always_brings_the_database_down_ends_as_a_dead_letter(outbox: Outbox) -> None:
    ref = await outbox.enqueued("key")

    job = await run_until_ended(outbox, outbox.runner(Failing(1_000, lambda: away(ConnectionError()))), ref)

    assert (job.state, job.attempts) == (JobState.DEAD, 3)


@pytest.mark.tells("rag_job_failed", "job_id")
async def test_a_statement_that_runs_out_of_time_is_the_jobs_own_failure(outbox: Outbox) -> None:
    ref = await outbox.enqueued("key")

    job = await run_until_ended(outbox, outbox.runner(Failing(1_000, lambda: away(TimeoutError()))), ref)

    assert (job.state, job.attempts) == (JobState.DEAD, 3)


class Lapsing(Failing):
    """Its lease lapses each time; its worker may be seen afterwards, and may have given the job up before."""

    def __init__(self, outbox: Outbox, times: int, *, lives: bool, gives_up: bool = False) -> None:
        super().__init__(times, lambda: LeaseLost("Another has it."))
        self._outbox = outbox
        self._lives = lives
        self._gives_up = gives_up

    async def run(self, lease: Lease, progress: Any) -> None:
        board = MemoryJobBoard(self._outbox.store)
        if self.left:
            async with self._outbox.database.transaction(self._outbox.workspace.org_id) as transaction:
                if self._gives_up:
                    await transaction.jobs.blame(lease, WORKER.name, "It stood still.")
                await transaction.jobs.renew(lease.ref, lease.fence, timedelta(seconds=-1), 0)
            await board.expire_leases()
            if self._lives:
                await board.beat(WORKER)
        await super().run(lease, progress)


@pytest.mark.parametrize(
    ("lives", "gives_up", "ends"),
    [(True, False, JobState.DONE), (False, False, JobState.DEAD), (True, True, JobState.DEAD)],
)
async def test_a_lapse_counts_unless_its_worker_lives_on_and_did_not_give_the_job_up(
    outbox: Outbox, lives: bool, gives_up: bool, ends: JobState
) -> None:
    ref = await outbox.enqueued("key")

    job = await run_until_ended(outbox, outbox.runner(Lapsing(outbox, 5, lives=lives, gives_up=gives_up)), ref)

    assert job.state is ends


async def test_a_job_whose_lease_lapses_for_ever_ends_although_its_workers_live(outbox: Outbox) -> None:
    ref = await outbox.enqueued("key")

    job = await run_until_ended(outbox, outbox.runner(Lapsing(outbox, 1_000, lives=True)), ref)

    assert (job.state, job.error_code) == (JobState.DEAD, "WORKER_LOST")


async def test_workers_that_were_lost_use_up_none_of_the_attempts_that_errors_have(outbox: Outbox) -> None:
    ref = await outbox.enqueued("key", lost_workers=2)

    job = await run_until_ended(outbox, outbox.runner(Failing(2, lambda: Retryable("busy"))), ref)

    assert (job.state, job.attempts) == (JobState.DONE, 5)


async def test_where_workers_are_lost_without_a_job_one_loss_alone_convicts_it_not(outbox: Outbox) -> None:
    ref, board = await outbox.enqueued("key", lost_workers=3), MemoryJobBoard(outbox.store)
    await board.beat(WorkerIdentity("other:1:b", "other", 1, "0.1.0", 8))
    await asyncio.sleep(0.01)

    job = await run_until_ended(
        outbox, outbox.runner(Failing(0, RuntimeError), timings=WorkerTimings(lease=0.001)), ref
    )

    assert (job.state, job.attempts) == (JobState.DONE, 4)


async def test_a_job_that_takes_its_worker_each_time_ends_also_where_others_are_lost(outbox: Outbox) -> None:
    ref, board = await outbox.enqueued("key", lost_workers=5), MemoryJobBoard(outbox.store)
    await board.beat(WorkerIdentity("other:1:b", "other", 1, "0.1.0", 8))
    await asyncio.sleep(0.01)

    assert await outbox.runner(HeldByKey(), timings=WorkerTimings(lease=0.001)).run(ref) is RunOutcome.DEAD


@pytest.mark.parametrize(("lost", "ends"), [(3, JobState.DONE), (12, JobState.DONE), (60, JobState.DEAD)])
async def test_an_erasure_is_given_up_after_many_lost_workers_only(outbox: Outbox, lost: int, ends: JobState) -> None:
    ref = await outbox.enqueued("key", lost, JobKind.FORGET)

    job = await run_until_ended(outbox, outbox.runner(Failing(0, RuntimeError)), ref)

    assert job.state is ends


async def test_an_erasure_goes_on_until_the_store_that_it_empties_is_back(outbox: Outbox) -> None:
    ref = await outbox.enqueued("key", kind=JobKind.FORGET)
    error = DependencyUnavailable("The blob store does not answer.", dependency="blob_store")

    telemetry = RecordingTelemetry()

    job = await run_until_ended(outbox, outbox.runner(Failing(6, lambda: error), telemetry=telemetry), ref)

    assert (job.state, job.attempts) == (JobState.DONE, 7)
    failures = "rag_job_failures_total", (("code", "DEPENDENCY_UNAVAILABLE"), ("kind", "forget"))
    assert telemetry.counters[failures] == 6


class Done(HeldByKey):
    """What its jobs are for is done."""

    async def is_done(self, *_: object) -> bool:
        return True


@pytest.mark.parametrize("lost", [2, 3, 7])
async def test_nobody_is_convicted_or_set_apart_whose_work_is_done(outbox: Outbox, lost: int) -> None:
    ref, beside, body = await outbox.enqueued("key", lost), await outbox.enqueued("beside"), Done()
    runner = outbox.runner(body)

    tasks = [asyncio.create_task(runner.run(beside)), asyncio.create_task(runner.run(ref))]
    await until(lambda: set(body.running) == {"beside", "key"})
    for ended in body.running.values():
        ended.set()

    assert await asyncio.gather(*tasks) == [RunOutcome.DONE, RunOutcome.DONE]


class DeafQueue(MemoryJobQueue):
    async def mirror_dead(self, *_: object) -> None:
        raise DependencyUnavailable("Redis is away.", dependency="redis")


class Staged:
    """A body that is one stage."""

    def __init__(self, telemetry: RecordingTelemetry) -> None:
        self._telemetry = telemetry

    async def run(self, lease: Lease, progress: object) -> None:
        with run_stage(self._telemetry, "parse", time.monotonic):
            await asyncio.sleep(0)

    async def record_failure(self, *_: object) -> None:
        return None


@pytest.mark.tells("rag_dead_letter_not_mirrored", "job_id")
async def test_a_dead_letter_is_one_although_the_queue_cannot_show_it(outbox: Outbox) -> None:
    ref = await outbox.enqueued("poison", lost_workers=3)

    assert await outbox.runner(HeldByKey(), queue=DeafQueue()).run(ref) is RunOutcome.DEAD


@pytest.mark.tells("rag_job_ending_not_recorded", "job_id")
async def test_an_ending_that_meets_an_outage_is_recorded_after_it(
    outbox: Outbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    telemetry, begin = RecordingTelemetry(), outbox.database.transaction
    ref, outages = await outbox.enqueued("one"), [True]

    class Ending(Staged):
        async def run(self, lease: Lease, progress: object) -> None:
            monkeypatch.setattr(outbox.database, "transaction", meeting)

    def meeting(*asked: Any) -> Any:
        if outages:
            outages.clear()
            raise away(ConnectionError())
        return begin(*asked)

    assert await outbox.runner(Ending(telemetry), telemetry=telemetry).run(ref) is RunOutcome.DONE


@pytest.mark.tells("rag_stage_ended", "job_id")
async def test_the_stages_of_a_job_carry_its_id(outbox: Outbox) -> None:
    telemetry = RecordingTelemetry()
    refs = [await outbox.enqueued("one"), await outbox.enqueued("two")]
    runner = outbox.runner(Staged(telemetry), telemetry=telemetry)

    await asyncio.gather(*(runner.run(ref) for ref in refs))

    told = [one.fields for one in telemetry.events if one.name == "rag_stage_ended"]
    assert {str(one["job_id"]) for one in told} == {str(ref.job_id) for ref in refs}
    assert [(one["stage"], one["outcome"]) for one in told] == 2 * [("parse", "ok")]

"""Poison, hung and much interrupted jobs; a blocked event loop; how long a drain and a return of Redis take."""

import asyncio
import time
from dataclasses import replace
from pathlib import Path

import pytest
from tests.integration.jobs.data_plane import QUICK, DataPlane, until

from agentic_rag.documents.document import DocumentStatus
from agentic_rag.jobs.job import JobAttempt, JobState

pytestmark = [pytest.mark.integration, pytest.mark.network]


async def attempts_of(plane: DataPlane) -> list[JobAttempt]:
    (job,) = await plane.jobs()
    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        return list(await transaction.jobs.attempts(plane.workspace, job.job_id))


async def status_of(plane: DataPlane, path: str) -> DocumentStatus:
    document = await plane.document(path)
    assert document is not None
    return document.status


async def test_a_poison_job_ends_as_a_dead_letter_and_the_others_finish(plane: DataPlane, folder: Path) -> None:
    for n in range(20):
        (folder / f"{n:02}.md").write_text(f"Water flows in pipe {n}.")
    (folder / "poison.md").write_text("Poison flows.")
    await plane.sync(folder)

    def refuse(texts: object) -> None:
        if "Poison" in str(texts):
            raise ZeroDivisionError("poison")

    plane.embedder.before = refuse
    async with plane.worker():
        await plane.until_idle()

    states = [job.state for job in await plane.jobs()]
    assert (states.count(JobState.DEAD), states.count(JobState.DONE)) == (1, 20)
    (dead,) = [job for job in await plane.jobs() if job.state is JobState.DEAD]
    assert (dead.attempts, dead.error_code) == (3, "INTERNAL")
    assert await status_of(plane, "poison.md") is DocumentStatus.FAILED


async def test_twenty_interruptions_of_one_long_job_use_up_no_attempt(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water flows.")
    await plane.sync(folder)
    for _ in range(20):
        hold = plane.hold_embedder()
        async with plane.worker(timings=replace(QUICK, grace=0.01)) as stop:
            await until(hold.reached.is_set, "work began")
            stop.set()
    plane.embedder.before = None
    async with plane.worker():
        await plane.until_idle()

    (job,) = await plane.jobs()
    assert (job.state, job.attempts) == (JobState.DONE, 1)
    assert await status_of(plane, "a.md") is DocumentStatus.READY


async def test_a_drain_takes_no_longer_than_its_grace_and_two_seconds(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water flows.")
    await plane.sync(folder)
    hold = plane.hold_embedder()
    async with plane.worker(timings=replace(QUICK, grace=0.5)) as stop:
        await until(hold.reached.is_set, "work began")
        stop.set()
        began = time.monotonic()
    took = time.monotonic() - began

    assert 0.5 <= took <= 2.5
    (job,) = await plane.jobs()
    assert (job.state, job.attempts) == (JobState.QUEUED, 0)


async def test_a_hung_job_whose_heart_beats_loses_its_lease_at_the_deadline_and_others_go_on(
    plane: DataPlane, folder: Path
) -> None:
    (folder / "hung.md").write_text("Hung water.")
    (folder / "other.md").write_text("Other water.")
    await plane.sync(folder)
    plane.retry_policy = replace(plane.retry_policy, attempts=1)

    def hang(texts: object) -> object:
        return asyncio.get_running_loop().create_future() if "Hung" in str(texts) else None

    plane.embedder.before = hang
    async with plane.worker(slots=2, timings=replace(QUICK, deadline=4.0)):
        await plane.until_idle()

    by_state = {job.state: job for job in await plane.jobs()}
    assert by_state[JobState.DEAD].error_code == "JOB_TIMEOUT"
    assert await status_of(plane, "hung.md") is DocumentStatus.FAILED
    assert await status_of(plane, "other.md") is DocumentStatus.READY


def block_once(_: object, calls: list[float]) -> object:
    """Block the event loop for twice the lease and more: only the heartbeat's own thread can keep it."""
    calls.append(0.0)
    if len(calls) > 1:
        return None
    time.sleep(2.5)
    return asyncio.ensure_future(asyncio.sleep(0.1))  # a verdict waits for the loop: let it be heard


async def test_a_blocked_event_loop_keeps_the_lease_of_a_job_that_may_stand_still(
    plane: DataPlane, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (folder / "a.md").write_text("Water flows.")
    await plane.sync(folder)
    calls: list[float] = []
    plane.embedder.before = lambda texts: block_once(texts, calls)

    async with plane.worker(stall_seconds=30.0):
        await plane.until_idle()

    assert [one.outcome for one in await attempts_of(plane)] == ["DONE"]
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


async def test_a_blocked_event_loop_loses_the_lease_of_a_job_that_may_not(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water flows.")
    await plane.sync(folder)
    calls: list[float] = []
    plane.embedder.before = lambda texts: block_once(texts, calls)

    async with plane.worker(stall_seconds=1.5):
        await plane.until_idle()

    first, second = await attempts_of(plane)
    # Either the job itself said so first, or somebody who saw that its lease had lapsed.
    assert (first.outcome, first.error_code) in {("RETRY", "JOB_STALLED"), ("LAPSED", "LEASE_LOST")}
    assert second.outcome == "DONE"
    assert await status_of(plane, "a.md") is DocumentStatus.READY

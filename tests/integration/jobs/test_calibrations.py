"""Calibrations as jobs: due by themselves, resumed where the last attempt ended, in force at the next answer."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest
from tests.integration.jobs.data_plane import DataPlane

from agentic_rag.adapters.postgres.jobs.job_board import CalibrationSchedule, PostgresJobBoard
from agentic_rag.ingestion.ingest_chunks import ChunkedDocument, IngestChunks
from agentic_rag.jobs.job import Job, JobKind, JobRef, JobState, MaintenanceTask
from agentic_rag.jobs.schedule_maintenance import ScheduleMaintenance
from agentic_rag.models.embedding.calibration import CalibrationRecord, CalibrationSource
from agentic_rag.operations.calibrate import CalibrateSupport, CalibrationWish
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_eval.calibration_job import CalibrateWorkspace
from agentic_rag_eval.records import EvalQuestion
from agentic_rag_worker.job_handlers import Handler

pytestmark = [pytest.mark.integration, pytest.mark.network]

DEFAULT = 0.25


class Supports:
    """Gives every question a support of its own; `before` may fail or wait."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.before: Callable[[int], Awaitable[None]] | None = None

    async def __call__(self, workspace: WorkspaceRef, question: EvalQuestion) -> float | None:
        if self.before is not None:
            await self.before(len(self.asked))
        self.asked.append(question.question)
        return 0.3 + len(question.question) % 50 / 100


class Steps:
    """Counts progress."""

    def __init__(self) -> None:
        self.steps = 0

    def advance(self) -> None:
        self.steps += 1


@pytest.fixture
def supports(plane: DataPlane) -> Supports:
    supports = Supports()
    body = CalibrateWorkspace(calibrations_of(plane), supports, plane.clock, DEFAULT)
    plane.more_handlers[JobKind.CALIBRATE] = Handler(body.run, 60.0, 60.0)
    return supports


def calibrations_of(plane: DataPlane) -> CalibrateSupport:
    return CalibrateSupport(plane.database, plane.telemetry)


async def fill(plane: DataPlane, documents: int) -> None:
    """Documents of one passage, each about something else."""
    texts = [
        f"The pump of hall {number} was repaired by Ada Quill{number} in {1900 + number % 100} after the great storm "
        "had flooded the cellar below it."
        for number in range(documents)
    ]
    made = [ChunkedDocument(f"{number}.md", f"Hall {number}", (text,)) for number, text in enumerate(texts)]
    ingest = IngestChunks(plane.database, plane.embedders, plane.ingest._analysis)
    await ingest.run(plane.workspace, made, "tester", lambda _: None)


async def schedule(plane: DataPlane) -> list[MaintenanceTask]:
    """What the dispatcher finds due and enqueues."""
    board = PostgresJobBoard(plane.database_url, calibration=CalibrationSchedule(quiet_seconds=0.0))
    try:
        due = [one for one in await board.upkeep() if one.workspace == plane.workspace]
    finally:
        await board.aclose()
    await ScheduleMaintenance(plane.database, plane.telemetry).enqueue(
        [one for one in due if one.kind is JobKind.CALIBRATE]
    )
    return due


async def worked(plane: DataPlane) -> Job:
    async with plane.worker():
        await plane.until_idle()
    return (await plane.jobs(JobKind.CALIBRATE))[0]


async def record(plane: DataPlane) -> CalibrationRecord:
    found = await calibrations_of(plane).find(plane.workspace)
    assert found is not None
    return found.record


async def test_a_corpus_at_rest_is_calibrated_by_itself_and_its_threshold_is_in_force(
    plane: DataPlane, supports: Supports
) -> None:
    await fill(plane, 100)
    due = await schedule(plane)
    job = await worked(plane)

    found = await record(plane)
    head = await plane.database.head(plane.workspace)
    assert MaintenanceTask(plane.workspace, JobKind.CALIBRATE, "support") in due
    assert (job.state, len(supports.asked)) == (JobState.DONE, 100)
    assert found.in_force is not None
    assert head is not None
    assert head.support_threshold == found.in_force.pooled.threshold > DEFAULT
    assert dict(head.kind_thresholds) == {kind: one.threshold for kind, one in found.in_force.kinds.items()}
    assert (found.in_force.source, found.in_force.pooled.questions) == (CalibrationSource.CORPUS, 100)
    assert found.in_force.pooled.bound <= 0.05
    assert (found.again_at, found.draft) == (200, None)
    assert await schedule(plane) == []


async def test_an_attempt_goes_on_at_the_last_note_and_comes_to_the_same(plane: DataPlane, supports: Supports) -> None:
    await fill(plane, 100)
    job = await calibrations_of(plane).start(plane.workspace, CalibrationWish(), "tester")
    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        ref = JobRef(plane.workspace, job.job_id)
        lease = await transaction.jobs.lease(ref, "dying", timedelta(seconds=5))
    assert lease is not None
    reached = asyncio.Event()

    async def hang(number: int) -> None:
        if number == 35:
            reached.set()
            await asyncio.Event().wait()

    supports.before = hang
    steps = Steps()
    dying = asyncio.create_task(plane.more_handlers[JobKind.CALIBRATE].run(lease, steps))
    await asyncio.wait_for(reached.wait(), 30)
    dying.cancel()
    with pytest.raises(asyncio.CancelledError):
        await dying
    supports.before = None
    draft = (await record(plane)).draft

    done = await worked(plane)

    assert steps.steps == 35
    assert draft is not None
    assert len(draft.supports) == 30
    assert done.state is JobState.DONE
    assert supports.asked[35:40] == supports.asked[30:35]
    assert len(supports.asked) == 105
    first = (await record(plane)).in_force
    assert first is not None
    assert first.pooled.questions == 100


async def test_a_trial_changes_nothing(plane: DataPlane, supports: Supports) -> None:
    await fill(plane, 40)
    await calibrations_of(plane).start(plane.workspace, CalibrationWish(0.1, is_trial=True), "tester")

    assert (await worked(plane)).state is JobState.DONE
    found = await record(plane)
    head = await plane.database.head(plane.workspace)
    assert (found.in_force, found.again_at) == (None, None)
    assert found.trial is not None
    assert found.trial.error == 0.1
    assert head is not None
    assert (head.support_threshold, head.kind_thresholds) == (None, ())


async def test_too_few_questions_are_a_fault_of_who_asked_and_a_delay_where_nobody_did(
    plane: DataPlane, supports: Supports
) -> None:
    await fill(plane, 18)
    await ScheduleMaintenance(plane.database, plane.telemetry).enqueue(
        [MaintenanceTask(plane.workspace, JobKind.CALIBRATE, "support")]
    )
    unasked = await worked(plane)
    postponed = await record(plane)
    await calibrations_of(plane).start(plane.workspace, CalibrationWish(), "tester")
    asked = await worked(plane)

    assert (unasked.state, postponed.again_at, postponed.in_force) == (JobState.DONE, 36, None)
    assert (asked.state, asked.error_code) == (JobState.DEAD, "CORPUS_TOO_SMALL")
    assert supports.asked == []

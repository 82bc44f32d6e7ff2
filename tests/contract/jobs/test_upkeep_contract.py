"""What falls due without anybody asking, and what is dropped then."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from tests.builders import run_of
from tests.contract.backends import Backend
from tests.memory_store.telemetry import RecordingTelemetry

from agentic_rag.ingestion.web.renew_pages import RENEWAL_KEY
from agentic_rag.jobs.job import JobKind, JobRef, MaintenanceTask, NewJob
from agentic_rag.jobs.schedule_maintenance import ScheduleMaintenance
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.models.embedding.calibration import NEVER_AGAIN, CalibrationRecord
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.organisation import FeatureFlag
from agentic_rag.workspaces.web_access import WebAccess


async def due_in(adapter: Backend, workspace: WorkspaceRef) -> list[MaintenanceTask]:
    board = adapter.job_board()
    try:
        return [task for task in await board.upkeep() if task.workspace == workspace]
    finally:
        await board.aclose()


@pytest.fixture
async def with_old_run(adapter: Backend) -> WorkspaceRef:
    """A workspace with a run of last year and one of now."""
    workspace = await adapter.workspace()
    now = datetime.now(UTC)
    fresh, old = (replace(run_of(workspace), created_at=now - timedelta(days=days)) for days in (0, 365))
    await adapter.runs.record([fresh, old])
    return workspace


async def test_runs_past_their_keeping_are_due_and_are_dropped(adapter: Backend, with_old_run: WorkspaceRef) -> None:
    due = await due_in(adapter, with_old_run)
    async with adapter.database.transaction(with_old_run.org_id) as transaction:
        more = await transaction.workspaces.apply_retention(with_old_run)

    assert [task.kind for task in due] == [JobKind.RETENTION]
    assert not more
    assert len((await adapter.runs.page(with_old_run, PageRequest())).items) == 1
    assert await due_in(adapter, with_old_run) == []


async def test_what_is_due_becomes_one_job(adapter: Backend, with_old_run: WorkspaceRef) -> None:
    due = await due_in(adapter, with_old_run)
    upkeep = ScheduleMaintenance(adapter.database, RecordingTelemetry())

    new = await upkeep.enqueue(due)
    again = await upkeep.enqueue(due)

    assert (new, again) == (1, 0)
    assert await due_in(adapter, with_old_run) == []


async def test_more_than_64_segments_are_due_for_compaction_and_then_no_more(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    for number in range(64):
        await adapter.publish(workspace, f"{number}.md", ["text"])
    before = await due_in(adapter, workspace)
    await adapter.publish(workspace, "last.md", ["text"])
    after = await due_in(adapter, workspace)
    async with adapter.database.transaction(workspace.org_id) as transaction:
        merged = await transaction.publisher.compact(workspace)

    assert before == []
    assert [task.kind for task in after] == [JobKind.COMPACT]
    assert merged == 65
    assert await due_in(adapter, workspace) == []


@pytest.fixture
async def large(adapter: Backend) -> WorkspaceRef:
    """A workspace with as many passages as a first calibration takes."""
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "a.md", [f"passage {number}" for number in range(100)])
    return workspace


async def _store(adapter: Backend, workspace: WorkspaceRef, record: CalibrationRecord) -> None:
    async with adapter.database.transaction(workspace.org_id) as transaction:
        assert await transaction.spaces.set_calibration(workspace, 1, record)


async def test_a_workspace_is_calibrated_once_it_is_large_enough_and_again_once_it_has_doubled(
    adapter: Backend, large: WorkspaceRef
) -> None:
    small = await adapter.workspace()
    await adapter.publish(small, "a.md", [f"passage {number}" for number in range(99)])

    first = await due_in(adapter, large)
    await _store(adapter, large, CalibrationRecord(again_at=200))
    done = await due_in(adapter, large)
    await adapter.publish(large, "b.md", [f"further passage {number}" for number in range(99)])
    grown = await due_in(adapter, large)
    await adapter.publish(large, "c.md", ["the last passage"])
    doubled = await due_in(adapter, large)
    await _store(adapter, large, CalibrationRecord(again_at=NEVER_AGAIN))

    assert await due_in(adapter, small) == []
    assert first == doubled == [MaintenanceTask(large, JobKind.CALIBRATE, "support")]
    assert done == grown == await due_in(adapter, large) == []


@pytest.mark.parametrize("kind", [JobKind.INGEST, JobKind.DELETE, JobKind.REEMBED, JobKind.CALIBRATE])
async def test_nothing_is_calibrated_while_the_corpus_changes(
    adapter: Backend, large: WorkspaceRef, kind: JobKind
) -> None:
    async with adapter.database.transaction(large.org_id) as transaction:
        ref, _ = await transaction.jobs.enqueue(NewJob(large, kind, "any", {}))
    busy = await due_in(adapter, large)
    async with adapter.database.transaction(large.org_id) as transaction:
        lease = await transaction.jobs.lease(ref, "tester", timedelta(minutes=1))
        assert lease is not None
        assert await transaction.jobs.finish(ref, lease.fence)

    assert busy == []
    # After a calibration the next waits ten minutes, so that one which cannot say anything is not tried for ever.
    assert [one.kind for one in await due_in(adapter, large)] == [JobKind.CALIBRATE] * (kind is not JobKind.CALIBRATE)


async def _allow(adapter: Backend, workspace: WorkspaceRef, *, organisation: bool, web: WebAccess) -> None:
    async with adapter.database.transaction(workspace.org_id) as transaction:
        await transaction.organisations.change(lambda it: it.with_flag(FeatureFlag.WEB_ACCESS, on=organisation))
        await transaction.workspaces.change_settings(workspace.workspace_id, lambda it: replace(it, web=web))


async def test_pages_of_the_web_are_asked_for_again_where_the_workspace_wants_it_and_may_ask(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    wished = WebAccess(allow=True, recrawl_hours=24)
    await _allow(adapter, workspace, organisation=True, web=wished)
    await adapter.publish(workspace, "handbook.md", ["text"])
    without_pages = await due_in(adapter, workspace)
    await adapter.publish(workspace, "web/example.org/", ["text"], provenance={"source": "web"})
    refused: list[list[MaintenanceTask]] = []
    for organisation, web in ((False, wished), (True, replace(wished, allow=False)), (True, WebAccess(allow=True))):
        await _allow(adapter, workspace, organisation=organisation, web=web)
        refused.append(await due_in(adapter, workspace))
    await _allow(adapter, workspace, organisation=True, web=wished)
    due = await due_in(adapter, workspace)
    await ScheduleMaintenance(adapter.database, RecordingTelemetry()).enqueue(due)
    waiting = await due_in(adapter, workspace)
    async with adapter.database.transaction(workspace.org_id) as transaction:
        job = (await transaction.jobs.page(workspace, PageRequest(), kinds=[JobKind.CRAWL])).items[0]
        lease = await transaction.jobs.lease(JobRef(workspace, job.job_id), "tester", timedelta(minutes=1))
        assert lease is not None
        assert await transaction.jobs.finish(lease.ref, lease.fence)

    assert without_pages == []
    assert refused == [[], [], []]
    assert due == [MaintenanceTask(workspace, JobKind.CRAWL, RENEWAL_KEY)]
    # The next look is an hour later.
    assert waiting == await due_in(adapter, workspace) == []

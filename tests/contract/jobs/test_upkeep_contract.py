"""What falls due without anybody asking, and what is dropped then."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from tests.builders import run_of
from tests.contract.backends import Backend
from tests.memory_store.telemetry import RecordingTelemetry

from agentic_rag.jobs.job import JobKind, MaintenanceTask
from agentic_rag.jobs.schedule_maintenance import ScheduleMaintenance
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.tenancy.principals import WorkspaceRef


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

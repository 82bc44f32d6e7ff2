"""When saved questions are due: after a publish, once nothing is published any more."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from tests.integration.jobs.data_plane import DataPlane
from tests.integration.jobs.test_calibrations import fill

from agentic_rag.adapters.postgres.jobs.job_board import PostgresJobBoard
from agentic_rag.answering.saved.saved_question import Replayed, SavedQuestion, SavedState
from agentic_rag.jobs.job import JobKind, MaintenanceTask
from agentic_rag.tenancy.principals import Principal, Role

pytestmark = [pytest.mark.integration, pytest.mark.network]


async def due(plane: DataPlane, quiet_seconds: float) -> list[MaintenanceTask]:
    board = PostgresJobBoard(plane.database_url, saved_quiet_seconds=quiet_seconds)
    try:
        return [one for one in await board.upkeep() if one.kind is JobKind.SAVED]
    finally:
        await board.aclose()


async def test_saved_questions_are_due_once_nothing_is_published_any_more(plane: DataPlane) -> None:
    now = datetime.now(UTC)
    await fill(plane, 1)
    version = await plane.database.corpus_version(plane.workspace)
    assert version is not None
    ada = Principal(plane.workspace.org_id, "ada", Role.VIEWER)
    waiting = Replayed(SavedState.WAITING, version)
    saved = SavedQuestion(plane.workspace, uuid4(), ada, "Who repaired the pump?", uuid4(), now, now, waiting)
    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        await transaction.saved.put(saved)
    assert await due(plane, 0.0) == []

    await fill(plane, 2)

    assert await due(plane, 3600.0) == []
    assert await due(plane, 0.0) == [MaintenanceTask(plane.workspace, JobKind.SAVED, "saved")]
    newest = await plane.database.corpus_version(plane.workspace)
    assert newest is not None
    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        await transaction.saved.note(saved, replace(waiting, version=newest), now)
    assert await due(plane, 0.0) == []

"""Calibrations through GraphQL: queued by admins, one at a time, shown on the workspace, taken back."""

from datetime import UTC, datetime
from typing import Any

import pytest

from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.kernel.public_ids import encode_workspace
from agentic_rag.models.embedding.calibration import (
    NEVER_AGAIN,
    CalibratedLine,
    CalibrationSource,
    SupportCalibration,
)
from agentic_rag.operations.calibrate import CalibrateSupport, CalibrationWish
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.settings import WorkspaceSettings
from agentic_rag.workspaces.workspace import WorkspaceKind
from tests.api.builders import ORG, WORKSPACE, WORKSPACE_ID, Container, numbered, query
from tests.builders import SPACE
from tests.memory_store.models.spaces import register_space
from tests.memory_store.session.database import MemoryDatabase
from tests.memory_store.session.store import MemoryStore
from tests.memory_store.telemetry import RecordingTelemetry

START = """mutation($workspace: ID!, $error: Float! = 0.05, $dryRun: Boolean! = false) {
  calibrate(workspaceId: $workspace, error: $error, dryRun: $dryRun) {
    job { id kind state arguments { name value } } userErrors { code }
  }
}"""
RESET = "mutation($workspace: ID!) { resetCalibration(workspaceId: $workspace) { space userErrors { code } } }"
LINE = "{ kind threshold questions bound abstained low high }"
FIELDS = f"{{ space inForce error source pooled {LINE} kinds {LINE} chunks corpusVersion measuredAt }}"
READ = f"query($id: ID!) {{ workspace(id: $id) {{ calibration {FIELDS} calibrationTrial {FIELDS} }} }}"
POOLED = CalibratedLine(0.31, 200, 0.0497, 8, 0.017, 0.077)
VALUES = CalibratedLine(0.28, 60, 0.0492, 2, 0.004, 0.115)
FOUND = SupportCalibration(
    0.05, CalibrationSource.CORPUS, POOLED, 120, 7, datetime(2026, 11, 23, tzinfo=UTC), {"value": VALUES}
)
SHOWN_POOLED = {
    "kind": None, "threshold": 0.31, "questions": 200, "bound": 0.0497, "abstained": 8, "low": 0.017, "high": 0.077,
}  # fmt: skip


@pytest.fixture
async def container() -> Container:
    """Memory stores with one workspace that has an embedding space; nobody works."""
    database = MemoryDatabase(store := MemoryStore(SystemClock()))
    async with database.transaction(ORG) as transaction:
        await transaction.workspaces.create(WORKSPACE, "w", WorkspaceKind.GENERAL, None, WorkspaceSettings())
    async with store.transaction(ORG) as working:
        register_space(working.write(WorkspaceRef(ORG, WORKSPACE)), SPACE, working.now())
    return Container(database=database, calibrate_support=CalibrateSupport(database, RecordingTelemetry()))


async def start(container: Container, **changes: Any) -> dict[str, Any]:
    return (await query(container, START, {"workspace": WORKSPACE_ID, **changes}))["data"]["calibrate"]


async def shown(container: Container, token: str = "admin-token") -> dict[str, Any]:
    return (await query(container, READ, {"id": WORKSPACE_ID}, token=token))["data"]["workspace"]


async def test_a_calibration_is_queued_once_with_what_it_is_asked_for(container: Container) -> None:
    first = await start(container, error=0.1, dryRun=True)
    second = await start(container)

    assert first["userErrors"] == []
    assert first["job"] | {"id": ""} == {
        "id": "", "kind": "CALIBRATE", "state": "QUEUED",
        "arguments": [{"name": "dryRun", "value": "true"}, {"name": "error", "value": "0.1"}],
    }  # fmt: skip
    assert second["job"]["id"] == first["job"]["id"]


async def test_the_workspace_shows_what_is_in_force_and_what_was_tried(container: Container) -> None:
    before = await shown(container)
    workspace = WorkspaceRef(ORG, WORKSPACE)
    await container.calibrate_support.keep(workspace, FOUND, CalibrationWish())
    await container.calibrate_support.keep(workspace, FOUND, CalibrationWish(is_trial=True))

    found = await shown(container)

    assert before == {"calibration": None, "calibrationTrial": None}
    assert found["calibration"] == {
        "space": SPACE.name, "inForce": True, "error": 0.05, "source": "CORPUS", "pooled": SHOWN_POOLED,
        "kinds": [{"kind": "value", "threshold": 0.28, "questions": 60, "bound": 0.0492, "abstained": 2, "low": 0.004,
                   "high": 0.115}],
        "chunks": 120, "corpusVersion": 7, "measuredAt": "2026-11-23T00:00:00+00:00",
    }  # fmt: skip
    assert found["calibrationTrial"] == found["calibration"] | {"inForce": False}


async def test_a_reset_goes_back_to_the_default_and_keeps_to_it(container: Container) -> None:
    workspace = WorkspaceRef(ORG, WORKSPACE)
    await container.calibrate_support.keep(workspace, FOUND, CalibrationWish())

    taken_back = await query(container, RESET, {"workspace": WORKSPACE_ID})
    await container.calibrate_support.keep(workspace, FOUND, CalibrationWish(is_asked=False))

    assert taken_back["data"]["resetCalibration"] == {"space": SPACE.name, "userErrors": []}
    assert (await shown(container))["calibration"] is None
    assert (await container.calibrate_support.find(workspace)).record.again_at == NEVER_AGAIN
    await container.calibrate_support.keep(workspace, FOUND, CalibrationWish())
    assert (await shown(container))["calibration"]["pooled"] == SHOWN_POOLED


@pytest.mark.parametrize("error", [0.0, 0.0009, 0.51, -1.0])
async def test_an_error_that_is_no_share_is_refused(container: Container, error: float) -> None:
    assert await start(container, error=error) == {"job": None, "userErrors": [{"code": "OPTION_OUT_OF_RANGE"}]}


async def test_an_unknown_workspace_and_an_empty_one_are_faults_of_the_caller(container: Container) -> None:
    async with container.database.transaction(ORG) as transaction:
        await transaction.workspaces.create(numbered(78), "empty", WorkspaceKind.GENERAL, None, WorkspaceSettings())
    unknown, empty = encode_workspace(numbered(77)), encode_workspace(numbered(78))

    for mutation, name in ((START, "calibrate"), (RESET, "resetCalibration")):
        for workspace, code in ((unknown, "WORKSPACE_NOT_FOUND"), (empty, "NOT_FOUND")):
            answered = (await query(container, mutation, {"workspace": workspace}))["data"][name]
            assert answered["userErrors"] == [{"code": code}]


async def test_calibrations_take_the_role_admin(container: Container) -> None:
    await container.calibrate_support.keep(WorkspaceRef(ORG, WORKSPACE), FOUND, CalibrationWish())

    for document in (START, RESET):
        refused = await query(container, document, {"workspace": WORKSPACE_ID}, token="viewer-token")
        assert refused["errors"][0]["extensions"]["code"] == "FORBIDDEN"
    assert await shown(container, "viewer-token") == {"calibration": None, "calibrationTrial": None}
    async with container.database.transaction(ORG) as transaction:
        assert not (await transaction.jobs.page(WorkspaceRef(ORG, WORKSPACE), PageRequest(10))).items

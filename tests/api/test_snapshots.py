"""Snapshots through GraphQL: asked for by admins, listed newest first."""

from typing import Any

import pytest

from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.kernel.public_ids import encode_workspace
from agentic_rag.operations.snapshots.take import TakeSnapshot
from agentic_rag.workspaces.settings import WorkspaceSettings
from agentic_rag.workspaces.workspace import WorkspaceKind
from tests.api.builders import ORG, WORKSPACE, WORKSPACE_ID, Container, numbered, query
from tests.memory_store.documents.blobs import MemoryBlobStore
from tests.memory_store.session.database import MemoryDatabase
from tests.memory_store.session.store import MemoryStore
from tests.memory_store.telemetry import RecordingTelemetry

CREATE = """mutation($id: ID!) {
  createSnapshot(workspaceId: $id, withOriginals: false) {
    snapshot { id jobId state reason withOriginals corpusVersion stored } userErrors { code }
  }
}"""
LIST = "query($id: ID!) { snapshots(workspaceId: $id) { id state documents } }"


@pytest.fixture
async def container() -> Container:
    """Memory stores with one workspace; nobody works, so nothing is ever archived."""
    store = MemoryStore(SystemClock())
    database = MemoryDatabase(store)
    async with database.transaction(ORG) as transaction:
        await transaction.workspaces.create(WORKSPACE, "w", WorkspaceKind.GENERAL, None, WorkspaceSettings())
    nothing_read: Any = None
    take = TakeSnapshot(database, nothing_read, MemoryBlobStore(), SystemClock(), RecordingTelemetry(), keep=7)
    return Container(database=database, take_snapshot=take)


async def test_a_snapshot_is_asked_for_once_and_listed(container: Container) -> None:
    first = (await query(container, CREATE, {"id": WORKSPACE_ID}))["data"]["createSnapshot"]
    second = (await query(container, CREATE, {"id": WORKSPACE_ID}))["data"]["createSnapshot"]
    listed = (await query(container, LIST, {"id": WORKSPACE_ID}))["data"]["snapshots"]

    assert first["userErrors"] == []
    assert first["snapshot"]["state"] == "BUILDING"
    assert (first["snapshot"]["withOriginals"], first["snapshot"]["corpusVersion"]) == (False, None)
    assert second["snapshot"]["id"] == first["snapshot"]["id"]
    assert listed == [{"id": first["snapshot"]["id"], "state": "BUILDING", "documents": 0}]


async def test_an_unknown_workspace_is_a_fault_of_the_caller(container: Container) -> None:
    refused = (await query(container, CREATE, {"id": encode_workspace(numbered(77))}))["data"]["createSnapshot"]

    assert refused == {"snapshot": None, "userErrors": [{"code": "WORKSPACE_NOT_FOUND"}]}


async def test_snapshots_take_the_role_admin(container: Container) -> None:
    refused = await query(container, CREATE, {"id": WORKSPACE_ID}, token="viewer-token")

    assert refused["errors"][0]["extensions"]["code"] == "FORBIDDEN"

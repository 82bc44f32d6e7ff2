"""Every act that an operator may have to answer for leaves one entry, in the transaction of the act itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from tests.integration.jobs.data_plane import DataPlane
from tests.integration.jobs.test_uploads import ADA, upload_use_case

from agentic_rag.ingestion.reingest import ReingestDocument
from agentic_rag.ingestion.upload import Upload, UploadOptions
from agentic_rag.kernel.errors import NotFound
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.operations.snapshots.snapshot import SnapshotState
from agentic_rag.tenancy.audit import SYSTEM_ACTOR, AuditFilter, AuditRecord
from agentic_rag.tenancy.principals import WorkspaceRef

pytestmark = [pytest.mark.integration, pytest.mark.network]


async def entries(plane: DataPlane, workspace: WorkspaceRef | None = None) -> list[AuditRecord]:
    """Oldest first."""
    chosen = plane.workspace if workspace is None else workspace
    async with plane.database.transaction(chosen.org_id) as transaction:
        return list(reversed((await transaction.audit.page(PageRequest(100), AuditFilter(chosen.workspace_id))).items))


def told(found: list[AuditRecord]) -> list[tuple[str, str, str]]:
    return [(one.action, one.actor, one.subject) for one in found]


async def uploaded(plane: DataPlane, text: str, readable_by: tuple[str, ...] | None = None) -> Upload:
    async def pieces() -> AsyncIterator[bytes]:
        yield text.encode()

    return await upload_use_case(plane).run(
        plane.workspace, "a.md", pieces(), UploadOptions(readable_by=readable_by), ADA
    )


async def test_uploads_and_reingestions_are_told_once_and_without_content(plane: DataPlane) -> None:
    upload = await uploaded(plane, "Water flows.")
    await uploaded(plane, "Water flows.")
    async with plane.worker():
        await plane.until_idle()
    reingest = ReingestDocument(plane.database, plane.telemetry)
    await reingest.run(plane.workspace, upload.document_id, "bob", force=True)
    await reingest.run(plane.workspace, upload.document_id, "bob")

    found = await entries(plane)

    subject = str(upload.document_id)
    assert told(found) == [("document.upload", "user:ada", subject), ("document.reingest", "bob", subject)]
    assert found[0].detail == {"bytes": 12, "new": True}
    assert found[1].detail == {"force": True}


async def test_readers_that_an_upload_gives_are_told_before_and_after(plane: DataPlane) -> None:
    upload = await uploaded(plane, "Water flows.", ("group:day",))
    await uploaded(plane, "Water flows.", ("group:day",))
    await uploaded(plane, "Water flows.", ("group:night",))
    await uploaded(plane, "Water flows.")
    await uploaded(plane, "Water falls.", ())

    found = await entries(plane)

    subject = str(upload.document_id)
    act = ("document.access", "user:ada", subject)
    assert told(found) == [("document.upload", "user:ada", subject), act, act, ("document.upload", "user:ada", subject)]
    assert [(one.detail["before"], one.detail["after"]) for one in found[1:3]] == [
        ("group:day,user:ada", "group:night,user:ada"),
        ("group:night,user:ada", "everyone"),
    ]


async def test_a_deletion_that_a_source_asked_for_is_told_too(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water flows.")
    await plane.ingest_folder(folder)
    (folder / "a.md").unlink()
    plane.missing_grace = timedelta(0)

    await plane.ingest_folder(folder, delete_missing=True)

    assert [(one.action, one.actor) for one in await entries(plane)] == [("document.delete", SYSTEM_ACTOR)]


async def test_switches_are_told_when_they_begin_and_when_they_are_called_off(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water flows.")
    await plane.ingest_folder(folder)

    await plane.switch.begin(plane.workspace, "openai:wide:16", None, "ada")
    await plane.switch.begin(plane.workspace, "openai:wide:16", None, "ada")
    await plane.switch.cancel(plane.workspace, "bob")
    with pytest.raises(NotFound):
        await plane.switch.cancel(plane.workspace, "bob")

    space = plane.wide.space.name
    assert told(await entries(plane)) == [("embeddings.switch", "ada", space), ("embeddings.cancel", "bob", space)]


@pytest.mark.tells("rag_snapshot_deleted", "snapshot_id")
@pytest.mark.tells("rag_snapshot_restored", "snapshot_id", "workspace_id")
@pytest.mark.tells("rag_snapshot_taken", "job_id", "snapshot_id")
async def test_snapshots_are_told_when_they_are_asked_for_deleted_and_restored(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water flows.")
    await plane.ingest_folder(folder)
    asked = await plane.take_snapshot.request(plane.workspace, "ada")
    await plane.take_snapshot.request(plane.workspace, "ada")
    async with plane.worker():
        await plane.until_idle()
    place = await plane.restore_snapshot.find(plane.workspace.org_id, asked.snapshot_id)

    report = await plane.restore_snapshot.run(plane.workspace.org_id, place, into="copy", actor="bob")
    await plane.restore_snapshot.run(plane.workspace.org_id, place, into="copy", actor="bob")
    await plane.take_snapshot.delete(plane.workspace, asked.snapshot_id, "eve")
    await plane.take_snapshot.delete(plane.workspace, asked.snapshot_id, "eve")

    subject = str(asked.snapshot_id)
    assert told(await entries(plane)) == [("snapshot.create", "ada", subject), ("snapshot.delete", "eve", subject)]
    [restored] = await entries(plane, report.workspace)
    assert told([restored]) == [("snapshot.restore", "bob", subject)]
    assert restored.detail["source"] == str(plane.workspace.workspace_id)
    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        record = await transaction.snapshots.get(plane.workspace, asked.snapshot_id)
    assert record is not None
    assert record.state is SnapshotState.EXPIRED

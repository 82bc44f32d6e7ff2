"""The original bytes: one blob per content, none too many, and none of a later upload lost to an earlier clean-up."""

from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from tests.integration.jobs.data_plane import DataPlane
from tests.integration.jobs.outages import no_bucket
from tests.integration.jobs.test_ingestion import change
from tests.memory_store.telemetry import RecordingTelemetry

from agentic_rag.ingestion.maintenance import ApplyRetention
from agentic_rag.jobs.job import JobKind, JobRef, Lease, NewJob
from agentic_rag.kernel.errors import DependencyUnavailable

pytestmark = [pytest.mark.integration, pytest.mark.network]


class Steps:
    """Nobody watches."""

    def advance(self) -> None:
        """One more step is done."""


class Unreachable(RecordingTelemetry):
    """Fails between storing the bytes and registering the document."""

    def carrier(self) -> dict[str, str]:
        raise DependencyUnavailable("gone", dependency="telemetry")


async def content_of(plane: DataPlane) -> list[bytes]:
    return [await plane.blobs.read(key) for key in await plane.blobs.keys("")]


async def lease_of(plane: DataPlane, kind: JobKind) -> Lease:
    """A job of that kind, leased."""
    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        ref, _ = await transaction.jobs.enqueue(NewJob(plane.workspace, kind, str(uuid4()), {}))
        lease = await transaction.jobs.lease(JobRef(plane.workspace, ref.job_id), "tester", timedelta(minutes=1))
    assert lease is not None
    return lease


async def test_a_superseded_original_goes_with_the_publish_of_the_next(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water flows.")
    await plane.ingest_folder(folder)
    change(folder / "a.md", "Water falls.")

    await plane.sync(folder)
    both = await content_of(plane)
    await plane.ingest_folder(folder)

    assert sorted(both) == [b"Water falls.", b"Water flows."]
    assert await content_of(plane) == [b"Water falls."]
    assert (await plane.rows("rag_originals"), await plane.rows("rag_doomed_blobs")) == (1, 0)


@pytest.mark.tells("rag_original_left", "job_id")
async def test_an_older_original_that_cannot_be_removed_is_left_to_upkeep(
    plane: DataPlane, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.md").write_text("Water flows.")
    await plane.ingest_folder(folder)
    change(folder / "a.md", "Water falls.")
    monkeypatch.setattr(plane.blobs, "delete", no_bucket)

    await plane.ingest_folder(folder)

    assert await plane.rows("rag_doomed_blobs") == 1


async def test_going_back_before_the_new_content_was_published_leaves_one_original(
    plane: DataPlane, folder: Path
) -> None:
    (folder / "a.md").write_text("Water flows.")
    await plane.ingest_folder(folder)
    for text in ("Water falls.", "Water flows."):
        change(folder / "a.md", text)
        await plane.sync(folder)

    async with plane.worker():
        await plane.until_idle()

    assert await content_of(plane) == [b"Water flows."]


@pytest.mark.tells("rag_job_rejected", "job_id")
async def test_the_same_content_tried_again_is_stored_once(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_bytes(b"")
    await plane.ingest_folder(folder)
    before = await plane.blobs.keys("")

    await plane.ingest_folder(folder)

    assert len(before) == 1
    assert await plane.blobs.keys("") == before


async def test_clean_up_after_an_erasure_spares_the_original_of_a_later_upload(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water flows.")
    await plane.ingest_folder(folder)
    document_id = await plane.id_of("a.md")
    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        await transaction.publisher.erase(plane.workspace, document_id)
        await transaction.originals.mark_for_deletion(plane.workspace, document_id)
        stale = await transaction.originals.keys_to_delete(plane.workspace, document_id, 10)
    await plane.ingest_folder(folder)

    for key in stale:
        await plane.blobs.delete(key)

    assert len(stale) == 1
    assert await content_of(plane) == [b"Water flows."]
    assert await plane.chunk_texts("a.md") == ["Water flows."]


async def test_upkeep_removes_blobs_that_were_doomed_and_left(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water flows.")
    await plane.ingest_folder(folder)
    document_id = await plane.id_of("a.md")
    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        await transaction.publisher.erase(plane.workspace, document_id)
        await transaction.originals.mark_for_deletion(plane.workspace, document_id)

    lease = await lease_of(plane, JobKind.RETENTION)
    await ApplyRetention(plane.database, plane.blobs).run(lease, Steps())

    assert await plane.blobs.keys("") == []
    assert await plane.rows("rag_doomed_blobs") == 0


async def test_a_sync_that_cannot_register_leaves_no_blob_behind(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water flows.")
    plane.telemetry = Unreachable()

    with pytest.raises(DependencyUnavailable):
        await plane.sync(folder)

    assert await plane.blobs.keys("") == []

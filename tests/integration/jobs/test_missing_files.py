"""Files that their source no longer has: a stop before many go, hidden for a grace, untouched when they come back."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.integration.jobs.data_plane import DataPlane, paragraphs, until
from tests.integration.jobs.test_uploads import somebody_waits, upload_use_case

from agentic_rag.ingestion.upload import UploadOptions
from agentic_rag.jobs.job import JobKind, JobState
from agentic_rag.kernel.errors import PolicyRefused
from agentic_rag.tenancy.access import ANONYMOUS_READER, ReadIdentity
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, Principal, Role

pytestmark = [pytest.mark.integration, pytest.mark.network]

ADMIN = Principal(DEFAULT_ORG_ID, "ada", Role.ADMIN)


async def fill(plane: DataPlane, folder: Path, count: int) -> list[Path]:
    files = [folder / f"{number:02}.md" for number in range(count)]
    for file in files:
        file.write_text(f"Pump {file.stem} lifts water.")
    await plane.ingest_folder(folder)
    return files


async def readable(plane: DataPlane, path: str, reader: ReadIdentity = ANONYMOUS_READER) -> bool:
    document = await plane.document(path)
    assert document is not None
    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        return not await transaction.access.unreadable(plane.workspace, [document.document_id], reader)


@pytest.mark.parametrize(("held", "gone"), [(1, 1), (6, 6), (20, 5)])
async def test_a_source_that_lost_most_files_stops_the_synchronisation(
    plane: DataPlane, folder: Path, held: int, gone: int
) -> None:
    files = await fill(plane, folder, held)
    for file in files[:gone]:
        file.unlink()
    (folder / "new.md").write_text("A new pump.")

    with pytest.raises(PolicyRefused, match="--delete-missing") as refused:
        await plane.sync(folder)

    assert refused.value.code == "SOURCE_SHRANK"
    assert await plane.document("new.md") is None
    assert all([await readable(plane, file.name) for file in files])
    assert await plane.jobs(JobKind.DELETE) == ()


@pytest.mark.parametrize(("held", "gone"), [(5, 4), (25, 5)])
async def test_few_missing_files_do_not_stop_it(plane: DataPlane, folder: Path, held: int, gone: int) -> None:
    files = await fill(plane, folder, held)
    for file in files[:gone]:
        file.unlink()

    result = await plane.sync(folder)

    assert result.hidden == tuple(file.name for file in files[:gone])


async def test_whoever_confirms_it_goes_on_and_a_dry_run_lists_what_is_gone(plane: DataPlane, folder: Path) -> None:
    (file,) = await fill(plane, folder, 1)
    file.unlink()

    plan = await plane.sync(folder, dry_run=True)
    result = await plane.sync(folder, delete_missing=True)

    assert plan.hidden == result.hidden == ("00.md",)


async def test_a_missing_file_is_hidden_and_its_erasure_waits_for_the_grace(plane: DataPlane, folder: Path) -> None:
    (file, *_) = await fill(plane, folder, 3)
    file.unlink()

    await plane.sync(folder)
    again = await plane.sync(folder)
    async with plane.worker():
        await plane.until_idle()

    assert not await readable(plane, "00.md")
    assert again.hidden == ()
    (job,) = await plane.jobs(JobKind.DELETE)
    assert job.state is JobState.QUEUED
    assert timedelta(hours=23) < job.run_after - datetime.now(UTC) <= timedelta(hours=24)


@pytest.mark.tells("rag_document_erased", "document_id")
async def test_after_the_grace_it_is_erased(plane: DataPlane, folder: Path) -> None:
    plane.missing_grace = timedelta(seconds=1)
    (file, *_) = await fill(plane, folder, 2)
    file.unlink()

    await plane.sync(folder)
    async with plane.worker():
        await plane.until_erased("00.md")

    assert await plane.document("01.md") is not None


async def test_what_comes_back_is_untouched(plane: DataPlane, folder: Path) -> None:
    (file, *_) = await fill(plane, folder, 3)
    before, paid = await plane.document("00.md"), len(plane.embedder.paid)
    assert before is not None
    file.rename(folder.parent / "away")
    await plane.sync(folder)
    (folder.parent / "away").rename(file)

    result = await plane.ingest_folder(folder)

    after = await plane.document("00.md")
    assert after is not None
    assert (result.returned, result.unchanged, len(plane.embedder.paid)) == (("00.md",), 3, paid)
    assert (after.revision_id, after.access_id, after.status) == (before.revision_id, before.access_id, before.status)
    assert await readable(plane, "00.md")
    assert [job.state for job in await plane.jobs(JobKind.DELETE)] == [JobState.CANCELLED]


async def test_its_readers_come_back_with_it(plane: DataPlane, folder: Path) -> None:
    for name in ("a.md", "b.md"):
        (folder / name).write_text(paragraphs(name))
    await plane.ingest_folder(folder)
    document = await plane.document("a.md")
    assert document is not None
    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        access_id = await transaction.access.intern(plane.workspace, ("group:night",))
        await transaction.access.change(plane.workspace, document.document_id, access_id)
    night = ReadIdentity(("group:night",))
    (folder / "a.md").rename(folder.parent / "away")
    await plane.sync(folder)
    assert not await readable(plane, "a.md", night)
    (folder.parent / "away").rename(folder / "a.md")

    await plane.sync(folder)

    assert await readable(plane, "a.md", night)
    assert not await readable(plane, "a.md")


async def test_a_changed_file_that_comes_back_is_ingested_and_readable(plane: DataPlane, folder: Path) -> None:
    (file, *_) = await fill(plane, folder, 3)
    file.unlink()
    await plane.sync(folder)
    file.write_text("Pump 00 was replaced by a valve.")

    result = await plane.ingest_folder(folder)

    assert result.changed == ("00.md",)
    assert await plane.chunk_texts("00.md") == ["Pump 00 was replaced by a valve."]
    assert await readable(plane, "00.md")


async def test_without_a_grace_a_missing_file_is_erased_at_once(plane: DataPlane, folder: Path) -> None:
    plane.missing_grace = timedelta(0)
    (file, *_) = await fill(plane, folder, 2)
    file.unlink()

    result = await plane.ingest_folder(folder)

    assert (result.deleted, result.hidden) == (("00.md",), ())
    assert await plane.document("00.md") is None


async def test_an_upload_to_the_path_of_a_missing_file_shows_it_again(plane: DataPlane, folder: Path) -> None:
    (file, *_) = await fill(plane, folder, 3)
    file.unlink()
    await plane.sync(folder)

    async def pieces() -> AsyncIterator[bytes]:
        yield b"Pump 00 was replaced by a valve."

    await upload_use_case(plane).run(plane.workspace, "00.md", pieces(), UploadOptions(), ADMIN)

    assert await readable(plane, "00.md")
    assert [job.state for job in await plane.jobs(JobKind.DELETE)] == [JobState.CANCELLED]


async def test_a_sync_beside_a_publish_of_documents_under_way_and_changed_waits_in_no_circle(
    plane: DataPlane, folder: Path
) -> None:
    for name in ("changed.md", "underway.md"):
        (folder / name).write_text(f"Water flows in {name}.")
    await plane.sync(folder)
    (folder / "changed.md").write_text("Water stands, and was never seen to flow.")
    async with plane.pool.transaction(plane.workspace.org_id) as publish:
        await publish.fetch("SELECT 1 FROM rag_documents ORDER BY document_id FOR NO KEY UPDATE")
        syncing = asyncio.create_task(plane.sync(folder))

        await until(lambda: somebody_waits(plane), "the sync waits for the publish")
        underway = await plane.id_of("underway.md")
        await publish.fetch("SELECT 1 FROM rag_jobs WHERE document_id = $1 FOR NO KEY UPDATE", underway)

    assert list((await syncing).changed) == ["changed.md"]

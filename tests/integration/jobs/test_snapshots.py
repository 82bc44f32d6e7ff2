"""Snapshots: taken by jobs, restored into an empty system or beside the workspace, never half, never over anything."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from uuid import UUID, uuid4

import asyncpg
import pytest
from tests.integration.jobs.data_plane import QUICK, DataPlane, paragraphs, until
from tests.integration.jobs.outages import no_bucket
from tests.memory_store.telemetry import RecordingTelemetry
from tests.programs import PYTHONPATH, Program

from agentic_rag.adapters.blobs.directory import DirectoryBlobStore
from agentic_rag.adapters.postgres.operations.archive import ARCHIVED, LEFT_OUT
from agentic_rag.adapters.postgres.workspaces.organisations import PostgresOrganisations
from agentic_rag.documents.document import DocumentStatus
from agentic_rag.documents.document_access import DocumentAccess
from agentic_rag.jobs.job import JobKind, JobRef, JobState, NewJob
from agentic_rag.kernel.errors import DependencyUnavailable, InvalidInput, LeaseLost, NotFound, Permanent
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.models.embedding.space import SpaceState
from agentic_rag.operations.snapshots.archive_files import ArchiveLocation, snapshot_folder
from agentic_rag.operations.snapshots.snapshot import MANIFEST, RestoredRights, SnapshotRecord, SnapshotState
from agentic_rag.operations.snapshots.take import SWEEP
from agentic_rag.tenancy.principals import Principal, Role, WorkspaceRef
from agentic_rag_migrations.catalogue import TABLES, TableClass

pytestmark = pytest.mark.integration

_FIRST = PageRequest()
ROOT = Path(__file__).resolve().parents[3]


class _Still:
    """Progress nobody watches."""

    def advance(self) -> None:
        """Nothing follows."""


def _ref(plane: DataPlane, job_id: UUID) -> JobRef:
    return JobRef(plane.workspace, job_id)


COMPARED = [table for table in ARCHIVED if table != "rag_workspaces"]


@pytest.fixture
def sources(folder: Path) -> Path:
    """Three documents; two share their entities."""
    (folder / "pumps.md").write_text(paragraphs("amber", "bronze"))
    (folder / "valves.md").write_text(paragraphs("cobalt", "amber"))
    (folder / "notes.md").write_text("# Notes\n\nMarine Access Ltd serves Otter Voe. Otter Voe has Kelpie 600.\n")
    return folder


async def snapshot_of(plane: DataPlane, *, with_originals: bool = True) -> SnapshotRecord:
    asked = await plane.take_snapshot.request(plane.workspace, with_originals=with_originals)
    async with plane.worker():
        await plane.until_idle()
    return await record_of(plane, asked.snapshot_id)


async def record_of(plane: DataPlane, snapshot_id: UUID) -> SnapshotRecord:
    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        found = await transaction.snapshots.get(plane.workspace, snapshot_id)
    assert found is not None
    return found


async def place_of(plane: DataPlane, record: SnapshotRecord) -> ArchiveLocation:
    return await plane.restore_snapshot.find(plane.workspace.org_id, record.snapshot_id)


async def state_of(plane: DataPlane, workspace: WorkspaceRef, *, without_ids: bool = False) -> dict[str, list[str]]:
    """Every row of every archived table, as text; without the ids that a mapped restore changes."""
    ids = ("document_id", "revision_id", "chunk_id", "entity_id", "source_id", "related", "weights", "segment_id")
    left_out = ["workspace_id", "org_id", "blob_key", *(ids if without_ids else ())]
    found: dict[str, list[str]] = {}
    async with plane.pool.transaction(workspace.org_id) as connection:
        for table in COMPARED:
            rows = await connection.fetch(
                f"SELECT (to_jsonb(t) - $2::text[])::text AS row FROM {table} t WHERE workspace_id = $1 ORDER BY 1",
                workspace.workspace_id,
                left_out,
            )
            found[table] = [row["row"] for row in rows]
    return found


async def contents(plane: DataPlane, workspace: WorkspaceRef) -> dict[str, bytes]:
    """The bytes of every original that the database names, by document and hash."""
    async with plane.pool.transaction(workspace.org_id) as connection:
        rows = await connection.fetch(
            "SELECT document_id, content_hash, blob_key FROM rag_originals WHERE workspace_id = $1",
            workspace.workspace_id,
        )
    return {
        f"{row['document_id']} {row['content_hash'].hex()}": await plane.blobs.read(row["blob_key"]) for row in rows
    }


async def workspaces(plane: DataPlane) -> list[str]:
    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        return [one.name for one in await transaction.workspaces.all()]


async def lose_everything(plane: DataPlane) -> None:
    """The database and the originals are gone; what lies under snapshots/ is not."""
    server = await asyncpg.connect(plane.database_url)
    try:
        tenants = [name for name, kind in TABLES.items() if kind is not TableClass.GLOBAL]
        await server.execute(f"TRUNCATE {', '.join(tenants)}")
    finally:
        await server.close()
    shutil.rmtree(plane.blob_root / "documents")
    await PostgresOrganisations(plane.pool).ensure_organisation(plane.workspace.org_id, "new")


async def test_every_table_of_a_workspace_is_archived_or_left_out_on_purpose() -> None:
    tables = {name for name, kind in TABLES.items() if kind is TableClass.WORKSPACE}

    assert tables <= set(ARCHIVED) | LEFT_OUT
    assert not set(ARCHIVED) & LEFT_OUT


async def test_an_empty_system_gets_back_every_row_and_every_original(plane: DataPlane, sources: Path) -> None:
    await plane.ingest_folder(sources)
    before = await state_of(plane, plane.workspace)
    originals = await contents(plane, plane.workspace)

    record = await snapshot_of(plane)
    await lose_everything(plane)
    report = await plane.restore_snapshot.run(plane.workspace.org_id, await place_of(plane, record))

    assert record.state is SnapshotState.READY
    assert record.counts["rag_documents"] == 3
    assert report.workspace == plane.workspace
    assert (report.was_done, report.originals, report.erased, report.requeued) == (False, 3, 0, 0)
    assert await state_of(plane, plane.workspace) == before
    assert await contents(plane, plane.workspace) == originals


async def test_of_the_spaces_of_a_workspace_the_active_one_goes_along_and_answers(
    plane: DataPlane, sources: Path
) -> None:
    await plane.ingest_folder(sources)
    await plane.switch.begin(plane.workspace, "openai:wide:16", None)
    asked = await plane.take_snapshot.request(plane.workspace)
    hold = asyncio.Event()
    plane.wide.before = lambda _: asyncio.ensure_future(hold.wait())
    async with plane.worker() as stop:
        await until(lambda: _is_ready(plane, asked.snapshot_id), "the snapshot is taken amid the switch")
        hold.set()
        stop.set()

    report = await plane.restore_snapshot.run(
        plane.workspace.org_id, await place_of(plane, await record_of(plane, asked.snapshot_id)), into="copy"
    )

    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        spaces = await transaction.spaces.all(report.workspace)
        active = await transaction.workspaces.active_space(report.workspace)
    assert [(one.registered, one.state) for one in spaces] == [(active, SpaceState.ACTIVE)]
    assert active is not None
    assert active.space == plane.embedder.space
    copied = await state_of(plane, report.workspace)
    assert len(copied["rag_embeddings"]) == len(copied["rag_chunks"])


async def _is_ready(plane: DataPlane, snapshot_id: UUID) -> bool:
    return (await record_of(plane, snapshot_id)).state is SnapshotState.READY


async def test_a_certificate_names_the_snapshots_taken_before_with_their_dates(plane: DataPlane, sources: Path) -> None:
    await plane.ingest_folder(sources)
    before = [await snapshot_of(plane), await snapshot_of(plane)]
    deletion = await plane.delete.run(plane.workspace, await plane.id_of("notes.md"))
    await snapshot_of(plane)

    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        certificate = await transaction.erasures.certificate(plane.workspace, deletion.document_id)
    assert certificate is not None
    assert [one.taken_at for one in certificate.not_covered if one.place == "snapshot"] == [
        record.created_at for record in before
    ]

    await plane.take_snapshot.delete(plane.workspace, before[0].snapshot_id)

    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        later = await transaction.erasures.certificate(plane.workspace, deletion.document_id)
    assert later is not None
    assert [one.taken_at for one in later.not_covered if one.place == "snapshot"] == [before[1].created_at]


async def test_a_restored_workspace_is_ingested_into_as_if_nothing_had_happened(
    plane: DataPlane, sources: Path
) -> None:
    await plane.ingest_folder(sources)
    record = await snapshot_of(plane)
    await lose_everything(plane)
    await plane.restore_snapshot.run(plane.workspace.org_id, await place_of(plane, record))
    paid = len(plane.embedder.paid)

    (sources / "notes.md").write_text("# Notes\n\nThe harbour has a new crane.\n")
    result = await plane.ingest_folder(sources)

    assert (result.changed, result.unchanged) == (("notes.md",), 2)
    assert len(plane.embedder.paid) == paid + 1
    assert await plane.chunk_texts("notes.md") == ["# Notes\n\nThe harbour has a new crane."]


async def test_restoring_twice_changes_nothing_the_second_time(plane: DataPlane, sources: Path) -> None:
    await plane.ingest_folder(sources)
    record = await snapshot_of(plane)
    await lose_everything(plane)
    place = await place_of(plane, record)

    first = await plane.restore_snapshot.run(plane.workspace.org_id, place)
    once = await state_of(plane, plane.workspace)
    second = await plane.restore_snapshot.run(plane.workspace.org_id, place)

    assert (first.was_done, second.was_done) == (False, True)
    assert second.workspace == first.workspace
    assert await state_of(plane, plane.workspace) == once


async def test_beside_the_workspace_the_same_corpus_appears_under_ids_of_its_own(
    plane: DataPlane, sources: Path
) -> None:
    await plane.ingest_folder(sources)
    record = await snapshot_of(plane)
    place = await place_of(plane, record)

    report = await plane.restore_snapshot.run(plane.workspace.org_id, place, into="copy")
    again = await plane.restore_snapshot.run(plane.workspace.org_id, place, into="copy")

    copy = report.workspace
    assert copy != plane.workspace
    assert again.was_done
    assert again.workspace == copy
    assert await state_of(plane, copy, without_ids=True) == await state_of(plane, plane.workspace, without_ids=True)
    async with plane.database.transaction(copy.org_id) as transaction:
        document = await transaction.documents.get(copy, await plane.id_of("pumps.md", copy))
    assert document is not None
    assert document.status is DocumentStatus.READY


async def test_the_copy_has_the_ids_that_ingesting_there_would_give(plane: DataPlane, sources: Path) -> None:
    await plane.ingest_folder(sources)
    record = await snapshot_of(plane)
    report = await plane.restore_snapshot.run(plane.workspace.org_id, await place_of(plane, record), into="copy")
    copied = {
        table: rows
        for table, rows in (await state_of(plane, report.workspace)).items()
        if table in ("rag_entities", "rag_mentions")
    }
    paid = len(plane.embedder.paid)

    there = replace(plane, workspace=report.workspace)
    (sources / "pumps.md").write_text((sources / "pumps.md").read_text() + "\n\nOne more line.\n")
    try:
        await there.ingest_folder(sources)
        kept = {
            table: rows
            for table, rows in (await state_of(plane, report.workspace)).items()
            if table in ("rag_entities", "rag_mentions")
        }
    finally:
        await there.aclose()

    # Only the chunk that changed was paid for: the others were found under their own ids.
    assert len(plane.embedder.paid) - paid <= 2
    assert set(copied["rag_entities"]) <= set(kept["rag_entities"])


async def test_what_was_erased_since_does_not_come_back_beside_the_workspace(plane: DataPlane, sources: Path) -> None:
    await plane.ingest_folder(sources)
    record = await snapshot_of(plane)
    await plane.delete.run(plane.workspace, await plane.id_of("notes.md"))

    report = await plane.restore_snapshot.run(plane.workspace.org_id, await place_of(plane, record), into="copy")

    assert report.erased == 1
    copy = await state_of(plane, report.workspace)
    assert len(copy["rag_documents"]) == 2
    assert not any("Otter" in row for rows in copy.values() for row in rows)
    assert len(await plane.blobs.keys(f"documents/{report.workspace.org_id}/{report.workspace.workspace_id}")) == 2


async def test_rights_that_were_lost_since_do_not_come_back(plane: DataPlane, sources: Path) -> None:
    workspace = plane.workspace
    admin = Principal(workspace.org_id, "ada", Role.ADMIN)
    access = DocumentAccess(plane.database, RecordingTelemetry())
    pumps, notes = await plane.id_of("pumps.md"), await plane.id_of("notes.md")
    await plane.ingest_folder(sources)
    await access.change(admin, workspace, pumps, ("group:day", "group:night"))
    await access.set_writers(admin, workspace, pumps, ("user:nina",))
    record = await snapshot_of(plane)
    await access.change(admin, workspace, pumps, ("group:night",))
    await access.set_writers(admin, workspace, pumps, ())
    await access.change(admin, workspace, notes, ("user:nina",))
    await access.transfer(admin, workspace, notes, "user:nina")
    async with plane.database.transaction(workspace.org_id) as transaction:
        await transaction.workspaces.set_access(workspace.workspace_id, ("group:night",), ("user:nina",))

    reports = {
        rights: await plane.restore_snapshot.run(
            workspace.org_id, await place_of(plane, record), into=rights.value, rights=rights
        )
        for rights in RestoredRights
    }

    held: dict[RestoredRights, list[tuple[object, ...]]] = {}
    entering: dict[RestoredRights, tuple[str, ...] | None] = {}
    for rights, report in reports.items():
        async with plane.database.transaction(workspace.org_id) as transaction:
            page = await transaction.documents.page(report.workspace, PageRequest())
            restored = await transaction.workspaces.get(report.workspace.workspace_id)
            assert restored is not None
            entering[rights] = restored.entering
            sets = [
                set((await transaction.access.held_sets(report.workspace, one.document_id)).values())
                for one in page.items
            ]
        held[rights] = [
            (one.source_path, readers, one.writers, one.uploaded_by)
            for one, readers in zip(page.items, sets, strict=True)
        ]
    assert entering == {RestoredRights.NARROWER: ("group:night", "user:nina"), RestoredRights.THEN: None}
    ours = held[RestoredRights.THEN][0][-1]
    assert held == {
        RestoredRights.NARROWER: [
            ("notes.md", {("user:nina",)}, (), "user:nina"),
            ("pumps.md", {("group:night",)}, (), ours),
            ("valves.md", {()}, (), ours),
        ],
        RestoredRights.THEN: [
            ("notes.md", {()}, (), ours),
            ("pumps.md", {("group:day", "group:night")}, ("user:nina",), ours),
            ("valves.md", {()}, (), ours),
        ],
    }
    assert [report.narrowed for report in reports.values()] == [2, 0]


async def test_text_that_was_narrowed_and_then_replaced_does_not_come_back_open(
    plane: DataPlane, sources: Path
) -> None:
    """The documents were opened for their newest text; what that of the snapshot is now is open, older text is not."""
    workspace = plane.workspace
    admin = Principal(workspace.org_id, "ada", Role.ADMIN)
    access = DocumentAccess(plane.database, RecordingTelemetry())
    await plane.ingest_folder(sources)
    async with plane.database.transaction(workspace.org_id) as transaction:
        await transaction.workspaces.change_settings(workspace.workspace_id, lambda now: replace(now, history_days=0))
    record = await snapshot_of(plane)
    pumps, notes = await plane.id_of("pumps.md"), await plane.id_of("notes.md")
    for document in (pumps, notes):
        await access.change(admin, workspace, document, ("user:nina",))
    (sources / "pumps.md").write_text("# Pumps\n\nA pump that is another one.\n")
    await plane.ingest_folder(sources)
    for document in (pumps, notes):
        await access.change(admin, workspace, document, ())
    async with plane.database.transaction(workspace.org_id) as transaction:
        while await transaction.publisher.compact(workspace) is None:
            pass

    report = await plane.restore_snapshot.run(workspace.org_id, await place_of(plane, record), into="narrower")

    async with plane.database.transaction(workspace.org_id) as transaction:
        page = await transaction.documents.page(report.workspace, PageRequest())
        sets = await transaction.access.principals(report.workspace, {one.access_id for one in page.items})
    assert {one.source_path: sets[one.access_id] for one in page.items} == {
        "notes.md": (),
        "pumps.md": ("user:nina",),
        "valves.md": (),
    }


async def test_nothing_is_restored_over_a_workspace_that_exists(plane: DataPlane, sources: Path) -> None:
    await plane.ingest_folder(sources)
    record = await snapshot_of(plane)
    before = await state_of(plane, plane.workspace)
    place = await place_of(plane, record)
    await plane.add_workspace(WorkspaceRef(plane.workspace.org_id, other := uuid4()))

    with pytest.raises(InvalidInput) as in_place:
        await plane.restore_snapshot.run(plane.workspace.org_id, place)
    with pytest.raises(InvalidInput) as taken:
        await plane.restore_snapshot.run(plane.workspace.org_id, place, into=str(other))

    assert (in_place.value.code, taken.value.code) == ("RESTORE_TARGET_EXISTS", "WORKSPACE_EXISTS")
    assert await state_of(plane, plane.workspace) == before


def flip(folder: Path) -> None:
    part = next(folder.glob("*rag_chunks*.gz"))
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 1
    part.write_bytes(content)


def remove_part(folder: Path) -> None:
    next(folder.glob("*rag_mentions*.gz")).unlink()


def remove_original(folder: Path) -> None:
    next(path for path in folder.glob("originals/*/*")).unlink()


def cut_manifest(folder: Path) -> None:
    manifest = folder / MANIFEST
    manifest.write_bytes(manifest.read_bytes()[:-20])


def newer_format(folder: Path) -> None:
    manifest = folder / MANIFEST
    manifest.write_text(manifest.read_text().replace('"format": 1', '"format": 2'))


def newer_schema(folder: Path) -> None:
    manifest = folder / MANIFEST
    manifest.write_text(manifest.read_text().replace('"schema": "0', '"schema": "9'))


def foreign_column(folder: Path) -> None:
    manifest = folder / MANIFEST
    manifest.write_text(manifest.read_text().replace('"heading_path"', '"heading_path\\" = 1; --"'))


@pytest.mark.parametrize(
    ("harm", "code"),
    [
        (flip, "SNAPSHOT_DAMAGED"),
        (remove_part, "SNAPSHOT_DAMAGED"),
        (remove_original, "SNAPSHOT_DAMAGED"),
        (cut_manifest, "SNAPSHOT_DAMAGED"),
        (foreign_column, "SNAPSHOT_DAMAGED"),
        (newer_format, "SNAPSHOT_TOO_NEW"),
        (newer_schema, "SNAPSHOT_TOO_NEW"),
    ],
)
async def test_a_damaged_archive_is_refused_and_nothing_is_written(
    plane: DataPlane, sources: Path, harm: Callable[[Path], None], code: str
) -> None:
    await plane.ingest_folder(sources)
    record = await snapshot_of(plane)
    place = await place_of(plane, record)
    harm(plane.blob_root / place.folder)
    await lose_everything(plane)

    with pytest.raises(Permanent) as refused:
        await plane.restore_snapshot.run(plane.workspace.org_id, place)

    assert refused.value.code == code
    assert await workspaces(plane) == []
    assert await plane.blobs.keys("documents") == []


async def test_a_copied_folder_is_an_archive_too(plane: DataPlane, sources: Path, tmp_path: Path) -> None:
    await plane.ingest_folder(sources)
    before = await state_of(plane, plane.workspace)
    place = await place_of(plane, await snapshot_of(plane))
    shutil.copytree(plane.blob_root / place.folder, tmp_path / "carried")
    await lose_everything(plane)
    shutil.rmtree(plane.blob_root / "snapshots")

    await plane.restore_snapshot.run(
        plane.workspace.org_id, ArchiveLocation(DirectoryBlobStore(tmp_path / "carried"), "")
    )

    assert await state_of(plane, plane.workspace) == before


async def test_an_archive_holds_nothing_of_other_tenants_and_no_keys(plane: DataPlane, sources: Path) -> None:
    await plane.ingest_folder(sources)
    stranger = WorkspaceRef(uuid4(), uuid4())
    await PostgresOrganisations(plane.pool).ensure_organisation(stranger.org_id, "stranger")
    await plane.add_workspace(stranger)

    place = await place_of(plane, await snapshot_of(plane, with_originals=False))
    manifest = await place.manifest()
    lines = [line for part in manifest.parts for line in await place.lines(part)]

    assert manifest.counts["rag_originals"] == 0
    assert not any(str(stranger.workspace_id) in line or str(stranger.org_id) in line for line in lines)
    assert not any("rag_api_keys" in table.name or "provider" in table.name for table in manifest.tables)


async def test_documents_under_way_are_ingested_again_after_a_restore(plane: DataPlane, sources: Path) -> None:
    await plane.sync(sources)  # Registered, originals kept, jobs queued; nobody works.
    async with plane.pool.transaction(plane.workspace.org_id) as connection:
        await connection.execute("UPDATE rag_jobs SET run_after = now() + interval '1 hour'")
    asked = await plane.take_snapshot.request(plane.workspace)
    async with plane.worker():
        await until(lambda: _is(plane, asked.snapshot_id, SnapshotState.READY), "the snapshot is ready")
    place = await place_of(plane, asked)
    await lose_everything(plane)

    report = await plane.restore_snapshot.run(plane.workspace.org_id, place)
    async with plane.worker():
        await plane.until_idle()

    assert report.requeued == 3
    document = await plane.document("pumps.md")
    assert document is not None
    assert document.status is DocumentStatus.READY


async def _is(plane: DataPlane, snapshot_id: UUID, state: SnapshotState) -> bool:
    return (await record_of(plane, snapshot_id)).state is state


class FailingBlobs(DirectoryBlobStore):
    """Runs `before` ahead of each write."""

    def __init__(self, root: Path, before: Callable[[str], Awaitable[None]]) -> None:
        super().__init__(root)
        self._before = before

    async def put(self, key: str, content: bytes) -> None:
        await self._before(key)
        await super().put(key, content)


async def test_a_restore_cut_short_leaves_no_workspace_and_ends_equal_when_repeated(
    plane: DataPlane, sources: Path
) -> None:
    await plane.ingest_folder(sources)
    before = await state_of(plane, plane.workspace)
    place = await place_of(plane, await snapshot_of(plane))
    await lose_everything(plane)

    async def die(_: str) -> None:
        raise asyncio.CancelledError

    dying = replace(plane)
    dying.blobs = FailingBlobs(plane.blob_root, die)
    with pytest.raises(asyncio.CancelledError):
        await dying.restore_snapshot.run(plane.workspace.org_id, place)
    left = await workspaces(plane)
    await dying.aclose()
    await plane.restore_snapshot.run(plane.workspace.org_id, place)

    assert left == []
    assert await state_of(plane, plane.workspace) == before


async def die_at(plane: DataPlane, write: int, folder: str | None = None) -> None:
    """Run the victim until it kills itself."""
    task = {
        "database": plane.database_url,
        "redis": plane.redis_url,
        "blobs": str(plane.blob_root),
        "workspace": str(plane.workspace.workspace_id),
        "fatal": write,
        "folder": folder,
    }
    command = [sys.executable, "-m", "tests.integration.jobs.snapshot_victim"]
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": PYTHONPATH}
    with Program(command, cwd=ROOT, env=environ, stdin=subprocess.PIPE) as process:
        try:
            await asyncio.to_thread(process.communicate, json.dumps(task).encode(), timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    assert process.returncode == -signal.SIGKILL


# Eleven tables have rows, three originals come before their list, the manifest is last.
@pytest.mark.parametrize("write", [12, *(pytest.param(write, marks=pytest.mark.nightly) for write in (1, 4, 15))])
async def test_a_worker_killed_at_any_file_leaves_a_snapshot_that_the_next_one_takes(
    plane: DataPlane, sources: Path, write: int
) -> None:
    await plane.ingest_folder(sources)
    before = await state_of(plane, plane.workspace)
    asked = await plane.take_snapshot.request(plane.workspace)

    await die_at(plane, write)
    async with plane.worker():
        await plane.until_idle()
    record = await record_of(plane, asked.snapshot_id)
    folders = {key.split("/")[4] for key in await plane.blobs.keys("snapshots")}
    await lose_everything(plane)
    await plane.restore_snapshot.run(plane.workspace.org_id, await place_of(plane, record))

    assert record.state is SnapshotState.READY
    assert len(folders) == 1
    assert await state_of(plane, plane.workspace) == before


# A restore that dies at its first file, in this process, is above.
@pytest.mark.parametrize("write", [pytest.param(1, marks=pytest.mark.nightly), 3])
async def test_a_restore_killed_at_any_file_ends_equal_when_repeated(
    plane: DataPlane, sources: Path, write: int
) -> None:
    await plane.ingest_folder(sources)
    before = await state_of(plane, plane.workspace)
    place = await place_of(plane, await snapshot_of(plane))
    await lose_everything(plane)

    await die_at(plane, write, place.folder)
    left = await workspaces(plane)
    report = await plane.restore_snapshot.run(plane.workspace.org_id, place)

    assert left == []
    assert not report.was_done
    assert await state_of(plane, plane.workspace) == before


async def test_a_writer_that_lost_its_lease_is_refused_and_the_other_one_wins(plane: DataPlane, sources: Path) -> None:
    await plane.ingest_folder(sources)
    asked = await plane.take_snapshot.request(plane.workspace)
    slept, go_on = asyncio.Event(), asyncio.Event()
    stale_keys: list[str] = []

    async def sleep_once(key: str) -> None:
        stale_keys.append(key)
        if not slept.is_set():
            slept.set()
            await go_on.wait()

    stale = replace(plane)
    stale.blobs = FailingBlobs(plane.blob_root, sleep_once)
    async with stale.database.transaction(plane.workspace.org_id) as transaction:
        [job] = (await transaction.jobs.page(plane.workspace, _FIRST, kinds=[JobKind.SNAPSHOT])).items
        lease = await transaction.jobs.lease(_ref(plane, job.job_id), "stale", QUICK.lease_ttl)
    assert lease is not None
    running = asyncio.create_task(stale.take_snapshot.run(lease, _Still()))
    await slept.wait()
    async with plane.worker():
        await until(lambda: _is(plane, asked.snapshot_id, SnapshotState.READY), "another worker took it")
    go_on.set()
    with pytest.raises(LeaseLost):
        await running
    record = await record_of(plane, asked.snapshot_id)
    await stale.aclose()

    assert len(stale_keys) == 1
    assert record.manifest_key is not None
    assert stale_keys[0].rsplit("/", 2)[-2] != record.manifest_key.rsplit("/", 2)[-2]
    place = await place_of(plane, record)
    await lose_everything(plane)
    assert (await plane.restore_snapshot.run(plane.workspace.org_id, place)).originals == 3


async def test_a_snapshot_whose_worker_died_is_taken_by_the_next_and_leaves_no_stray_files(
    plane: DataPlane, sources: Path
) -> None:
    await plane.ingest_folder(sources)
    asked = await plane.take_snapshot.request(plane.workspace)
    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        dead = await transaction.jobs.lease(_ref(plane, asked.snapshot_id), "dead", QUICK.lease_ttl)
    assert dead is not None
    folder = snapshot_folder(plane.workspace, asked.snapshot_id)
    await plane.blobs.put(f"{folder}/{dead.fence}/00001-rag_workspaces.jsonl.gz", b"half")

    async with plane.worker():
        await plane.until_idle()

    record = await record_of(plane, asked.snapshot_id)
    assert record.state is SnapshotState.READY
    assert not any(f"/{dead.fence}/" in key for key in await plane.blobs.keys(folder))


async def test_a_snapshot_that_cannot_be_written_fails_and_is_swept(plane: DataPlane, sources: Path) -> None:
    async def full(key: str) -> None:
        if "rag_chunks" in key:
            raise DependencyUnavailable("the disk is full", dependency="blobs")

    plane.blobs = FailingBlobs(plane.blob_root, full)
    await plane.ingest_folder(sources)
    asked = await plane.take_snapshot.request(plane.workspace)
    async with plane.worker(timings=replace(QUICK, upkeep=0.05)):
        await until(lambda: _swept(plane, asked.snapshot_id), "the snapshot failed and its files are gone")

    record = await record_of(plane, asked.snapshot_id)
    jobs = {job.job_id: job.state for job in await plane.jobs(JobKind.SNAPSHOT)}
    assert (record.state, record.error_code) == (SnapshotState.FAILED, "DEPENDENCY_UNAVAILABLE")
    assert jobs[asked.snapshot_id] is JobState.DEAD
    assert await plane.blobs.keys(snapshot_folder(plane.workspace, asked.snapshot_id)) == []


async def test_a_sweep_that_meets_a_replay_removes_nothing_of_what_it_builds(plane: DataPlane, sources: Path) -> None:
    broken = True

    async def full(key: str) -> None:
        if broken and "rag_chunks" in key:
            raise DependencyUnavailable("the disk is full", dependency="blobs")

    plane.blobs = FailingBlobs(plane.blob_root, full)
    await plane.ingest_folder(sources)
    failed = await snapshot_of(plane)
    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        ref, _ = await transaction.jobs.enqueue(NewJob(plane.workspace, JobKind.SNAPSHOT, SWEEP, {}))
        lease = await transaction.jobs.lease(ref, "sweeper", timedelta(minutes=5))
    assert lease is not None
    slow = replace(plane)
    slow.blobs = listing = ListingLate(plane.blob_root)
    sweeping = asyncio.create_task(slow.take_snapshot.run(lease, _Still()))
    await listing.asked.wait()

    broken = False
    await plane.dead_letters.replay(plane.workspace, failed.snapshot_id, "tester")
    async with plane.worker():
        await until(lambda: _is(plane, failed.snapshot_id, SnapshotState.READY), "the replay took it")
    listing.go_on.set()
    await sweeping
    await slow.aclose()

    record = await record_of(plane, failed.snapshot_id)
    place = await place_of(plane, record)
    assert failed.state is SnapshotState.FAILED
    assert (record.state, record.is_stored) == (SnapshotState.READY, True)
    await lose_everything(plane)
    assert (await plane.restore_snapshot.run(plane.workspace.org_id, place)).originals == 3


class ListingLate(DirectoryBlobStore):
    """Lists keys when told to."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.asked, self.go_on = asyncio.Event(), asyncio.Event()

    async def keys(self, prefix: str) -> list[str]:
        self.asked.set()
        await self.go_on.wait()
        return await super().keys(prefix)


async def test_an_original_that_rotted_does_not_make_its_snapshot_useless(plane: DataPlane, sources: Path) -> None:
    await plane.ingest_folder(sources)
    rotten = (await plane.blobs.keys("documents"))[0]
    await plane.blobs.put(rotten, b"rot")

    record = await snapshot_of(plane)

    place = await place_of(plane, record)
    assert (await place.manifest()).missing_originals == 1
    await lose_everything(plane)
    assert (await plane.restore_snapshot.run(plane.workspace.org_id, place)).originals == 2


async def _swept(plane: DataPlane, snapshot_id: UUID) -> bool:
    return not (await record_of(plane, snapshot_id)).is_stored


async def test_scheduled_snapshots_follow_the_corpus_and_only_the_newest_stay(plane: DataPlane, sources: Path) -> None:
    plane.snapshot_every_hours = 1e-9
    async with plane.worker(timings=replace(QUICK, upkeep=0.05)):
        for edition in range(4):
            (sources / "notes.md").write_text(f"# Notes\n\nEdition {edition} of the harbour plan.\n")
            await plane.sync(sources)
            await until(lambda: _covers_newest(plane), "a snapshot of the newest version")
        await until(lambda: _kept(plane, 2), "the older ones are gone")

    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        records = await transaction.snapshots.all(plane.workspace)
    ready = [record for record in records if record.state is SnapshotState.READY]
    expired = [record for record in records if record.state is SnapshotState.EXPIRED]
    assert len({record.corpus_version for record in records}) == len(records)
    assert len(ready) == 2
    for record in expired:
        assert await plane.blobs.keys(snapshot_folder(plane.workspace, record.snapshot_id)) == []


async def _covers_newest(plane: DataPlane) -> bool:
    version = await plane.database.corpus_version(plane.workspace)
    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        records = await transaction.snapshots.all(plane.workspace)
    documents = [job for job in await plane.jobs(JobKind.INGEST) if job.state.value in ("QUEUED", "RUNNING")]
    return not documents and any(
        record.state is SnapshotState.READY and record.corpus_version == version for record in records
    )


async def _kept(plane: DataPlane, count: int) -> bool:
    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        return sum(record.is_stored for record in await transaction.snapshots.all(plane.workspace)) == count


async def test_deleting_a_snapshot_removes_its_files_and_keeps_its_line(plane: DataPlane, sources: Path) -> None:
    await plane.ingest_folder(sources)
    record = await snapshot_of(plane)

    await plane.take_snapshot.delete(plane.workspace, record.snapshot_id)

    after = await record_of(plane, record.snapshot_id)
    assert (after.state, after.is_stored) == (SnapshotState.EXPIRED, False)
    assert await plane.blobs.keys("snapshots") == []
    with pytest.raises(NotFound):
        await place_of(plane, record)


@pytest.mark.tells("rag_snapshot_files_left", "snapshot_id")
async def test_files_of_a_snapshot_that_cannot_be_removed_are_left_to_upkeep(
    plane: DataPlane, sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await plane.ingest_folder(sources)
    record = await snapshot_of(plane)
    monkeypatch.setattr(plane.blobs, "delete", no_bucket)

    await plane.take_snapshot.delete(plane.workspace, record.snapshot_id)

    after = await record_of(plane, record.snapshot_id)
    assert (after.state, after.is_stored) == (SnapshotState.EXPIRED, True)


async def test_asking_twice_before_it_is_taken_gives_one_snapshot(plane: DataPlane, sources: Path) -> None:
    await plane.ingest_folder(sources)

    first = await plane.take_snapshot.request(plane.workspace)
    second = await plane.take_snapshot.request(plane.workspace)

    assert first.snapshot_id == second.snapshot_id

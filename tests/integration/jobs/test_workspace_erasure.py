"""Deleted workspaces and organisations: nothing is left of them in any store, whatever happens meanwhile."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest
from tests.contract.backends import Watched
from tests.integration.jobs.data_plane import DataPlane, paragraphs
from tests.integration.jobs.in_order import ingest_in_order
from tests.stored_words import tables_with

from agentic_rag.adapters.postgres.erasure import workspace_erasures
from agentic_rag.adapters.postgres.jobs.job_board import PostgresJobBoard
from agentic_rag.adapters.postgres.retrieval.vector_indexes import PostgresIndexBuilder
from agentic_rag.adapters.postgres.workspaces.organisations import PostgresOrganisations
from agentic_rag.erasure.delete import delete_job
from agentic_rag.erasure.erase_workspace import EraseWorkspace
from agentic_rag.erasure.request_erasure import RequestErasure
from agentic_rag.erasure.workspace_erasure import KEPT, WorkspaceErasure
from agentic_rag.jobs.job import JobKind, JobRef, Lease
from agentic_rag.kernel.errors import DependencyUnavailable, InvalidInput, LeaseLost, NotFound
from agentic_rag.operations.prove_workspace_erased import ProveWorkspaceErasure, WorkspaceErasureProof
from agentic_rag.tenancy.audit import SYSTEM_ACTOR
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.settings import WorkspaceSettings
from agentic_rag.workspaces.workspace import Workspace, WorkspaceKind

pytestmark = [pytest.mark.integration, pytest.mark.network]

SECRET = "Xanthippe"
OWN = f"user:{SECRET}"
OTHER_ORG = UUID(int=0xE0)
ERASE_JOB = "SELECT job_id FROM rag_jobs WHERE org_id = $1 AND workspace_id = $2 AND kind = 'erase' AND state = $3"
BLOB_TABLES = ("rag_originals", "rag_doomed_blobs")
COLUMNS = """
SELECT c.table_name, c.column_name, c.udt_name,
       c.is_nullable = 'YES' OR c.column_default IS NOT NULL OR c.is_identity = 'YES' AS may_be_left_out
FROM information_schema.columns c
JOIN information_schema.tables t USING (table_schema, table_name)
WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE' AND c.is_generated = 'NEVER'
"""
ANY_VALUE: dict[str, object] = {
    "text": SECRET, "uuid": UUID(int=7), "int4": 1, "int2": 1, "int8": 1, "float8": 0.5, "bool": False, "jsonb": "{}",
    "bytea": bytes(32), "_text": [SECRET], "_uuid": [UUID(int=7)], "_int4": [1], "_int8": [1], "halfvec": "[1]",
    "timestamptz": "2026-01-01", "date": "2026-01-01",
}  # fmt: skip


class Killed(Exception):
    """The process died here."""


class Mortal:
    """Progress that ends the process at a step."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    def advance(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Killed


@pytest.fixture
async def server(plane: DataPlane) -> AsyncIterator[asyncpg.Connection]:
    """A superuser, whom no policy binds."""
    connection = await asyncpg.connect(plane.database_url)
    yield connection
    await connection.close()


def eraser(plane: DataPlane) -> EraseWorkspace:
    indexes = PostgresIndexBuilder(plane.database_url)
    return EraseWorkspace(plane.database, plane.cache, plane.blobs, indexes, None, plane.telemetry)


async def delete(plane: DataPlane, *, cancel_jobs: bool = True) -> WorkspaceErasure:
    request = RequestErasure(plane.database, plane.telemetry)
    return await request.workspace(plane.workspace, str(plane.workspace.workspace_id), OWN, cancel_jobs=cancel_jobs)


async def lease(plane: DataPlane, server: asyncpg.Connection, state: str = "QUEUED") -> Lease:
    job_id = await server.fetchval(ERASE_JOB, *plane.workspace.key, state)
    assert job_id is not None, "no erasure waits"
    if state == "RUNNING":  # as the dispatcher does for a worker that died
        await server.execute("UPDATE rag_jobs SET state = 'QUEUED', fence = fence + 1 WHERE job_id = $1", job_id)
    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        held = await transaction.jobs.lease(JobRef(plane.workspace, job_id), "tester", timedelta(minutes=1))
    assert held is not None
    return held


async def prove(plane: DataPlane, subject_id: UUID | None = None) -> WorkspaceErasureProof:
    proof = ProveWorkspaceErasure(plane.database, plane.cache, plane.blobs)
    return await proof.run(plane.workspace.org_id, subject_id or plane.workspace.workspace_id)


async def tables(server: asyncpg.Connection) -> dict[str, list[Any]]:
    """The columns of every table, as the database tells them."""
    found: dict[str, list[Any]] = {}
    for row in await server.fetch(COLUMNS):
        found.setdefault(row["table_name"], []).append(row)
    return found


async def with_column(server: asyncpg.Connection, column: str) -> list[str]:
    every = await tables(server)
    return sorted(name for name, columns in every.items() if column in {one["column_name"] for one in columns})


async def plant(server: asyncpg.Connection, table: str, given: dict[str, object]) -> None:
    """Put a row of any values into a table, past its constraints."""
    columns = [
        one for one in (await tables(server))[table] if one["column_name"] in given or not one["may_be_left_out"]
    ]
    values = [given.get(one["column_name"], ANY_VALUE.get(one["udt_name"])) for one in columns]
    names = ", ".join(f'"{one["column_name"]}"' for one in columns)
    places = ", ".join(f"${n}::text::{one['udt_name']}" for n, one in enumerate(columns, 1))
    checks = await server.fetch(
        "SELECT conname FROM pg_constraint WHERE conrelid = $1::text::regclass AND contype = 'c'", table
    )
    for one in checks:
        await server.execute(f'ALTER TABLE {table} DROP CONSTRAINT "{one["conname"]}"')
    await server.execute("SET session_replication_role = replica")
    texts = [
        "{" + ",".join(map(str, value)) + "}" if isinstance(value, list)
        else "\\x" + value.hex() if isinstance(value, bytes) else str(value)
        for value in values
    ]  # fmt: skip
    await server.execute(f"INSERT INTO {table} ({names}) VALUES ({places})", *texts)
    await server.execute("SET session_replication_role = origin")


async def rows_left(server: asyncpg.Connection, column: str, value: UUID) -> dict[str, int]:
    counted = {
        table: await server.fetchval(f"SELECT count(*) FROM {table} WHERE {column} = $1", value)
        for table in await with_column(server, column)
        if table not in KEPT
    }
    return {table: rows for table, rows in counted.items() if rows}


async def tables_that_tell(server: asyncpg.Connection, word: str) -> list[str]:
    """Tables with the word in any column of any row."""
    return await tables_with(server, [table for table in await tables(server) if table not in KEPT], word)


async def fill(plane: DataPlane, server: asyncpg.Connection, folder: Path) -> None:
    """A workspace with a row in every table, a cached answer, originals and stray blobs."""
    (folder / "one.md").write_text(paragraphs(SECRET, "harbour", of=40))
    (folder / "two.md").write_text(paragraphs(SECRET, "Otter Voe", of=40))
    await ingest_in_order(plane, folder)
    await plane.delete.run(plane.workspace, await plane.id_of("two.md"))
    await plane.cache.put(plane.workspace, "key", SECRET.encode(), 600)
    org_id, key = plane.workspace.key
    await plane.blobs.put(f"documents/{org_id}/{key}/20200101T000000000000Z-0-stray.md", SECRET.encode())
    await plane.blobs.put(f"snapshots/{org_id}/{key}/{uuid4()}/1/part", SECRET.encode())
    for table in await with_column(server, "workspace_id"):
        if table not in KEPT and not await server.fetchval(f"SELECT EXISTS (SELECT FROM {table})"):
            await plant(server, table, {"org_id": org_id, "workspace_id": key, "state": "READY"})


async def files_left(plane: DataPlane) -> list[str]:
    return await plane.blobs.keys("")


@pytest.mark.tells("rag_workspace_erased", "workspace_id")
async def test_nothing_is_left_of_a_deleted_workspace(
    plane: DataPlane, server: asyncpg.Connection, folder: Path
) -> None:
    org_id, key = plane.workspace.key
    other = WorkspaceRef(org_id, uuid4())
    await plane.add_workspace(other)
    await fill(plane, server, folder)
    before = await rows_left(server, "workspace_id", key)
    assert set(before) == set(await with_column(server, "workspace_id")) - set(KEPT)

    requested = await delete(plane)
    waiting = await prove(plane)
    assert await eraser(plane).run(await lease(plane, server), Watched())

    assert not requested.is_complete
    assert {one.kind for one in waiting.findings} == {"ERASURE_PENDING"}
    assert await rows_left(server, "workspace_id", key) == {}
    assert await tables_that_tell(server, SECRET) == []
    assert await files_left(plane) == []
    assert await plane.cache.holding(plane.workspace, b"") == 0
    proof = await prove(plane)
    assert proof.findings == ()
    assert proof.is_complete
    assert proof.erasure.is_complete
    counts = proof.erasure.counts
    own = dict.fromkeys(("rag_jobs", "rag_job_attempts"), 1)  # of the erasure itself
    rows = {name: number + own.get(name, 0) for name, number in before.items() if name not in BLOB_TABLES}
    assert {name: counts[name] for name in rows} == rows
    assert counts["blobs"] == 3
    assert counts["cache"] == 1
    assert await server.fetchval("SELECT count(*) FROM rag_workspaces WHERE workspace_id = $1", other.workspace_id) == 1
    kept = await server.fetch("SELECT action, detail ->> 'name' AS name FROM rag_audit WHERE workspace_id = $1", key)
    assert ("workspace.delete", str(key)) in [tuple(row) for row in kept]


async def test_an_erasure_waits_for_a_volume_that_is_not_mounted_and_a_proof_proves_nothing(
    plane: DataPlane, server: asyncpg.Connection
) -> None:
    """A workspace whose documents are gone and that still has a snapshot: no row names a blob to miss."""
    org_id, key = plane.workspace.key
    await plane.blobs.put(f"snapshots/{org_id}/{key}/{uuid4()}/1/part", SECRET.encode())
    await plant(server, "rag_snapshots", {"org_id": org_id, "workspace_id": key, "state": "READY"})
    await delete(plane)
    held = await lease(plane, server)
    mounted, away = plane.blob_root, plane.blob_root.with_name("away")
    mounted.rename(away)
    mounted.mkdir()

    with pytest.raises(DependencyUnavailable, match="mount") as waits:
        await eraser(plane).run(held, Watched())
    unproven = await prove(plane)
    mounted.rmdir()
    away.rename(mounted)
    assert await eraser(plane).run(held, Watched())

    assert waits.value.code == "BLOBS_NOT_THERE"
    assert "STORE_UNREACHABLE" in {one.kind for one in unproven.findings}
    assert await files_left(plane) == []
    assert (await prove(plane)).is_complete


async def test_an_erasure_does_not_wait_for_a_store_in_which_nothing_was_ever_kept(
    plane: DataPlane, server: asyncpg.Connection
) -> None:
    await delete(plane)

    assert await eraser(plane).run(await lease(plane, server), Watched())
    assert not plane.blob_root.exists()
    assert (await prove(plane)).is_complete


async def test_a_snapshot_that_no_job_began_to_store_is_no_sign_of_a_store(
    plane: DataPlane, server: asyncpg.Connection
) -> None:
    await plane.take_snapshot.request(plane.workspace)
    await delete(plane)

    assert await eraser(plane).run(await lease(plane, server), Watched())
    assert not plane.blob_root.exists()
    proof = await prove(plane)
    assert proof.is_complete
    assert proof.erasure.counts["unbuilt_snapshots"] == 1


async def test_an_erasure_waits_for_the_store_of_a_snapshot_that_a_job_began(
    plane: DataPlane, server: asyncpg.Connection
) -> None:
    asked = await plane.take_snapshot.request(plane.workspace)
    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        await transaction.jobs.lease(JobRef(plane.workspace, asked.snapshot_id), "tester", timedelta(minutes=1))
    await delete(plane)

    with pytest.raises(DependencyUnavailable, match="mount"):
        await eraser(plane).run(await lease(plane, server), Watched())


async def test_originals_of_the_first_versions_are_erased_and_a_proof_finds_them(
    plane: DataPlane, server: asyncpg.Connection
) -> None:
    """Theirs is the only folder of the organisation."""
    org_id, key = plane.workspace.key
    document, digest = uuid4(), bytes(32)
    early = f"{org_id}/{key}/{document}/{digest.hex()}"
    for one in (early, f"{org_id}/{key}/{uuid4()}/{digest.hex()}"):
        await plane.blobs.put(one, SECRET.encode())
    row = {"org_id": org_id, "workspace_id": key, "document_id": document, "content_hash": digest, "blob_key": early}
    await plant(server, "rag_originals", row)
    await delete(plane)
    waiting = await prove(plane)

    assert await eraser(plane).run(await lease(plane, server), Watched())
    assert await files_left(plane) == []
    complete = await prove(plane)
    await plane.blobs.put(early, SECRET.encode())
    late = await prove(plane)

    assert "blobs" in {one.store for one in waiting.findings}
    assert complete.is_complete
    assert [(one.store, one.kind) for one in late.findings] == [("blobs", "TRACE_LEFT")]


async def test_an_erasure_that_dies_at_any_step_goes_on_and_ends(
    plane: DataPlane, server: asyncpg.Connection, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentic_rag.erasure.erase_workspace.ROWS", 200)
    await fill(plane, server, folder)
    before = await rows_left(server, "workspace_id", plane.workspace.workspace_id)
    await delete(plane)
    held, deaths = await lease(plane, server), 0

    while True:
        try:
            # A step or two further each time: every death keeps what was done.
            await eraser(plane).run(held, Mortal(2))
            break
        except Killed:
            deaths += 1
            stale, held = held, await lease(plane, server, "RUNNING")
            with pytest.raises(LeaseLost):
                await eraser(plane).run(stale, Watched())

    proof = await prove(plane)
    assert deaths > 10
    assert proof.is_complete
    assert proof.erasure.counts["rag_chunks"] == before["rag_chunks"]
    assert await rows_left(server, "workspace_id", plane.workspace.workspace_id) == {}


async def test_a_row_that_is_left_in_any_store_is_noticed(
    plane: DataPlane, server: asyncpg.Connection, folder: Path
) -> None:
    await delete(plane)
    await eraser(plane).run(await lease(plane, server), Watched())
    org_id, key = plane.workspace.key
    wanted = [table for table in await with_column(server, "workspace_id") if table not in KEPT]

    for table in wanted:
        await plant(server, table, {"org_id": org_id, "workspace_id": key, "state": "READY"})
    await plane.cache.put(plane.workspace, "key", b"answer", 60)
    await plane.blobs.put(f"documents/{org_id}/{key}/20200101T000000000000Z-0-late.md", b"text")

    proof = await prove(plane)
    assert {one.kind for one in proof.findings} == {"TRACE_LEFT"}
    assert sorted(one.store for one in proof.findings) == sorted([*wanted, "cache", "blobs"])


async def test_every_table_of_a_workspace_or_organisation_is_erased_or_kept_by_a_rule(
    server: asyncpg.Connection,
) -> None:
    """A new table fails here until somebody says what an erasure does with it."""
    erased = {one.name for one in workspace_erasures.ERASED}
    whole = {*workspace_erasures.ERASED_WITH_ORGANISATION, "rag_organizations"}

    assert set(await with_column(server, "workspace_id")) == erased | ({"rag_audit"} & set(KEPT))
    assert set(await with_column(server, "org_id")) == erased | whole | set(KEPT)


async def test_a_table_that_the_erasure_forgets_is_noticed(
    plane: DataPlane, server: asyncpg.Connection, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one table without a foreign key, which Postgres would not miss."""
    fewer = [one for one in workspace_erasures.ERASED if one.name != "rag_mentions"]
    monkeypatch.setattr(workspace_erasures, "ERASED", fewer)
    await fill(plane, server, folder)

    await delete(plane)
    await eraser(plane).run(await lease(plane, server), Watched())

    assert [one.store for one in (await prove(plane)).findings] == ["rag_mentions"]


async def test_what_is_deleted_is_gone_at_once_and_its_name_is_free(plane: DataPlane, folder: Path) -> None:
    (folder / "one.md").write_text(paragraphs("Kelpie", of=40))
    await ingest_in_order(plane, folder)
    name = str(plane.workspace.workspace_id)

    await delete(plane)

    assert await plane.database.head(plane.workspace) is None
    assert await plane.database.corpus_version(plane.workspace) is None
    with pytest.raises(NotFound):
        async with plane.database.snapshot(plane.workspace):
            pass
    with pytest.raises(NotFound, match="no such workspace"):
        await plane.delete.run(plane.workspace, await plane.id_of("one.md"))
    with pytest.raises(NotFound):
        await delete(plane)
    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        assert plane.workspace not in [one.ref for one in await transaction.workspaces.all()]
        await transaction.workspaces.create(uuid4(), name, WorkspaceKind.GENERAL, None, WorkspaceSettings())


async def test_running_work_is_told_and_cancelled_only_on_demand(
    plane: DataPlane, server: asyncpg.Connection, folder: Path
) -> None:
    (folder / "one.md").write_text(paragraphs(SECRET, of=40))
    hold = plane.hold_embedder()
    await plane.sync(folder)
    async with plane.worker():
        await hold.reached.wait()

        with pytest.raises(InvalidInput, match=re.escape("(ingest 1)")) as busy:
            await delete(plane, cancel_jobs=False)
        assert await plane.document("one.md") is not None
        await delete(plane)
        await eraser(plane).run(await lease(plane, server), Watched())
        hold.go_on.set()

    assert busy.value.code == "WORKSPACE_BUSY"
    assert await rows_left(server, "workspace_id", plane.workspace.workspace_id) == {}
    assert await tables_that_tell(server, SECRET) == []
    assert (await prove(plane)).is_complete


async def test_erasures_that_wait_for_their_grace_hold_no_deletion_up(
    plane: DataPlane, server: asyncpg.Connection
) -> None:
    async def enqueue(delay_seconds: float) -> None:
        async with plane.database.transaction(plane.workspace.org_id) as transaction:
            await transaction.jobs.enqueue(delete_job(plane.workspace, uuid4(), {}, delay_seconds))

    await enqueue(3600)
    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        waiting = await transaction.workspace_erasures.running(plane.workspace)
    await enqueue(0)
    with pytest.raises(InvalidInput, match=re.escape("(delete 1)")):
        await delete(plane, cancel_jobs=False)

    assert waiting == {}


async def test_an_erasure_whose_job_died_is_due_again(plane: DataPlane, server: asyncpg.Connection) -> None:
    await delete(plane)
    await server.execute(
        "UPDATE rag_jobs SET state = 'DEAD', updated_at = now() - interval '1 hour' WHERE kind = 'erase'"
    )
    board = PostgresJobBoard(plane.database_url)

    due = await board.upkeep()
    await board.aclose()

    assert [(one.kind, one.workspace) for one in due] == [(JobKind.ERASE, plane.workspace)]


async def test_an_agent_that_begins_anew_keeps_what_it_uploads(plane: DataPlane, server: asyncpg.Connection) -> None:
    org_id = plane.workspace.org_id

    async def make(name: str) -> Workspace:
        async with plane.database.transaction(org_id) as transaction:
            return await transaction.workspaces.create(
                uuid4(), name, WorkspaceKind.AGENT, "crawler", WorkspaceSettings()
            )

    old = await make("old")
    await plane.blobs.put(f"agent-documents/{org_id}/crawler/20200101T000000000000Z-0-old.md", b"old")
    plane.workspace = old.ref
    request = RequestErasure(plane.database, plane.telemetry)
    await request.workspace(old.ref, "old", SYSTEM_ACTOR)
    await make("new")
    newer = f"agent-documents/{org_id}/crawler/29990101T000000000000Z-0-new.md"
    await plane.blobs.put(newer, b"new")

    await eraser(plane).run(await lease(plane, server), Watched())

    assert await files_left(plane) == [newer]
    assert (await prove(plane, old.ref.workspace_id)).is_complete


async def test_nothing_is_left_of_a_deleted_organisation(
    plane: DataPlane, server: asyncpg.Connection, folder: Path
) -> None:
    await PostgresOrganisations(plane.pool).ensure_organisation(OTHER_ORG, SECRET)
    first = plane.workspace.workspace_id
    plane.workspace = WorkspaceRef(OTHER_ORG, first)
    await plane.add_workspace(plane.workspace)
    await fill(plane, server, folder)
    for table in workspace_erasures.ERASED_WITH_ORGANISATION:
        await plant(server, table, {"org_id": OTHER_ORG})
    request = RequestErasure(plane.database, plane.telemetry)
    with pytest.raises(InvalidInput, match="repeat the name") as unconfirmed:
        await request.organisation(OTHER_ORG, "other", OWN, cancel_jobs=True)

    await request.organisation(OTHER_ORG, SECRET, OWN, cancel_jobs=True)
    late = uuid4()  # an admin's request that came before
    async with plane.database.transaction(OTHER_ORG) as transaction:
        await transaction.workspaces.create(late, "late", WorkspaceKind.GENERAL, None, WorkspaceSettings())
    await eraser(plane).run(await lease(plane, server), Watched())
    plane.workspace = WorkspaceRef(OTHER_ORG, late)
    await eraser(plane).run(await lease(plane, server), Watched())

    assert unconfirmed.value.code == "CONFIRMATION_WRONG"
    assert await PostgresOrganisations(plane.pool).find(str(OTHER_ORG)) is None
    assert await rows_left(server, "org_id", OTHER_ORG) == {}
    assert await tables_that_tell(server, SECRET) == []
    assert await files_left(plane) == []
    proof = await prove(plane, OTHER_ORG)
    assert proof.is_complete
    assert [(one.subject_id, one.is_complete) for one in proof.workspaces] == [(late, True), (first, True)]
    assert proof.workspaces[1].counts["rag_documents"] > 0
    with pytest.raises(NotFound):
        async with plane.database.transaction(OTHER_ORG) as transaction:
            await transaction.workspaces.create(uuid4(), "x", WorkspaceKind.GENERAL, None, WorkspaceSettings())


async def test_the_organisation_of_every_start_stays(plane: DataPlane) -> None:
    with pytest.raises(InvalidInput) as refused:
        await RequestErasure(plane.database, plane.telemetry).organisation(plane.workspace.org_id, "default", OWN)

    assert refused.value.code == "DEFAULT_ORGANISATION"

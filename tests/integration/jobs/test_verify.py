"""`VerifyStores` finds every planted fault, and nothing in a healthy workspace."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from tests.integration.jobs.data_plane import DataPlane, paragraphs
from tests.integration.jobs.in_order import ingest_in_order, work_in_order
from tests.waiting import eventually

from agentic_rag.adapters.postgres.operations.inspection import PostgresInspector
from agentic_rag.adapters.postgres.session.pool import PoolOptions, PostgresPool
from agentic_rag.ingestion.reingest import ReingestDocument
from agentic_rag.jobs.job import JobKind
from agentic_rag.operations.findings import Finding, Severity, finding
from agentic_rag.operations.verify import VerificationReport, VerifyStores
from agentic_rag.tenancy.principals import WorkspaceRef

pytestmark = [pytest.mark.integration, pytest.mark.network]

TEXT = paragraphs("Alpha Station", "Beta Works", of=60)
OTHER = "Gamma Mill grinds grain beside Lake Tarn. It was built by Oona Pellgrave in the old days."

# Each statement breaks one thing of the first chunk; {kind: (statement, other kinds that follow from it)}.
PLANTED: dict[str, tuple[str, frozenset[str]]] = {
    "REVISION_TEXT_CHANGED": (
        "UPDATE rag_revisions SET text = text || ' more'", frozenset()
    ),
    "TEXT_PIECES_DIFFER": (
        "INSERT INTO rag_text_pieces SELECT org_id, workspace_id, revision_id, 1, document_id, text FROM rag_revisions",
        frozenset(),
    ),
    "CHUNK_COUNT_WRONG": ("UPDATE rag_documents SET chunk_count = chunk_count + 1", frozenset()),
    "CHUNK_GAP": ("UPDATE rag_chunks SET index = index + 7 WHERE ordinal = 1", frozenset()),
    "CHUNK_TEXT_DIFFERS": (
        "UPDATE rag_chunks SET text = text || ' sand' WHERE ordinal = 0",
        frozenset({"CHUNK_HASH_WRONG", "POSTINGS_DIFFER"}),
    ),
    "CHUNK_HASH_WRONG": ("UPDATE rag_chunks SET content_hash = sha256('x') WHERE ordinal = 0", frozenset()),
    "VECTOR_MISSING": ("DELETE FROM rag_embeddings WHERE ordinal = 0", frozenset()),
    "VECTOR_DIMENSIONS": ("UPDATE rag_embeddings SET v = '[1,0]' WHERE ordinal = 0", frozenset()),
    "VECTOR_BROKEN": (
        "UPDATE rag_embeddings SET v = array_fill(0::real, ARRAY[vector_dims(v)])::halfvec WHERE ordinal = 0",
        frozenset(),
    ),
    "VECTOR_NOT_UNIT": (
        "UPDATE rag_embeddings SET v = array_fill(1::real, ARRAY[vector_dims(v)])::halfvec WHERE ordinal = 0",
        frozenset(),
    ),
    "MENTIONS_DIFFER": ("UPDATE rag_mentions SET count = count + 1 WHERE ordinal = 0", frozenset()),
    "POSTINGS_MISSING": ("DELETE FROM rag_segments", frozenset()),
    "POSTINGS_TWICE": (
        "INSERT INTO rag_segments SELECT org_id, workspace_id, gen_random_uuid(), visible_from, chunk_count, ordinals, "
        "lengths, access, visible, terms, offsets, posting_ordinals, posting_counts FROM rag_segments",
        frozenset(),
    ),
    "SEGMENT_DAMAGED": ("UPDATE rag_segments SET lengths = ''", frozenset({"POSTINGS_MISSING"})),
    "CHUNK_ACCESS": ("UPDATE rag_chunks SET access_id = 7 WHERE ordinal = 0", frozenset()),
    "VECTOR_ACCESS": ("UPDATE rag_embeddings SET access_id = 7 WHERE ordinal = 0", frozenset()),
    "MENTION_ACCESS": ("UPDATE rag_mentions SET access_id = 7 WHERE ordinal = 0", frozenset()),
    "POSTINGS_ACCESS": (
        "INSERT INTO rag_moved_ordinals SELECT org_id, workspace_id, 0, 7 FROM rag_documents LIMIT 1", frozenset()
    ),
    "VECTOR_ORPHAN": (
        "INSERT INTO rag_embeddings (org_id, workspace_id, space_id, ordinal, visible_from, v) "
        "SELECT org_id, workspace_id, space_id, 900, 1, v FROM rag_embeddings LIMIT 1",
        frozenset(),
    ),
    "MENTION_ORPHAN": (
        "INSERT INTO rag_mentions (org_id, workspace_id, entity_id, ordinal, document_id, count, visible_from) "
        "SELECT org_id, workspace_id, entity_id, 900, document_id, 1, 1 FROM rag_mentions LIMIT 1",
        frozenset(),
    ),
    "ENTITY_MISSING": ("DELETE FROM rag_entities", frozenset()),
    "ENTITY_ORPHAN": (
        "INSERT INTO rag_entities SELECT org_id, workspace_id, gen_random_uuid(), 'k', 'K', 'name', document_id "
        "FROM rag_documents LIMIT 1",
        frozenset(),
    ),
    "ENTITY_SOURCE_GONE": ("UPDATE rag_entities SET source_id = gen_random_uuid()", frozenset()),
    "CLOSED_BUT_VISIBLE": (
        "INSERT INTO rag_closed_ordinals SELECT org_id, workspace_id, 0, 1 FROM rag_documents LIMIT 1", frozenset()
    ),
    "CLOSED_UNMARKED": (
        "UPDATE rag_chunks SET visible_to = 9 WHERE ordinal = 0",
        frozenset({"VISIBILITY_DRIFT", "CHUNK_COUNT_WRONG", "CHUNK_GAP", "POSTINGS_ORPHAN"}),
    ),
    "VISIBILITY_DRIFT": (
        "UPDATE rag_embeddings SET visible_to = 9 WHERE ordinal = 0", frozenset({"VECTOR_MISSING"})
    ),
    "CHUNK_TWICE": (
        "UPDATE rag_chunks SET chunk_id = (SELECT chunk_id FROM rag_chunks WHERE ordinal = 0) WHERE document_id = "
        "(SELECT document_id FROM rag_chunks WHERE ordinal = 0)",
        frozenset(),
    ),
    "STAGED_LEFTOVER": (
        "INSERT INTO rag_staged_chunks (org_id, workspace_id, revision_id, index, document_id, chunk_id, char_start, "
        "char_end, line_start, line_end, content_hash, text) SELECT org_id, workspace_id, revision_id, index, "
        "document_id, chunk_id, 0, 1, 1, 1, content_hash, 'x' FROM rag_chunks WHERE ordinal = 0",
        frozenset(),
    ),
    "DOCUMENT_STUCK": ("UPDATE rag_documents SET status = 'PENDING'", frozenset()),
    "REVISION_MISSING": ("UPDATE rag_documents SET revision_id = gen_random_uuid()", frozenset()),
    "TOMBSTONE_LIVE": (
        "INSERT INTO rag_tombstones (org_id, workspace_id, document_id, version, certificate) "
        "SELECT org_id, workspace_id, document_id, 1, '{}' FROM rag_documents LIMIT 1",
        frozenset(),
    ),
    "GRAPH_BEHIND": ("UPDATE rag_workspaces SET graph_version = 0", frozenset()),
    "ORIGINAL_CHANGED": ("UPDATE rag_originals SET size = size + 1", frozenset()),
    "ORIGINAL_GONE": (
        "UPDATE rag_originals SET blob_key = blob_key || 'x'", frozenset({"BLOB_ORPHAN"})
    ),
    "BLOB_ORPHAN": ("DELETE FROM rag_originals", frozenset()),
}  # fmt: skip


def verifying(plane: DataPlane) -> VerifyStores:
    return VerifyStores(PostgresInspector(plane.pool), plane.database, plane.blobs, lambda: plane.embedder.space)


async def report_of(plane: DataPlane) -> VerificationReport:
    return await verifying(plane).run(plane.workspace, full=True)


async def healthy(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text(TEXT)
    await ingest_in_order(plane, folder)
    (folder / "b.md").write_text(OTHER)
    await ingest_in_order(plane, folder)


async def test_a_healthy_workspace_has_no_findings(plane: DataPlane, folder: Path) -> None:
    await healthy(plane, folder)
    (folder / "a.md").write_text(TEXT.replace("number 3 lifts", "number 3 drains"))
    await ingest_in_order(plane, folder)
    await plane.delete.run(plane.workspace, await plane.id_of("b.md"))

    report = await report_of(plane)

    assert report.findings == ()
    assert (report.documents, report.originals) == (1, 1)
    assert report.chunks == report.derived_chunks == len(await plane.chunk_texts("a.md"))


async def test_a_passage_that_a_new_title_left_alone_is_no_finding(plane: DataPlane, folder: Path) -> None:
    page = "<html><head><title>{}</title></head><body><p>The Old Mill grinds rye.</p></body></html>"
    for title in ("Mills of the Valley", "Mills of the Lake"):
        (folder / "page.html").write_text(page.format(title))
        await ingest_in_order(plane, folder)

    assert (await report_of(plane)).findings == ()


@pytest.mark.parametrize("kind", PLANTED)
async def test_a_planted_fault_is_found_and_only_that(plane: DataPlane, folder: Path, kind: str) -> None:
    await healthy(plane, folder)
    statement, following = PLANTED[kind]
    async with plane.pool.transaction(plane.workspace.org_id) as connection:
        await connection.execute("SET CONSTRAINTS ALL DEFERRED")
        await connection.execute(statement)

    report = await report_of(plane)

    assert dict(report.counts).keys() == {kind} | following
    assert report.has_errors == any(one.severity is Severity.ERROR for one in report.findings)
    assert all(one.remedy and one.subject for one in report.findings)


async def test_another_embedding_space_is_an_error(plane: DataPlane, folder: Path) -> None:
    await healthy(plane, folder)
    space = replace(plane.embedder.space, model="another")
    other = VerifyStores(PostgresInspector(plane.pool), plane.database, plane.blobs, lambda: space)

    report = await other.run(plane.workspace)

    assert [(one.kind, one.severity) for one in report.findings] == [("SPACE_MISMATCH", Severity.ERROR)]


async def test_copies_and_near_copies_are_told_and_are_no_error(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text(paragraphs("water", "steam", "oil", of=200))
    (folder / "b.md").write_text(paragraphs("water", "steam", "oil", of=200))
    (folder / "c.md").write_text(paragraphs("water", "steam", "oil", of=200).replace("oil pump number 7", "oil pump 7"))
    (folder / "d.md").write_text(OTHER)
    await ingest_in_order(plane, folder)

    report = await report_of(plane)

    assert not report.has_errors
    assert {one.kind for one in report.findings} == {"DUPLICATE_DOCUMENT", "DUPLICATE_CHUNKS"}
    assert {one.severity for one in report.findings} == {Severity.INFO}
    assert not any("d.md" in one.subject for one in report.findings)


async def test_many_findings_of_a_kind_are_counted_and_the_first_are_named(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text(paragraphs(*(f"part{n}" for n in range(40))))
    await ingest_in_order(plane, folder)
    async with plane.pool.transaction(plane.workspace.org_id) as connection:
        await connection.execute("DELETE FROM rag_embeddings")

    report = await report_of(plane)

    assert dict(report.counts)["VECTOR_MISSING"] == report.chunks > 20
    assert len(report.findings) == 20


async def test_other_parts_add_their_own_checks(plane: DataPlane, folder: Path) -> None:
    await healthy(plane, folder)

    async def behind(workspace: WorkspaceRef) -> list[Finding]:
        return [finding("GRAPH_BEHIND", str(workspace.workspace_id))]

    checked = VerifyStores(
        PostgresInspector(plane.pool), plane.database, plane.blobs, lambda: plane.embedder.space, further=(behind,)
    )

    assert [one.kind for one in (await checked.run(plane.workspace)).findings] == ["GRAPH_BEHIND"]


async def test_what_force_mends_is_no_finding_any_more(plane: DataPlane, folder: Path) -> None:
    await healthy(plane, folder)
    async with plane.pool.transaction(plane.workspace.org_id) as connection:
        await connection.execute("DELETE FROM rag_embeddings WHERE ordinal = 0")
        await connection.execute("UPDATE rag_chunks SET content_hash = sha256('x') WHERE ordinal = 0")

    document_id = await plane.id_of("a.md")
    await ReingestDocument(plane.database, plane.telemetry).run(plane.workspace, document_id, force=True)
    await work_in_order(plane)

    assert (await report_of(plane)).findings == ()
    assert len(await plane.jobs(JobKind.INGEST)) == 3


async def test_copies_of_rights_that_strayed_are_found_and_force_mends_them(plane: DataPlane, folder: Path) -> None:
    await healthy(plane, folder)
    document_id = await plane.id_of("a.md")
    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        night = await transaction.access.intern(plane.workspace, ("group:night",))
        await transaction.access.change(plane.workspace, document_id, night)
    assert (await report_of(plane)).findings == ()
    async with plane.pool.transaction(plane.workspace.org_id) as connection:
        await connection.execute("DELETE FROM rag_moved_ordinals")
        await connection.execute("UPDATE rag_mentions SET access_id = 0 WHERE document_id = $1", document_id)

    strayed = await verifying(plane).run(plane.workspace)
    await ReingestDocument(plane.database, plane.telemetry).run(plane.workspace, document_id, force=True)
    await work_in_order(plane)

    assert strayed.has_errors
    assert [(one.kind, one.subject) for one in strayed.findings] == [
        ("MENTION_ACCESS", "a.md"),
        ("POSTINGS_ACCESS", "a.md"),
    ]
    assert all("reingest --force" in one.remedy for one in strayed.findings)
    assert (await report_of(plane)).findings == ()


async def test_a_document_whose_own_rights_changed_strays_from_every_copy(plane: DataPlane, folder: Path) -> None:
    await healthy(plane, folder)
    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        night = await transaction.access.intern(plane.workspace, ("group:night",))
    async with plane.pool.transaction(plane.workspace.org_id) as connection:
        await connection.execute("UPDATE rag_documents SET access_id = $1 WHERE source_path = 'b.md'", night)

    report = await report_of(plane)

    kinds = {"CHUNK_ACCESS", "VECTOR_ACCESS", "MENTION_ACCESS", "POSTINGS_ACCESS"}
    assert {(one.kind, one.subject) for one in report.findings} == {(kind, "b.md") for kind in kinds}


class ChangingBlobs:
    """A blob store whose document gets new content between the database's snapshot and the look at its blobs."""

    def __init__(self, plane: DataPlane, folder: Path) -> None:
        self._plane = plane
        self._folder = folder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plane.blobs, name)

    async def keys(self, prefix: str) -> list[str]:
        (self._folder / "b.md").write_text(OTHER.replace("grinds", "ground"))
        await ingest_in_order(self._plane, self._folder)
        return list(await self._plane.blobs.keys(prefix))


async def test_what_changes_while_it_is_looked_at_is_no_finding(plane: DataPlane, folder: Path) -> None:
    await healthy(plane, folder)
    blobs: Any = ChangingBlobs(plane, folder)
    looking = VerifyStores(PostgresInspector(plane.pool), plane.database, blobs, lambda: plane.embedder.space)

    report = await looking.run(plane.workspace, full=True)

    assert report.findings == ()
    assert report.originals == 2


async def test_a_look_in_mid_work_tells_what_is_settling(plane: DataPlane, folder: Path) -> None:
    await healthy(plane, folder)
    settled = await report_of(plane)
    (folder / "b.md").write_text(OTHER.replace("grinds", "ground"))
    (folder / "c.md").write_text("Rye is milled.")
    await plane.sync(folder)

    report = await report_of(plane)

    assert (settled.settling, report.settling) == ((), (("ingest", 2),))
    assert report.findings == ()


async def test_a_look_that_takes_its_time_between_two_pages_goes_on(plane: DataPlane, folder: Path) -> None:
    await healthy(plane, folder)
    pool = PostgresPool(plane.database_url, PoolOptions(idle_transaction_seconds=0.02))

    admin = await asyncpg.connect(plane.database_url)

    async def is_past_its_time() -> bool:
        """Whether no session of a plain transaction would be left."""
        idle = "SELECT now() - state_change FROM pg_stat_activity WHERE pid = $1 AND state = 'idle in transaction'"
        waited = await admin.fetchval(idle, looked)
        return waited is None or waited > timedelta(seconds=0.05)

    async with PostgresInspector(pool)(plane.workspace) as inspection:
        await inspection.head()
        looked = await inspection._connection.fetchval("SELECT pg_backend_pid()")
        await eventually(is_past_its_time, "the session stood still for longer than a transaction may")
        originals = [one async for one in inspection.originals()]
    await pool.aclose()
    await admin.close()

    assert len(originals) == 2

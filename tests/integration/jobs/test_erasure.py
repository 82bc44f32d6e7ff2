"""Deleting at any moment of an ingestion, proving it, and ingesting again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
from tests.integration.jobs.data_plane import DataPlane, paragraphs, until
from tests.memory_store.compute import InlineCompute

from agentic_rag.adapters.redis.cache import RedisAnswerCache
from agentic_rag.documents.document import DocumentStatus, ParsedDocument
from agentic_rag.documents.unread_pages import Recognising
from agentic_rag.erasure.certificate import ErasedStore
from agentic_rag.erasure.delete import DeleteDocument
from agentic_rag.ingestion.analysis.analyse import TextAnalysis
from agentic_rag.ingestion.group_commit import GroupCommitPublisher
from agentic_rag.ingestion.ingest import IngestDocument
from agentic_rag.ingestion.ports import DocumentPublication, Published
from agentic_rag.ingestion.reingest import ReingestDocument
from agentic_rag.jobs.job import JobKind, JobState
from agentic_rag.kernel.errors import NotFound, Permanent
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.operations.prove_erased import ErasureProof, ProveErasure
from agentic_rag.tenancy.principals import WorkspaceRef

pytestmark = [pytest.mark.integration, pytest.mark.network]


class Gate:
    """Stops the first who comes until `go_on`."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.go_on = asyncio.Event()

    async def pass_through(self) -> None:
        self.reached.set()
        await self.go_on.wait()


class GatedParser:
    """The plane's parser behind a gate."""

    def __init__(self, plane: DataPlane, before: Gate | None, after: Gate | None) -> None:
        self._inner, self._before, self._after = plane.parser, before, after

    @property
    def version(self) -> str:
        return self._inner.version

    async def parse(
        self,
        content: bytes,
        file_name: str,
        media_type: str | None,
        *,
        is_web_page: bool = False,
        charset: str = "",
        recognising: Recognising | None = None,
    ) -> ParsedDocument:
        if self._before is not None:
            await self._before.pass_through()
        parsed = await self._inner.parse(content, file_name, media_type, is_web_page=is_web_page)
        if self._after is not None:
            await self._after.pass_through()
        return parsed

    async def aclose(self) -> None:
        """The plane closes it."""


class GatedPublisher(GroupCommitPublisher):
    """A publisher behind a gate."""

    def __init__(self, plane: DataPlane, before: Gate | None, after: Gate | None) -> None:
        super().__init__(plane.database)
        self._before, self._after = before, after

    async def publish(self, workspace: WorkspaceRef, space_id: int, publication: DocumentPublication) -> Published:
        if self._before is not None:
            await self._before.pass_through()
        published = await super().publish(workspace, space_id, publication)
        if self._after is not None:
            await self._after.pass_through()
        return published


def ingesting(plane: DataPlane, parser: GatedParser, publisher: GroupCommitPublisher) -> None:
    """Put the gated parts into the plane."""
    analysis = TextAnalysis(estimate_tokens, InlineCompute())
    plane.__dict__["ingest"] = IngestDocument(
        plane.database, plane.blobs, parser, plane.embedders, analysis, publisher, plane.telemetry, "small"
    )


def at_second_batch(plane: DataPlane, gate: Gate) -> None:
    """Stop when one batch is paid for and staged."""
    calls = iter(range(1_000))

    def before(_: object) -> object:
        return asyncio.ensure_future(gate.pass_through()) if next(calls) == 1 else None

    plane.embedder.before = before


def stopped_before_parsing(plane: DataPlane, gate: Gate) -> None:
    ingesting(plane, GatedParser(plane, gate, None), GroupCommitPublisher(plane.database))


def stopped_after_parsing(plane: DataPlane, gate: Gate) -> None:
    ingesting(plane, GatedParser(plane, None, gate), GroupCommitPublisher(plane.database))


def stopped_before_publishing(plane: DataPlane, gate: Gate) -> None:
    ingesting(plane, GatedParser(plane, None, None), GatedPublisher(plane, gate, None))


def stopped_after_publishing(plane: DataPlane, gate: Gate) -> None:
    ingesting(plane, GatedParser(plane, None, None), GatedPublisher(plane, None, gate))


STEPS = (
    stopped_before_parsing,
    stopped_after_parsing,
    at_second_batch,
    stopped_before_publishing,
    stopped_after_publishing,
)


def prover(plane: DataPlane) -> ProveErasure:
    return ProveErasure(plane.database, plane.cache)


async def proof(plane: DataPlane, path: str = "a.md") -> ErasureProof:
    return await prover(plane).run(plane.workspace, await plane.id_of(path))


async def delete(plane: DataPlane, path: str = "a.md") -> None:
    await plane.delete.run(plane.workspace, await plane.id_of(path))


async def chunk_ids(plane: DataPlane) -> set[UUID]:
    async with plane.pool.transaction(plane.workspace.org_id) as connection:
        return {row["chunk_id"] for row in await connection.fetch("SELECT chunk_id FROM rag_chunks")}


@pytest.mark.parametrize("stop", STEPS)
async def test_a_document_deleted_at_any_step_of_its_ingestion_ends_deleted(
    plane: DataPlane, folder: Path, stop: Callable[[DataPlane, Gate], None]
) -> None:
    (folder / "a.md").write_text(paragraphs(*(f"part{n}" for n in range(12))))
    await plane.sync(folder)
    gate = Gate()
    stop(plane, gate)
    async with plane.worker():
        await until(gate.reached.is_set, "the step was reached")
        await delete(plane)
        gate.go_on.set()
        await plane.until_idle()

    assert await plane.document("a.md") is None
    assert await proof(plane) == ErasureProof(await plane.id_of("a.md"), (await proof(plane)).certificate, ())


@pytest.mark.parametrize("stop", STEPS)
async def test_a_document_registered_again_after_such_a_delete_is_ready(
    plane: DataPlane, folder: Path, stop: Callable[[DataPlane, Gate], None]
) -> None:
    (folder / "a.md").write_text(paragraphs(*(f"part{n}" for n in range(12))))
    await plane.sync(folder)
    gate = Gate()
    stop(plane, gate)
    async with plane.worker():
        await until(gate.reached.is_set, "the step was reached")
        await delete(plane)
        await plane.sync(folder)
        gate.go_on.set()
        await plane.until_idle()

    document = await plane.document("a.md")
    assert document is not None
    assert document.status is DocumentStatus.READY
    assert document.chunk_count == len(await plane.chunk_texts("a.md")) == len(await chunk_ids(plane))


async def test_a_finished_document_leaves_a_proof(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text(paragraphs("Alpha Station", "Beta Works"))
    await plane.ingest_folder(folder)
    live = await proof(plane)
    await delete(plane)

    gone = await proof(plane)

    assert [(one.store, one.kind, one.message) for one in live.findings] == [
        ("rag_documents", "DOCUMENT_LIVE", "The document is not deleted.")
    ]
    assert not any("again" in one.remedy for one in live.findings)
    assert not live.is_complete
    assert gone.is_complete
    assert gone.certificate is not None
    assert gone.certificate.count(ErasedStore.ORIGINALS) == 1
    assert gone.certificate.count(ErasedStore.CHUNKS) == gone.certificate.count(ErasedStore.VECTORS) > 1
    assert gone.certificate.count(ErasedStore.JOBS) == 1


async def test_a_document_that_never_was_cannot_be_proven(plane: DataPlane) -> None:
    with pytest.raises(NotFound):
        await proof(plane, "never.md")


@pytest.mark.parametrize(
    ("store", "plant"),
    [
        ("rag_mentions", "INSERT INTO rag_mentions (org_id, workspace_id, entity_id, ordinal, document_id, count, "
         "visible_from) VALUES ($1, $2, gen_random_uuid(), 900, $3, 1, 1)"),
        ("rag_embeddings", "INSERT INTO rag_embeddings (org_id, workspace_id, space_id, ordinal, visible_from, v) "
         "SELECT $1, $2, 1, 0, 1, '[1,2]' WHERE $3::uuid IS NOT NULL"),
        ("rag_jobs", "UPDATE rag_jobs SET error_message = 'The word was secret.' WHERE org_id = $1 "
         "AND workspace_id = $2 AND document_id = $3 AND kind = 'ingest'"),
        ("rag_entities", "INSERT INTO rag_entities (org_id, workspace_id, entity_id, key, name, kind, source_id) "
         "VALUES ($1, $2, gen_random_uuid(), 'k', 'K', 'name', $3)"),
        ("rag_closed_ordinals", "INSERT INTO rag_closed_ordinals (org_id, workspace_id, ordinal, closed_at) "
         "SELECT $1, $2, 0, 1 WHERE $3::uuid IS NOT NULL"),
    ],
)  # fmt: skip
async def test_a_row_that_came_back_is_found(plane: DataPlane, folder: Path, store: str, plant: str) -> None:
    (folder / "a.md").write_text("Water flows at Alpha Station.")
    await plane.ingest_folder(folder)
    await delete(plane)
    document_id = await plane.id_of("a.md")
    async with plane.pool.transaction(plane.workspace.org_id) as connection:
        await connection.execute(plant, plane.workspace.org_id, plane.workspace.workspace_id, document_id)

    found = await proof(plane)

    assert not found.is_complete
    assert [(one.store, one.kind) for one in found.findings] == [(store, "TRACE_LEFT")]


async def test_a_cached_answer_that_came_back_is_found(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water flows.")
    await plane.ingest_folder(folder)
    await delete(plane)
    document_id = await plane.id_of("a.md")
    await plane.cache.put(plane.workspace, "k", f'["{document_id}"]'.encode(), 60)

    found = await proof(plane)

    assert [(one.store, one.kind) for one in found.findings] == [("cache", "TRACE_LEFT")]


async def test_an_original_that_is_doomed_but_there_is_pending(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water flows.")
    await plane.ingest_folder(folder)
    await delete(plane)
    async with plane.pool.transaction(plane.workspace.org_id) as connection:
        await connection.execute(
            "INSERT INTO rag_doomed_blobs (org_id, workspace_id, blob_key, document_id) VALUES ($1, $2, 'k', $3)",
            plane.workspace.org_id, plane.workspace.workspace_id, await plane.id_of("a.md"),
        )  # fmt: skip

    found = await proof(plane)

    assert [(one.store, one.kind) for one in found.findings] == [("rag_doomed_blobs", "ERASURE_PENDING")]


async def test_a_store_that_was_away_is_pending_until_its_job_ran(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water flows.")
    await plane.ingest_folder(folder)
    away = RedisAnswerCache("redis://127.0.0.1:1")
    deletion = await DeleteDocument(plane.database, away, plane.blobs, plane.telemetry).run(
        plane.workspace, await plane.id_of("a.md")
    )
    pending = await proof(plane)
    async with plane.worker():
        await plane.until_idle()
    done = await proof(plane)
    await away.aclose()

    assert deletion.certificate is not None
    assert not deletion.certificate.is_complete
    assert [(one.store, one.kind) for one in pending.findings] == [("cache", "ERASURE_PENDING")]
    assert done.is_complete
    assert done.certificate is not None
    assert done.certificate.is_complete


def reingest(plane: DataPlane) -> ReingestDocument:
    return ReingestDocument(plane.database, plane.telemetry)


async def test_a_failed_document_is_ingested_again_with_fresh_attempts(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water flows.")

    def fail(_: object) -> None:
        raise Permanent("the key was rejected", code="PROVIDER_KEY_REJECTED")

    plane.embedder.before = fail
    await plane.ingest_folder(folder)
    plane.embedder.before = None

    queued = await reingest(plane).run(plane.workspace, await plane.id_of("a.md"))
    async with plane.worker():
        await plane.until_idle()

    document = await plane.document("a.md")
    assert document is not None
    assert (document.status, queued.is_new) == (DocumentStatus.READY, True)
    states = {job.job_id: (job.state, job.attempts) for job in await plane.jobs(JobKind.INGEST)}
    assert sorted(states.values(), key=str) == [(JobState.DEAD, 1), (JobState.DONE, 1)]
    assert states[queued.job.job_id] == (JobState.DONE, 1)


async def test_a_ready_document_that_would_read_the_same_pays_for_nothing(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text(paragraphs("water"))
    await plane.ingest_folder(folder)
    paid, version = len(plane.embedder.paid), await plane.database.corpus_version(plane.workspace)

    await reingest(plane).run(plane.workspace, await plane.id_of("a.md"))
    async with plane.worker():
        await plane.until_idle()

    document = await plane.document("a.md")
    assert document is not None
    assert document.status is DocumentStatus.READY
    assert (len(plane.embedder.paid), await plane.database.corpus_version(plane.workspace)) == (paid, version)


async def test_force_mends_what_is_missing(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text(paragraphs("water", "steam"))
    await plane.ingest_folder(folder)
    before = await plane.chunk_texts("a.md")
    async with plane.pool.transaction(plane.workspace.org_id) as connection:
        await connection.execute("DELETE FROM rag_embeddings WHERE ordinal = 0")

    await reingest(plane).run(plane.workspace, await plane.id_of("a.md"), force=True)
    async with plane.worker():
        await plane.until_idle()

    async with plane.pool.transaction(plane.workspace.org_id) as connection:
        vectors = await connection.fetchval("SELECT count(*) FROM rag_embeddings WHERE visible_to IS NULL")
    assert vectors == len(before)
    assert await plane.chunk_texts("a.md") == before


async def test_another_chunk_profile_is_taken_up_by_ingesting_again(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text(paragraphs("water", "steam", of=200))
    await plane.ingest_folder(folder)
    before = await plane.chunk_texts("a.md")
    analysis = TextAnalysis(estimate_tokens, InlineCompute())
    plane.__dict__["ingest"] = IngestDocument(
        plane.database, plane.blobs, plane.parser, plane.embedders, analysis, GroupCommitPublisher(plane.database),
        plane.telemetry, "agent",
    )  # fmt: skip

    await reingest(plane).run(plane.workspace, await plane.id_of("a.md"))
    async with plane.worker():
        await plane.until_idle()

    assert await plane.chunk_texts("a.md") != before


async def test_a_document_without_an_original_is_refused_and_stays_ready(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water flows.")
    await plane.ingest_folder(folder)
    async with plane.pool.transaction(plane.workspace.org_id) as connection:
        await connection.execute("DELETE FROM rag_originals")

    with pytest.raises(Permanent, match="kept"):
        await reingest(plane).run(plane.workspace, await plane.id_of("a.md"))

    document = await plane.document("a.md")
    assert document is not None
    assert document.status is DocumentStatus.READY


@pytest.mark.tells("rag_document_reingested", "document_id")
async def test_asking_twice_gives_one_job(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water flows.")
    await plane.ingest_folder(folder)
    document_id = await plane.id_of("a.md")

    first = await reingest(plane).run(plane.workspace, document_id)
    second = await reingest(plane).run(plane.workspace, document_id)

    assert (first.is_new, second.is_new, first.job == second.job) == (True, False, True)


async def test_a_folder_that_only_lost_files_is_synchronised(plane: DataPlane, folder: Path) -> None:
    for name in ("a.md", "b.md", "c.md"):
        (folder / name).write_text(paragraphs(name[0]))
    await plane.ingest_folder(folder)
    for name in ("a.md", "b.md"):
        (folder / name).unlink()
    plane.missing_grace = timedelta(0)

    result = await plane.ingest_folder(folder)

    assert (result.new, result.changed, result.deleted, result.unchanged) == ((), (), ("a.md", "b.md"), 1)
    assert {job.state for job in await plane.jobs(JobKind.DELETE)} == {JobState.DONE}
    assert (await proof(plane)).is_complete
    assert (await proof(plane, "b.md")).is_complete


@pytest.mark.parametrize("finished", [True, False])
async def test_losing_all_job_state_gives_the_same_documents_for_the_same_money(
    plane: DataPlane, folder: Path, finished: bool
) -> None:
    (folder / "a.md").write_text(paragraphs(*(f"part{n}" for n in range(12))))
    if finished:
        await plane.ingest_folder(folder)
    else:
        await plane.sync(folder)
        gate = Gate()
        at_second_batch(plane, gate)
        async with plane.worker() as stop:
            await until(gate.reached.is_set, "one batch was paid for")
            await lose_jobs(plane)
            gate.go_on.set()
            stop.set()
    before = await chunk_ids(plane)
    await lose_jobs(plane)

    await plane.ingest_folder(folder)

    document = await plane.document("a.md")
    assert document is not None
    assert document.status is DocumentStatus.READY
    assert before <= await chunk_ids(plane)
    texts = await plane.chunk_texts("a.md")
    assert len(texts) == len(await chunk_ids(plane)) > 8
    # What was in flight when the jobs went is paid again, nothing else.
    assert len(plane.embedder.paid) <= len(texts) + (0 if finished else plane.embedder.batch_size)


async def lose_jobs(plane: DataPlane) -> None:
    async with plane.pool.transaction(plane.workspace.org_id) as connection:
        await connection.execute("DELETE FROM rag_jobs")

"""Files of a folder through queue, worker and publish; what a change, a failure and a deletion do."""

import hashlib
import os
import time
from datetime import timedelta
from pathlib import Path

import pytest
from tests.hostile import pdf_files
from tests.integration.jobs.data_plane import DataPlane, paragraphs, until
from tests.memory_store.compute import InlineCompute

from agentic_rag.adapters.sources.directory import DirectorySource
from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.adapters.system.ids import RandomIds
from agentic_rag.documents.document import Document, DocumentStatus
from agentic_rag.documents.originals import OriginalKeys
from agentic_rag.documents.unread_pages import UnreadPages, read_left_out, read_unread_pages
from agentic_rag.ingestion.analysis.analyse import TextAnalysis
from agentic_rag.ingestion.estimate import EstimateIngest
from agentic_rag.ingestion.ingest_run import IngestStage
from agentic_rag.ingestion.submit import Submission, submit
from agentic_rag.ingestion.sync import SyncSource
from agentic_rag.jobs.job import JobKind, JobState
from agentic_rag.kernel.errors import MissingProviderKey, Permanent, Retryable
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.models.billing.embedding_cost import read_cost

pytestmark = [pytest.mark.integration, pytest.mark.network]

STORES = ("rag_chunks", "rag_embeddings", "rag_segments", "rag_mentions", "rag_entities", "rag_revisions")


async def stored(plane: DataPlane, path: str) -> Document:
    document = await plane.document(path)
    assert document is not None
    return document


def change(file: Path, text: str) -> None:
    """Rewrite a file so that its fingerprint changes even on a coarse clock."""
    file.write_text(text)
    later = time.time_ns() + 5_000_000_000
    os.utime(file, ns=(later, later))


async def test_a_folder_becomes_ready_documents(plane: DataPlane, folder: Path) -> None:
    for name in ("a.md", "b.md", "deep/c.txt"):
        file = folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(paragraphs(name[0], of=40))

    result = await plane.ingest_folder(folder)

    assert result.new == ("a.md", "b.md", "deep/c.txt")
    for name in result.new:
        document = await plane.document(name)
        assert document is not None
        assert document.status is DocumentStatus.READY
        assert document.chunk_count == len(await plane.chunk_texts(name)) > 0
    assert {job.state for job in await plane.jobs()} == {JobState.DONE}


async def test_an_unchanged_folder_does_nothing_the_second_time(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text(paragraphs("water"))
    await plane.ingest_folder(folder)
    before = await plane.database.corpus_version(plane.workspace)
    jobs, paid = len(await plane.jobs()), len(plane.embedder.paid)

    result = await plane.ingest_folder(folder)

    assert (result.unchanged, result.new, result.changed) == (1, (), ())
    assert len(await plane.jobs()) == jobs
    assert len(plane.embedder.paid) == paid
    assert await plane.database.corpus_version(plane.workspace) == before


async def test_a_touched_file_of_equal_content_does_nothing(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text(paragraphs("water"))
    await plane.ingest_folder(folder)
    change(folder / "a.md", (folder / "a.md").read_text())

    assert (await plane.sync(folder)).unchanged == 1


async def test_one_changed_section_pays_for_few_chunks(plane: DataPlane, folder: Path) -> None:
    names = [f"part{n}" for n in range(12)]
    (folder / "a.md").write_text(paragraphs(*names))
    await plane.ingest_folder(folder)
    whole = len(plane.embedder.paid)
    change(folder / "a.md", paragraphs(*names).replace("part6 pump number 3 lifts", "part6 pump number 3 drains"))

    result = await plane.ingest_folder(folder)

    paid = len(plane.embedder.paid) - whole
    assert result.changed == ("a.md",)
    assert whole > 12
    assert 1 <= paid <= 3
    assert any("drains" in text for text in await plane.chunk_texts("a.md"))


async def test_the_estimate_before_is_what_is_recorded_after_and_an_edit_tells_what_reuse_saved(
    plane: DataPlane, folder: Path
) -> None:
    (folder / "a.md").write_text(paragraphs(*[f"part{n}" for n in range(8)]))
    (folder / "b.pdf").write_bytes(b"%PDF-1.4 broken")
    analysis = TextAnalysis(estimate_tokens, InlineCompute())
    keys = OriginalKeys(SystemClock(), RandomIds())
    sync = SyncSource(plane.database, plane.blobs, keys, plane.parser, plane.telemetry, "small", plane.embedders)
    estimate = EstimateIngest(plane.database, sync, plane.parser, analysis, plane.embedders, "small")

    nowhere = await estimate.run(None, DirectorySource(folder))
    first, broken = await estimate.run(plane.workspace, DirectorySource(folder))
    assert plane.embedder.paid == []
    await plane.ingest_folder(folder)
    recorded = read_cost((await stored(plane, "a.md")).provenance)

    assert [one.cost for one in nowhere] == [first.cost, None]
    assert broken.fault is not None
    assert broken.fault.code == "PARSE_CORRUPT"
    assert first.cost is not None
    assert recorded is not None
    assert (recorded.chunks, recorded.tokens) == (first.cost.chunks, first.cost.tokens)
    assert recorded.chunks == len(plane.embedder.paid)
    assert recorded.tokens == sum(map(estimate_tokens, plane.embedder.paid))
    assert (recorded.reused_chunks, recorded.cost_usd, recorded.estimated_cost_usd) == (0, 0.0, 0.0)

    change(
        folder / "a.md", (folder / "a.md").read_text().replace("The part3 pump number 7", "The part3 valve number 7")
    )
    edit = (await estimate.run(plane.workspace, DirectorySource(folder)))[0].cost
    await plane.ingest_folder(folder)
    after = read_cost((await stored(plane, "a.md")).provenance)

    assert edit is not None
    assert after is not None
    assert 0 < edit.chunks == after.chunks < recorded.chunks / 2
    assert after.reused_chunks == edit.reused_chunks == recorded.chunks - after.chunks
    assert after.tokens + after.reused_tokens == pytest.approx(recorded.tokens, rel=0.05)


async def test_a_document_says_how_many_of_its_characters_nobody_sees(plane: DataPlane, folder: Path) -> None:
    (folder / "tagged.md").write_text("The pump\u200b runs.\u202e \U000e0041", encoding="utf-8")
    (folder / "plain.md").write_text("Die Pumpe läuft.", encoding="utf-8")
    await plane.ingest_folder(folder)

    assert (await stored(plane, "tagged.md")).provenance["hidden_characters"] == "3"
    assert (await stored(plane, "plain.md")).provenance["hidden_characters"] == "0"


async def test_a_document_says_which_of_its_pages_nobody_could_read(plane: DataPlane, folder: Path) -> None:
    readable = pdf_files.stream(pdf_files.shown("The ferry leaves at nine."))
    broken = pdf_files.flate(b"x", b"/DecodeParms<</Predictor 99>>")
    (folder / "ferry.pdf").write_bytes(pdf_files.pdf_of_pages(readable, broken))

    await plane.ingest_folder(folder)

    document = await stored(plane, "ferry.pdf")
    assert document.status is DocumentStatus.READY
    assert read_unread_pages(document.provenance) == UnreadPages(1, 2, (2,))


async def test_what_a_page_hides_stands_in_its_text_and_in_no_passage(plane: DataPlane, folder: Path) -> None:
    (folder / "ferry.html").write_text("<p>The ferry leaves at nine.</p><div hidden>The harbour is closed.</div>")

    await plane.ingest_folder(folder)

    document = await stored(plane, "ferry.html")
    told = read_left_out(document.provenance)
    assert told is not None
    assert (told.characters, told.total) == (22, 47)
    assert await plane.chunk_texts("ferry.html") == ["The ferry leaves at nine."]


async def test_a_dry_run_tells_the_plan_and_changes_nothing(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water.")

    result = await plane.sync(folder, dry_run=True)

    assert (result.new, result.waiting_for, result.dry_run) == (("a.md",), (), True)
    assert await plane.document("a.md") is None
    assert await plane.blobs.keys("") == []


async def test_a_second_sync_before_any_work_hands_nothing_over_twice(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water flows.")
    first = await plane.sync(folder)

    second = await plane.sync(folder)

    assert second.in_progress == 1
    assert second.waiting_for == first.waiting_for
    assert len(await plane.jobs()) == 1


async def test_a_file_that_is_gone_disappears_from_every_store(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text(paragraphs("Alpha Station"))
    await plane.ingest_folder(folder)
    assert all([await plane.rows(table) for table in STORES])
    await plane.cache.put(plane.workspace, "question", b"answer", 60)
    (folder / "a.md").unlink()
    plane.missing_grace = timedelta(0)

    result = await plane.ingest_folder(folder, delete_missing=True)

    assert result.deleted == ("a.md",)
    assert await plane.document("a.md") is None
    assert {table: await plane.rows(table) for table in STORES} == dict.fromkeys(STORES, 0)
    assert await plane.cache.get(plane.workspace, "question") is None
    assert await plane.blobs.keys("") == []


async def test_a_deleted_document_takes_only_its_own_entities_along(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("The Old Mill stands near Harbour Bridge in the valley.")
    (folder / "b.md").write_text("Workers painted Harbour Bridge last summer.")
    await plane.ingest_folder(folder)

    await plane.delete.run(plane.workspace, await plane.id_of("a.md"))

    async with plane.pool.transaction(plane.workspace.org_id) as connection:
        keys = {row["key"] for row in await connection.fetch("SELECT key FROM rag_entities")}
    assert "harbour bridge" in keys
    assert "old mill" not in keys


async def test_an_unreadable_file_is_reported_and_its_document_stays(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water flows.")
    await plane.ingest_folder(folder)
    (folder / "a.md").unlink()
    os.mkfifo(folder / "a.md")

    result = await plane.sync(folder)

    assert [item.code for item in result.unreadable] == ["SOURCE_NOT_A_FILE"]
    assert result.deleted == ()


async def test_a_file_without_text_is_failed_and_not_tried_again(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("   \n\n")

    await plane.ingest_folder(folder)

    document = await plane.document("a.md")
    assert document is not None
    assert document.status is DocumentStatus.FAILED
    assert document.fault is not None
    assert document.fault.code.startswith("PARSE_")
    assert document.fault.attempts == 1
    (job,) = await plane.jobs()
    assert (job.state, job.error_code) == (JobState.DONE, document.fault.code)
    assert ("rag_dead_letters_total", (("kind", "ingest"),)) not in plane.telemetry.counters


async def test_what_failed_for_a_missing_key_goes_on_when_the_key_comes(plane: DataPlane, folder: Path) -> None:
    for name in ("a.md", "b.md"):
        (folder / name).write_text("Water flows.")

    def fail(_: object) -> None:
        raise MissingProviderKey("Your organisation has no key.")

    plane.embedder.before = fail
    await plane.ingest_folder(folder)
    assert [(await stored(plane, name)).status for name in ("a.md", "b.md")] == [DocumentStatus.FAILED] * 2
    assert {job.state for job in await plane.jobs()} == {JobState.DONE}
    plane.embedder.before = None

    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        repeated = await transaction.jobs.repeat_failed("PROVIDER_KEY_MISSING")
        again = await transaction.jobs.repeat_failed("PROVIDER_KEY_MISSING")
    async with plane.worker():
        await plane.until_idle()

    assert (repeated, again) == (2, 0)
    assert [(await stored(plane, name)).status for name in ("a.md", "b.md")] == [DocumentStatus.READY] * 2


async def test_a_ready_document_keeps_its_chunks_when_the_new_revision_fails(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water flows downhill.")
    await plane.ingest_folder(folder)
    change(folder / "a.md", "   ")

    await plane.ingest_folder(folder)

    document = await plane.document("a.md")
    assert document is not None
    assert document.status is DocumentStatus.FAILED
    assert await plane.chunk_texts("a.md") == ["Water flows downhill."]


async def test_going_back_to_the_published_content_after_a_failure_is_ready_again(
    plane: DataPlane, folder: Path
) -> None:
    (folder / "a.md").write_text("Water flows downhill.")
    await plane.ingest_folder(folder)
    change(folder / "a.md", "   ")
    await plane.ingest_folder(folder)
    paid = len(plane.embedder.paid)
    (folder / "a.md").write_text("Water flows downhill.")

    await plane.ingest_folder(folder)

    document = await plane.document("a.md")
    assert document is not None
    assert document.status is DocumentStatus.READY
    assert len(plane.embedder.paid) == paid


async def test_a_transient_failure_is_followed_by_success(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water flows.")
    failures = iter([Retryable("rate limited", retry_after_seconds=0.01), None])

    def fail_once(_: object) -> None:
        if (failure := next(failures, None)) is not None:
            raise failure

    plane.embedder.before = fail_once

    await plane.ingest_folder(folder)

    (job,) = await plane.jobs(JobKind.INGEST)
    assert (job.state, job.attempts) == (JobState.DONE, 2)
    document = await plane.document("a.md")
    assert document is not None
    assert document.status is DocumentStatus.READY
    assert document.fault is None


async def test_a_job_that_keeps_failing_becomes_a_dead_letter(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water flows.")

    def fail(_: object) -> None:
        raise ZeroDivisionError("a defect")

    plane.embedder.before = fail

    await plane.ingest_folder(folder)

    (job,) = await plane.jobs(JobKind.INGEST)
    assert (job.state, job.attempts, job.error_code) == (JobState.DEAD, 3, "INTERNAL")
    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        attempts = await transaction.jobs.attempts(plane.workspace, job.job_id)
    assert attempts[-1].error_chain[-1] == "ZeroDivisionError: a defect"
    document = await plane.document("a.md")
    assert document is not None
    assert document.status is DocumentStatus.FAILED
    assert await plane.queue.depth(job.queue) == 0
    assert plane.telemetry.counters[("rag_dead_letters_total", (("kind", "ingest"),))] == 1


async def test_a_permanent_failure_is_not_tried_again(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water flows.")

    def fail(_: object) -> None:
        raise Permanent("the key was rejected", code="PROVIDER_KEY_REJECTED")

    plane.embedder.before = fail

    await plane.ingest_folder(folder)

    (job,) = await plane.jobs(JobKind.INGEST)
    assert (job.state, job.attempts, job.error_code) == (JobState.DEAD, 1, "PROVIDER_KEY_REJECTED")


async def test_a_document_deleted_while_it_is_ingested_stays_deleted(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water flows.")
    await plane.sync(folder)
    hold = plane.hold_embedder()
    async with plane.worker():
        await until(hold.reached.is_set, "embedding began")
        await plane.delete.run(plane.workspace, await plane.id_of("a.md"))
        hold.go_on.set()
        await plane.until_idle()

    assert await plane.document("a.md") is None
    assert {table: await plane.rows(table) for table in STORES} == dict.fromkeys(STORES, 0)
    assert {job.state for job in await plane.jobs(JobKind.INGEST)} == {JobState.CANCELLED}
    assert {job.state for job in await plane.jobs(JobKind.DELETE)} <= {JobState.CANCELLED, JobState.DONE}


async def test_newer_content_replaces_work_under_way_and_wins(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water flows uphill.")
    await plane.sync(folder)
    hold = plane.hold_embedder()
    async with plane.worker():
        await until(hold.reached.is_set, "embedding began")
        change(folder / "a.md", "Water flows downhill.")
        await plane.sync(folder)
        hold.go_on.set()
        await plane.until_idle()

    assert await plane.chunk_texts("a.md") == ["Water flows downhill."]


async def test_a_deleted_document_may_be_submitted_again(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water flows.")
    await plane.ingest_folder(folder)
    await plane.delete.run(plane.workspace, await plane.id_of("a.md"))

    await plane.ingest_folder(folder)

    assert await plane.chunk_texts("a.md") == ["Water flows."]


async def test_an_upload_goes_the_same_way(plane: DataPlane) -> None:
    digest = hashlib.sha256(b"Water flows.").digest()
    upload = Submission(
        plane.workspace,
        await plane.id_of("upload/a.md"),
        "upload/a.md",
        "some/key",
        digest,
        12,
        "A",
        "a.md",
        "text/markdown",
        "somebody",
    )
    await plane.blobs.put("some/key", b"Water flows.")
    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        await submit(transaction, upload, {})

    async with plane.worker():
        await plane.until_idle()

    assert await plane.chunk_texts("upload/a.md") == ["Water flows."]


async def test_each_stage_of_an_ingestion_tells_its_job(plane: DataPlane, folder: Path) -> None:
    for name in ("a", "b"):
        (folder / f"{name}.md").write_text(f"Water flows in {name}.")
    await plane.ingest_folder(folder)

    told = [one.fields for one in plane.telemetry.events if one.name == "rag_stage_ended"]
    jobs = [str(job.job_id) for job in await plane.jobs(JobKind.INGEST)]
    stages = [sorted(str(one["stage"]) for one in told if one["job_id"] == job_id) for job_id in jobs]
    assert stages == 2 * [sorted(one.value for one in IngestStage)]
    assert len(told) == 2 * len(IngestStage)

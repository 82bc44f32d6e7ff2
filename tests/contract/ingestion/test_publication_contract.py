"""What every `Publisher` promises."""

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.builders import (
    EVERYBODY,
    drafts_of,
    entities_of,
    entity_id,
    half,
    new_chunk,
    new_document,
    publication,
    revision_of,
)
from tests.contract.backends import Backend

from agentic_rag.documents.document import DocumentFilter, DocumentStatus, SpanRequest, document_id_for
from agentic_rag.jobs.job import JobKind, JobState, NewJob
from agentic_rag.kernel.errors import LeaseLost, SpaceMismatch
from agentic_rag.language.tokenizer import query_terms
from agentic_rag.retrieval.candidates import SearchScope
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.settings import WorkspaceSettings

SCOPE = SearchScope(EVERYBODY)


async def texts(adapter: Backend, workspace: WorkspaceRef, as_of: int | None = None) -> list[str]:
    async with adapter.database.snapshot(workspace, as_of) as snapshot:
        ordinals = sorted(await snapshot.documents.ordinals_matching(DocumentFilter(), EVERYBODY))
        return [chunk.text for chunk in await snapshot.documents.chunks(ordinals, EVERYBODY)]


async def found_by_words(adapter: Backend, workspace: WorkspaceRef, words: str, as_of: int | None = None) -> list[int]:
    async with adapter.database.snapshot(workspace, as_of) as snapshot:
        return [hit.ordinal for hit in await snapshot.lexical.search(query_terms(words), 10, SCOPE)]


async def test_publishing_makes_a_document_ready_in_every_arm(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    vector = half([1, 0, 0, 0, 0, 0, 0, 0])

    published = await adapter.publish(
        workspace,
        "a.md",
        ["quorum decides", "leases expire"],
        entities={"quorum decides": entities_of("Quorum")},
        vectors={"quorum decides": vector},
    )

    assert published.version == 1
    async with adapter.database.transaction(workspace.org_id) as transaction:
        document = await transaction.documents.get(workspace, published.document_id)
    assert document is not None
    assert (document.status, document.chunk_count, document.chunks_done) == (DocumentStatus.READY, 2, 2)
    async with adapter.database.snapshot(workspace) as snapshot:
        [mentions] = await snapshot.graph.mentions_of([entity_id("Quorum")], 10)
    assert mentions.passages == 1
    assert await found_by_words(adapter, workspace, "quorum") == [0]


async def test_unchanged_chunks_keep_their_ordinals_and_changed_ones_get_new_ones(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "a.md", ["alpha stays", "beta goes", "gamma moves"])

    await adapter.publish(workspace, "a.md", ["alpha stays", "gamma moves", "delta comes"])

    async with adapter.database.snapshot(workspace) as snapshot:
        chunks = await snapshot.documents.chunks([0, 1, 2, 3], EVERYBODY)
        spans = await snapshot.documents.revision_spans(
            [SpanRequest(chunk.revision_id, chunk.start, chunk.end) for chunk in chunks]
        )
    assert [(chunk.ordinal, chunk.text) for chunk in chunks] == [
        (0, "alpha stays"),
        (2, "gamma moves"),
        (3, "delta comes"),
    ]
    assert [span and span.text for span in spans] == [chunk.text for chunk in chunks]
    assert await found_by_words(adapter, workspace, "beta") == []
    assert await found_by_words(adapter, workspace, "gamma") == [2]


async def test_the_older_version_still_shows_what_was_there(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "a.md", ["alpha", "beta", "gamma"])
    await adapter.publish(workspace, "a.md", ["gamma", "delta"])

    assert sorted(await texts(adapter, workspace, as_of=1)) == ["alpha", "beta", "gamma"]
    assert sorted(await texts(adapter, workspace)) == ["delta", "gamma"]
    assert await found_by_words(adapter, workspace, "beta", as_of=1) == [1]
    assert await found_by_words(adapter, workspace, "delta", as_of=1) == []


async def test_a_text_may_return_to_an_earlier_state(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    for passages in (["alpha"], ["beta"], ["alpha"]):
        await adapter.publish(workspace, "a.md", passages)

    assert await texts(adapter, workspace) == ["alpha"]
    assert await texts(adapter, workspace, as_of=2) == ["beta"]
    assert await found_by_words(adapter, workspace, "alpha") == [2]


async def test_a_batch_is_one_version_and_a_refused_document_does_not_hinder_the_others(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    batch = []
    for path in ("a.md", "b.md", "never-registered.md"):
        new = new_document(workspace, path)
        if path != "never-registered.md":
            await adapter.register(workspace, new)
        revision = revision_of(new.document_id, [f"text of {path}"])
        chunks = [new_chunk(draft) for draft in drafts_of(revision, [f"text of {path}"])]
        stale = revision.revision_id if path == "b.md" else None
        batch.append(publication(new.document_id, revision, chunks, expected=stale))

    async with adapter.database.transaction(workspace.org_id) as transaction:
        results = await transaction.publisher.publish(workspace, 1, batch)

    assert [(result.version, result.refusal) for result in results] == [(1, None), (None, "STALE"), (None, "ERASED")]
    assert await texts(adapter, workspace) == ["text of a.md"]


async def test_vectors_of_another_space_are_refused(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    new = new_document(workspace, "a.md")
    await adapter.register(workspace, new)
    revision = revision_of(new.document_id, ["text"])
    chunks = [new_chunk(draft, vector=half([1, 2, 3])) for draft in drafts_of(revision, ["text"])]

    with pytest.raises(SpaceMismatch):
        async with adapter.database.transaction(workspace.org_id) as transaction:
            await transaction.publisher.publish(workspace, 1, [publication(new.document_id, revision, chunks)])
    with pytest.raises(SpaceMismatch):
        async with adapter.database.transaction(workspace.org_id) as transaction:
            await transaction.publisher.publish(workspace, 2, [publication(new.document_id, revision, [])])

    assert await adapter.database.corpus_version(workspace) == 0


async def test_a_lost_lease_publishes_and_erases_nothing(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    published = await adapter.publish(workspace, "a.md", ["text"])
    document_id = published.document_id
    async with adapter.database.transaction(workspace.org_id) as transaction:
        job, _ = await transaction.jobs.enqueue(NewJob(workspace, JobKind.INGEST, "k", {}, document_id=document_id))
        lease = await transaction.jobs.lease(job, "worker", timedelta(minutes=1))
        assert lease is not None
    revision = revision_of(document_id, ["other"])
    late = publication(
        document_id,
        revision,
        [new_chunk(draft) for draft in drafts_of(revision, ["other"])],
        removed=[0],
        expected=revision_of(document_id, ["text"]).revision_id,
        job_id=job.job_id,
        fence=lease.fence - 1,
    )

    async with adapter.database.transaction(workspace.org_id) as transaction:
        [result] = await transaction.publisher.publish(workspace, 1, [late])
    with pytest.raises(LeaseLost):
        async with adapter.database.transaction(workspace.org_id) as transaction:
            await transaction.publisher.erase(workspace, document_id, job.job_id, lease.fence - 1)

    assert (result.version, result.refusal) == (None, "LEASE_LOST")
    assert await texts(adapter, workspace) == ["text"]


async def test_an_erased_document_leaves_nothing_and_no_orphan_entities(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    entities = {
        "shared and lonely": entities_of("Shared", "Lonely", pairs=[("Shared", "Lonely")]),
        "shared elsewhere": entities_of("Shared"),
    }
    erased = await adapter.publish(workspace, "a.md", ["shared and lonely", "old"], entities=entities)
    await adapter.publish(workspace, "a.md", ["shared and lonely", "new"], entities=entities)
    await adapter.publish(workspace, "b.md", ["shared elsewhere"], entities=entities)

    async with adapter.database.transaction(workspace.org_id) as transaction:
        erasure = await transaction.publisher.erase(workspace, erased.document_id)

    assert erasure is not None
    assert (erasure.version, erasure.revisions, erasure.chunks, erasure.vectors) == (4, 2, 3, 3)
    assert (erasure.mentions, erasure.entities) == (2, 1)
    assert await texts(adapter, workspace) == ["shared elsewhere"]
    assert await texts(adapter, workspace, as_of=1) == []
    assert await found_by_words(adapter, workspace, "lonely", as_of=1) == []
    async with adapter.database.snapshot(workspace) as snapshot:
        known = await snapshot.graph.names([entity_id("Shared"), entity_id("Lonely")])
        neighbours = await snapshot.graph.neighbours([entity_id("Shared")], 10)
    assert known == {entity_id("Shared"): "Shared"}
    assert neighbours == []


async def test_erasing_cancels_ingestion_and_a_late_writer_cannot_bring_the_document_back(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    published = await adapter.publish(workspace, "a.md", ["text"])
    document_id = published.document_id
    async with adapter.database.transaction(workspace.org_id) as transaction:
        job, _ = await transaction.jobs.enqueue(NewJob(workspace, JobKind.INGEST, "k", {}, document_id=document_id))
        lease = await transaction.jobs.lease(job, "worker", timedelta(minutes=1))
        assert lease is not None
        await transaction.publisher.erase(workspace, document_id)
    revision = revision_of(document_id, ["text"])
    late = publication(document_id, revision, [], job_id=job.job_id, fence=lease.fence)

    async with adapter.database.transaction(workspace.org_id) as transaction:
        [result] = await transaction.publisher.publish(workspace, 1, [late])
        cancelled = await transaction.jobs.get(workspace, job.job_id)

    assert result.refusal in {"LEASE_LOST", "ERASED"}
    assert cancelled is not None
    assert cancelled.state is JobState.CANCELLED


async def test_a_document_registered_again_after_an_erasure_can_be_published(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    first = await adapter.publish(workspace, "a.md", ["text"])
    async with adapter.database.transaction(workspace.org_id) as transaction:
        await transaction.publisher.erase(workspace, first.document_id)

    again = await adapter.publish(workspace, "a.md", ["text"])

    assert again.version == 3
    assert await texts(adapter, workspace) == ["text"]


async def test_a_publish_adds_to_the_provenance_and_keeps_what_the_source_said(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    new = new_document(workspace, "a.md", provenance={"source": "folder", "embedding_chunks": "9"})
    await adapter.register(workspace, new)
    revision = revision_of(new.document_id, ["text"])
    [draft] = drafts_of(revision, ["text"])
    told = replace(
        publication(new.document_id, revision, [new_chunk(draft)]), provenance={"embedding_chunks": "1", "a": 'b"c'}
    )

    async with adapter.database.transaction(workspace.org_id) as transaction:
        await transaction.publisher.publish(workspace, 1, [told])
        document = await transaction.documents.get(workspace, new.document_id)

    assert document is not None
    assert document.provenance == {"source": "folder", "embedding_chunks": "1", "a": 'b"c'}


async def test_erasing_an_unknown_document_says_so(adapter: Backend) -> None:
    workspace = await adapter.workspace()

    async with adapter.database.transaction(workspace.org_id) as transaction:
        erasure = await transaction.publisher.erase(workspace, document_id_for(workspace, "a.md"))

    assert erasure is None
    assert await adapter.database.corpus_version(workspace) == 0


async def test_compaction_changes_no_answer_of_any_readable_version(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    for passages in (["alpha one", "beta"], ["alpha one", "gamma"], ["alpha two", "gamma"]):
        await adapter.publish(workspace, "a.md", passages)
    versions = (None, 1, 2, 3)
    before = [await found_by_words(adapter, workspace, "alpha beta gamma", version) for version in versions]

    async with adapter.database.transaction(workspace.org_id) as transaction:
        merged = await transaction.publisher.compact(workspace)
    async with adapter.database.transaction(workspace.org_id) as transaction:
        again = await transaction.publisher.compact(workspace)

    assert (merged, again) == (3, 0)
    assert [await found_by_words(adapter, workspace, "alpha beta gamma", version) for version in versions] == before


async def test_a_workspace_without_history_serves_the_newest_version_after_compaction(adapter: Backend) -> None:
    workspace = await adapter.workspace(settings=WorkspaceSettings(history_days=0))
    for passages in (["alpha", "beta"], ["alpha", "gamma"]):
        await adapter.publish(workspace, "a.md", passages)

    async with adapter.database.transaction(workspace.org_id) as transaction:
        await transaction.publisher.compact(workspace)

    assert await texts(adapter, workspace) == ["alpha", "gamma"]
    assert await found_by_words(adapter, workspace, "alpha beta gamma") == [0, 2]


async def test_a_large_workspace_is_compacted_group_by_group(adapter: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentic_rag.retrieval.lexical.postings.MOST_CHUNKS", 4)
    workspace = await adapter.workspace()
    for number in range(6):
        await adapter.publish(workspace, f"{number}.md", [f"alpha {number}"])
    await adapter.publish(workspace, "3.md", ["alpha again"])
    before = [await found_by_words(adapter, workspace, "alpha again", version) for version in (None, 3, 6)]
    written: list[int | None] = []

    while not written or written[-1] != 0:
        async with adapter.database.transaction(workspace.org_id) as transaction:
            written.append(await transaction.publisher.compact(workspace))

    assert written == [None, 3, 0]
    assert [await found_by_words(adapter, workspace, "alpha again", version) for version in (None, 3, 6)] == before

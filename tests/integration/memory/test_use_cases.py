"""The data plane's use cases over memory adapters only: what needs no server runs without one."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.builders import new_document
from tests.held_transactions import is_in_transaction
from tests.memory_store.answering.cache import MemoryAnswerCache
from tests.memory_store.compute import InlineCompute
from tests.memory_store.documents.blobs import MemoryBlobStore
from tests.memory_store.jobs.job_board import MemoryJobBoard
from tests.memory_store.jobs.queue import MemoryJobQueue
from tests.memory_store.session.database import MemoryDatabase
from tests.memory_store.session.store import MemoryStore
from tests.memory_store.telemetry import RecordingTelemetry

from agentic_rag.adapters.deterministic.embedder import DeterministicEmbedder
from agentic_rag.adapters.parsing.process.parser import ProcessParser
from agentic_rag.adapters.sources.directory import DirectorySource
from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.adapters.system.ids import RandomIds
from agentic_rag.documents.document import document_id_for
from agentic_rag.documents.originals import OriginalKeys
from agentic_rag.erasure.delete import DeleteDocument
from agentic_rag.ingestion.analysis.analyse import TextAnalysis
from agentic_rag.ingestion.group_commit import GroupCommitPublisher
from agentic_rag.ingestion.ingest import IngestDocument
from agentic_rag.ingestion.ingest_chunks import ChunkedDocument, IngestChunks
from agentic_rag.ingestion.ingest_run import IngestStage
from agentic_rag.ingestion.sync import SyncSource
from agentic_rag.jobs.job import JobKind, JobState, QueueName
from agentic_rag.kernel.pagination import Page, PageRequest
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.language.tokenizer import query_terms
from agentic_rag.models.providers.embedder_registry import only
from agentic_rag.retrieval.candidates import SearchScope
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.settings import WorkspaceSettings
from agentic_rag.workspaces.workspace import WorkspaceKind


class Steps:
    """Nobody watches."""

    def advance(self) -> None:
        """One more step is done."""


class WatchfulEmbedder(DeterministicEmbedder):
    """A provider that is never called while its caller holds a transaction: it may take a minute."""

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        assert not is_in_transaction(), "a provider is called inside an open transaction"
        return await super().embed(texts)


async def test_no_provider_is_called_inside_an_open_transaction() -> None:
    store = MemoryStore(SystemClock())
    database, workspace = MemoryDatabase(store), WorkspaceRef(uuid4(), uuid4())
    async with database.transaction(workspace.org_id) as transaction:
        await transaction.workspaces.create(
            workspace.workspace_id, "w", WorkspaceKind.GENERAL, None, WorkspaceSettings()
        )
    embedder = WatchfulEmbedder()
    documents = [ChunkedDocument(f"{one}.md", "Pump", (f"Pump {one} lifts water.",)) for one in range(6)]
    ingest = IngestChunks(
        database, only(embedder), TextAnalysis(estimate_tokens, InlineCompute()), batch_documents=2, batch_chunks=2
    )

    await ingest.run(workspace, documents, "user:ada")

    for opened in (database.transaction(workspace.org_id), database.snapshot(workspace)):
        async with opened:
            with pytest.raises(AssertionError, match="inside an open transaction"):
                await embedder.embed(["planted"])
    assert len(await embedder.embed(["afterwards"])) == 1


async def test_a_folder_is_ingested_found_and_erased_without_any_server(tmp_path: Path) -> None:
    (tmp_path / "pump.md").write_text("# Pump\n\nThe pump lifts water from the well.")
    store = MemoryStore(SystemClock())
    cache, blobs, telemetry = MemoryAnswerCache(store.clock), MemoryBlobStore(), RecordingTelemetry()
    database, board, queue = MemoryDatabase(store, cache), MemoryJobBoard(store), MemoryJobQueue()
    parser = ProcessParser()
    ingest = IngestDocument(
        database, blobs, parser, only(WatchfulEmbedder()), TextAnalysis(estimate_tokens, InlineCompute()),
        GroupCommitPublisher(database),
        telemetry, "small",
    )  # fmt: skip
    workspace = WorkspaceRef(uuid4(), uuid4())
    async with database.transaction(workspace.org_id) as transaction:
        await transaction.workspaces.create(
            workspace.workspace_id, "w", WorkspaceKind.GENERAL, None, WorkspaceSettings()
        )

    async def found() -> list[str]:
        async with database.snapshot(workspace) as snapshot:
            hits = await snapshot.lexical.search(query_terms("which pump lifts water"), 5, SearchScope((0,)))
            chunks = await snapshot.documents.chunks([hit.ordinal for hit in hits], (0,))
        return [chunk.source_path for chunk in chunks]

    keys = OriginalKeys(store.clock, RandomIds())
    sync = SyncSource(database, blobs, keys, parser, telemetry, "small", only(WatchfulEmbedder()))
    await sync.run(workspace, DirectorySource(tmp_path), "tester")
    await queue.offer(QueueName.BULK, await board.due(QueueName.BULK, 10))
    ref = queue.take(QueueName.BULK)
    assert ref is not None
    async with database.transaction(workspace.org_id) as transaction:
        lease = await transaction.jobs.lease(ref, "worker", timedelta(minutes=1))
    assert lease is not None
    await ingest.run(lease, Steps())
    after_ingestion = await found()
    await cache.put(workspace, "k", b"an answer", 60)
    deletion = await DeleteDocument(database, cache, blobs, telemetry).run(
        workspace, document_id_for(workspace, "pump.md")
    )
    await parser.aclose()

    assert after_ingestion == ["pump.md"]
    assert [name for name, _ in telemetry.spans] == [f"rag.{stage.value}" for stage in IngestStage]
    ended = [one.fields["stage"] for one in telemetry.events if one.name == "rag_stage_ended"]
    assert sorted(map(str, ended)) == sorted(stage.value for stage in IngestStage)
    async with database.transaction(workspace.org_id) as transaction:
        assert await transaction.jobs.page(workspace, PageRequest(), [JobState.QUEUED]) == Page((), (), False)
    assert deletion.erasure is not None
    assert await found() == []
    assert await blobs.keys("") == []
    assert await cache.get(workspace, "k") is None


class DyingBlobStore(MemoryBlobStore):
    """A store in whose call the caller is cancelled, as when a client hangs up or a process ends."""

    async def delete(self, key: str) -> bool:
        raise asyncio.CancelledError


async def test_an_erasure_cut_off_after_its_commit_is_finished_by_a_job() -> None:
    store = MemoryStore(SystemClock())
    cache = MemoryAnswerCache(store.clock)
    database = MemoryDatabase(store, cache)
    workspace = WorkspaceRef(uuid4(), uuid4())
    async with database.transaction(workspace.org_id) as transaction:
        await transaction.workspaces.create(
            workspace.workspace_id, "w", WorkspaceKind.GENERAL, None, WorkspaceSettings()
        )
        document = await transaction.documents.register(workspace, new_document(workspace, "a.md"))
        await transaction.originals.keep(workspace, document.document_id, bytes(32), "a-key", 1)

    with pytest.raises(asyncio.CancelledError):
        await DeleteDocument(database, cache, DyingBlobStore(), RecordingTelemetry()).run(
            workspace, document.document_id
        )

    async with database.transaction(workspace.org_id) as transaction:
        assert await transaction.documents.get(workspace, document.document_id) is None
        (job,) = (await transaction.jobs.page(workspace, PageRequest())).items
    assert (job.kind, job.state, job.document_id) == (JobKind.DELETE, JobState.QUEUED, document.document_id)

"""What an estimate is made with; that it comes true is tested on a real data plane."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from tests.memory_store.answering.cache import MemoryAnswerCache
from tests.memory_store.compute import InlineCompute
from tests.memory_store.documents.blobs import MemoryBlobStore
from tests.memory_store.session.database import MemoryDatabase
from tests.memory_store.session.store import MemoryStore
from tests.memory_store.telemetry import RecordingTelemetry

from agentic_rag.adapters.deterministic.embedder import DETERMINISTIC_SPACE, DeterministicEmbedder
from agentic_rag.adapters.parsing.process.parser import ProcessParser
from agentic_rag.adapters.parsing.sniffer import ZipAwareSniffer
from agentic_rag.adapters.sources.directory import DirectorySource
from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.adapters.system.ids import RandomIds
from agentic_rag.documents.document import document_id_for
from agentic_rag.documents.originals import OriginalKeys
from agentic_rag.ingestion.analysis.analyse import TextAnalysis
from agentic_rag.ingestion.estimate import EstimateIngest, EstimateUpload
from agentic_rag.ingestion.sync import SyncSource
from agentic_rag.kernel.errors import AgenticRagError
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.models.embedding.space import EmbeddingSpace
from agentic_rag.models.providers.embedder_registry import only
from agentic_rag.tenancy.principals import Principal, Role, WorkspaceRef
from agentic_rag.workspaces.settings import WorkspaceSettings
from agentic_rag.workspaces.workspace import WorkspaceKind

PAID = EmbeddingSpace("openai", "text-embedding-3-small", 1536)


@pytest.mark.slow
async def test_a_workspace_is_estimated_in_the_space_that_it_was_switched_to(tmp_path: Path) -> None:
    (tmp_path / "pump.md").write_text("# Pump\n\nThe pump lifts water from the well.")
    store = MemoryStore(SystemClock())
    database = MemoryDatabase(store, MemoryAnswerCache(store.clock))
    parser, telemetry = ProcessParser(), RecordingTelemetry()
    keys = OriginalKeys(store.clock, RandomIds())
    sync = SyncSource(database, MemoryBlobStore(), keys, parser, telemetry, "small", only(DeterministicEmbedder()))
    analysis = TextAnalysis(estimate_tokens, InlineCompute())
    estimate = EstimateIngest(database, sync, parser, analysis, only(DeterministicEmbedder()), "small")
    workspace = WorkspaceRef(uuid4(), uuid4())
    async with database.transaction(workspace.org_id) as transaction:
        await transaction.workspaces.create(
            workspace.workspace_id, "w", WorkspaceKind.GENERAL, None, WorkspaceSettings()
        )
        await transaction.workspaces.register_space(workspace, DETERMINISTIC_SPACE)
        switched = await transaction.spaces.begin(workspace, PAID, None)
        await transaction.spaces.activate(workspace, switched.registered.space_id, timedelta(days=1))

    [one] = await estimate.run(workspace, DirectorySource(tmp_path))
    [without] = await estimate.run(None, DirectorySource(tmp_path))
    await parser.aclose()

    assert one.cost is not None
    assert without.cost is not None
    assert one.cost.space == PAID.name
    assert (one.cost.cost_usd or 0) > 0
    assert without.cost.space == DETERMINISTIC_SPACE.name


async def sent(content: bytes) -> AsyncIterator[bytes]:
    yield content


@pytest.mark.slow
async def test_an_upload_is_estimated_as_its_ingestion_and_stores_nothing(tmp_path: Path) -> None:
    text = b"# Pump\n\nThe pump lifts water from the well."
    (tmp_path / "pump.md").write_bytes(text)
    store = MemoryStore(SystemClock())
    database = MemoryDatabase(store, MemoryAnswerCache(store.clock))
    parser, telemetry, embedders = ProcessParser(), RecordingTelemetry(), only(DeterministicEmbedder())
    keys = OriginalKeys(store.clock, RandomIds())
    sync = SyncSource(database, MemoryBlobStore(), keys, parser, telemetry, "small", embedders)
    analysis = TextAnalysis(estimate_tokens, InlineCompute())
    files = EstimateIngest(database, sync, parser, analysis, embedders, "small")
    estimate = EstimateUpload(files, ZipAwareSniffer(), 1_000)
    workspace = WorkspaceRef(uuid4(), uuid4())
    ada = Principal(workspace.org_id, "ada", Role.MEMBER)
    async with database.transaction(workspace.org_id) as transaction:
        await transaction.workspaces.create(
            workspace.workspace_id, "w", WorkspaceKind.GENERAL, None, WorkspaceSettings()
        )

    [by_folder] = await files.run(workspace, DirectorySource(tmp_path))
    uploaded = await estimate.run(ada, workspace, "pump.md", sent(text))
    broken = await estimate.run(ada, workspace, "a.pdf", sent(b"%PDF-1.4 broken"))
    await parser.aclose()

    assert (uploaded.size, uploaded.media_type, uploaded.file) == (len(text), "text/markdown", by_folder)
    assert (broken.file.cost, broken.file.fault and broken.file.fault.code) == (None, "PARSE_CORRUPT")
    for content, code in ((b"", "UPLOAD_EMPTY"), (b"a" * 1_001, "UPLOAD_TOO_LARGE")):
        with pytest.raises(AgenticRagError) as refused:
            await estimate.run(ada, workspace, "pump.md", sent(content))
        assert refused.value.code == code
    async with database.transaction(workspace.org_id) as transaction:
        assert await transaction.documents.get(workspace, document_id_for(workspace, "pump.md")) is None

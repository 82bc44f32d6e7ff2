"""The REST API over the real use cases and stores in memory, without a server. Files are parsed in this process."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from typing import Any
from uuid import UUID

from agentic_rag.adapters.deterministic.embedder import DeterministicEmbedder
from agentic_rag.adapters.parsing.sniffer import ZipAwareSniffer
from agentic_rag.answering.build import waiting_room
from agentic_rag.answering.context.prepare_context import PrepareContext
from agentic_rag.answering.context.search_passages import SearchPassages
from agentic_rag.answering.options import AnswerDefaults
from agentic_rag.documents.document_access import DocumentAccess
from agentic_rag.documents.originals import OriginalKeys
from agentic_rag.documents.read_chunk import ReadChunk
from agentic_rag.documents.read_text import ReadText
from agentic_rag.documents.update_document import UpdateDocument
from agentic_rag.erasure.delete import DeleteDocument
from agentic_rag.erasure.request_erasure import RequestErasure
from agentic_rag.ingestion.analysis.analyse import TextAnalysis
from agentic_rag.ingestion.attachments import Attachments
from agentic_rag.ingestion.copy_document import CopyDocument
from agentic_rag.ingestion.estimate import EstimateIngest, EstimateUpload
from agentic_rag.ingestion.reingest import ReingestDocument
from agentic_rag.ingestion.sync import SyncSource
from agentic_rag.ingestion.upload import UploadDocument, UploadOptions
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.models.providers.embedder_registry import only
from agentic_rag.operations.measure_switch import MeasureSwitch
from agentic_rag.operations.prove_erased import ProveErasure
from agentic_rag.operations.switch_embedding import SwitchEmbedding
from agentic_rag.retrieval.fusion_options import FusionWeights
from agentic_rag.retrieval.retrieve import Retrieve
from agentic_rag.workspaces.administer import Administer
from agentic_rag.workspaces.organisation import FeatureFlag
from agentic_rag.workspaces.settings import WorkspaceSettings
from agentic_rag.workspaces.workspace import WorkspaceKind
from agentic_rag_server.parts import ServerOptions
from tests.api.builders import NOW, ORG, OTHER_ORG, REF, TOKENS, WORKSPACE, FakeAnswer, FakeIdentity, NoLimits
from tests.inline_parser import InlineParser
from tests.memory_store.answering.cache import MemoryAnswerCache
from tests.memory_store.compute import InlineCompute
from tests.memory_store.documents.blobs import MemoryBlobStore
from tests.memory_store.session.database import MemoryDatabase
from tests.memory_store.session.store import MemoryStore
from tests.memory_store.telemetry import RecordingTelemetry
from tests.memory_store.workspaces.organisations import MemoryOrganisations

MAX_UPLOAD_BYTES = 64 * 1024


class StandingClock:
    """It is always the same moment, so that answers can be compared whole."""

    def now(self) -> datetime:
        return NOW

    def monotonic(self) -> float:
        return 0.0


class NumberedIds:
    """1, 2, 3, …"""

    def __init__(self) -> None:
        self._numbers = count(1)

    def new(self) -> UUID:
        return UUID(int=next(self._numbers))

    def trace_id(self) -> str:
        return f"{next(self._numbers):032x}"

    def jitter(self) -> float:
        return 0.0


async def pieces(content: bytes) -> AsyncIterator[bytes]:
    yield content


@dataclass
class Provider:
    """Refuses what is about to be done, if it has an error to give."""

    error: Exception | None = None

    async def check(self, org_id: UUID) -> None:
        if self.error is not None:
            raise self.error


@dataclass
class RestProduct:
    """A wired process as the REST API sees it."""

    options: ServerOptions = field(
        default_factory=lambda: ServerOptions(enabled=True, max_upload_bytes=MAX_UPLOAD_BYTES)
    )
    store: MemoryStore = field(default_factory=lambda: MemoryStore(StandingClock()))
    blobs: MemoryBlobStore = field(default_factory=MemoryBlobStore)
    identity: FakeIdentity = field(default_factory=FakeIdentity)
    telemetry: Any = field(default_factory=RecordingTelemetry)
    admission: Any = field(default_factory=NoLimits)
    spend_code: Any = None
    answer: FakeAnswer = field(default_factory=FakeAnswer)
    clock: StandingClock = field(default_factory=StandingClock)
    ids: NumberedIds = field(default_factory=NumberedIds)
    checks: dict[str, Any] = field(default_factory=dict)
    provider: Any = field(default_factory=Provider)
    read_runs: Any = None
    explain: Any = None
    dead_letters: Any = None
    job_board: Any = None
    evaluations: Any = None
    take_snapshot: Any = None

    def __post_init__(self) -> None:
        self.cache = MemoryAnswerCache(self.store.clock)
        self.database = MemoryDatabase(self.store, self.cache)
        keys, sniffer, parser = OriginalKeys(self.clock, self.ids), ZipAwareSniffer(), InlineParser()
        embedders, retrieve = only(DeterministicEmbedder()), Retrieve(self.telemetry)
        self.upload = UploadDocument(
            self.database,
            self.blobs,
            keys,
            sniffer,
            parser,
            self.telemetry,
            embedders,
            chunk_profile="default",
            max_bytes=self.options.max_upload_bytes,
        )
        sync = SyncSource(self.database, self.blobs, keys, parser, self.telemetry, "default", embedders)
        self.estimate_upload = EstimateUpload(
            EstimateIngest(
                self.database, sync, parser, TextAnalysis(estimate_tokens, InlineCompute()), embedders, "default"
            ),
            sniffer,
            self.options.max_upload_bytes,
        )
        self.delete = DeleteDocument(self.database, self.cache, self.blobs, self.telemetry)
        self.request_erasure = RequestErasure(self.database, self.telemetry)
        self.prove_erasure = ProveErasure(self.database, self.cache)
        self.administer = Administer(self.database, self.ids, self.telemetry)
        self.document_access = DocumentAccess(self.database, self.telemetry)
        self.read_text = ReadText(self.database, self.telemetry)
        self.read_chunk = ReadChunk(self.database, self.telemetry)
        self.update_document = UpdateDocument(self.database, self.telemetry)
        self.search = SearchPassages(
            self.database, embedders, retrieve, AnswerDefaults(), waiting_room(), self.telemetry
        )
        self.context = PrepareContext(self.database, self.search, self.telemetry)
        self.attachments = Attachments(
            self.database, self.upload, self.delete, self.administer, self.provider, self.document_access
        )
        self.switch_spaces = SwitchEmbedding(
            self.database,
            embedders,
            MeasureSwitch(self.database, embedders, retrieve, FusionWeights()),
            self.telemetry,
            timedelta(days=1),
        )
        self.copy_document = CopyDocument(self.database, self.blobs, self.upload, self.document_access)
        self.reingest = ReingestDocument(self.database, self.telemetry)

    async def aclose(self) -> None:
        """Nothing to release."""


async def rest_product() -> RestProduct:
    """Two organisations; the first has guidelines switched on, and the workspace of tests.api.builders with the
    document `handbook.md`.
    """
    product = RestProduct()
    organisations = MemoryOrganisations(product.store)
    await organisations.ensure_organisation(ORG, "first")
    await organisations.ensure_organisation(OTHER_ORG, "second")
    async with product.database.transaction(ORG) as transaction:
        await transaction.organisations.change(lambda it: it.with_flag(FeatureFlag.RAG_GUIDELINES, on=True))
        await transaction.workspaces.create(WORKSPACE, "handbook", WorkspaceKind.GENERAL, None, WorkspaceSettings())
    await product.upload.run(
        REF, "handbook.md", pieces(b"# Pump\n\nIt lifts water."), UploadOptions(), TOKENS["admin-token"]
    )
    return product

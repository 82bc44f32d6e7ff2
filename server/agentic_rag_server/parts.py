"""What the server needs of the product: its options, the use cases, the stores."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import CoroutineType
from typing import TYPE_CHECKING, Any
from uuid import UUID

from agentic_rag.kernel.errors import FeatureDisabled
from agentic_rag.tenancy.token_claims import ClaimNames
from agentic_rag.workspaces.settings import RagConfig

if TYPE_CHECKING:
    from agentic_rag.answering.ask import AnswerQuestion
    from agentic_rag.answering.context.prepare_context import PrepareContext
    from agentic_rag.answering.context.search_passages import SearchPassages
    from agentic_rag.answering.estimates.estimate_answer import EstimateAnswer
    from agentic_rag.answering.feedback.give_feedback import GiveFeedback
    from agentic_rag.answering.gate.observe import ObserveGate
    from agentic_rag.answering.runs.cited_original import FindCitedOriginal
    from agentic_rag.answering.runs.explain import ExplainRun
    from agentic_rag.answering.runs.read import ReadRuns
    from agentic_rag.answering.runs.replay import ReplayRun
    from agentic_rag.answering.runs.show_page import ShowCitedPage
    from agentic_rag.answering.saved.manage import ManageSaved
    from agentic_rag.answering.threads.manage import ManageThreads
    from agentic_rag.documents.document_access import DocumentAccess
    from agentic_rag.documents.ports import BlobStore
    from agentic_rag.documents.read_chunk import ReadChunk
    from agentic_rag.documents.read_text import ReadText
    from agentic_rag.documents.update_document import UpdateDocument
    from agentic_rag.erasure.delete import DeleteDocument
    from agentic_rag.erasure.request_erasure import RequestErasure
    from agentic_rag.ingestion.attachments import Attachments
    from agentic_rag.ingestion.copy_document import CopyDocument
    from agentic_rag.ingestion.estimate import EstimateUpload
    from agentic_rag.ingestion.live.cancel_job import CancelJob
    from agentic_rag.ingestion.live.follow_changes import FollowChanges
    from agentic_rag.ingestion.reingest import ReingestDocument
    from agentic_rag.ingestion.sources.manage import ManageSources
    from agentic_rag.ingestion.sources.push import PushSource
    from agentic_rag.ingestion.upload import UploadDocument
    from agentic_rag.ingestion.web.crawl import CrawlWeb
    from agentic_rag.ingestion.web.estimate_crawl import EstimateCrawl
    from agentic_rag.ingestion.web.search_web import SearchWeb
    from agentic_rag.jobs.ports import DeadPayloads, JobBoard
    from agentic_rag.kernel.clock import Clock
    from agentic_rag.kernel.database import Database
    from agentic_rag.kernel.ids import Ids
    from agentic_rag.kernel.telemetry import Telemetry
    from agentic_rag.models.billing.manage_budgets import ManageBudgets
    from agentic_rag.models.billing.web_envelope import WebEnvelope
    from agentic_rag.models.providers.change_models import ChangeModels
    from agentic_rag.models.providers.manage_keys import ManageProviderKeys
    from agentic_rag.operations.calibrate import CalibrateSupport
    from agentic_rag.operations.calibrate_similarity import CalibrateSimilarity
    from agentic_rag.operations.dead_letters import DeadLetters
    from agentic_rag.operations.graph.sync import GraphSync
    from agentic_rag.operations.leak_canaries import LeakCanaries
    from agentic_rag.operations.profiles.report import ReportProfile
    from agentic_rag.operations.proof.prove_run import ProveRun
    from agentic_rag.operations.proof.verify_run import VerifyRun
    from agentic_rag.operations.prove_erased import ProveErasure
    from agentic_rag.operations.prove_workspace_erased import ProveWorkspaceErasure
    from agentic_rag.operations.snapshots.restore import RestoreSnapshot
    from agentic_rag.operations.snapshots.take import TakeSnapshot
    from agentic_rag.operations.start_evaluation import Evaluations
    from agentic_rag.operations.switch_embedding import SwitchEmbedding
    from agentic_rag.operations.verify import VerifyStores
    from agentic_rag.retrieval.graph.read_entities import ReadEntities
    from agentic_rag.retrieval.measure_recall import MeasureRecall
    from agentic_rag.tenancy.manage_api_keys import ManageApiKeys
    from agentic_rag.tenancy.ports import Identity, SpendCode
    from agentic_rag.workspaces.administer import Administer
    from agentic_rag.workspaces.enforce_rate_limits import Admission
    from agentic_rag.workspaces.ports import OrganisationRegister
    from agentic_rag_migrations.upgrade import MigrationStatus


DISABLED_MESSAGE = "The product is switched off: set AGENTIC_RAG_ENABLED=true and restart the server."


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """The operator's settings of the server. With `port` 0 the system chooses one."""

    enabled: bool = False
    introspection: bool = True
    query_page: bool = False
    browser_origins: tuple[str, ...] = ()
    """Origins whose pages may call this server, as browsers write them."""
    persisted_operations: Path | None = None
    persisted_only: bool = False
    behind_tls: bool = False
    """Browsers are told to return by HTTPS only."""
    figures_take_a_token: bool = False
    """/metrics and the checks of /readyz are for operators; anybody learns whether the server is ready."""
    host: str = "127.0.0.1"
    port: int = 8080
    processes: int = 1
    """How many processes serve together: what limits one caller in a process is divided by it."""
    max_body_bytes: int = 1_048_576
    max_upload_bytes: int = 26_214_400
    check_timeout_seconds: float = 2.0
    """How long /readyz waits for one dependency."""
    issuer: str = ""
    """Who issues tokens for this server, by its address; empty: API keys only."""
    development_secret: str = field(default="", repr=False)
    """Signs development tokens; empty: there are none, as in production and beyond loopback."""
    claims: ClaimNames = ClaimNames()
    token_issuer: str = ""
    token_audience: str = ""
    sign_in_client: str = ""
    """The issuer's client as which people sign in to the console."""
    sign_in_scope: str = "openid"
    drain_seconds: int = 20
    """How long a stopping server waits for running requests."""
    chunk_profile: str = "default"
    rag_config: RagConfig = RagConfig(top_k=8, similarity_threshold=0.0)
    """What holds for a workspace of which neither itself nor its kind decides."""

    def require_enabled(self) -> None:
        """Errors: `FeatureDisabled` unless the operator switched the product on."""
        if not self.enabled:
            raise FeatureDisabled(DISABLED_MESSAGE)


@dataclass(frozen=True, slots=True)
class ServerParts:
    """Everything that resolvers and endpoints call. The fields have the names of the container's properties."""

    options: ServerOptions
    admission: Admission
    spend_code: SpendCode
    answer: AnswerQuestion
    estimate_answer: EstimateAnswer
    search: SearchPassages
    read_entities: ReadEntities
    context: PrepareContext
    explain: ExplainRun
    gate: ObserveGate
    feedback: GiveFeedback
    read_runs: ReadRuns
    threads: ManageThreads
    saved: ManageSaved
    replay: ReplayRun
    verify_run: VerifyRun
    prove_run: ProveRun
    show_cited_page: ShowCitedPage
    find_cited_original: FindCitedOriginal
    upload: UploadDocument
    estimate_upload: EstimateUpload
    sources: ManageSources
    search_web: SearchWeb
    crawl_web: CrawlWeb
    estimate_crawl: EstimateCrawl
    web_envelope: WebEnvelope
    push_source: PushSource
    attachments: Attachments
    copy_document: CopyDocument
    document_access: DocumentAccess
    read_text: ReadText
    read_chunk: ReadChunk
    update_document: UpdateDocument
    delete: DeleteDocument
    request_erasure: RequestErasure
    report_profile: ReportProfile
    prove_erasure: ProveErasure
    prove_workspace_erasure: ProveWorkspaceErasure
    verify: VerifyStores
    recall_check: MeasureRecall
    graph_sync: GraphSync
    leak_canaries: LeakCanaries
    schema_status: Callable[[], Awaitable[MigrationStatus]]
    reingest: ReingestDocument
    cancel_job: CancelJob
    changes: FollowChanges
    dead_letters: DeadLetters
    job_board: Callable[[], JobBoard]
    dead_payloads: Callable[[], DeadPayloads]
    evaluations: Evaluations
    calibrate_support: CalibrateSupport
    calibrate_similarity: CalibrateSimilarity
    take_snapshot: TakeSnapshot
    restore_snapshot: RestoreSnapshot
    switch_spaces: SwitchEmbedding
    change_models: ChangeModels
    spending: ManageBudgets
    provider_keys: ManageProviderKeys
    administer: Administer
    organisations: OrganisationRegister
    brings_key: Callable[[UUID], bool]
    """Whether an organisation about which nothing was decided must bring its own key."""
    api_keys: ManageApiKeys
    database: Database
    blobs: BlobStore
    identity: Identity
    telemetry: Telemetry
    clock: Clock
    ids: Ids
    checks: Mapping[str, Callable[[], Awaitable[None]]]
    """A check for each dependency, by its name in /readyz. A check that fails raises a product error."""
    aclose: Callable[[], CoroutineType[Any, Any, None]]
    """Closes every connection, after the last request."""

"""What the server needs from the composition root, stated here so that it imports neither adapters nor settings."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Protocol
from uuid import UUID

from agentic_rag.answering.question import Question
from agentic_rag.answering.run import Run
from agentic_rag.answering.runs.explain import Explanation
from agentic_rag.documents.document import Document
from agentic_rag.documents.ports import BlobStore
from agentic_rag.erasure.delete import Deletion
from agentic_rag.ingestion.attachments import Attachments
from agentic_rag.ingestion.reingest import Reingestion
from agentic_rag.ingestion.upload import ReceivedUpload, Upload, UploadOptions
from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.ids import Ids
from agentic_rag.kernel.pagination import Page, PageRequest
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.models.billing.limits import Ceiling, SpendingLimits
from agentic_rag.models.billing.manage_budgets import UsageReport
from agentic_rag.models.embedding.recall_gate import RecallGate
from agentic_rag.models.embedding.space import SpaceRecord
from agentic_rag.models.providers.change_models import ModelChanges
from agentic_rag.models.providers.model_choice import ModelSettings
from agentic_rag.models.providers.provider_keys import NewProviderKey, Provider, ProviderKey
from agentic_rag.operations.dead_letters import PurgeResult, ReplayResult
from agentic_rag.operations.evaluation import EvalDataset, EvalRun
from agentic_rag.operations.prove_erased import ErasureProof
from agentic_rag.operations.snapshots.snapshot import SnapshotRecord
from agentic_rag.operations.switch_embedding import SwitchStart
from agentic_rag.tenancy.api_keys import ApiKey
from agentic_rag.tenancy.manage_api_keys import KeyWish, MadeKey
from agentic_rag.tenancy.ports import Identity
from agentic_rag.tenancy.principals import Principal, WorkspaceRef
from agentic_rag.workspaces.administer import NewWorkspace
from agentic_rag.workspaces.organisation import FeatureFlag, Organisation
from agentic_rag.workspaces.rate_limits import Demand, RateLimits
from agentic_rag.workspaces.settings import WorkspaceSettings
from agentic_rag.workspaces.workspace import Workspace


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """What an operator decides about the server. `port` 0 lets the system choose one."""

    enabled: bool = False
    graphiql: bool = False
    introspection: bool = True
    persisted_operations: Path | None = None
    persisted_only: bool = False
    behind_tls: bool = False
    """Tell browsers to come back by HTTPS only."""
    host: str = "127.0.0.1"
    port: int = 8080
    max_body_bytes: int = 1_048_576
    max_upload_bytes: int = 26_214_400
    check_timeout_seconds: float = 2.0
    """How long /readyz waits for one dependency."""
    drain_seconds: int = 20
    """How long a stopping server waits for answers under way."""


class AdmitsRequests(Protocol):
    """The limits on how much an organisation may send."""

    async def admit(self, principal: Principal, demand: Demand) -> None:
        """Let a request pass. Errors: `RateLimited`."""
        ...

    async def in_force(self, org_id: UUID) -> RateLimits:
        """The limits that hold for an organisation. Errors: `NotFound`."""
        ...

    async def set_limits(self, org_id: UUID, limits: RateLimits, actor: str) -> Organisation:
        """Give an organisation limits of its own. Errors: `NotFound`."""
        ...


class AnswersQuestions(Protocol):
    """The use case behind `ragAnswer`."""

    async def ask(self, principal: Principal, question: Question) -> Run:
        """Answer, or raise a product error."""
        ...


class ExplainsRuns(Protocol):
    """The use case behind `explainRun`."""

    async def run(
        self, principal: Principal, workspace: WorkspaceRef, run_id: UUID, why_not: Sequence[UUID] = ()
    ) -> Explanation:
        """Explain a stored run to somebody who may see it. Errors: `NotFound`, `InvalidInput`."""
        ...


class ReadsRuns(Protocol):
    """The use case behind `run` and `runs`."""

    async def get(self, principal: Principal, workspace: WorkspaceRef, run_id: UUID) -> Run | None:
        """The run as far as the caller may see it, or None."""
        ...

    async def page(self, principal: Principal, workspace: WorkspaceRef, request: PageRequest) -> Page[Run]:
        """The runs that the caller may see, newest first."""
        ...


class ControlsAccess(Protocol):
    """The use case behind `setDocumentAccess`, and the guard of whatever concerns one document."""

    async def require(
        self, principal: Principal, workspace: WorkspaceRef, document_id: UUID, *, text: bool = False
    ) -> None:
        """Let those pass who may know of the document, with `text` those who may read it. Errors: `NotFound`,
        `Forbidden`.
        """
        ...

    async def change(
        self, principal: Principal, workspace: WorkspaceRef, document_id: UUID, principals: tuple[str, ...]
    ) -> Document:
        """Let exactly these principals read a document. Errors: `NotFound`, `Forbidden`."""
        ...

    async def list_readers(self, document: Document) -> tuple[str, ...]:
        """The principals that may read a document; none: the whole workspace."""
        ...


class DeletesDocuments(Protocol):
    """The use case behind `deleteDocument`."""

    async def run(self, workspace: WorkspaceRef, document_id: UUID, actor: str = ...) -> Deletion:
        """Erase a document everywhere, in the name of `actor`; `erasure` is None when there is none of that id."""
        ...


class ProvesErasures(Protocol):
    """The use case behind `proveErased`."""

    async def run(self, workspace: WorkspaceRef, document_id: UUID) -> ErasureProof:
        """Look at every store. Errors: `NotFound` for a document that never was."""
        ...


class ReingestsDocuments(Protocol):
    """The use case behind `reingest`."""

    async def run(self, workspace: WorkspaceRef, document_id: UUID, actor: str, *, force: bool = False) -> Reingestion:
        """Queue the ingestion of a kept original. Errors: `NotFound`, `Permanent` code ORIGINAL_MISSING."""
        ...


class HandlesDeadLetters(Protocol):
    """The use cases behind `replayDeadLetter` and `purgeDeadLetter`. Errors: `NotFound`."""

    async def replay(self, workspace: WorkspaceRef, job_id: UUID, actor: str) -> ReplayResult:
        """Queue a dead letter again."""
        ...

    async def purge(self, workspace: WorkspaceRef, job_id: UUID, actor: str) -> PurgeResult:
        """Remove what a dead letter holds."""
        ...


class UploadsDocuments(Protocol):
    """The use case behind uploads by REST and GraphQL."""

    async def receive(self, workspace: WorkspaceRef, file_name: str, pieces: AsyncIterator[bytes]) -> ReceivedUpload:
        """Stream a file to the blob store."""
        ...

    async def submit(self, received: ReceivedUpload, options: UploadOptions, uploaded_by: Principal | str) -> Upload:
        """Register what was received."""
        ...

    async def discard(self, received: ReceivedUpload) -> None:
        """Remove what was received."""
        ...

    async def run(
        self,
        workspace: WorkspaceRef,
        file_name: str,
        pieces: AsyncIterator[bytes],
        options: UploadOptions,
        uploaded_by: Principal | str,
    ) -> Upload:
        """Receive and submit."""
        ...


class Evaluates(Protocol):
    """The use cases behind `startEvalRun` and `evalRun`."""

    async def start(self, workspace: WorkspaceRef, asked: EvalDataset, actor: str) -> EvalRun:
        """Enqueue an evaluation; while one of the same questions is unfinished, that one."""
        ...

    async def get(self, workspace: WorkspaceRef, job_id: UUID) -> EvalRun | None:
        """The evaluation of a job, or None."""
        ...


class TakesSnapshots(Protocol):
    """The use case behind `createSnapshot`."""

    async def request(self, workspace: WorkspaceRef, actor: str, *, with_originals: bool = True) -> SnapshotRecord:
        """Enqueue a snapshot; while one that was asked for is unfinished, that one."""
        ...


class SwitchesSpaces(Protocol):
    """The use case behind `switchEmbeddingSpace`."""

    async def spaces(self, workspace: WorkspaceRef) -> Sequence[SpaceRecord]:
        """The workspace's spaces, oldest first."""
        ...

    async def begin(self, workspace: WorkspaceRef, to: str, gate: RecallGate | None, actor: str) -> SwitchStart:
        """Begin a switch, or do it at once."""
        ...

    async def cancel(self, workspace: WorkspaceRef, actor: str) -> SpaceRecord:
        """Call off the switch that is under way."""
        ...


class ManagesProviderKeys(Protocol):
    """The use cases behind `providerKeys`, `setProviderKey` and `removeProviderKey`."""

    async def all(self, org_id: UUID) -> list[ProviderKey]:
        """What is stored, never the keys themselves."""
        ...

    async def set(self, org_id: UUID, given: NewProviderKey, actor: str) -> ProviderKey:
        """Store a key in the place of the last one of its provider."""
        ...

    async def remove(self, org_id: UUID, provider: Provider, actor: str) -> bool:
        """Forget a key."""
        ...


class ChangesModels(Protocol):
    """The use case behind `modelSettings` and `updateModelSettings`."""

    async def current(self, org_id: UUID) -> ModelSettings:
        """What is decided."""
        ...

    async def run(self, org_id: UUID, changes: ModelChanges, actor: str) -> ModelSettings:
        """Change it."""
        ...


class SeesSpending(Protocol):
    """The use cases behind `usage`, `budgets` and `setBudget`."""

    async def usage(self, org_id: UUID, first: date, last: date, workspace_id: UUID | None = None) -> UsageReport:
        """What was used."""
        ...

    async def ceilings(self, workspace: WorkspaceRef) -> Sequence[Ceiling]:
        """The ceilings that hold for a workspace."""
        ...

    async def set_limits(
        self, org_id: UUID, workspace_id: UUID | None, limits: SpendingLimits, actor: str
    ) -> SpendingLimits:
        """Set the ceilings of an organisation, or of one of its workspaces."""
        ...


class Administers(Protocol):
    """The use cases of administrators."""

    async def create_workspace(self, org_id: UUID, wish: NewWorkspace, actor: str) -> Workspace:
        """Make a workspace. Errors: `InvalidInput`."""
        ...

    async def change_workspace(
        self, workspace: WorkspaceRef, apply: Callable[[WorkspaceSettings], WorkspaceSettings], actor: str
    ) -> Workspace:
        """Change a workspace's settings. Errors: `NotFound`, `InvalidInput`."""
        ...

    async def organisation(self, org_id: UUID) -> Organisation:
        """The organisation. Errors: `NotFound`."""
        ...

    async def set_feature(self, org_id: UUID, flag: FeatureFlag, *, on: bool, actor: str) -> Organisation:
        """Switch a feature. Errors: `NotFound`."""
        ...


class ManagesApiKeys(Protocol):
    """The use case behind API keys."""

    async def create(self, org_id: UUID, wish: KeyWish, actor: str) -> MadeKey:
        """Make a key. Errors: `InvalidInput`."""
        ...

    async def all(self, org_id: UUID) -> list[ApiKey]:
        """Every key, newest first."""
        ...

    async def revoke(self, org_id: UUID, key_id: UUID, actor: str) -> ApiKey:
        """Make a key worthless. Errors: `NotFound`."""
        ...


class ServerContainer(Protocol):
    """The wired process, as far as the server looks into it."""

    @property
    def options(self) -> ServerOptions: ...

    @property
    def admission(self) -> AdmitsRequests: ...

    @property
    def answer(self) -> AnswersQuestions: ...

    @property
    def explain(self) -> ExplainsRuns: ...

    @property
    def delete(self) -> DeletesDocuments: ...

    @property
    def document_access(self) -> ControlsAccess: ...

    @property
    def prove_erasure(self) -> ProvesErasures: ...

    @property
    def reingest(self) -> ReingestsDocuments: ...

    @property
    def dead_letters(self) -> HandlesDeadLetters: ...

    @property
    def upload(self) -> UploadsDocuments: ...

    @property
    def attachments(self) -> Attachments: ...

    @property
    def evaluations(self) -> Evaluates: ...

    @property
    def take_snapshot(self) -> TakesSnapshots: ...

    @property
    def switch_spaces(self) -> SwitchesSpaces: ...

    @property
    def change_models(self) -> ChangesModels: ...

    @property
    def spending(self) -> SeesSpending: ...

    @property
    def provider_keys(self) -> ManagesProviderKeys: ...

    @property
    def administer(self) -> Administers: ...

    @property
    def api_keys(self) -> ManagesApiKeys: ...

    @property
    def database(self) -> Database: ...

    @property
    def read_runs(self) -> ReadsRuns: ...

    @property
    def blobs(self) -> BlobStore: ...

    @property
    def identity(self) -> Identity: ...

    @property
    def telemetry(self) -> Telemetry: ...

    @property
    def clock(self) -> Clock: ...

    @property
    def ids(self) -> Ids: ...

    @property
    def checks(self) -> Mapping[str, Callable[[], Awaitable[None]]]:
        """A check for each dependency, by the name /readyz shows; one that fails raises a product error."""
        ...

    async def aclose(self) -> None:
        """Release everything, once the last request is answered."""
        ...

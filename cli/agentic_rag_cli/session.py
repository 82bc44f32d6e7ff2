"""What commands ask of the system in process: the one file that knows the container."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from agentic_rag.answering.answer import TextSpan
from agentic_rag.answering.prompts.grade import Grade, grade_prompt
from agentic_rag.answering.question import Question
from agentic_rag.answering.run import Run
from agentic_rag.documents.document import Chunk, Document, DocumentStatus
from agentic_rag.jobs.job import Job, JobAttempt, JobKind, JobRef, JobState
from agentic_rag.jobs.undecodable_message import StoredUndecodableMessage
from agentic_rag.kernel.errors import Misconfigured
from agentic_rag.kernel.pagination import Page, PageRequest
from agentic_rag.models.billing.prices import PriceTable
from agentic_rag.models.chat.request import LlmError
from agentic_rag.models.embedding.recall_gate import RecallGate
from agentic_rag.models.embedding.space import EmbeddingSpace, SpaceRecord
from agentic_rag.settings import Settings
from agentic_rag.tenancy.audit import AuditRecord
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, Principal, WorkspaceRef
from agentic_rag.workspaces.settings import WorkspaceSettings
from agentic_rag.workspaces.workspace import Workspace
from agentic_rag_cli.in_process import OPERATOR

if TYPE_CHECKING:
    from agentic_rag.answering.runs.explain import Explanation
    from agentic_rag.bootstrap import Container
    from agentic_rag.erasure.delete import Deletion
    from agentic_rag.ingestion.estimate import FileEstimate
    from agentic_rag.ingestion.ingest_chunks import ChunkIngestReport, PlainTextDocument
    from agentic_rag.ingestion.reingest import Reingestion
    from agentic_rag.ingestion.sync import SyncResult
    from agentic_rag.ingestion.upload import Upload
    from agentic_rag.models.billing.manage_budgets import ManageBudgets
    from agentic_rag.models.providers.change_models import ChangeModels
    from agentic_rag.models.providers.manage_keys import ManageProviderKeys
    from agentic_rag.operations.dead_letters import PurgeResult, ReplayResult
    from agentic_rag.operations.graph.sync import GraphStatus
    from agentic_rag.operations.prove_erased import ErasureProof
    from agentic_rag.operations.start_evaluation import Evaluations
    from agentic_rag.operations.switch_embedding import SwitchStart
    from agentic_rag.operations.verify import VerificationReport
    from agentic_rag.retrieval.measure_recall import RecallReport
    from agentic_rag_cli.snapshots import Snapshots
    from agentic_rag_cli.tenants import Tenants


class Session(Protocol):
    """The system as the development principal sees it. Errors: those of the ports."""

    async def workspaces(self) -> list[Workspace]:
        """Every workspace, by name."""
        ...

    async def create_workspace(self, name: str, dimensions: int | None = None) -> Workspace:
        """Errors: `InvalidInput`."""
        ...

    async def documents(
        self, workspace: WorkspaceRef, request: PageRequest, statuses: Sequence[DocumentStatus] = ()
    ) -> Page[Document]:
        """Documents by source path."""
        ...

    async def document(self, workspace: WorkspaceRef, document_id: UUID) -> Document | None:
        """The document, or None."""
        ...

    async def documents_of(self, workspace: WorkspaceRef, jobs: Iterable[Job]) -> Mapping[UUID, Document]:
        """The documents that jobs are about, by id; those that are gone are left out."""
        ...

    async def directory_documents(self, workspace: WorkspaceRef, directory: Path) -> Mapping[str, Document]:
        """The documents that a directory brought, by source path."""
        ...

    async def opening(self, document: Document, characters: int) -> str:
        """The first characters of the published text; empty when nothing is published."""
        ...

    async def chunks(self, document: Document) -> list[Chunk]:
        """The passages of a document that readers see now, in its order."""
        ...

    async def chunk_spans(self, workspace: WorkspaceRef, document_id: UUID) -> Mapping[UUID, TextSpan]:
        """Where each published chunk of a document stands in its text."""
        ...

    async def delete_document(self, workspace: WorkspaceRef, document_id: UUID) -> Deletion:
        """Erase a document everywhere."""
        ...

    async def prove_erased(self, workspace: WorkspaceRef, document_id: UUID) -> ErasureProof:
        """Look into every store for what an erasure left. Errors: `NotFound`."""
        ...

    async def verify(self, workspace: WorkspaceRef, *, full: bool) -> VerificationReport:
        """Compare the stores of a workspace with each other."""
        ...

    async def reingest(self, workspace: WorkspaceRef, document_id: UUID, *, force: bool) -> Reingestion:
        """Queue the ingestion of a kept original. Errors: `NotFound`, `Permanent` code ORIGINAL_MISSING."""
        ...

    async def reingest_failed(self, workspace: WorkspaceRef) -> list[Reingestion]:
        """Queue every FAILED document whose original is kept."""
        ...

    async def share(self, document: Document, principals: tuple[str, ...]) -> None:
        """Let exactly these read a document; none: the whole workspace."""
        ...

    async def readers_of(self, document: Document) -> tuple[str, ...]:
        """Who may read a document; none: the whole workspace."""
        ...

    async def sync(
        self, workspace: WorkspaceRef, directory: Path, *, dry_run: bool, readers: tuple[str, ...] = ()
    ) -> SyncResult:
        """Queue what is new or changed in a directory, and the deletion of what is gone. New documents are for
        `readers`.
        """
        ...

    async def preview(self, directory: Path) -> SyncResult:
        """What a synchronisation with an empty workspace would do."""
        ...

    async def estimate(self, workspace: WorkspaceRef | None, directory: Path) -> list[FileEstimate]:
        """What ingesting the new and changed files of a directory would cost."""
        ...

    async def ingest_texts(
        self, workspace: WorkspaceRef, documents: Sequence[PlainTextDocument], progress: Callable[[int], None]
    ) -> ChunkIngestReport:
        """Cut and ingest plain texts in this process. `progress` gets the number of chunks that can be found."""
        ...

    async def upload(
        self,
        workspace: WorkspaceRef,
        file_name: str,
        pieces: AsyncIterator[bytes],
        key: str | None,
        readers: tuple[str, ...] | None = None,
    ) -> Upload:
        """Take one file, under an idempotency key and for these readers if such are given."""
        ...

    async def ask(self, question: Question) -> Run:
        """Answer in this process."""
        ...

    async def grade(
        self, question: str, expected: Sequence[str], answer: str, sources: Sequence[str]
    ) -> Grade | LlmError:
        """A chat model's marks for an answer. Errors: `Misconfigured` code JUDGE_MISSING without a chat model."""
        ...

    async def runs(self, workspace: WorkspaceRef, request: PageRequest) -> Page[Run]:
        """Runs, newest first."""
        ...

    async def run(self, workspace: WorkspaceRef, run_id: UUID) -> Run | None:
        """The run, or None."""
        ...

    async def explain(self, workspace: WorkspaceRef, run_id: UUID, why_not: Sequence[UUID]) -> Explanation:
        """Why a run used what it used, and not these chunks. Errors: those of `answering.runs.explain.ExplainRun`."""
        ...

    async def jobs(
        self,
        workspace: WorkspaceRef,
        request: PageRequest,
        states: Sequence[JobState] = (),
        kinds: Sequence[JobKind] = (),
        codes: Sequence[str] = (),
    ) -> Page[Job]:
        """Jobs, newest first."""
        ...

    async def job(self, workspace: WorkspaceRef, job_id: UUID) -> Job | None:
        """The job, or None."""
        ...

    async def attempts(self, workspace: WorkspaceRef, job_id: UUID) -> tuple[JobAttempt, ...]:
        """Every attempt at a job, first to last."""
        ...

    async def replay(self, workspace: WorkspaceRef, job_id: UUID) -> ReplayResult:
        """Queue a dead letter again. Errors: `NotFound`."""
        ...

    async def purge(self, workspace: WorkspaceRef, job_id: UUID) -> PurgeResult:
        """Remove what a dead letter holds. Errors: `NotFound`."""
        ...

    async def payloads(self, request: PageRequest) -> Page[StoredUndecodableMessage]:
        """What was no message of ours, newest first."""
        ...

    async def purge_payload(self, payload_id: UUID) -> bool:
        """Forget one of these; False when there is none."""
        ...

    async def audit(self, workspace: WorkspaceRef, request: PageRequest) -> Page[AuditRecord]:
        """Who did what to a workspace, newest first."""
        ...

    async def graph_status(self, workspace: WorkspaceRef) -> GraphStatus:
        """How the workspace's graph stands."""
        ...

    async def rebuild_graph(self, workspace: WorkspaceRef) -> JobRef | None:
        """Have the graph outside Postgres filled anew; the job that does it, None without such a graph."""
        ...

    async def worker_running(self) -> bool:
        """Whether some worker leads the dispatching of jobs."""
        ...

    @property
    def change_models(self) -> ChangeModels:
        """Which models organisations work with."""
        ...

    @property
    def spending(self) -> ManageBudgets:
        """What models cost, and the ceilings on it."""
        ...

    @property
    def prices(self) -> PriceTable:
        """What models cost."""
        ...

    @property
    def provider_keys(self) -> ManageProviderKeys:
        """Keys that organisations bring."""
        ...

    @property
    def tenants(self) -> Tenants:
        """Organisations and their API keys."""
        ...

    @property
    def evaluations(self) -> Evaluations:
        """Evaluations that workers run."""
        ...

    @property
    def snapshots(self) -> Snapshots:
        """Snapshots of workspaces."""
        ...

    async def spaces(self, workspace: WorkspaceRef) -> Sequence[SpaceRecord]:
        """Its embedding spaces, oldest first."""
        ...

    async def begin_switch(self, workspace: WorkspaceRef, to: str, gate: RecallGate | None) -> SwitchStart:
        """Begin a switch to another embedding space."""
        ...

    async def cancel_switch(self, workspace: WorkspaceRef) -> SpaceRecord:
        """Call off the switch that is under way."""
        ...

    async def recall(self, workspace: WorkspaceRef) -> RecallReport:
        """Recall of its dense search against exact search."""
        ...

    async def passages(self, workspace: WorkspaceRef, most: int, seed: int) -> list[Chunk]:
        """Passages drawn evenly from a workspace."""
        ...

    async def keep_support_threshold(self, workspace: WorkspaceRef, threshold: float | None) -> EmbeddingSpace:
        """Have a workspace abstain below a support; None: below the process's."""
        ...


class ContainerSession:
    """`Session` over the wired container."""

    def __init__(self, container: Container, org_id: UUID = DEFAULT_ORG_ID) -> None:
        self._container = container
        self._org_id = org_id

    async def workspaces(self) -> list[Workspace]:
        """Every workspace, by name."""
        async with self._container.database.transaction(self._org_id) as transaction:
            return await transaction.workspaces.all()

    async def create_workspace(self, name: str, dimensions: int | None = None) -> Workspace:
        """Errors: `InvalidInput`."""
        from agentic_rag.workspaces.administer import NewWorkspace

        wish = NewWorkspace(name, settings=WorkspaceSettings(embedding_dimensions=dimensions))
        return await self._container.administer.create_workspace(self._org_id, wish, OPERATOR.subject)

    async def documents(
        self, workspace: WorkspaceRef, request: PageRequest, statuses: Sequence[DocumentStatus] = ()
    ) -> Page[Document]:
        """Documents by source path."""
        async with self._container.database.transaction(workspace.org_id) as transaction:
            return await transaction.documents.page(workspace, request, statuses)

    async def document(self, workspace: WorkspaceRef, document_id: UUID) -> Document | None:
        """The document, or None."""
        async with self._container.database.transaction(workspace.org_id) as transaction:
            return await transaction.documents.get(workspace, document_id)

    async def documents_of(self, workspace: WorkspaceRef, jobs: Iterable[Job]) -> Mapping[UUID, Document]:
        """The documents that jobs are about."""
        wanted = sorted({job.document_id for job in jobs if job.document_id is not None})
        async with self._container.database.transaction(workspace.org_id) as transaction:
            return await transaction.documents.get_many(workspace, wanted)

    async def directory_documents(self, workspace: WorkspaceRef, directory: Path) -> Mapping[str, Document]:
        """The documents that a directory brought, by source path."""
        source_id = self._container.directory_source(directory).source_id
        async with self._container.database.transaction(workspace.org_id) as transaction:
            return await transaction.documents.paths(workspace, source_id)

    async def opening(self, document: Document, characters: int) -> str:
        """The first characters of the published text; empty when nothing is published."""
        if document.revision_id is None:
            return ""
        from agentic_rag.documents.ports import SpanRequest

        async with self._container.database.snapshot(document.workspace) as snapshot:
            spans = await snapshot.documents.revision_spans([SpanRequest(document.revision_id, 0, characters)])
        return spans[0].text if spans[0] is not None else ""

    async def chunks(self, document: Document) -> list[Chunk]:
        """The passages of a document that readers see now, in its order."""
        async with self._container.database.transaction(document.workspace.org_id) as transaction:
            places = await transaction.documents.visible_chunks(document.workspace, document.document_id)
        async with self._container.database.snapshot(document.workspace) as snapshot:
            return await snapshot.documents.chunks([one.ordinal for one in places], [document.access_id])

    async def chunk_spans(self, workspace: WorkspaceRef, document_id: UUID) -> Mapping[UUID, TextSpan]:
        """Where each published chunk of a document stands in its text."""
        async with self._container.database.transaction(workspace.org_id) as transaction:
            visible = await transaction.documents.visible_chunks(workspace, document_id)
        return {one.chunk_id: TextSpan(one.start, one.end) for one in visible}

    async def delete_document(self, workspace: WorkspaceRef, document_id: UUID) -> Deletion:
        """Erase a document everywhere."""
        return await self._container.delete.run(workspace, document_id, OPERATOR.subject)

    async def prove_erased(self, workspace: WorkspaceRef, document_id: UUID) -> ErasureProof:
        """Look into every store for what an erasure left. Errors: `NotFound`."""
        return await self._container.prove_erasure.run(workspace, document_id)

    async def verify(self, workspace: WorkspaceRef, *, full: bool) -> VerificationReport:
        """Compare the stores of a workspace with each other."""
        return await self._container.verify.run(workspace, full=full)

    async def reingest(self, workspace: WorkspaceRef, document_id: UUID, *, force: bool) -> Reingestion:
        """Queue the ingestion of a kept original. Errors: `NotFound`, `Permanent` code ORIGINAL_MISSING."""
        return await self._container.reingest.run(workspace, document_id, OPERATOR.subject, force=force)

    async def reingest_failed(self, workspace: WorkspaceRef) -> list[Reingestion]:
        """Queue every FAILED document whose original is kept."""
        return await self._container.reingest.run_failures(workspace, OPERATOR.subject)

    async def share(self, document: Document, principals: tuple[str, ...]) -> None:
        """Let exactly these read a document; none: the whole workspace."""
        access = self._container.document_access
        await access.change(_operator_of(document.workspace), document.workspace, document.document_id, principals)

    async def readers_of(self, document: Document) -> tuple[str, ...]:
        """Who may read a document; none: the whole workspace."""
        return await self._container.document_access.list_readers(document)

    async def sync(
        self, workspace: WorkspaceRef, directory: Path, *, dry_run: bool, readers: tuple[str, ...] = ()
    ) -> SyncResult:
        """Queue what is new or changed in a directory, and the deletion of what is gone. New documents are for
        `readers`.
        """
        source = self._container.directory_source(directory)
        return await self._container.sync_source.run(
            workspace, source, OPERATOR.subject, dry_run=dry_run, readable_by=readers
        )

    async def preview(self, directory: Path) -> SyncResult:
        """What a synchronisation with an empty workspace would do."""
        from agentic_rag.ingestion.sync import SyncResult

        found = await self._container.directory_source(directory).changes(frozenset(), None)
        return SyncResult(
            new=tuple(item.path for item in found.upserted),
            changed=(),
            unchanged=0,
            in_progress=0,
            deleted=(),
            unreadable=found.unreadable,
            waiting_for=(),
            dry_run=True,
        )

    async def estimate(self, workspace: WorkspaceRef | None, directory: Path) -> list[FileEstimate]:
        """What ingesting the new and changed files of a directory would cost."""
        return await self._container.estimate.run(workspace, self._container.directory_source(directory))

    async def ingest_texts(
        self, workspace: WorkspaceRef, documents: Sequence[PlainTextDocument], progress: Callable[[int], None]
    ) -> ChunkIngestReport:
        """Cut and ingest plain texts in this process. `progress` gets the number of chunks that can be found."""
        ingest, profile = self._container.ingest_chunks, self._container.settings.ingestion.chunk_profile
        prepared = [await ingest.cut(document, profile) for document in documents]
        return await ingest.run(workspace, prepared, OPERATOR.subject, progress)

    async def upload(
        self,
        workspace: WorkspaceRef,
        file_name: str,
        pieces: AsyncIterator[bytes],
        key: str | None,
        readers: tuple[str, ...] | None = None,
    ) -> Upload:
        """Take one file, under an idempotency key and for these readers if such are given."""
        from agentic_rag.ingestion.upload import UploadOptions

        options = UploadOptions(idempotency_key=key, readable_by=readers)
        return await self._container.upload.run(workspace, file_name, pieces, options, _operator_of(workspace))

    async def ask(self, question: Question) -> Run:
        """Answer in this process."""
        return await self._container.answer.ask(_operator_of(question.workspace), question)

    async def grade(
        self, question: str, expected: Sequence[str], answer: str, sources: Sequence[str]
    ) -> Grade | LlmError:
        """A chat model's marks for an answer."""
        advisor = self._container.llm_client
        if advisor is None:
            raise Misconfigured(
                "AGENTIC_RAG_ENABLE_LLM_JUDGE needs a chat model: set AGENTIC_RAG_CHAT_MODEL.", code="JUDGE_MISSING"
            )
        told = await advisor.ask_within(
            lambda nonce: grade_prompt(question, expected, answer, sources, nonce),
            self._container.settings.models.timeout_seconds,
        )
        return told if isinstance(told, LlmError) else told.value

    async def runs(self, workspace: WorkspaceRef, request: PageRequest) -> Page[Run]:
        """Runs, newest first."""
        return await self._container.runs.page(workspace, request)

    async def run(self, workspace: WorkspaceRef, run_id: UUID) -> Run | None:
        """The run, or None."""
        return await self._container.runs.get(workspace, run_id)

    async def explain(self, workspace: WorkspaceRef, run_id: UUID, why_not: Sequence[UUID]) -> Explanation:
        """Why a run used what it used, and not these chunks."""
        return await self._container.explain.run(_operator_of(workspace), workspace, run_id, why_not)

    async def jobs(
        self,
        workspace: WorkspaceRef,
        request: PageRequest,
        states: Sequence[JobState] = (),
        kinds: Sequence[JobKind] = (),
        codes: Sequence[str] = (),
    ) -> Page[Job]:
        """Jobs, newest first."""
        async with self._container.database.transaction(workspace.org_id) as transaction:
            return await transaction.jobs.page(workspace, request, states, kinds, codes)

    async def job(self, workspace: WorkspaceRef, job_id: UUID) -> Job | None:
        """The job, or None."""
        async with self._container.database.transaction(workspace.org_id) as transaction:
            return await transaction.jobs.get(workspace, job_id)

    async def attempts(self, workspace: WorkspaceRef, job_id: UUID) -> tuple[JobAttempt, ...]:
        """Every attempt at a job, first to last."""
        async with self._container.database.transaction(workspace.org_id) as transaction:
            return await transaction.jobs.attempts(workspace, job_id)

    async def replay(self, workspace: WorkspaceRef, job_id: UUID) -> ReplayResult:
        """Queue a dead letter again."""
        return await self._container.dead_letters.replay(workspace, job_id, OPERATOR.subject)

    async def purge(self, workspace: WorkspaceRef, job_id: UUID) -> PurgeResult:
        """Remove what a dead letter holds."""
        return await self._container.dead_letters.purge(workspace, job_id, OPERATOR.subject)

    async def payloads(self, request: PageRequest) -> Page[StoredUndecodableMessage]:
        """What was no message of ours, newest first."""
        store = self._container.dead_payloads()
        try:
            return await store.page(request)
        finally:
            await store.aclose()

    async def purge_payload(self, payload_id: UUID) -> bool:
        """Forget one of these; False when there is none."""
        store = self._container.dead_payloads()
        try:
            return await store.purge(payload_id)
        finally:
            await store.aclose()

    async def audit(self, workspace: WorkspaceRef, request: PageRequest) -> Page[AuditRecord]:
        """Who did what to a workspace, newest first."""
        async with self._container.database.transaction(workspace.org_id) as transaction:
            return await transaction.audit.page(request, workspace.workspace_id)

    async def graph_status(self, workspace: WorkspaceRef) -> GraphStatus:
        """How the workspace's graph stands."""
        return await self._container.graph_sync.status(workspace)

    async def rebuild_graph(self, workspace: WorkspaceRef) -> JobRef | None:
        """Have the graph outside Postgres filled anew."""
        return await self._container.graph_sync.rebuild(workspace)

    async def worker_running(self) -> bool:
        """Whether some worker leads the dispatching of jobs: the lead is taken for a moment to find out."""
        board = self._container.job_board()
        try:
            return not await board.lead()
        finally:
            await board.aclose()

    @property
    def change_models(self) -> ChangeModels:
        """Which models organisations work with."""
        return self._container.change_models

    @property
    def spending(self) -> ManageBudgets:
        """What models cost, and the ceilings on it."""
        return self._container.spending

    @property
    def prices(self) -> PriceTable:
        """What models cost."""
        return self._container.settings.models.prices

    @property
    def provider_keys(self) -> ManageProviderKeys:
        """Keys that organisations bring."""
        return self._container.provider_keys

    @property
    def tenants(self) -> Tenants:
        """Organisations and their API keys."""
        from agentic_rag_cli.tenants import ContainerTenants

        return ContainerTenants(self._container, self._org_id)

    @property
    def evaluations(self) -> Evaluations:
        """Evaluations that workers run."""
        return self._container.evaluations

    @property
    def snapshots(self) -> Snapshots:
        """Snapshots of workspaces."""
        from agentic_rag_cli.snapshots import ContainerSnapshots

        return ContainerSnapshots(self._container, self._org_id)

    async def spaces(self, workspace: WorkspaceRef) -> Sequence[SpaceRecord]:
        """Its embedding spaces, oldest first."""
        return await self._container.switch_spaces.spaces(workspace)

    async def begin_switch(self, workspace: WorkspaceRef, to: str, gate: RecallGate | None) -> SwitchStart:
        """Begin a switch to another embedding space."""
        return await self._container.switch_spaces.begin(workspace, to, gate, OPERATOR.subject)

    async def cancel_switch(self, workspace: WorkspaceRef) -> SpaceRecord:
        """Call off the switch that is under way."""
        return await self._container.switch_spaces.cancel(workspace, OPERATOR.subject)

    async def recall(self, workspace: WorkspaceRef) -> RecallReport:
        """Recall of its dense search against exact search."""
        return await self._container.recall_check.run(workspace)

    async def passages(self, workspace: WorkspaceRef, most: int, seed: int) -> list[Chunk]:
        """Passages drawn evenly from a workspace."""
        return await self._container.calibrate_support.passages(workspace, most, seed)

    async def keep_support_threshold(self, workspace: WorkspaceRef, threshold: float | None) -> EmbeddingSpace:
        """Have a workspace abstain below a support."""
        return await self._container.calibrate_support.keep(workspace, threshold, OPERATOR.subject)


def _operator_of(workspace: WorkspaceRef) -> Principal:
    return replace(OPERATOR, org_id=workspace.org_id)


@asynccontextmanager
async def open_session(settings: Settings) -> AsyncIterator[Session]:
    """Wire the system in this process; everything is released when the block ends. Only errors are logged, unless
    AGENTIC_RAG_LOG_LEVEL is debug: what a person wants to know is the command's output.

    Errors: `DependencyUnavailable`, `Misconfigured` (migrations missing, no pgvector, role too strong), `NotFound` (no
    such organisation).
    """
    from agentic_rag.bootstrap import build_container
    from agentic_rag_cli.tenants import ContainerTenants

    quiet = settings if settings.operations.log_level == "debug" else settings.change(operations={"log_level": "error"})
    async with build_container(quiet) as container:
        await container.database.check()
        await container.first_access.ensure_organisation()
        organisation = await ContainerTenants(container).named(settings.client.tenant or None)
        yield ContainerSession(container, organisation.org_id)

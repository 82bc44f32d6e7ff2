"""A product in memory that commands run against through the real application, with builders for what it holds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar, cast
from uuid import UUID

import httpx2
from tests.memory_store.session.database import MemoryDatabase
from tests.memory_store.session.state import PassageRow, Placement, StoredJob, StoredRevision, WorkspaceState
from tests.memory_store.session.store import MemoryStore, OrganisationState
from tests.memory_store.telemetry import RecordingTelemetry
from typer.testing import CliRunner, Result

from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.adapters.system.ids import RandomIds
from agentic_rag.answering.answer import (
    Abstention,
    AbstentionReason,
    Answer,
    AnswerDebug,
    Citation,
    Outcome,
    SelfCheckReport,
    TextSpan,
)
from agentic_rag.answering.feedback.feedback import Feedback
from agentic_rag.answering.feedback.give_feedback import GiveFeedback
from agentic_rag.answering.gate.decide import GateRules
from agentic_rag.answering.gate.observe import ObserveGate
from agentic_rag.answering.gate.rollback import Rollback
from agentic_rag.answering.gate.stored_decision import StoredDecision, decision_to_store
from agentic_rag.answering.gate.watch_outcomes import WatchOutcomes
from agentic_rag.answering.gate_decision import Directives, GateDecision
from agentic_rag.answering.live.events import RunEvent, RunEventKind, Watch
from agentic_rag.answering.prompts.grade import Grade, GradeLevel
from agentic_rag.answering.question import Question
from agentic_rag.answering.run import CacheOutcome, Run, RunVersions, StageRecord
from agentic_rag.answering.runs.explain import Explanation
from agentic_rag.answering.runs.explanation import (
    ArmPlacement,
    ArmState,
    SearchPlacement,
    WhyNot,
    WhyNotVerdict,
    explain_candidates,
)
from agentic_rag.answering.runs.read import ReadRuns
from agentic_rag.answering.runs.replay import ReplayRun
from agentic_rag.answering.runs.run_filter import RunFilter
from agentic_rag.answering.state_machine import Stage
from agentic_rag.documents.document import ChunkDraft, Document, DocumentFault, DocumentStatus, Revision
from agentic_rag.documents.document_access import DocumentAccess
from agentic_rag.documents.read_chunk import ReadChunk
from agentic_rag.erasure.certificate import Certificate, ErasedStore, StoreErasure, coverage_gaps
from agentic_rag.erasure.delete import Deletion
from agentic_rag.erasure.ports import Erasure
from agentic_rag.ingestion.estimate import FileEstimate
from agentic_rag.ingestion.ingest_chunks import ChunkIngestReport, PlainTextDocument
from agentic_rag.ingestion.live.cancel_job import Cancellation, CancelOutcome
from agentic_rag.ingestion.reingest import Reingestion
from agentic_rag.ingestion.sync import SyncOptions, SyncResult
from agentic_rag.ingestion.upload import Upload, UploadOptions
from agentic_rag.jobs.job import Job, JobAttempt, JobKind, JobRef, JobState, QueueName
from agentic_rag.jobs.message import StoredUndecodableMessage
from agentic_rag.jobs.workers import WorkerRecord
from agentic_rag.kernel.errors import AgenticRagError, ContentRefused, NotFound
from agentic_rag.kernel.pagination import Page, PageRequest
from agentic_rag.models.chat.request import LlmError
from agentic_rag.models.embedding.recall_gate import RecallComparison, RecallGate
from agentic_rag.models.embedding.space import EmbeddingSpace, RegisteredSpace, SpaceRecord, SpaceState
from agentic_rag.models.providers.change_models import ChangeModels
from agentic_rag.operations.dead_letters import DeadLetters
from agentic_rag.operations.findings import Finding, Severity
from agentic_rag.operations.graph.projection import GraphCounts
from agentic_rag.operations.graph.sync import GraphStatus
from agentic_rag.operations.leak_canaries import CanaryReport
from agentic_rag.operations.proof.prove_run import ProveRun
from agentic_rag.operations.proof.verify_run import VerifyRun
from agentic_rag.operations.prove_erased import ErasureProof
from agentic_rag.operations.start_evaluation import Evaluations
from agentic_rag.operations.switch_embedding import SwitchStart
from agentic_rag.operations.verify import VerificationReport
from agentic_rag.retrieval.candidates import ArmScore, CandidateTrace, Hop, HopKind, Retriever
from agentic_rag.retrieval.measure_recall import RecallReport
from agentic_rag.settings import Settings, load_settings
from agentic_rag.tenancy.manage_api_keys import ManageApiKeys
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, Principal, WorkspaceRef
from agentic_rag.workspaces.administer import Administer
from agentic_rag.workspaces.enforce_rate_limits import Admission
from agentic_rag.workspaces.organisation import Organisation, OrganisationSettings
from agentic_rag.workspaces.rate_limits import RateLimits
from agentic_rag.workspaces.workspace import Workspace, WorkspaceKind
from agentic_rag_cli.in_process import System
from agentic_rag_cli.main import app
from agentic_rag_cli.processes.children import Children
from agentic_rag_cli.wiring import Wiring
from agentic_rag_server.parts import ServerParts

T = TypeVar("T")

NOW = datetime(2025, 3, 14, 9, 30, tzinfo=UTC)
HANDBOOK = WorkspaceRef(DEFAULT_ORG_ID, UUID(int=1))
NO_DOTENV = Path(__file__).parent / "no-such-file"


def workspace(name: str = "handbook", number: int = 1) -> Workspace:
    return Workspace(WorkspaceRef(DEFAULT_ORG_ID, UUID(int=number)), name, WorkspaceKind.GENERAL, None, 7, 7, 1, NOW)


def document(
    path: str = "policy.md",
    number: int = 100,
    status: DocumentStatus = DocumentStatus.READY,
    fault: DocumentFault | None = None,
    chunks: int = 3,
) -> Document:
    return Document(
        workspace=HANDBOOK,
        document_id=UUID(int=number),
        source_path=path,
        title=path,
        url=None,
        file_name=path,
        media_type="text/markdown",
        size=1200,
        uploaded_by="cli",
        access_id=0,
        status=status,
        fault=fault,
        revision_id=UUID(int=900),
        content_hash=None,
        chunk_count=chunks,
        chunks_done=chunks,
        created_at=NOW,
        updated_at=NOW,
        provenance={},
    )


def citation(path: str = "policy.md", page: int | None = None) -> Citation:
    return Citation(
        marker=1,
        document_id=UUID(int=100),
        revision_id=UUID(int=900),
        chunk_id=UUID(int=300),
        ordinal=4,
        title="Policy",
        source_path=path,
        url=None,
        snippet="The audit is signed\noff by Oona Pellgrave.",
        source_span=TextSpan(10, 52),
        answer_spans=(TextSpan(0, 42),),
        page=page,
        line_start=12,
        line_end=13,
        heading_path=("Audit",),
        score=0.8349,
        arms=(),
        origin="corpus",
        verified=True,
        read_at=NOW,
    )


def answered(question: str = "Who signs?", page: int | None = None) -> Run:
    answer = Answer(
        text="Oona Pellgrave signs off the audit. [1]",
        outcome=Outcome.GROUNDED,
        abstention=None,
        citations=(citation(page=page),),
        degraded=(),
        gate=GateDecision(Directives(True), "retrieve", 0.9, {}, (), (), "w1", "on"),
        debug=AnswerDebug(
            candidates=(
                CandidateTrace(UUID(int=300), UUID(int=100), "Policy", 0.8, (), None),
                CandidateTrace(UUID(int=301), UUID(int=100), "Policy", 0.7, (), None),
            ),
            self_check=SelfCheckReport(1.0, (), (), False),
        ),
    )
    return Run(
        workspace=HANDBOOK,
        run_id=UUID(int=500),
        trace_id="ab" * 16,
        question=question,
        subject="cli",
        created_at=NOW,
        seconds=0.012,
        cache=CacheOutcome.MISS,
        versions=RunVersions(7, 7, "deterministic/hash/512/half", "w1", "p1"),
        answer=answer,
        stages=(StageRecord("retrieve", 0.001, 0.008, "ok"),),
    )


def reached(question: str = "Who trained her?") -> Run:
    """An answer whose citation was reached over two hops."""
    run = answered(question)
    staff, person, policy = UUID(int=301), UUID(int=302), UUID(int=300)
    path = (
        Hop(HopKind.NAMES, "Oona Pellgrave", staff, staff, "Staff list", person, person, "Oona Pellgrave"),
        Hop(HopKind.SHARES, "Umea", person, person, "Oona Pellgrave", policy, policy, "Policy"),
    )
    first, second = run.answer.debug.candidates
    arms = (ArmScore(Retriever.LEXICAL, 1, 4.5, 0.5, 0.35), ArmScore(Retriever.GRAPH, 2, 0.4, 0.8, 0.3))
    candidates = (replace(first, arms=arms, path=path), replace(second, dropped_because="top_k"))
    debug = replace(run.answer.debug, candidates=candidates)
    return replace(run, answer=replace(run.answer, citations=(replace(citation(), path=path),), debug=debug))


def abstained(question: str = "Who flies?") -> Run:
    run = answered(question)
    nothing = Abstention(AbstentionReason.LOW_SUPPORT, "No passage supports an answer.", (citation(page=3),))
    return replace(
        run, answer=replace(run.answer, text="", outcome=Outcome.ABSTAINED, abstention=nothing, citations=())
    )


def job(state: JobState = JobState.DEAD) -> Job:
    return Job(
        workspace=HANDBOOK,
        job_id=UUID(int=700),
        kind=JobKind.INGEST,
        key="policy.md",
        state=state,
        queue=QueueName.BULK,
        arguments={"content": "00ff"},
        attempts=3,
        document_id=UUID(int=100),
        error_code="PARSE_CORRUPT",
        error_message="It is damaged.",
        progress=0,
        trace_carrier={},
        run_after=NOW,
        created_at=NOW,
        updated_at=NOW,
    )


def certificate(document_id: UUID) -> Certificate:
    stores = (StoreErasure(ErasedStore.CHUNKS, 3), StoreErasure(ErasedStore.ORIGINALS, 1))
    return Certificate(document_id, 8, NOW, stores, ((0, 2),), coverage_gaps([NOW]))


def outranked() -> WhyNot:
    arms = (
        ArmPlacement(Retriever.DENSE, ArmState.BEYOND, 71, 0.21, 0.21, 0.35),
        ArmPlacement(Retriever.LEXICAL, ArmState.PROPOSED, 12, 4.5, 0.3, 0.35),
        ArmPlacement(Retriever.GRAPH, ArmState.NOT_REACHED, None, None, None, 0.3),
    )
    standing = SearchPlacement("Who signs?", 23, 0.105, 60, 8, 0.411, arms)
    return WhyNot(UUID(int=0), "Old policy", WhyNotVerdict.OUTRANKED, "Rank 23 of 60.", None, (standing,))


def space(state: SpaceState, done: int, verdict: RecallComparison | None = None) -> SpaceRecord:
    registered = RegisteredSpace(2, EmbeddingSpace("openai", "m", 8))
    return SpaceRecord(registered, state, done, 3, NOW, None, verdict)


def nothing_to_sync() -> SyncResult:
    return SyncResult((), (), 0, 0, (), (), (), False)


@dataclass
class Product:
    """A container over the memory store. What needs a model, a folder or a worker gives canned results.

    Each look at a directory's documents sees the next of `progress`, the last one for good.
    """

    known: list[Workspace] = field(default_factory=lambda: [workspace()])
    held: list[Document] = field(default_factory=lambda: [document()])
    shared: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    stored_jobs: list[Job] = field(default_factory=lambda: [job()])
    cancellation: CancelOutcome = CancelOutcome.CANCELLED
    deleted_runs: list[UUID] = field(default_factory=list[UUID])
    tries: tuple[JobAttempt, ...] = (
        JobAttempt(1, "host:1", NOW, NOW, "DEAD", "PARSE_CORRUPT", ("ParseFailed: It is damaged.",)),
    )
    text: str = ""
    """Of every revision."""
    organisation: Organisation = Organisation(DEFAULT_ORG_ID, "embedded", None, NOW)
    result: SyncResult = field(default_factory=nothing_to_sync)
    progress: list[Mapping[str, Document]] = field(default_factory=lambda: [{}])
    answers: Mapping[str, Run] = field(default_factory=dict[str, Run])
    stored_run: Run | None = None
    """A run besides those of `answers`."""
    why_not: WhyNot = field(default_factory=lambda: outranked())
    graph: GraphStatus = GraphStatus(False, 7, 7, GraphCounts(1, 3, 5, 8, 2))
    stored_payloads: list[StoredUndecodableMessage] = field(default_factory=list[StoredUndecodableMessage])
    space_looks: list[list[SpaceRecord]] = field(default_factory=lambda: [[space(SpaceState.FILLING, 1)]])
    """What each look at the spaces sees; the last one for good."""
    error: AgenticRagError | OSError | None = None
    has_worker: bool = True
    workers: list[WorkerRecord] = field(default_factory=list[WorkerRecord])
    estimates: list[FileEstimate] = field(default_factory=list[FileEstimate])
    recalled: float | None = 1.0
    wrong: list[Finding] = field(default_factory=list[Finding])
    settling: tuple[tuple[str, int], ...] = ()
    mark: Grade | LlmError = Grade(GradeLevel.FULL, GradeLevel.PART)
    report: CanaryReport = field(default_factory=lambda: CanaryReport(2, 6, (), (), 0))
    settings: Settings = field(default_factory=lambda: load_settings({}, dotenv=NO_DOTENV))
    said: list[Feedback] = field(default_factory=list["Feedback"])
    gates: list[RecallGate | None] = field(default_factory=list["RecallGate | None"])
    confirmed: list[bool] = field(default_factory=list[bool])
    dry_runs: list[bool] = field(default_factory=list[bool])
    readers: list[tuple[str, ...] | None] = field(default_factory=list)
    estimated_for: list[WorkspaceRef | None] = field(default_factory=list[WorkspaceRef | None])
    proven: list[UUID] = field(default_factory=list[UUID])
    uploaded: list[tuple[str, bytes, str | None]] = field(default_factory=list[tuple[str, bytes, str | None]])
    texts: list[PlainTextDocument] = field(default_factory=list[PlainTextDocument])
    asked: list[Question] = field(default_factory=list[Question])
    graded: list[str] = field(default_factory=list[str])
    costs_money: bool = False
    processes: int = 1

    def __post_init__(self) -> None:
        self.clock, self.ids, self.telemetry = SystemClock(), RandomIds(), RecordingTelemetry()
        self.store = MemoryStore(self.clock)
        self.store.committed = {one.ref: self._state(one) for one in self.known}
        self.store.organisations = {
            one.org_id: OrganisationState(one)
            for one in (Organisation(DEFAULT_ORG_ID, "embedded", None, NOW), self.organisation)
        }
        self.database = _Database(self)
        self.administer = Administer(self.database, self.ids, self.telemetry)
        self.api_keys = ManageApiKeys(self.database, self.clock, self.ids, self.telemetry)
        self.document_access = DocumentAccess(self.database, self.telemetry)
        self.read_chunk = ReadChunk(self.database, self.telemetry)
        self.evaluations = Evaluations(self.database, self.telemetry, 8)
        self.dead_letters = DeadLetters(self.database, self.telemetry)
        self.change_models = ChangeModels(self.database, self.telemetry)
        self.read_runs = ReadRuns(self.database, cast("Any", self), self.clock)
        self.admission = Admission(
            self.database, cast("Any", None), cast("Any", None), RateLimits(60, 30, 0), self.clock, self.telemetry
        )
        self.answer = SimpleNamespace(ask=self._ask, cancel=self._cancel_run)
        self.cancel_job = SimpleNamespace(run=self._cancel_job)
        self.threads = SimpleNamespace(delete_run=self._delete_run)
        self.gate = ObserveGate(
            self.database,
            cast("Any", self),
            self.read_runs,
            lambda: cast("Any", self.answer),
            GateRules(),
            WatchOutcomes(cast("Any", self), self.clock, self.telemetry, deploy="1", budget_seconds=10.0),
        )
        self.feedback = GiveFeedback(cast("Any", self), self.read_runs, self.clock, self.telemetry)
        self.replay = ReplayRun(self.database, self.read_runs, cast("Any", self.answer))
        self.verify_run = VerifyRun(self.database, self.read_runs, self.clock)
        self.prove_run = ProveRun(self.database, self.verify_run, self.telemetry)
        self.explain = SimpleNamespace(run=self._explain)
        self.upload = SimpleNamespace(run=self._upload)
        self.delete = SimpleNamespace(run=self._delete)
        self.prove_erasure = SimpleNamespace(run=self._prove)
        self.reingest = SimpleNamespace(run=self._reingest)
        self.switch_spaces = SimpleNamespace(spaces=self._spaces, begin=self._begin, cancel=self._cancel)
        self.sync_source = SimpleNamespace(run=self._sync)
        self.estimate = SimpleNamespace(run=self._estimate)
        self.ingest_chunks = SimpleNamespace(cut=self._cut, run=self._ingest)
        self.llm_client = SimpleNamespace(ask_within=self._grade)
        self.graph_sync = SimpleNamespace(status=self._graph_status, rebuild=self._rebuild)
        self.verify = SimpleNamespace(run=self._verify)
        self.recall_check = SimpleNamespace(run=self._recall)
        self.leak_canaries = SimpleNamespace(run=self._attack)
        self.organisations = SimpleNamespace(all=self._organisations, create=self._create_tenant)

    def __getattr__(self, name: str) -> None:
        """Parts of the server that no command uses."""
        if name in {one.name for one in fields(ServerParts)}:
            return
        raise AttributeError(name)

    def names(self) -> list[str]:
        """Of the workspaces."""
        return [state.workspace.name for state in self.store.committed.values()]

    def readers_of(self, path: str) -> tuple[str, ...]:
        state = self.store.committed[HANDBOOK]
        return next(state.access_sets[one.access_id] for one in state.documents.values() if one.source_path == path)

    def jobs(self) -> list[Job]:
        return [one.job for one in self.store.committed[HANDBOOK].jobs.values()]

    def _state(self, known: Workspace) -> WorkspaceState:
        if known.ref != HANDBOOK:
            return WorkspaceState(known)
        numbers = {path: number for number, (path, _) in enumerate(self.shared, 1)}
        return WorkspaceState(
            known,
            access_sets={0: (), **{number: self.shared[number - 1][1] for number in numbers.values()}},
            documents={one.document_id: replace(one, access_id=numbers.get(one.source_path, 0)) for one in self.held},
            revisions={
                UUID(int=900): StoredRevision(
                    Revision(UUID(int=900), UUID(int=100), self.text, bytes(32), (), "plain", "1"), NOW, 1
                )
            },
            passages={index: passage(index, text) for index, text in enumerate(PASSAGES)},
            jobs={
                one.job_id: StoredJob(one, number, attempts=self.tries)
                for number, one in enumerate(reversed(self.stored_jobs), 1)
            },
        )

    def directory_source(self, directory: Path) -> SimpleNamespace:
        async def changes(known: object, since: object) -> SimpleNamespace:
            return SimpleNamespace(
                upserted=[SimpleNamespace(path=path) for path in self.result.new],
                unreadable=self.result.unreadable,
                cursor="c1",
            )

        return SimpleNamespace(source_id="folder", changes=changes)

    def job_board(self) -> SimpleNamespace:
        return SimpleNamespace(
            lead=_returning(not self.has_worker), workers=_returning(self.workers), aclose=_returning(None)
        )

    def dead_payloads(self) -> SimpleNamespace:
        async def page(request: PageRequest) -> Page[StoredUndecodableMessage]:
            return _page(self.stored_payloads, request)

        async def get(payload_id: UUID) -> StoredUndecodableMessage | None:
            return next((one for one in self.stored_payloads if one.message.payload_id == payload_id), None)

        async def purge(payload_id: UUID) -> bool:
            before = len(self.stored_payloads)
            self.stored_payloads = [one for one in self.stored_payloads if one.message.payload_id != payload_id]
            return len(self.stored_payloads) < before

        return SimpleNamespace(page=page, get=get, purge=purge, aclose=_returning(None))

    async def get(self, workspace: WorkspaceRef, run_id: UUID, subject: str | None = None) -> Run | None:
        """A run, for `ReadRuns`."""
        known = [*self.answers.values(), *([self.stored_run] if self.stored_run is not None else [])]
        return next((one for one in known if one.run_id == run_id), None)

    async def page(self, workspace: WorkspaceRef, request: PageRequest, wanted: RunFilter) -> Page[Run]:
        """Runs, for `ReadRuns`."""
        return _page([run for run in self.answers.values() if wanted.admits(run)], request)

    async def decisions(
        self,
        workspace: WorkspaceRef,
        since: datetime,
        subject: str | None,
        most: int,
        *,
        mode: str | None = None,
    ) -> list[StoredDecision]:
        """Decisions of the runs, as a `GateLog`."""
        found = [one for one in map(decision_to_store, self.answers.values()) if one is not None]
        return [one for one in found if mode in (None, one.mode)]

    async def decisions_of_plan(
        self, workspace: WorkspaceRef, since: datetime, plan: str, most: int, *, but_deploy: str | None = None
    ) -> list[StoredDecision]:
        """Those with a plan, as a `GateLog`."""
        return [one for one in await self.decisions(workspace, since, None, most) if one.plan_type == plan]

    async def rollbacks(self, workspace: WorkspaceRef, since: datetime) -> list[Rollback]:
        """None, as a `GateLog`."""
        return []

    async def add_feedback(self, workspace: WorkspaceRef, feedback: Feedback) -> bool:
        """Keep it, as a `GateLog`."""
        self.said.append(feedback)
        return True

    async def feedback_on(self, workspace: WorkspaceRef, run_ids: Sequence[UUID]) -> list[Feedback]:
        """What was said of the runs, as a `GateLog`."""
        return [one for one in self.said if one.run_id in run_ids]

    async def _ask(self, principal: Principal, question: Question, watch: Watch | None = None) -> Run:
        self.asked.append(question)
        run = self.answers[question.text]
        told = watch or (lambda event: None)
        for record in run.stages:
            told(RunEvent(RunEventKind.STAGE_ENDED, Stage(record.stage), record=record))
        return run

    async def _explain(
        self, principal: Principal, workspace: WorkspaceRef, run_id: UUID, why_not: Sequence[UUID]
    ) -> Explanation:
        run = await self.get(workspace, run_id)
        if run is None:
            raise NotFound("There is no such run.", code="RUN_NOT_FOUND")
        candidates = explain_candidates(run.answer)
        known = {one.trace.chunk_id: one for one in candidates}
        answers = tuple(
            WhyNot(one, "Policy", WhyNotVerdict.CANDIDATE, "It is a candidate.", known[one])
            if one in known
            else replace(self.why_not, chunk_id=one)
            for one in why_not
        )
        return Explanation(run, (run.question,), candidates, answers)

    async def _upload(
        self,
        workspace: WorkspaceRef,
        file_name: str,
        pieces: AsyncIterator[bytes],
        options: UploadOptions,
        principal: Principal,
    ) -> Upload:
        self.readers.append(options.readable_by)
        content = b"".join([piece async for piece in pieces])
        if not content:
            raise ContentRefused("The file is empty.", code="UPLOAD_EMPTY")
        self.uploaded.append((file_name, content, options.idempotency_key))
        found = next((one for one in self.held if one.source_path == file_name), self.held[0])
        return Upload(workspace, found.document_id, UUID(int=700), file_name, len(content), bytes(32))

    async def _delete(self, workspace: WorkspaceRef, document_id: UUID, actor: str) -> Deletion:
        erasure = Erasure(document_id, 8, 1, 3, 3, 3, 5, 2, 0, 1, 0, is_followed=True)
        return Deletion(document_id, erasure, 2, 1, (), certificate(document_id))

    async def _prove(self, workspace: WorkspaceRef, document_id: UUID) -> ErasureProof:
        self.proven.append(document_id)
        if any(one.document_id == document_id for one in self.held):
            live = Finding(
                "rag_documents", "DOCUMENT_LIVE", Severity.ERROR, str(document_id), "It lives.", "Delete it."
            )
            return ErasureProof(document_id, None, (live,))
        return ErasureProof(document_id, certificate(document_id), ())

    async def _reingest(
        self, workspace: WorkspaceRef, document_id: UUID, actor: str, *, force: bool = False
    ) -> Reingestion:
        found = next(one for one in self.held if one.document_id == document_id)
        return Reingestion(found, JobRef(workspace, UUID(int=701)), not force)

    async def _spaces(self, workspace: WorkspaceRef) -> list[SpaceRecord]:
        return self.space_looks.pop(0) if len(self.space_looks) > 1 else self.space_looks[0]

    async def _begin(self, workspace: WorkspaceRef, to: str, gate: RecallGate | None, actor: str) -> SwitchStart:
        self.gates.append(gate)
        return SwitchStart(space(SpaceState.FILLING, 0), JobRef(workspace, self.stored_jobs[0].job_id), None)

    async def _cancel_run(self, principal: Principal, workspace: WorkspaceRef, run_id: UUID) -> bool:
        return all(run.run_id != run_id for run in self.answers.values())

    async def _delete_run(self, principal: Principal, workspace: WorkspaceRef, run_id: UUID) -> None:
        if run_id not in [run.run_id for run in self.answers.values()]:
            raise NotFound("There is no such run of yours in this workspace.", code="RUN_NOT_FOUND")
        self.deleted_runs.append(run_id)

    async def _cancel_job(self, principal: Principal, workspace: WorkspaceRef, job_id: UUID) -> Cancellation:
        (found,) = [one for one in self.stored_jobs if one.job_id == job_id]
        return Cancellation(found, self.cancellation)

    async def _cancel(self, workspace: WorkspaceRef, actor: str) -> SpaceRecord:
        return space(SpaceState.ABANDONED, 1)

    async def _sync(
        self,
        workspace: WorkspaceRef,
        source: object,
        actor: str,
        options: SyncOptions,
    ) -> SyncResult:
        self.confirmed.append(options.delete_missing)
        self.readers.append(options.readable_by)
        self.dry_runs.append(options.dry_run)
        return replace(self.result, dry_run=options.dry_run)

    async def _estimate(self, workspace: WorkspaceRef | None, source: object) -> list[FileEstimate]:
        self.estimated_for.append(workspace)
        return self.estimates

    async def _cut(self, given: PlainTextDocument, profile: str) -> PlainTextDocument:
        return given

    async def _ingest(
        self,
        workspace: WorkspaceRef,
        prepared: Sequence[PlainTextDocument],
        actor: str,
        progress: Callable[[int], None],
    ) -> ChunkIngestReport:
        self.texts += prepared
        progress(len(prepared))
        return ChunkIngestReport(len(prepared), len(prepared), len(prepared), 0, 0, 1)

    async def _grade(self, make: Callable[[str], Any], seconds: float) -> Any:
        self.graded.append(repr(make("nonce")))
        return self.mark if isinstance(self.mark, LlmError) else SimpleNamespace(value=self.mark)

    async def _graph_status(self, workspace: WorkspaceRef) -> GraphStatus:
        return self.graph

    async def _rebuild(self, workspace: WorkspaceRef, actor: str) -> JobRef | None:
        return JobRef(workspace, UUID(int=701)) if self.graph.is_outside else None

    async def _verify(self, workspace: WorkspaceRef, *, full: bool) -> VerificationReport:
        return VerificationReport(
            2, 5, 5 if full else 1, 2, (("CHUNK_GAP", 3),)[: len(self.wrong)], tuple(self.wrong), self.settling
        )

    async def _recall(self, workspace: WorkspaceRef) -> RecallReport:
        if self.recalled is None:
            raise NotFound("The workspace holds no passages to measure with.", code="NOTHING_TO_ASK")
        return RecallReport("deterministic", 5, 10, self.recalled, self.recalled, 1.5, 0.5)

    async def _attack(self) -> CanaryReport:
        return self.report

    def brings_key(self, org_id: UUID) -> bool:
        """Whether the platform's embedder costs money; the embedded organisation pays for it."""
        return self.costs_money and org_id != DEFAULT_ORG_ID

    async def _create_tenant(
        self, org_id: UUID, name: str, external_ref: str | None, settings: OrganisationSettings
    ) -> Organisation:
        made = Organisation(org_id, name, external_ref, NOW, settings)
        self.store.organisations = {**self.store.organisations, org_id: OrganisationState(made)}
        return made

    async def _organisations(self) -> list[Organisation]:
        return [one.organisation for one in self.store.organisations.values() if one.organisation is not None]


PASSAGES = ("The audit is signed.", "Fees\napply.")


def passage(index: int, text: str) -> PassageRow:
    draft = ChunkDraft(
        UUID(int=300 + index), index, text, 50 * index, 50 * index + 60, None, 12 + index, 13 + index, (), bytes(32)
    )
    placement = Placement(draft, UUID(int=900), 0, 1)
    return PassageRow(UUID(int=100), 0, {}, (), (placement,), 1)


class _Database(MemoryDatabase):
    """Fails with the product's error, and shows the product's progress of a directory."""

    def __init__(self, product: Product) -> None:
        super().__init__(product.store)
        self._product = product

    @asynccontextmanager
    async def transaction(self, org_id: UUID) -> AsyncGenerator[Any]:
        if self._product.error is not None:
            raise self._product.error
        async with super().transaction(org_id) as transaction:
            yield _Transaction(transaction, self._product)


class _Transaction:
    def __init__(self, transaction: Any, product: Product) -> None:
        self._transaction = transaction
        self._product = product

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._transaction, name)
        return _Documents(found, self._product) if name == "documents" else found


class _Documents:
    def __init__(self, documents: Any, product: Product) -> None:
        self._documents = documents
        self._product = product

    def __getattr__(self, name: str) -> Any:
        return getattr(self._documents, name)

    async def paths(self, workspace: WorkspaceRef, source: str, only: Sequence[str] = ()) -> Mapping[str, Document]:
        progress = self._product.progress
        return progress.pop(0) if len(progress) > 1 else progress[0]


def _returning(value: T) -> Callable[[], Awaitable[T]]:
    async def give() -> T:
        return value

    return give


def _page(items: list[T], request: PageRequest) -> Page[T]:
    start = int(request.after) if request.after else 0
    chosen = items[start : start + request.first]
    cursors = tuple(str(start + number + 1) for number in range(len(chosen)))
    return Page(tuple(chosen), cursors, start + len(chosen) < len(items))


@dataclass
class Terminal:
    """Runs `rag` in this process: the real commands and the real application over a `Product`."""

    product: Product = field(default_factory=Product)
    environ: dict[str, str] = field(default_factory=dict[str, str])
    transport: httpx2.AsyncBaseTransport | None = None
    workers_started: int = 0

    def rag(self, *arguments: str, stdin: str | None = None) -> Result:
        return CliRunner().invoke(app, list(arguments), obj=self._wiring(), input=stdin, catch_exceptions=True)

    def _wiring(self) -> Wiring:
        @contextmanager
        def servers(settings: Settings) -> Iterator[Settings]:
            yield settings

        @asynccontextmanager
        async def system(settings: Settings) -> AsyncIterator[System]:
            self.product.settings = settings
            # Each command has a loop of its own.
            self.product.store._turn = asyncio.Lock()
            yield System(self.product)  # type: ignore[arg-type]

        async def start_worker(children: Children, settings: Settings) -> None:
            self.workers_started += 1

        return Wiring(
            settings=lambda: load_settings(self.environ, dotenv=NO_DOTENV),
            servers=servers,
            system=system,
            start_worker=start_worker,
            transport=self.transport,
        )

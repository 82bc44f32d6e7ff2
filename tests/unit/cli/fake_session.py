"""The system as commands see it, held in memory, with builders for what it holds."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar
from uuid import UUID

import httpx2
from tests.memory_store.session.database import MemoryDatabase
from tests.memory_store.session.store import MemoryStore
from tests.memory_store.telemetry import RecordingTelemetry
from typer.testing import CliRunner, Result

from agentic_rag.adapters.system.clock import SystemClock
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
from agentic_rag.answering.gate_decision import Directives, GateDecision
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
from agentic_rag.documents.document import Chunk, Document, DocumentFault, DocumentStatus
from agentic_rag.erasure.certificate import Certificate, ErasedStore, StoreErasure, coverage_gaps
from agentic_rag.erasure.delete import Deletion
from agentic_rag.erasure.ports import Erasure
from agentic_rag.ingestion.estimate import FileEstimate
from agentic_rag.ingestion.ingest_chunks import ChunkIngestReport, PlainTextDocument
from agentic_rag.ingestion.reingest import Reingestion
from agentic_rag.ingestion.sync import SyncResult
from agentic_rag.ingestion.upload import Upload
from agentic_rag.jobs.job import Job, JobAttempt, JobKind, JobRef, JobState, QueueName, Replay
from agentic_rag.jobs.undecodable_message import StoredUndecodableMessage
from agentic_rag.kernel.errors import AgenticRagError, ContentRefused, NotFound
from agentic_rag.kernel.pagination import Page, PageRequest
from agentic_rag.models.billing.prices import PriceTable
from agentic_rag.models.chat.request import LlmError
from agentic_rag.models.embedding.recall_gate import RecallComparison, RecallGate
from agentic_rag.models.embedding.space import EmbeddingSpace, RegisteredSpace, SpaceRecord, SpaceState
from agentic_rag.operations.dead_letters import PurgeResult, ReplayResult
from agentic_rag.operations.findings import Finding, Severity
from agentic_rag.operations.graph.projection import GraphCounts
from agentic_rag.operations.graph.sync import GraphStatus
from agentic_rag.operations.prove_erased import ErasureProof
from agentic_rag.operations.start_evaluation import Evaluations
from agentic_rag.operations.switch_embedding import SwitchStart
from agentic_rag.operations.verify import VerificationReport
from agentic_rag.retrieval.candidates import ArmScore, CandidateTrace, Hop, HopKind, Retriever
from agentic_rag.retrieval.measure_recall import RecallReport
from agentic_rag.settings import Settings, load_settings
from agentic_rag.tenancy.audit import AuditRecord
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, WorkspaceRef
from agentic_rag.workspaces.workspace import Workspace, WorkspaceKind
from agentic_rag_cli.main import app
from agentic_rag_cli.processes.children import Children
from agentic_rag_cli.wiring import Wiring

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


def chunk(index: int, text: str) -> Chunk:
    return Chunk(
        index, UUID(int=300 + index), UUID(int=100), UUID(int=900), index, text, 0, len(text), None, 12 + index,
        13 + index, (), "Policy", "policy.md", None, "text/markdown",
    )  # fmt: skip


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


def evaluations() -> Evaluations:
    """Over a store of its own, in which nobody works."""
    return Evaluations(MemoryDatabase(MemoryStore(SystemClock())), RecordingTelemetry(), 8)


@dataclass
class FakeSession:
    """`Session`. Each look at a directory's documents sees the next of `progress`, the last one for good."""

    known: list[Workspace] = field(default_factory=lambda: [workspace()])
    held: list[Document] = field(default_factory=lambda: [document()])
    result: SyncResult = field(default_factory=nothing_to_sync)
    prices: PriceTable = PriceTable()
    graph: GraphStatus = GraphStatus(False, 7, 7, GraphCounts(1, 3, 5, 8, 2))
    progress: list[Mapping[str, Document]] = field(default_factory=lambda: [{}])
    answers: Mapping[str, Run] = field(default_factory=dict[str, Run])
    stored_jobs: list[Job] = field(default_factory=lambda: [job()])
    tries: tuple[JobAttempt, ...] = (
        JobAttempt(1, "host:1", NOW, NOW, "DEAD", "PARSE_CORRUPT", ("ParseFailed: It is damaged.",)),
    )
    stored_payloads: list[StoredUndecodableMessage] = field(default_factory=list[StoredUndecodableMessage])
    superseded: set[UUID] = field(default_factory=set[UUID])
    space_looks: list[list[SpaceRecord]] = field(default_factory=lambda: [[space(SpaceState.FILLING, 1)]])
    """What each look at the spaces sees; the last one for good."""
    gates: list[RecallGate | None] = field(default_factory=list["RecallGate | None"])
    text: str = ""
    error: AgenticRagError | None = None
    has_worker: bool = True
    dry_runs: list[bool] = field(default_factory=list[bool])
    shared: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    readers: list[tuple[str, ...] | None] = field(default_factory=list)
    estimates: list[FileEstimate] = field(default_factory=list[FileEstimate])
    estimated_for: list[WorkspaceRef | None] = field(default_factory=list[WorkspaceRef | None])
    recalled: float | None = 1.0
    wrong: list[Finding] = field(default_factory=list[Finding])
    proven: list[UUID] = field(default_factory=list[UUID])
    uploaded: list[tuple[str, bytes, str | None]] = field(default_factory=list[tuple[str, bytes, str | None]])
    texts: list[PlainTextDocument] = field(default_factory=list[PlainTextDocument])
    passages: list[Chunk] = field(default_factory=lambda: [chunk(0, "The audit is signed."), chunk(1, "Fees\napply.")])
    why_not: WhyNot = field(default_factory=lambda: outranked())
    stored_run: Run | None = None
    """A run besides those of `answers`."""
    asked: list[Question] = field(default_factory=list[Question])
    mark: Grade | LlmError = Grade(GradeLevel.FULL, GradeLevel.PART)
    evaluations: Evaluations = field(default_factory=lambda: evaluations())
    graded: list[tuple[str, tuple[str, ...], str, tuple[str, ...]]] = field(
        default_factory=list[tuple[str, tuple[str, ...], str, tuple[str, ...]]]
    )

    async def workspaces(self) -> list[Workspace]:
        if self.error is not None:
            raise self.error
        return self.known

    async def create_workspace(self, name: str, dimensions: int | None = None) -> Workspace:
        self.known.append(workspace(name, len(self.known) + 1))
        return self.known[-1]

    async def documents(
        self, workspace: WorkspaceRef, request: PageRequest, statuses: Sequence[DocumentStatus] = ()
    ) -> Page[Document]:
        return _page([one for one in self.held if not statuses or one.status in statuses], request)

    async def document(self, workspace: WorkspaceRef, document_id: UUID) -> Document | None:
        return next((one for one in self.held if one.document_id == document_id), None)

    async def documents_of(self, workspace: WorkspaceRef, jobs: Iterable[Job]) -> Mapping[UUID, Document]:
        wanted = {one.document_id for one in jobs}
        return {one.document_id: one for one in self.held if one.document_id in wanted}

    async def directory_documents(self, workspace: WorkspaceRef, directory: Path) -> Mapping[str, Document]:
        return self.progress.pop(0) if len(self.progress) > 1 else self.progress[0]

    async def opening(self, document: Document, characters: int) -> str:
        return self.text[:characters]

    async def chunk_spans(self, workspace: WorkspaceRef, document_id: UUID) -> Mapping[UUID, TextSpan]:
        return {UUID(int=300): TextSpan(0, 60), UUID(int=301): TextSpan(50, 110)}

    async def delete_document(self, workspace: WorkspaceRef, document_id: UUID) -> Deletion:
        erasure = Erasure(document_id, 8, 1, 3, 3, 3, 5, 2, 0, 1, 0, is_followed=True)
        return Deletion(document_id, erasure, 2, 1, (), certificate(document_id))

    async def prove_erased(self, workspace: WorkspaceRef, document_id: UUID) -> ErasureProof:
        self.proven.append(document_id)
        if any(one.document_id == document_id for one in self.held):
            live = Finding(
                "rag_documents", "DOCUMENT_LIVE", Severity.ERROR, str(document_id), "It lives.", "Delete it."
            )
            return ErasureProof(document_id, None, (live,))
        return ErasureProof(document_id, certificate(document_id), ())

    async def verify(self, workspace: WorkspaceRef, *, full: bool) -> VerificationReport:
        return VerificationReport(2, 5, 5 if full else 1, 2, (("CHUNK_GAP", 3),)[: len(self.wrong)], tuple(self.wrong))

    async def recall(self, workspace: WorkspaceRef) -> RecallReport:
        if self.recalled is None:
            raise NotFound("The workspace holds no passages to measure with.", code="NOTHING_TO_ASK")
        return RecallReport("deterministic", 5, 10, self.recalled, self.recalled, 1.5, 0.5)

    async def reingest(self, workspace: WorkspaceRef, document_id: UUID, *, force: bool) -> Reingestion:
        found = next(one for one in self.held if one.document_id == document_id)
        return Reingestion(found, JobRef(workspace, UUID(int=701)), not force)

    async def reingest_failed(self, workspace: WorkspaceRef) -> list[Reingestion]:
        failed = [one for one in self.held if one.status is DocumentStatus.FAILED]
        return [Reingestion(one, JobRef(workspace, UUID(int=701)), True) for one in failed]

    async def share(self, document: Document, principals: tuple[str, ...]) -> None:
        self.shared.append((document.source_path, principals))

    async def readers_of(self, document: Document) -> tuple[str, ...]:
        return dict(self.shared).get(document.source_path, ())

    async def sync(
        self, workspace: WorkspaceRef, directory: Path, *, dry_run: bool, readers: tuple[str, ...] = ()
    ) -> SyncResult:
        self.readers.append(readers)
        self.dry_runs.append(dry_run)
        return replace(self.result, dry_run=dry_run)

    async def preview(self, directory: Path) -> SyncResult:
        return replace(self.result, dry_run=True)

    async def estimate(self, workspace: WorkspaceRef | None, directory: Path) -> list[FileEstimate]:
        self.estimated_for.append(workspace)
        return self.estimates

    async def ingest_texts(
        self, workspace: WorkspaceRef, documents: Sequence[PlainTextDocument], progress: Callable[[int], None]
    ) -> ChunkIngestReport:
        self.texts += documents
        progress(len(documents))
        return ChunkIngestReport(len(documents), len(documents), len(documents), 0, 0, 1)

    async def upload(
        self,
        workspace: WorkspaceRef,
        file_name: str,
        pieces: AsyncIterator[bytes],
        key: str | None,
        readers: tuple[str, ...] | None = None,
    ) -> Upload:
        self.readers.append(readers)
        content = b"".join([piece async for piece in pieces])
        if not content:
            raise ContentRefused("The file is empty.", code="UPLOAD_EMPTY")
        self.uploaded.append((file_name, content, key))
        found = next((one for one in self.held if one.source_path == file_name), self.held[0])
        return Upload(workspace, found.document_id, UUID(int=700), file_name, len(content), bytes(32))

    async def ask(self, question: Question) -> Run:
        self.asked.append(question)
        return self.answers[question.text]

    async def grade(
        self, question: str, expected: Sequence[str], answer: str, sources: Sequence[str]
    ) -> Grade | LlmError:
        self.graded.append((question, tuple(expected), answer, tuple(sources)))
        return self.mark

    async def runs(self, workspace: WorkspaceRef, request: PageRequest) -> Page[Run]:
        return _page(list(self.answers.values()), request)

    async def run(self, workspace: WorkspaceRef, run_id: UUID) -> Run | None:
        known = [*self.answers.values(), *([self.stored_run] if self.stored_run is not None else [])]
        return next((one for one in known if one.run_id == run_id), None)

    async def explain(self, workspace: WorkspaceRef, run_id: UUID, why_not: Sequence[UUID]) -> Explanation:
        run = await self.run(workspace, run_id)
        if run is None:
            raise NotFound("There is no such run.", code="RUN_NOT_FOUND")
        told = explain_candidates(run.answer)
        known = {one.trace.chunk_id: one for one in told}
        answers = tuple(
            WhyNot(one, "Policy", WhyNotVerdict.CANDIDATE, "It is a candidate.", known[one])
            if one in known
            else replace(self.why_not, chunk_id=one)
            for one in why_not
        )
        return Explanation(run, (run.question,), told, answers)

    async def chunks(self, document: Document) -> list[Chunk]:
        return [one for one in self.passages if one.document_id == document.document_id]

    async def jobs(
        self,
        workspace: WorkspaceRef,
        request: PageRequest,
        states: Sequence[JobState] = (),
        kinds: Sequence[JobKind] = (),
        codes: Sequence[str] = (),
    ) -> Page[Job]:
        wanted = [
            one
            for one in self.stored_jobs
            if (not states or one.state in states)
            and (not kinds or one.kind in kinds)
            and (not codes or one.error_code in codes)
        ]
        return _page(wanted, request)

    async def attempts(self, workspace: WorkspaceRef, job_id: UUID) -> tuple[JobAttempt, ...]:
        return self.tries

    async def replay(self, workspace: WorkspaceRef, job_id: UUID) -> ReplayResult:
        one = await self._letter(workspace, job_id)
        if one.state is not JobState.DEAD or job_id in self.superseded:
            return ReplayResult(one, Replay.SUPERSEDED if job_id in self.superseded else Replay.NOT_DEAD)
        return ReplayResult(self._moved(one, JobState.QUEUED), Replay.REPLAYED)

    async def purge(self, workspace: WorkspaceRef, job_id: UUID) -> PurgeResult:
        one = await self._letter(workspace, job_id)
        return (
            PurgeResult(self._moved(one, JobState.PURGED), True)
            if one.state is JobState.DEAD
            else PurgeResult(one, False)
        )

    async def payloads(self, request: PageRequest) -> Page[StoredUndecodableMessage]:
        return _page(self.stored_payloads, request)

    async def purge_payload(self, payload_id: UUID) -> bool:
        before = len(self.stored_payloads)
        self.stored_payloads = [one for one in self.stored_payloads if one.message.payload_id != payload_id]
        return len(self.stored_payloads) < before

    async def audit(self, workspace: WorkspaceRef, request: PageRequest) -> Page[AuditRecord]:
        entry = AuditRecord(UUID(int=1), NOW, "dead_letter.replay", "700", "ada", workspace.workspace_id, {}, None)
        return _page([entry], request)

    async def _letter(self, workspace: WorkspaceRef, job_id: UUID) -> Job:
        found = await self.job(workspace, job_id)
        if found is None:
            raise NotFound("There is no such job.", code="JOB_NOT_FOUND")
        return found

    def _moved(self, one: Job, state: JobState) -> Job:
        moved = replace(one, state=state)
        self.stored_jobs[self.stored_jobs.index(one)] = moved
        return moved

    async def job(self, workspace: WorkspaceRef, job_id: UUID) -> Job | None:
        return next((one for one in self.stored_jobs if one.job_id == job_id), None)

    async def graph_status(self, workspace: WorkspaceRef) -> GraphStatus:
        return self.graph

    async def rebuild_graph(self, workspace: WorkspaceRef) -> JobRef | None:
        return JobRef(workspace, UUID(int=701)) if self.graph.is_outside else None

    async def worker_running(self) -> bool:
        return self.has_worker

    async def spaces(self, workspace: WorkspaceRef) -> list[SpaceRecord]:
        return self.space_looks.pop(0) if len(self.space_looks) > 1 else self.space_looks[0]

    async def begin_switch(self, workspace: WorkspaceRef, to: str, gate: RecallGate | None) -> SwitchStart:
        self.gates.append(gate)
        job_id = self.stored_jobs[0].job_id
        return SwitchStart(space(SpaceState.FILLING, 0), JobRef(workspace, job_id), None)

    async def cancel_switch(self, workspace: WorkspaceRef) -> SpaceRecord:
        return space(SpaceState.ABANDONED, 1)


def _page(items: list[T], request: PageRequest) -> Page[T]:
    start = int(request.after) if request.after else 0
    chosen = items[start : start + request.first]
    cursors = tuple(str(start + number + 1) for number in range(len(chosen)))
    return Page(tuple(chosen), cursors, start + len(chosen) < len(items))


@dataclass
class Terminal:
    """Runs `rag` in this process against a fake system."""

    session: FakeSession = field(default_factory=FakeSession)
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
        async def session(settings: Settings) -> AsyncIterator[FakeSession]:
            yield self.session

        async def start_worker(children: Children, settings: Settings) -> None:
            self.workers_started += 1

        return Wiring(
            settings=lambda: load_settings(self.environ, dotenv=NO_DOTENV),
            servers=servers,
            session=session,
            start_worker=start_worker,
            transport=self.transport,
        )

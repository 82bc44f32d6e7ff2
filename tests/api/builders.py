"""Domain values and a container for the API tests: the use cases and stores behind the server, in memory."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import httpx2

from agentic_rag.adapters.postgres.session.silence import Pulse
from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.adapters.system.ids import RandomIds
from agentic_rag.answering.answer import Answer, AnswerDebug, Citation, Outcome, SelfCheckReport, TextSpan
from agentic_rag.answering.gate_decision import Directives, FeatureContribution, GateDecision
from agentic_rag.answering.live.events import RunEvent, RunEventKind, Watch
from agentic_rag.answering.plan import AnswerType, Plan, SubQuestion
from agentic_rag.answering.question import Question
from agentic_rag.answering.run import CacheOutcome, Run, RunVersions, StageRecord
from agentic_rag.answering.runs.run_filter import RunFilter
from agentic_rag.documents.document import Document, DocumentStatus
from agentic_rag.documents.document_access import DocumentAccess
from agentic_rag.documents.ports import Original
from agentic_rag.erasure.certificate import Certificate, ErasedStore, StoreErasure, coverage_gaps
from agentic_rag.erasure.delete import Deletion
from agentic_rag.erasure.ports import Erasure
from agentic_rag.erasure.request_erasure import RequestErasure
from agentic_rag.ingestion.reingest import Reingestion
from agentic_rag.jobs.job import Job, JobAttempt, JobKind, JobRef, JobState, QueueName
from agentic_rag.kernel.errors import InvalidInput, NotFound, Permanent, Unauthenticated
from agentic_rag.kernel.pagination import Page, PageRequest
from agentic_rag.kernel.public_ids import NodeKind, encode, encode_workspace
from agentic_rag.models.billing.embedding_cost import EmbeddingCost
from agentic_rag.models.embedding.recall_gate import RecallGate
from agentic_rag.models.embedding.space import EmbeddingSpace, RegisteredSpace, SpaceRecord, SpaceState, parse_choice
from agentic_rag.operations.findings import Finding, Severity
from agentic_rag.operations.prove_erased import ErasureProof
from agentic_rag.operations.prove_workspace_erased import ProveWorkspaceErasure
from agentic_rag.operations.switch_embedding import SwitchStart
from agentic_rag.retrieval.candidates import ArmScore, CandidateTrace, Retriever
from agentic_rag.tenancy.access import ReadIdentity, ReadScope
from agentic_rag.tenancy.audit import AuditEntry
from agentic_rag.tenancy.manage_api_keys import ManageApiKeys
from agentic_rag.tenancy.principals import Principal, Role, WorkspaceRef
from agentic_rag.workspaces.administer import Administer
from agentic_rag.workspaces.rate_limits import Demand
from agentic_rag.workspaces.workspace import Workspace, WorkspaceKind
from agentic_rag_server.app import build_app
from agentic_rag_server.graphql.schema import build_schema
from agentic_rag_server.parts import ServerOptions
from tests.memory_store.telemetry import RecordingTelemetry

ORG = UUID("00000000-0000-4000-8000-0000000000aa")
OTHER_ORG = UUID("00000000-0000-4000-8000-0000000000bb")
WORKSPACE = UUID("00000000-0000-4000-8000-000000000001")
REF = WorkspaceRef(ORG, WORKSPACE)
WORKSPACE_ID = encode_workspace(WORKSPACE)
A_SPACE = EmbeddingSpace("deterministic", "hashed-ngrams-v1", 384)
NOW = datetime(2026, 11, 21, tzinfo=UTC)
TOKENS = {
    "admin-token": Principal(ORG, "ada", Role.ADMIN),
    "member-token": Principal(ORG, "mona", Role.MEMBER),
    "viewer-token": Principal(ORG, "vera", Role.VIEWER),
    "other-token": Principal(OTHER_ORG, "otto", Role.ADMIN),
    "night-token": Principal(ORG, "nina", Role.MEMBER, ("night",)),
    "day-token": Principal(ORG, "dana", Role.MEMBER, ("day",)),
}


def numbered(number: int) -> UUID:
    return UUID(int=number)


def a_workspace() -> Workspace:
    return Workspace(REF, "handbook", WorkspaceKind.GENERAL, None, 7, 7, 1, NOW)


def a_document(number: int = 1, **changes: Any) -> Document:
    document = Document(
        workspace=REF,
        document_id=numbered(number),
        source_path=f"docs/{number}.pdf",
        title=f"Document {number}",
        url=None,
        file_name=f"{number}.pdf",
        media_type="application/pdf",
        size=10,
        uploaded_by="ada",
        access_id=0,
        status=DocumentStatus.READY,
        fault=None,
        revision_id=numbered(100 + number),
        content_hash=bytes(32),
        chunk_count=3,
        chunks_done=3,
        created_at=NOW,
        updated_at=NOW,
        provenance={"source": "directory:/srv/reports", **EmbeddingCost("s", 2, 40, 1, 10, 8e-07, 1e-06).provenance()},
    )
    return replace(document, **changes)


def document_id(number: int = 1) -> str:
    return encode(NodeKind.DOCUMENT, WORKSPACE, numbered(number))


def a_certificate(document_id: UUID) -> Certificate:
    counts = {ErasedStore.CHUNKS: 3, ErasedStore.ENTITIES: 2, ErasedStore.CACHE: 6, ErasedStore.ORIGINALS: 1}
    stores = tuple(StoreErasure(store, count) for store, count in counts.items())
    return Certificate(document_id, 8, NOW, stores, ((0, 2),), coverage_gaps([NOW]))


def a_citation(marker: int) -> Citation:
    return Citation(
        marker=marker,
        document_id=numbered(marker),
        revision_id=numbered(100 + marker),
        chunk_id=numbered(200 + marker),
        ordinal=marker,
        title=f"Document {marker}",
        source_path=f"docs/{marker}.pdf",
        url=None,
        snippet="The valve opens at 3 bar. " * 4,
        source_span=TextSpan(10, 114),
        answer_spans=(TextSpan(0, 29),),
        page=2,
        line_start=4,
        line_end=5,
        heading_path=("Safety", "Valves"),
        score=0.875,
        arms=(ArmScore(Retriever.DENSE, 1, 0.9, 0.9, 0.5), ArmScore(Retriever.LEXICAL, 2, 11.5, 0.8, 0.2)),
        origin="corpus",
        verified=True,
    )


def a_run(citations: int = 2, workspace: WorkspaceRef = REF) -> Run:
    gate = GateDecision(
        directives=Directives(use_retrieval=True),
        plan_type="retrieve",
        score=0.75,
        thresholds={"search": 0.4},
        contributions=(FeatureContribution("hit_rate", 0.5, 2.0, 1.0),),
        downgrades=(),
        weights_version="w1",
        mode="on",
    )
    debug = AnswerDebug(
        plan=Plan((SubQuestion("When does the valve open?"),), AnswerType.FIGURE, (), "rules"),
        standalone_question="When does the valve open?",
        rewritten_query="valve open",
        candidates=(CandidateTrace(numbered(201), numbered(1), "Document 1", 0.9, (), None),),
        self_check=SelfCheckReport(1.0, (), (), False),
    )
    answer = Answer(
        text="The valve opens at 3 bar [1].",
        outcome=Outcome.GROUNDED,
        abstention=None,
        citations=tuple(a_citation(number) for number in range(1, citations + 1)),
        degraded=(),
        gate=gate,
        debug=debug,
    )
    return Run(
        workspace=workspace,
        run_id=numbered(500),
        trace_id="a" * 32,
        question="When does the valve open?",
        subject="ada",
        created_at=NOW,
        seconds=0.01,
        cache=CacheOutcome.MISS,
        versions=RunVersions(7, 7, "deterministic", "w1", "p1"),
        answer=answer,
        stages=(StageRecord("gate", 0.0, 0.001, "ok"),),
    )


def a_job(number: int = 900) -> Job:
    return Job(
        workspace=REF,
        job_id=numbered(number),
        kind=JobKind.INGEST,
        key="k",
        state=JobState.DEAD,
        queue=QueueName.BULK,
        arguments={"path": "secret-path"},
        attempts=3,
        document_id=numbered(1),
        error_code="PARSE_CORRUPT",
        error_message="The file is broken.",
        progress=0,
        trace_carrier={},
        run_after=NOW,
        created_at=NOW,
        updated_at=NOW,
    )


@dataclass
class FakeAnswer:
    """Answers with a canned run, or raises what it was given."""

    result: Run | Exception = field(default_factory=a_run)
    asked: list[tuple[Principal, Question]] = field(default_factory=list)
    cancelled: list[UUID] = field(default_factory=list)

    async def ask(self, principal: Principal, question: Question, watch: Watch | None = None) -> Run:
        self.asked.append((principal, question))
        if isinstance(self.result, Exception):
            raise self.result
        if watch is not None:
            watch(RunEvent(RunEventKind.RUN_STARTED, run_id=self.result.run_id))
            watch(RunEvent(RunEventKind.DRAFT, draft="The valve opens at 3 bar."))
        return self.result

    async def cancel(self, principal: Principal, workspace: WorkspaceRef, run_id: UUID) -> bool:
        if workspace != REF:
            raise NotFound("There is no such run.", code="RUN_NOT_FOUND")
        self.cancelled.append(run_id)
        return True


@dataclass
class FakeStores:
    """Workspaces, documents and jobs of the organisation ORG."""

    workspaces: dict[UUID, Workspace] = field(default_factory=lambda: {WORKSPACE: a_workspace()})
    documents: dict[UUID, Document] = field(default_factory=lambda: {numbered(1): a_document()})
    jobs: dict[UUID, Job] = field(default_factory=lambda: {numbered(900): a_job()})
    originals: dict[UUID, list[Original]] = field(default_factory=dict)
    transactions: int = 0
    failure: Exception | None = None
    deleted_by: list[str] = field(default_factory=list)

    async def corpus_version(self, workspace: WorkspaceRef) -> int | None:
        return 7 if workspace == REF else None

    @asynccontextmanager
    async def transaction(self, org_id: UUID) -> AsyncIterator[Any]:
        self.transactions += 1
        if self.failure is not None:
            raise self.failure
        mine = org_id == ORG
        yield SimpleNamespace(
            workspaces=_Workspaces(self.workspaces if mine else {}),
            documents=_Rows(self.documents if mine else {}),
            jobs=_Rows(self.jobs if mine else {}),
            originals=_Originals(self.originals if mine else {}),
            access=_Access(),
            audit=_Audit(),
        )

    def while_answering(self, seconds: float) -> AbstractAsyncContextManager[None]:
        return Pulse().while_answering(seconds)

    async def record_audit(self, *_: Any, **__: Any) -> None:
        """Nobody reads it."""


class _Access:
    """Every document is for the whole workspace."""

    async def readable(self, workspace: WorkspaceRef, readers: ReadIdentity) -> ReadScope:
        return ReadScope()

    async def unreadable(
        self, workspace: WorkspaceRef, document_ids: Sequence[UUID], readers: ReadIdentity
    ) -> set[UUID]:
        return set()

    async def sees(self, workspace: WorkspaceRef, document_id: UUID, readers: ReadIdentity) -> bool:
        return True

    async def shown_version(self, workspace: WorkspaceRef, scope: ReadScope, version: int) -> int:
        return version

    async def principals(self, workspace: WorkspaceRef, access_ids: Collection[int]) -> dict[int, tuple[str, ...]]:
        return dict.fromkeys(access_ids, ())


class _Audit:
    """Nobody reads it."""

    async def record(self, _: AuditEntry) -> None:
        """Written down."""


@dataclass
class _Workspaces:
    rows: dict[UUID, Workspace]

    async def create(self, workspace_id: UUID, name: str, kind: WorkspaceKind, ref: str | None, _: object) -> Workspace:
        if any(row.name == name for row in self.rows.values()):
            raise InvalidInput("The name is taken.", code="WORKSPACE_EXISTS", path=("name",))
        made = Workspace(WorkspaceRef(ORG, workspace_id), name, kind, ref, 0, 0, None, NOW)
        self.rows[workspace_id] = made
        return made

    async def get(self, workspace_id: UUID) -> Workspace | None:
        return self.rows.get(workspace_id)

    async def by_name(self, name: str) -> Workspace | None:
        return next((row for row in self.rows.values() if row.name == name), None)

    async def by_reference(self, kind: WorkspaceKind, ref: str) -> Workspace | None:
        return next((row for row in self.rows.values() if (row.kind, row.external_ref) == (kind, ref)), None)

    async def all(self) -> list[Workspace]:
        return sorted(self.rows.values(), key=lambda row: row.name)


@dataclass
class _Rows:
    rows: dict[UUID, Any]

    async def get(self, workspace: WorkspaceRef, key: UUID, scope: Any = None) -> Any:
        return self.rows.get(key) if workspace == REF else None

    async def attempts(self, workspace: WorkspaceRef, key: UUID) -> tuple[JobAttempt, ...]:
        return (JobAttempt(1, "host:1", NOW, NOW, "DEAD", "PARSE_CORRUPT", ("ParseFailed: broken",)),)

    async def page(
        self,
        _: WorkspaceRef,
        request: PageRequest,
        states: Sequence[Any] = (),
        *chosen: object,
        scope: object = None,
        wanted: object = None,
    ) -> Page[Any]:
        rows = self._in(states)
        after = int(request.after) if request.after else -1
        rest = [item for item in rows if item[0].int > after]
        shown = rest[: request.first]
        return Page(tuple(row for _, row in shown), tuple(str(key.int) for key, _ in shown), len(rest) > request.first)

    async def count_listed(self, _: WorkspaceRef, states: Sequence[Any] = (), *chosen: object) -> int:
        return len(self._in(states))

    def _in(self, states: Sequence[Any]) -> list[tuple[UUID, Any]]:
        rows = sorted(self.rows.items(), key=lambda item: item[0].int)
        return [
            item for item in rows if not states or getattr(item[1], "status", getattr(item[1], "state", None)) in states
        ]


@dataclass
class _Originals:
    rows: dict[UUID, list[Original]]

    async def of(self, workspace: WorkspaceRef, document_id: UUID) -> list[Original]:
        return self.rows.get(document_id, []) if workspace == REF else []


@dataclass
class FakeRuns:
    rows: dict[UUID, Run] = field(default_factory=lambda: {numbered(500): a_run()})

    async def get(self, principal: Principal, workspace: WorkspaceRef, run_id: UUID) -> Run | None:
        return self.rows.get(run_id) if workspace == REF else None

    async def page(
        self, principal: Principal, workspace: WorkspaceRef, request: PageRequest, wanted: RunFilter
    ) -> Page[Run]:
        return await _Rows(self._admitted(wanted)).page(workspace, request)

    async def count(self, principal: Principal, workspace: WorkspaceRef, wanted: RunFilter) -> int:
        return len(self._admitted(wanted)) if workspace == REF else 0

    def _admitted(self, wanted: RunFilter) -> dict[UUID, Run]:
        return {key: run for key, run in self.rows.items() if wanted.admits(run)}


@dataclass
class FakeBlobs:
    content: dict[str, bytes] = field(default_factory=dict)
    read: list[range] = field(default_factory=list)
    """The bytes that were asked for, a range each time."""

    async def stream(self, key: str, part: range | None = None) -> AsyncIterator[bytes]:
        if key not in self.content:
            raise NotFound("The original is gone.", code="ORIGINAL_MISSING")
        places = range(len(self.content[key])) if part is None else part
        self.read.append(places)
        for start in range(places.start, places.stop, 4):
            yield self.content[key][start : min(start + 4, places.stop)]

    async def keys(self, prefix: str) -> list[str]:
        return sorted(key for key in self.content if key.startswith(prefix))

    async def has_folder(self, prefix: str) -> bool:
        return True


@dataclass
class FakeDelete:
    stores: FakeStores

    async def run(self, workspace: WorkspaceRef, document_id: UUID, actor: str = "") -> Deletion:
        if workspace != REF or self.stores.documents.pop(document_id, None) is None:
            return Deletion(document_id, None, 0, 0)
        self.stores.deleted_by.append(actor)
        erasure = Erasure(document_id, 8, 1, 3, 3, 3, 5, 2, 0, 1, 4, 2)
        return Deletion(document_id, erasure, 2, 1, (), a_certificate(document_id))


@dataclass
class FakeProof:
    """Document 9 was erased, and everything that is stored is live."""

    stores: FakeStores

    async def run(self, workspace: WorkspaceRef, document_id: UUID) -> ErasureProof:
        if workspace == REF and document_id in self.stores.documents:
            live = Finding(
                "rag_documents", "DOCUMENT_LIVE", Severity.ERROR, str(document_id), "It lives.", "Delete it."
            )
            return ErasureProof(document_id, None, (live,))
        if workspace == REF and document_id == numbered(9):
            return ErasureProof(document_id, a_certificate(document_id), ())
        raise NotFound("No such document.", code="DOCUMENT_NOT_FOUND")


@dataclass
class FakeReingest:
    stores: FakeStores

    async def run(self, workspace: WorkspaceRef, document_id: UUID, actor: str, *, force: bool = False) -> Reingestion:
        document = self.stores.documents.get(document_id) if workspace == REF else None
        if document is None:
            raise NotFound("No such document.", code="DOCUMENT_NOT_FOUND")
        if document.content_hash is None:
            raise Permanent("Nothing is kept.", code="ORIGINAL_MISSING")
        return Reingestion(replace(document, status=DocumentStatus.PENDING), JobRef(REF, numbered(901)), not force)


@dataclass
class FakeSwitch:
    """One space that answers, and at most one that is being filled."""

    filling: SpaceRecord | None = None
    gate: RecallGate | None = None

    async def spaces(self, workspace: WorkspaceRef) -> list[SpaceRecord]:
        active = SpaceRecord(RegisteredSpace(1, A_SPACE), SpaceState.ACTIVE, 3, 3, NOW)
        return [active, *([self.filling] if self.filling else [])]

    async def begin(self, workspace: WorkspaceRef, to: str, gate: RecallGate | None, actor: str) -> SwitchStart:
        choice = parse_choice(to)
        space = EmbeddingSpace(choice.provider, choice.model or "m", choice.dimensions or 8)
        self.filling, self.gate = SpaceRecord(RegisteredSpace(2, space), SpaceState.FILLING, 0, 3, NOW), gate
        return SwitchStart(self.filling, JobRef(workspace, numbered(901)), None)

    async def cancel(self, workspace: WorkspaceRef, actor: str) -> SpaceRecord:
        if self.filling is None:
            raise NotFound("No switch is under way.", code="SWITCH_NOT_FOUND")
        called_off, self.filling = replace(self.filling, state=SpaceState.ABANDONED, drop_after=NOW), None
        return called_off


@dataclass
class FakeIdentity:
    tokens: Mapping[str, Principal] = field(default_factory=lambda: TOKENS)

    async def authenticate(self, token: str) -> Principal:
        if token not in self.tokens:
            raise Unauthenticated("The token is not valid.")
        return self.tokens[token]


@dataclass
class NoLimits:
    """Lets every request pass, and remembers what each was."""

    demands: list[Demand] = field(default_factory=list)

    async def admit(self, principal: Principal, demand: Demand) -> None:
        self.demands.append(demand)


@dataclass
class Container:
    """A wired process for tests."""

    options: ServerOptions = field(default_factory=lambda: ServerOptions(enabled=True))
    admission: Any = field(default_factory=NoLimits)
    spend_code: Any = None
    answer: FakeAnswer = field(default_factory=FakeAnswer)
    switch_spaces: FakeSwitch = field(default_factory=FakeSwitch)
    database: Any = field(default_factory=FakeStores)
    dead_letters: Any = None
    dead_payloads: Any = None
    read_chunk: Any = None
    job_board: Any = None
    attachments: Any = None
    read_runs: Any = field(default_factory=FakeRuns)
    blobs: Any = field(default_factory=FakeBlobs)
    identity: FakeIdentity = field(default_factory=FakeIdentity)
    telemetry: Any = field(default_factory=RecordingTelemetry)
    clock: SystemClock = field(default_factory=SystemClock)
    ids: RandomIds = field(default_factory=RandomIds)
    checks: Mapping[str, Callable[[], Awaitable[None]]] = field(default_factory=dict)
    closed: bool = False
    evaluations: Any = None
    calibrate_support: Any = None
    calibrate_similarity: Any = None
    take_snapshot: Any = None
    explain: Any = None
    gate: Any = None
    feedback: Any = None
    report_profile: Any = None
    provider_keys: Any = None
    spending: Any = None
    change_models: Any = None
    cache: Any = None
    threads: Any = None

    @property
    def administer(self) -> Administer:
        return Administer(self.database, self.ids, self.telemetry)

    @property
    def api_keys(self) -> ManageApiKeys:
        return ManageApiKeys(self.database, self.clock, self.ids, self.telemetry)

    @property
    def delete(self) -> FakeDelete:
        return FakeDelete(self.database)

    @property
    def document_access(self) -> DocumentAccess:
        return DocumentAccess(self.database, self.telemetry)

    @property
    def prove_erasure(self) -> FakeProof:
        return FakeProof(self.database)

    @property
    def request_erasure(self) -> RequestErasure:
        return RequestErasure(self.database, self.telemetry)

    @property
    def prove_workspace_erasure(self) -> ProveWorkspaceErasure:
        return ProveWorkspaceErasure(self.database, self.cache, self.blobs)

    @property
    def reingest(self) -> FakeReingest:
        return FakeReingest(self.database)

    async def aclose(self) -> None:
        self.closed = True


schema_of = cache(build_schema)
"""One for all tests, since to build it takes longer than most of them. It keeps what documents parse to."""


def client(parts: Any, token: str | None = "admin-token") -> httpx2.AsyncClient:
    """A client of the application in this process over `parts`, doubles of `ServerParts`."""
    headers = {"authorization": f"Bearer {token}"} if token else {}
    transport = httpx2.ASGITransport(app=build_app(parts, schema_of(introspection=parts.options.introspection)))
    return httpx2.AsyncClient(transport=transport, base_url="http://test", headers=headers)


async def query(
    parts: Any, text: str, variables: dict[str, Any] | None = None, token: str | None = "admin-token"
) -> dict[str, Any]:
    """The JSON answer to a GraphQL document sent by POST."""
    async with client(parts, token) as http:
        response = await http.post("/graphql", json={"query": text, "variables": variables})
    return response.json()

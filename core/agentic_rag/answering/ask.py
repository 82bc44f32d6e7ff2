"""The use case behind `ragAnswer`: validate, look the answer up, or run the state machine once for all who ask."""

from __future__ import annotations

from dataclasses import dataclass, replace

from agentic_rag.answering.answer import Answer
from agentic_rag.answering.assemble import is_cacheable
from agentic_rag.answering.options import AnswerDefaults, effective, validate
from agentic_rag.answering.ports import AnswerCache, RunStore
from agentic_rag.answering.query.gate import HEURISTIC_WEIGHTS
from agentic_rag.answering.query.standalone import turn_of
from agentic_rag.answering.question import MAX_HISTORY_TURNS, CacheMode, Question
from agentic_rag.answering.run import CacheOutcome, Run, RunVersions, StageRecord
from agentic_rag.answering.run_stages import PipelineResult, RunPipeline
from agentic_rag.answering.run_state import RunState
from agentic_rag.answering.runs.cache_entry import TenantGuard, decode_entry
from agentic_rag.answering.runs.cache_key import AnswerContext, answer_key, input_hash
from agentic_rag.answering.runs.read import ReadRuns
from agentic_rag.answering.runs.record import CacheFill, RunRecorder
from agentic_rag.answering.state_machine import PIPELINE_VERSION
from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.concurrency import SingleFlight
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.deadline import Deadline
from agentic_rag.kernel.dependency import Dependency
from agentic_rag.kernel.errors import IdempotencyConflict, NotFound
from agentic_rag.kernel.ids import Ids
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.kernel.text import fold_text, strip_unstorable
from agentic_rag.models.embedding.ports import EmbedderSource
from agentic_rag.models.embedding.space import EmbeddingSpace
from agentic_rag.models.providers.llm_client import LlmClients
from agentic_rag.tenancy.access import read_identity
from agentic_rag.tenancy.principals import Principal, WorkspaceRef
from agentic_rag.workspaces.corpus_head import CorpusHead

DEFAULT_TTL_SECONDS = 900


@dataclass(frozen=True, slots=True)
class AnswerPorts:
    """What answering reaches the world through."""

    database: Database
    cache: AnswerCache
    runs: RunStore
    embedders: EmbedderSource
    telemetry: Telemetry
    clock: Clock
    ids: Ids


@dataclass(frozen=True, slots=True)
class _AskRequest:
    """A request under way: when it began and under which trace and key."""

    question: Question
    sent: bytes | None
    """The hash of the request as it came; None without an idempotency key."""
    principal: Principal
    began: float
    trace_id: str
    context: AnswerContext
    key: str
    version: int
    """The newest corpus version at that time."""
    space: EmbeddingSpace
    """The space that answered then."""


class AnswerQuestion:
    """Answers questions over one workspace's documents."""

    def __init__(
        self,
        ports: AnswerPorts,
        pipeline: RunPipeline,
        recorder: RunRecorder,
        defaults: AnswerDefaults,
        *,
        advisors: LlmClients | None = None,
        ttl_seconds: int = DEFAULT_TTL_SECONDS,
    ) -> None:
        self._ports = ports
        self._pipeline = pipeline
        self._recorder = recorder
        self._defaults = defaults
        self._fingerprint = defaults.fingerprint
        self._advisors = advisors
        self._ttl = ttl_seconds
        self._reading = ReadRuns(ports.database, ports.runs)
        self._flights: SingleFlight[PipelineResult] = SingleFlight()
        self._wall = TenantGuard(ports.telemetry)

    async def ask(self, principal: Principal, question: Question) -> Run:
        """Answer a question. Abstaining is an outcome; what makes answering impossible is an error.

        Errors: `InvalidInput` (QUESTION_EMPTY, QUESTION_TOO_LONG, HISTORY_TOO_LONG, OPTION_OUT_OF_RANGE,
        AS_OF_UNAVAILABLE, EMBEDDING_MODEL_UNKNOWN), `MissingProviderKey` before any work, `NotFound`
        (WORKSPACE_NOT_FOUND, RUN_NOT_FOUND), `IdempotencyConflict`, `DependencyUnavailable`, `SpaceMismatch`.
        """
        validate(question)
        with self._ports.telemetry.span("rag.run") as span:
            run = await self._ask(principal, question, span.trace_id)
            span.set("rag.run.id", str(run.run_id))
            span.set("rag.run.cache", run.cache.value)
        self._ports.telemetry.count("rag_runs_total", outcome=run.answer.outcome.value)
        self._ports.telemetry.count("rag_cache_requests_total", outcome=run.cache.value)
        return run

    async def _ask(self, principal: Principal, question: Question, trace_id: str) -> Run:
        began = self._ports.clock.monotonic()
        head = await self._head(principal, question)
        sent: bytes | None = None
        if question.idempotency_key is not None:
            sent = input_hash(question)
            stored = await self._find_stored_run(principal, question.workspace, question.idempotency_key, sent)
            if stored is not None:
                return stored
        question = await self._resolve_follow_up(principal, question)
        embedders = await self._ports.embedders.of(question.workspace)
        space = head.space or embedders.default.space
        version = head.version if question.as_of is None else question.as_of
        context = self._context(version, space, head, await self._chat_models(question.workspace))
        key = answer_key(question, context)
        begun = _AskRequest(question, sent, principal, began, trace_id, context, key, head.version, space)
        cache_down = False
        if question.options.cache is CacheMode.DEFAULT:
            cached = await self._read_cache(begun)
            if cached is not None:
                return await self._keep(
                    begun, self._run_of(begun, cached, CacheOutcome.HIT, self._versions(context)), None
                )
            cache_down = not self._ports.cache.available
        return await self._run_uncached_question(begun, cache_down)

    async def _head(self, principal: Principal, question: Question) -> CorpusHead:
        """The newest version, and its space, of a workspace of the caller's organisation."""
        head: CorpusHead | None = None
        if question.workspace.org_id == principal.org_id:
            head = await self._ports.database.head(question.workspace, read_identity(principal))
        if head is None:
            raise NotFound("There is no such workspace.", code="WORKSPACE_NOT_FOUND")
        return head

    async def _resolve_follow_up(self, principal: Principal, question: Question) -> Question:
        """The question with the run it follows, as far as the caller may see it, as its last turn.

        Errors: `NotFound` code RUN_NOT_FOUND.
        """
        if question.after is None:
            return question
        run = self._recorder.find(question.workspace, question.after)
        run = run or await self._ports.runs.get(question.workspace, question.after)
        run = None if run is None else await self._reading.redact_for(principal, run)
        if run is None:
            raise NotFound(
                "There is no such run in this workspace, or none any more. Send the turns as `history` instead.",
                code="RUN_NOT_FOUND",
            )
        return replace(question, history=(*question.history, turn_of(run))[-MAX_HISTORY_TURNS:], after=None)

    async def _find_stored_run(
        self, principal: Principal, workspace: WorkspaceRef, key: str, sent: bytes | None
    ) -> Run | None:
        """The run an idempotency key stands for; a key of somebody else's stands for another question. Errors:
        `IdempotencyConflict`.
        """
        stored = await self._ports.runs.by_idempotency_key(workspace, key)
        if stored is None:
            return None
        if stored.input_hash != sent or stored.subject != principal.subject:
            raise IdempotencyConflict(
                "The idempotency key was used before with another question or other options. Use a fresh key.",
                path=("idempotencyKey",),
            )
        return await self._reading.redact_for(principal, stored)

    async def _chat_models(self, workspace: WorkspaceRef) -> tuple[str, ...]:
        advisor = None if self._advisors is None else await self._advisors.client_for(workspace)
        return () if advisor is None else (advisor.model,)

    def _context(
        self, version: int, space: EmbeddingSpace, head: CorpusHead, chat_models: tuple[str, ...]
    ) -> AnswerContext:
        return AnswerContext(
            access=head.access,
            corpus_version=version,
            graph_version=version,
            space=space.name,
            weights_version=HEURISTIC_WEIGHTS.version,
            pipeline_version=PIPELINE_VERSION,
            models=(space.model, *chat_models),
            model_reads_history=bool(chat_models),
            defaults=self._fingerprint,
            support_threshold=head.support_threshold,
            rag_config=head.rag_config,
            today=self._ports.clock.now().date(),
        )

    async def _read_cache(self, begun: _AskRequest) -> Answer | None:
        waiting = self._recorder.filling(begun.question.workspace, begun.key)
        if waiting is not None:
            return waiting
        value = await self._ports.cache.get(begun.question.workspace, begun.key)
        if value is None:
            return None
        try:
            owner, answer = decode_entry(value)
        except ValueError:
            self._ports.telemetry.event("rag_cache_entry_unreadable")
            return None
        return answer if self._wall.check_owner(begun.question.workspace, owner, "answer cache") else None

    async def _run_uncached_question(self, begun: _AskRequest, cache_down: bool) -> Run:
        options = begun.question.options
        if options.cache is CacheMode.BYPASS:
            answered, joined = await self._pipeline.run(self._first_state(begun)), False
        else:
            answered, joined = await self._run_or_join(begun)
        answer = answered.answer
        if cache_down:
            answer = replace(answer, degraded=(Dependency.CACHE, *answer.degraded))
        outcome = CacheOutcome.JOINED if joined else CacheOutcome.MISS
        if options.cache is CacheMode.BYPASS:
            outcome = CacheOutcome.BYPASS
        else:
            self._note_decision(answer)
        versions = self._versions(_as_read(begun.context, answered))
        run = self._run_of(begun, answer, outcome, versions, answered.stages)
        return await self._keep(begun, run, None if joined else self._fill(begun, answered, answer))

    async def _run_or_join(self, begun: _AskRequest) -> tuple[PipelineResult, bool]:
        """A run of one's own, or that of somebody who asked the same at the same time and may read the same. Rights may
        have changed before it read: what it saw then is only for who may still read the same.
        """
        options, workspace = begun.question.options, begun.question.workspace
        flight = (workspace, begun.key, options.cache, options.timeout_ms)
        answered, joined = await self._flights.run(flight, lambda: self._pipeline.run(self._first_state(begun)))
        if joined and not (
            self._wall.check_owner(workspace, answered.workspace, "shared run")
            and answered.access in (None, begun.context.access)
        ):
            return await self._pipeline.run(self._first_state(begun)), False
        return answered, joined

    def _first_state(self, begun: _AskRequest) -> RunState:
        context = begun.context
        options = effective(begun.question.options, self._defaults, context.support_threshold, context.rag_config)
        return RunState(
            question=begun.question,
            text=fold_text(begun.question.text),
            readers=read_identity(begun.principal),
            corpus_version=begun.context.corpus_version,
            options=options,
            deadline=Deadline(begun.began + options.timeout_ms / 1000),
            space=begun.space,
        )

    def _note_decision(self, answer: Answer) -> None:
        gate = answer.gate
        self._ports.telemetry.count(
            "rag_gate_decisions_total", plan_type=gate.plan_type, model_version=gate.weights_version
        )
        self._ports.telemetry.event(
            "rag_directives_evaluated",
            plan_type=gate.plan_type,
            score=gate.score,
            use_retrieval=gate.directives.use_retrieval,
            downgrades="; ".join(one.reason for one in gate.downgrades) or None,
        )

    def _fill(self, begun: _AskRequest, answered: PipelineResult, answer: Answer) -> CacheFill | None:
        """What to cache: under the version that was read (a publish may have come between), and only when the graph
        stood at it.
        """
        if begun.question.options.cache is CacheMode.BYPASS or answered.hurried or not is_cacheable(answer):
            return None
        if answered.graph_version != answered.corpus_version:
            return None
        key = begun.key
        if (answered.corpus_version, answered.access or begun.context.access) != (
            begun.context.corpus_version,
            begun.context.access,
        ):
            key = answer_key(begun.question, _as_read(begun.context, answered))
        seen = max(begun.version, answered.corpus_version)
        return CacheFill(begun.question.workspace, key, answer, self._ttl, seen)

    def _versions(self, context: AnswerContext) -> RunVersions:
        return RunVersions(
            corpus_version=context.corpus_version,
            graph_version=context.graph_version,
            space=context.space,
            weights_version=context.weights_version,
            pipeline_version=context.pipeline_version,
            models=context.models,
        )

    def _run_of(
        self,
        begun: _AskRequest,
        answer: Answer,
        cache: CacheOutcome,
        versions: RunVersions,
        stages: tuple[StageRecord, ...] = (),
    ) -> Run:
        question = begun.question
        return Run(
            workspace=question.workspace,
            run_id=self._ports.ids.new(),
            trace_id=begun.trace_id,
            question=strip_unstorable(question.text),
            subject=begun.principal.subject,
            created_at=self._ports.clock.now(),
            seconds=self._ports.clock.monotonic() - begun.began,
            cache=cache,
            versions=versions,
            answer=answer,
            stages=stages,
            idempotency_key=question.idempotency_key,
            input_hash=begun.sent,
        )

    async def _keep(self, begun: _AskRequest, run: Run, fill: CacheFill | None) -> Run:
        """Store the run behind the response, or before it when an idempotency key promises that it is kept."""
        if run.idempotency_key is None:
            self._recorder.submit(run, fill)
            return run
        await self._ports.runs.record([run], durable=True)
        if fill is not None:
            self._recorder.fill(fill)
        # Of equal requests under way at once the store keeps the first; all of them return that one.
        return await self._find_stored_run(begun.principal, run.workspace, run.idempotency_key, run.input_hash) or run


def _as_read(context: AnswerContext, answered: PipelineResult) -> AnswerContext:
    """The context of what was read in the end: a publish or a switch may have come between."""
    return replace(
        context,
        access=answered.access or context.access,
        corpus_version=answered.corpus_version,
        graph_version=answered.graph_version,
        space=answered.space.name,
        models=(answered.space.model, *context.models[1:]),
    )

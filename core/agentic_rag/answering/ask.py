"""The use case behind `ragAnswer`: validate, look the answer up, or run the stages once for all who ask the same."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from uuid import UUID

from agentic_rag.answering.assemble import assemble, is_cacheable
from agentic_rag.answering.feedback.notice import NoticeFeedback
from agentic_rag.answering.gate.tell_decision import tell_decision
from agentic_rag.answering.gate.weights import weights_for
from agentic_rag.answering.lazy_snapshot import LazySnapshot
from agentic_rag.answering.live.events import RunEvent, RunEventKind, RunFeed, Watch, without_text
from agentic_rag.answering.live.running import RunningRuns
from agentic_rag.answering.options import AnswerDefaults, effective, validate
from agentic_rag.answering.ports import AnswerCache, RunStore, UnitReader
from agentic_rag.answering.question import CacheMode, Question
from agentic_rag.answering.run import CacheOutcome, EncodedAnswer, Run, RunVersions, StageRecord
from agentic_rag.answering.run_state import RunState
from agentic_rag.answering.runs.ask_request import AskRequest, PipelineResult, context_read
from agentic_rag.answering.runs.cache_entry import TenantGuard, decode_entry
from agentic_rag.answering.runs.cache_key import AnswerContext, answer_key, input_hash
from agentic_rag.answering.runs.read import ReadRuns
from agentic_rag.answering.runs.record import CacheFill, RunRecorder
from agentic_rag.answering.runs.tell_run import tell_run
from agentic_rag.answering.shapes.kind_threshold import threshold_for
from agentic_rag.answering.stages.stage import StageStep, record_stage, run_within
from agentic_rag.answering.stages.stall_watch import StallWatch, is_cut_short
from agentic_rag.answering.state_machine import PIPELINE_VERSION, Stage, StageEvent, next_stage, stage_seconds
from agentic_rag.answering.understood_question import understand
from agentic_rag.kernel.clock import Clock, Deadline
from agentic_rag.kernel.concurrency import SingleFlight, WaitingRoom
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.dependency import Dependency
from agentic_rag.kernel.errors import AgenticRagError, DependencyUnavailable, NotFound, no_such_workspace
from agentic_rag.kernel.ids import Ids
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.kernel.text import strip_unstorable
from agentic_rag.models.embedding.ports import EmbedderSource
from agentic_rag.models.embedding.space import EmbeddingSpace
from agentic_rag.models.providers.llm_client import LlmClients
from agentic_rag.tenancy.access import read_identity
from agentic_rag.tenancy.principals import Principal, WorkspaceRef
from agentic_rag.tenancy.shown_versions import find_version
from agentic_rag.workspaces.workspace import CorpusHead

DEFAULT_TTL_SECONDS = 900

RUN_UNITS, MODEL_RUN_UNITS = 8, 1
"""Units of the waiting room: a run by rules computes and reads all the time, one with a chat model mostly waits."""


@dataclass(frozen=True, slots=True)
class AnswerPorts:
    """The outside of answering."""

    database: Database
    cache: AnswerCache
    runs: RunStore
    embedders: EmbedderSource
    telemetry: Telemetry
    clock: Clock
    ids: Ids
    reader: UnitReader | None = None
    """None where none is installed: the units' own scores decide."""


class AnswerQuestion:
    """Answers questions over the documents of a workspace; with `is_dry` nobody is told what the gate decided."""

    def __init__(
        self,
        ports: AnswerPorts,
        stages: Mapping[Stage, StageStep],
        recorder: RunRecorder,
        defaults: AnswerDefaults,
        *,
        room: WaitingRoom,
        llm_clients: LlmClients | None = None,
        noticed: NoticeFeedback | None = None,
        ttl_seconds: int = DEFAULT_TTL_SECONDS,
        is_dry: bool = False,
    ) -> None:
        self._ports = ports
        self._is_dry = is_dry
        self._room = room
        self._stages = stages
        self._recorder = recorder
        self._defaults = defaults
        self._fingerprint = defaults.fingerprint
        self._llm_clients = llm_clients
        self._noticed = noticed
        self._ttl = ttl_seconds
        self._runs = ReadRuns(ports.database, ports.runs, ports.clock, recorder)
        self._flights: SingleFlight[PipelineResult] = SingleFlight()
        self._feeds: dict[Hashable, RunFeed] = {}
        self._running = RunningRuns()
        self._guard = TenantGuard(ports.telemetry)

    async def ask(self, principal: Principal, question: Question, watch: Watch | None = None) -> Run:
        """Answer a question, and tell `watch` how it goes. Abstaining is an outcome; what makes answering impossible is
        an error.

        Errors: `InvalidInput` (QUESTION_EMPTY, QUESTION_TOO_LONG, HISTORY_TOO_LONG, OPTION_OUT_OF_RANGE,
        AS_OF_UNAVAILABLE, EMBEDDING_MODEL_UNKNOWN), `MissingProviderKey` before any work, `NotFound`
        (WORKSPACE_NOT_FOUND, RUN_NOT_FOUND, THREAD_NOT_FOUND), `IdempotencyConflict`, `DependencyUnavailable`,
        `SpaceMismatch`, `Overloaded`, `RunCancelled`.
        """
        validate(question)
        telemetry, run_id, stalls = self._ports.telemetry, self._ports.ids.new(), StallWatch(self._ports.clock)
        if watch is not None:
            watch(RunEvent(RunEventKind.RUN_STARTED, run_id=run_id))
        with telemetry.bind(run_id=str(run_id)), telemetry.span("rag.run") as span, stalls:
            async with self._running.enter(run_id, question.workspace, principal.subject_id):
                request = await self._prepare(principal, question, run_id, span.trace_id, stalls)
                run = request if isinstance(request, Run) else await self._answer(request, watch)
            span.set("rag.run.id", str(run.run_id))
            span.set("rag.run.cache", run.cache.value)
            tell_run(telemetry, run)
        if self._noticed is not None:
            self._noticed.asked(run, question.after if isinstance(request, Run) else request.earlier.follows)
        return run

    async def settle(self) -> None:
        """Wait until the runs under way at the call have ended and are handed to the recorder."""
        await self._running.settle()

    async def cancel(self, principal: Principal, workspace: WorkspaceRef, run_id: UUID) -> bool:
        """Stop a run that goes on in this process; False for one that has ended. Errors: `NotFound` code
        RUN_NOT_FOUND, for a run that is not there or that somebody else asked for.
        """
        if self._running.cancel(principal, workspace, run_id):
            return True
        if await self._runs.get(principal, workspace, run_id) is None:
            raise NotFound("There is no such run.", code="RUN_NOT_FOUND")
        return False

    async def _answer(self, request: AskRequest, watch: Watch | None) -> Run:
        """The answer from the cache, or else by the stages."""
        mode = request.question.asked.options.cache
        if mode is CacheMode.DEFAULT and (cached := await self._read_cache(request)) is not None:
            hit = self._run_of(request, request.context, cached, CacheOutcome.HIT)
            return await self._keep(request, hit, None)
        cache_down = mode is CacheMode.DEFAULT and not self._ports.cache.available
        if mode is CacheMode.BYPASS:
            with request.feed.watched(watch):
                result, outcome = await self._run_stages(request), CacheOutcome.BYPASS
        else:
            result, outcome = await self._share_stages(request, watch)
        return await self._finish(request, result, outcome, cache_down=cache_down)

    async def _share_stages(self, request: AskRequest, watch: Watch | None) -> tuple[PipelineResult, CacheOutcome]:
        """The stages' result, from the run of a caller who asked the same a moment ago where there is one."""
        asked = request.question.asked
        flight = (asked.workspace, request.key, asked.options.cache, asked.options.timeout_ms)
        feed = self._feeds[flight] if self._flights.is_under_way(flight) else request.feed
        self._feeds[flight] = feed
        try:
            with feed.watched(watch if feed is request.feed else without_text(watch)):
                result, is_joined = await self._flights.run(flight, lambda: self._run_stages(request))
        finally:
            if not self._flights.is_under_way(flight):
                self._feeds.pop(flight, None)
        if not is_joined:
            return result, CacheOutcome.MISS
        if self._may_share(request, result):
            return result, CacheOutcome.JOINED
        with request.feed.watched(watch):
            return await self._run_stages(request), CacheOutcome.MISS

    async def _prepare(
        self, principal: Principal, question: Question, run_id: UUID, trace: str, stalls: StallWatch
    ) -> AskRequest | Run:
        """The question with its context; the stored run of its idempotency key where there is one."""
        began = self._ports.clock.monotonic()
        head = await self._head(principal, question.workspace)
        sent = None if question.idempotency_key is None else input_hash(question)
        if question.idempotency_key is not None:
            key = principal.own_key(question.idempotency_key)
            question = replace(question, idempotency_key=key)
            stored = await self._runs.by_idempotency_key(principal, question.workspace, key, sent)
            if stored is not None:
                return stored
        followed = await self._runs.add_turns(principal, question)
        question = followed.question
        readers, then = read_identity(principal), question.as_of_time
        at = await find_version(self._ports.database, question.workspace, readers, question.as_of, then)
        understood = understand(replace(question, as_of=at))
        embedders = await self._ports.embedders.of(question.workspace)
        space = head.space or embedders.default.space
        llm = None if self._llm_clients is None else await self._llm_clients.client_for(question.workspace)
        version = head.version if at is None else at
        weights = weights_for(question.workspace.workspace_id, self._defaults.gate.trial).version
        context = self._context(version, space, head, () if llm is None else (llm.model,), weights)
        key, newest, earlier = answer_key(understood, context), head.version, followed.earlier
        return AskRequest(
            run_id, understood, principal, sent, began, trace, context, key, newest, space, stalls, earlier
        )

    async def _head(self, principal: Principal, workspace: WorkspaceRef) -> CorpusHead:
        """The newest version, and its space, of a workspace of the caller's organisation."""
        is_own = workspace.org_id == principal.org_id
        head = await self._ports.database.head(workspace, read_identity(principal)) if is_own else None
        if head is None:
            raise no_such_workspace()
        return head

    def _context(
        self, version: int, space: EmbeddingSpace, head: CorpusHead, chat_models: tuple[str, ...], weights: str
    ) -> AnswerContext:
        return AnswerContext(
            access=head.access,
            corpus_version=version,
            graph_version=version,
            space=space.name,
            weights_version=weights,
            pipeline_version=PIPELINE_VERSION,
            models=(space.model, *chat_models),
            model_reads_history=bool(chat_models),
            defaults=self._fingerprint,
            support_threshold=head.support_threshold,
            kind_thresholds=head.kind_thresholds,
            rag_config=head.rag_config,
            similarity_exponent=head.similarity_exponent,
            web=head.web,
            organisation_allows_web=head.organisation_allows_web,
            profiles=self._defaults.profiles,
            today=self._ports.clock.now().date(),
        )

    async def _read_cache(self, request: AskRequest) -> EncodedAnswer | None:
        workspace = request.question.asked.workspace
        if (waiting := self._recorder.filling(workspace, request.key)) is not None:
            return waiting
        if (value := await self._ports.cache.get(workspace, request.key)) is None:
            return None
        try:
            owner, cached = decode_entry(value)
        except ValueError:
            self._ports.telemetry.event("rag_cache_entry_unreadable", level="warning")
            return None
        return cached if self._guard.check_owner(workspace, owner, "answer cache") else None

    def _may_share(self, request: AskRequest, result: PipelineResult) -> bool:
        """True for the run of a caller who may read the same. Rights may have changed before that run read."""
        is_own = self._guard.check_owner(request.question.asked.workspace, result.workspace, "shared run")
        return is_own and result.access in (None, request.context.access)

    async def _run_stages(self, request: AskRequest) -> PipelineResult:
        """As `_walk_stages`. Where a session ended on the way (Postgres restarted), or a process without processor time
        cut the run short, it walks once more, over a new snapshot. A server that is away is not waited for twice.
        """
        result, code, reason = None, "PROCESS_STALLED", ""
        with request.stalls:
            try:
                result = await self._walk_stages(request)
            except DependencyUnavailable as error:
                if error.dependency != "postgres" or isinstance(error.__cause__, OSError | None):
                    raise
                code, reason = error.code, error.reason
        if result is not None and not (request.stalls.has_stalled and is_cut_short(result)):
            return result
        self._ports.telemetry.event("rag_read_repeated", code=code, reason=reason or None)
        return await self._walk_stages(replace(request, began=self._ports.clock.monotonic()))

    async def _walk_stages(self, request: AskRequest) -> PipelineResult:
        """From the gate to an answer, once there is room; the wait takes nothing of the run's time. Errors:
        `DependencyUnavailable`, `NotFound`, `InvalidInput`, `SpaceMismatch`, `Overloaded`.
        """
        ports, asked, came = self._ports, request.question.asked, self._ports.clock.monotonic()
        room = self._room.enter(MODEL_RUN_UNITS if request.context.model_reads_history else RUN_UNITS)
        records, stage, readers = list[StageRecord](), Stage.GATE, read_identity(request.principal)
        async with room, LazySnapshot(ports.database, asked.workspace, asked.as_of, readers) as reads:
            began = ports.clock.monotonic()
            state = self._first_state(request, began - came)
            while stage is not Stage.DONE:
                request.feed.tell_start(stage)
                with record_stage(stage, began, records, ports.telemetry, ports.clock) as ending:
                    seconds = stage_seconds(state.deadline, stage, ports.clock.monotonic())
                    result = await run_within(seconds, self._stages[stage], state, reads)
                    ending.outcome = result.outcome
                state = result.state.with_usage(stage.value, state.spent)
                if stage is Stage.EMBED and result.event is StageEvent.OUT_OF_TIME:
                    state = replace(state, degraded=(*state.degraded, Dependency.EMBEDDER))
                request.feed.tell_end(stage, records[-1], state)
                stage = next_stage(stage, result.event)
        state = state.settled
        if state.question.gate is None:
            raise AgenticRagError("A run ended without a decision of the gate.")
        retrieved = state.retrieved
        version = state.corpus_version if retrieved.corpus_version is None else retrieved.corpus_version
        return PipelineResult(
            workspace=asked.workspace,
            answer=assemble(state, state.question.gate),
            stages=tuple(records),
            corpus_version=version,
            graph_version=version if retrieved.graph_version is None else retrieved.graph_version,
            space=state.space,
            access=retrieved.access,
            evidence_truncated=retrieved.evidence_truncated,
        )

    def _first_state(self, request: AskRequest, waited: float) -> RunState:
        context = request.context
        options = effective(
            request.question.asked.options,
            self._defaults,
            threshold_for(request.question.text, context.support_threshold, context.kind_thresholds),
            context.rag_config,
            has_model=context.model_reads_history,
            similarity_exponent=context.similarity_exponent,
            gate=context.bound_gate(self._defaults.gate),
        )
        return RunState(
            question=request.question,
            readers=read_identity(request.principal),
            corpus_version=context.corpus_version,
            options=options,
            deadline=Deadline(request.began + waited + options.timeout_ms / 1000),
            space=request.space,
        )

    async def _finish(
        self, request: AskRequest, result: PipelineResult, outcome: CacheOutcome, *, cache_down: bool
    ) -> Run:
        """Record the run, and cache its answer when it is this caller's own."""
        lacking = (Dependency.CACHE,) if cache_down else ()
        answer = replace(result.answer, degraded=(*lacking, *result.answer.degraded))
        if not self._is_dry:
            tell_decision(self._ports.telemetry, answer.gate)
        now = self._ports.clock.now()
        for dated in (one.dated for one in answer.citations if one.dated is not None):
            self._ports.telemetry.observe("rag_document_age_seconds", max(0.0, (now - dated).total_seconds()))
        encoded, context = EncodedAnswer(answer), context_read(request.context, result)
        run = self._run_of(request, context, encoded, outcome, result.stages)
        fill = self._fill(request, result, encoded) if outcome is CacheOutcome.MISS else None
        return await self._keep(request, run, fill)

    def _fill(self, request: AskRequest, result: PipelineResult, encoded: EncodedAnswer) -> CacheFill | None:
        """The cache entry, under the version that was read: a publish may have come between. None for an answer that
        may be another next time, and where the graph was not at the version of the corpus.
        """
        is_cut = result.evidence_truncated or result.graph_version != result.corpus_version
        if is_cut or not is_cacheable(encoded.answer):
            return None
        context, key = request.context, request.key
        read = (result.corpus_version, result.access or context.access)
        if read != (context.corpus_version, context.access):
            key = answer_key(request.question, context_read(context, result))
        seen = max(request.newest_version, result.corpus_version)
        return CacheFill(request.question.asked.workspace, key, encoded, self._ttl, seen)

    def _run_of(
        self,
        request: AskRequest,
        context: AnswerContext,
        encoded: EncodedAnswer,
        cache: CacheOutcome,
        stages: tuple[StageRecord, ...] = (),
    ) -> Run:
        asked, answer = request.question.asked, encoded.answer
        if answer.debug.chat is not None and cache in (CacheOutcome.HIT, CacheOutcome.JOINED):
            answer = replace(answer, debug=replace(answer.debug, chat=None, usage=()))
        return Run(
            workspace=asked.workspace,
            run_id=request.run_id,
            trace_id=request.trace_id,
            question=strip_unstorable(asked.text),
            subject=request.principal.subject_id,
            created_at=self._ports.clock.now(),
            seconds=self._ports.clock.monotonic() - request.began,
            cache=cache,
            versions=RunVersions(
                corpus_version=context.corpus_version,
                graph_version=context.graph_version,
                space=context.space,
                weights_version=context.weights_version,
                pipeline_version=context.pipeline_version,
                models=context.models,
            ),
            answer=answer,
            stages=stages,
            idempotency_key=asked.idempotency_key,
            input_hash=request.input_hash,
            thread=request.run_id if asked.begins_thread else asked.thread,
            turns=request.earlier.turns,
            encoded=encoded,
        )

    async def _keep(self, request: AskRequest, run: Run, fill: CacheFill | None) -> Run:
        """Store the run behind the response, or before it for an idempotency key or the next question of a thread."""
        if (key := run.idempotency_key) is None and run.thread is None:
            self._recorder.submit(run, fill)
            return run
        await self._recorder.keep(run, fill)
        if key is None:
            return run
        # Of concurrent equal requests the store keeps the first run; all of them return it.
        return await self._runs.by_idempotency_key(request.principal, run.workspace, key, run.input_hash) or run

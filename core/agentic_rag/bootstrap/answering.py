"""Retrieval, and the answers made of it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property, partial
from types import MappingProxyType

from agentic_rag.adapters.onnx.reader_reranker import ReaderReranker
from agentic_rag.adapters.onnx.unit_reader import find_reader
from agentic_rag.adapters.redis.passages import RedisPassageExchange
from agentic_rag.adapters.web.first_use import FetcherAtFirstUse
from agentic_rag.answering.ask import AnswerPorts, AnswerQuestion
from agentic_rag.answering.build import FINDERS, ChatUse, answer_question, waiting_room
from agentic_rag.answering.context.prepare_context import PrepareContext
from agentic_rag.answering.context.search_passages import SearchPassages
from agentic_rag.answering.estimates.estimate_answer import EstimateAnswer, KeepsNothing
from agentic_rag.answering.estimates.uncalled_models import CallTally, UncalledClients, UncalledSource
from agentic_rag.answering.evidence.finder import EvidenceFinder
from agentic_rag.answering.feedback.give_feedback import GiveFeedback
from agentic_rag.answering.feedback.notice import NoticeFeedback
from agentic_rag.answering.gate.decide import GateRules
from agentic_rag.answering.gate.observe import ObserveGate
from agentic_rag.answering.gate.watch_outcomes import WatchOutcomes
from agentic_rag.answering.gate.weights import with_own_weights
from agentic_rag.answering.hyde.queued_passages import QueuedPassages
from agentic_rag.answering.hyde.write_passage import WritePassage
from agentic_rag.answering.options import AnswerDefaults
from agentic_rag.answering.outside import Outside
from agentic_rag.answering.ports import PassageExchange, UnitReader
from agentic_rag.answering.runs.cited_original import CitationAccess, FindCitedOriginal
from agentic_rag.answering.runs.explain import ExplainRun
from agentic_rag.answering.runs.read import ReadRuns
from agentic_rag.answering.runs.record import RunRecorder
from agentic_rag.answering.runs.replay import ReplayRun
from agentic_rag.answering.runs.show_page import ShowCitedPage
from agentic_rag.answering.saved.manage import ManageSaved
from agentic_rag.answering.saved.replay_saved import ReplaySaved
from agentic_rag.answering.stages.stage import StageStep
from agentic_rag.answering.state_machine import Stage
from agentic_rag.answering.threads.manage import ManageThreads
from agentic_rag.answering.tools.http_fetch import HttpFetch
from agentic_rag.answering.tools.tool import Tool
from agentic_rag.bootstrap.documents import DocumentParts
from agentic_rag.bootstrap.programs import reads_units
from agentic_rag.kernel.concurrency import WaitingRoom
from agentic_rag.kernel.telemetry import SilentTelemetry, Telemetry
from agentic_rag.models.embedding.ports import EmbedderSource
from agentic_rag.operations.leak_canaries import DiscardingRunStore
from agentic_rag.retrieval.fusion_options import FusionWeights
from agentic_rag.retrieval.graph.read_entities import ReadEntities
from agentic_rag.retrieval.measure_recall import MeasureRecall
from agentic_rag.retrieval.rerank import Rerank
from agentic_rag.retrieval.retrieve import Retrieve
from agentic_rag.web.fetch_policy import FetchPolicy
from agentic_rag.web.url_policy import parse_host_list
from agentic_rag.workspaces.web_profiles import PROFILES, with_own_profiles

RERANK_SECONDS = 0.5
"""The time of a reranker for one search, before the order stays as it was."""


class AnsweringParts(DocumentParts):
    """The rooms `retrieval` and `answering`."""

    @property
    def fusion_weights(self) -> FusionWeights:
        return FusionWeights(*self.settings.retrieval.shares)

    @cached_property
    def retrieve(self) -> Retrieve:
        return self._retrieve_told_to(self.telemetry)

    def _retrieve_told_to(self, telemetry: Telemetry) -> Retrieve:
        rerank = None if self._reranker is None else Rerank(self._reranker, RERANK_SECONDS, telemetry)
        reader = self._reader_reranker
        wished = None if reader is None else Rerank(reader, RERANK_SECONDS, telemetry)
        return Retrieve(telemetry, rerank=rerank, wished=wished)

    @cached_property
    def recall_check(self) -> MeasureRecall:
        return MeasureRecall(self.database, self.embedders)

    @cached_property
    def _recorder(self) -> RunRecorder:
        recorder = self._owned(RunRecorder(self.database, self.runs, self.cache, self.telemetry))
        self.memory.is_handed_to(recorder.drain)
        return recorder

    @cached_property
    def answer(self) -> AnswerQuestion:
        """The use case behind `ragAnswer`."""
        return self.build_answer()

    @cached_property
    def unrecorded_answer(self) -> AnswerQuestion:
        """The same by rules alone, so that no chat model is paid; its runs are not stored."""
        return self.build_answer(unrecorded=True)

    def build_answer(
        self,
        finders: tuple[EvidenceFinder, ...] = FINDERS,
        replaced: Mapping[Stage, StageStep] = MappingProxyType({}),
        *,
        unrecorded: bool = False,
    ) -> AnswerQuestion:
        """The same with other finders, or with stages in the place of its own: for measurements."""
        settings = self.settings.answering
        tasks = self.settings.models.tasks
        passages = QueuedPassages(
            self.database, self.queue, self._passage_exchange, self.clock, self.ids, self.telemetry
        )
        ports, recorder, defaults = self._answer_ports(self.embedders), self._recorder, self._answer_defaults
        if unrecorded:
            # A dry run is judged wherever runs are not.
            mode = "shadow" if defaults.gate.mode == "off" else defaults.gate.mode
            defaults = replace(defaults, gate=replace(defaults.gate, mode=mode))
            ports = replace(ports, runs=DiscardingRunStore())
            recorder = self._owned(RunRecorder(self.database, ports.runs, self.cache, self.telemetry))
            self.memory.is_handed_to(recorder.drain)
        answer = answer_question(
            ports,
            recorder,
            defaults,
            retrieve=self.retrieve,
            chat=None if unrecorded else ChatUse(self.embedders, tasks, passages),
            tools=self._tools,
            link_hosts=parse_host_list(settings.link_hosts),
            definitions=self.syntax_reader,
            ttl_seconds=settings.cache_ttl_seconds,
            finders=finders,
            replaced=replaced,
            room=self._room,
            outside=self._outside,
            noticed=None if unrecorded else self.noticed,
            is_dry=unrecorded,
        )
        self.memory.is_used_by(answer.settle)
        return answer

    @cached_property
    def estimate_answer(self) -> EstimateAnswer:
        """The use case behind `estimateAnswer`."""
        return EstimateAnswer(self._build_uncalled)

    def _build_uncalled(self, tally: CallTally) -> AnswerQuestion:
        silent = SilentTelemetry()
        clients = UncalledClients(self.embedders, tally)
        source = UncalledSource(self.embedders, self.settings.models.prices, tally)
        return answer_question(
            replace(self._answer_ports(source), telemetry=silent),
            KeepsNothing(self.database, self.runs, self.cache, silent),
            self._answer_defaults,
            retrieve=self._retrieve_told_to(silent),
            chat=ChatUse(clients, self.settings.models.tasks, clients),
            room=self._room,
        )

    @cached_property
    def _outside(self) -> Outside | None:
        """How runs look outside; the parts above know."""
        return None

    @cached_property
    def _room(self) -> WaitingRoom:
        room = waiting_room(self.settings.stores.database_pool_size)
        self.memory.is_used_by(room.settle)
        return room

    @cached_property
    def read_entities(self) -> ReadEntities:
        return ReadEntities(self.database, self.telemetry)

    @cached_property
    def search(self) -> SearchPassages:
        """The use case behind `searchPassages`."""
        return SearchPassages(
            self.database, self.embedders, self.retrieve, self._answer_defaults, self._room, self.telemetry
        )

    @cached_property
    def context(self) -> PrepareContext:
        """The use case behind `context`."""
        return PrepareContext(self.database, self.search, self.telemetry)

    @cached_property
    def _answer_defaults(self) -> AnswerDefaults:
        settings = self.settings.answering
        by_rules, by_model = settings.budget_ms
        mode, trial = settings.gate
        return AnswerDefaults(
            top_k=settings.top_k,
            use_hyde=settings.use_hyde,
            use_tools=settings.use_tools,
            timeout_ms=by_rules,
            model_timeout_ms=by_model,
            weights=self.fusion_weights,
            support_threshold=settings.min_support,
            chat=" ".join(sorted(task.value for task in self.settings.models.tasks)),
            reranker=None if self._reranker is None else self._reranker.name,
            wished_reranker=None if self._reader_reranker is None else self._reader_reranker.name,
            gate=GateRules(
                mode=mode,
                trial=None if trial is None else with_own_weights(trial, self.settings.stores.state_home / "gate"),
                can_search=settings.engine is not None,
                can_crawl=settings.engine is not None,
            ),
            outside=f"{settings.enable_http_fetch} {settings.link_hosts}",
            profiles=with_own_profiles(self.settings.stores.state_home / "profiles", PROFILES),
        )

    def _answer_ports(self, embedders: EmbedderSource) -> AnswerPorts:
        return AnswerPorts(
            self.database, self.cache, self.runs, embedders, self.telemetry, self.clock, self.ids, self.unit_reader
        )

    @cached_property
    def unit_reader(self) -> UnitReader | None:
        """The shipped reader; None without onnxruntime, and beside the embedder that needs nothing installed."""
        reader = find_reader() if reads_units(self.settings) else None
        if reader is not None:
            # In a thread: it waits for a reading under way.
            self.memory.holds_late(partial(asyncio.to_thread, reader.drop))
        return reader

    @cached_property
    def _reader_reranker(self) -> ReaderReranker | None:
        """What workspaces may wish for (`RagConfig.rerank`); None without the reader."""
        return None if self.unit_reader is None else ReaderReranker(self.unit_reader)

    @property
    def _tools(self) -> tuple[Tool, ...]:
        """The tools that need ports, where they are switched on."""
        if not self.settings.answering.enable_http_fetch:
            return ()
        policy = FetchPolicy(parse_host_list(self.settings.answering.http_fetch_hosts))
        return (HttpFetch(FetcherAtFirstUse(policy).fetch, self.parser),)

    @cached_property
    def read_runs(self) -> ReadRuns:
        return ReadRuns(self.database, self.runs, self.clock, self._recorder)

    @cached_property
    def find_cited_original(self) -> FindCitedOriginal:
        return FindCitedOriginal(CitationAccess(self.read_runs, self.document_access), self.database)

    @cached_property
    def show_cited_page(self) -> ShowCitedPage:
        show = ShowCitedPage(
            self.read_runs,
            self.document_access,
            self.database,
            self.blobs,
            self._process_parser.render,
            self.memory.reading,
            self.telemetry,
            self.noticed,
        )
        self.memory.holds(lambda _: show.drop())
        return show

    @cached_property
    def gate(self) -> ObserveGate:
        """The use case behind `rag gate`."""
        return ObserveGate(
            self.database,
            self.gate_log,
            self.read_runs,
            lambda: self.unrecorded_answer,
            self._answer_defaults.gate,
            self.outcomes,
            None if self._outside is None else self._outside.share_left,
        )

    @cached_property
    def outcomes(self) -> WatchOutcomes:
        """What runs that look outside are worth."""
        by_rules, by_model = self.settings.answering.budget_ms
        budget = by_model if self.settings.models.tasks else by_rules
        deploy = self.settings.operations.deploy
        return WatchOutcomes(self.gate_log, self.clock, self.telemetry, deploy=deploy, budget_seconds=budget / 1000)

    @cached_property
    def noticed(self) -> NoticeFeedback:
        """What callers do after a run."""
        return self._owned(NoticeFeedback(self.gate_log, self.clock, self.telemetry))

    @cached_property
    def feedback(self) -> GiveFeedback:
        return GiveFeedback(self.gate_log, self.read_runs, self.clock, self.telemetry)

    @cached_property
    def threads(self) -> ManageThreads:
        return ManageThreads(self.database, self.telemetry, self.read_runs, self._recorder)

    @cached_property
    def saved(self) -> ManageSaved:
        return ManageSaved(self.database, self.read_runs, self.clock, self.ids)

    @cached_property
    def replay_saved(self) -> ReplaySaved:
        return ReplaySaved(self.database, self.read_runs, self.answer, self.clock, self.telemetry)

    @cached_property
    def replay(self) -> ReplayRun:
        return ReplayRun(self.database, self.read_runs, self.answer)

    @cached_property
    def explain(self) -> ExplainRun:
        seconds = self.settings.answering.budget_ms[0] / 1000
        return ExplainRun(self.database, self.read_runs, self.embedders, self.retrieve, seconds)

    @cached_property
    def _passage_exchange(self) -> PassageExchange:
        return self._owned(RedisPassageExchange(self.settings.stores.redis_url, prefix=self.key_prefix))

    @cached_property
    def write_passage(self) -> WritePassage:
        """The body of HYDE jobs."""
        return WritePassage(self._passage_exchange, self.embedders)

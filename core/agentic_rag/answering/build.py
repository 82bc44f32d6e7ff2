"""Wires the stages of a run to their ports: the one list of what a run does, in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agentic_rag.answering.ask import DEFAULT_TTL_SECONDS, AnswerPorts, AnswerQuestion
from agentic_rag.answering.options import AnswerDefaults
from agentic_rag.answering.ports import HypotheticalPassages
from agentic_rag.answering.query.rewrite import FINANCE_ALIASES
from agentic_rag.answering.run_stages import RunPipeline, StageRunner
from agentic_rag.answering.runs.record import RunRecorder
from agentic_rag.answering.stages.embed import EmbedStage
from agentic_rag.answering.stages.gate import GateStage
from agentic_rag.answering.stages.hyde import HydeStage
from agentic_rag.answering.stages.plan import PlanStage
from agentic_rag.answering.stages.plan_with_llm import LlmPlanStage
from agentic_rag.answering.stages.retrieve import RetrieveStage
from agentic_rag.answering.stages.rewrite import RewriteStage
from agentic_rag.answering.stages.self_check import SelfCheckStage
from agentic_rag.answering.stages.self_check_with_llm import LlmSelfCheckStage
from agentic_rag.answering.stages.stage import LlmOrRulesStage, SkippedStage, StageStep
from agentic_rag.answering.stages.synthesize import SynthesizeStage
from agentic_rag.answering.stages.synthesize_with_llm import LlmSynthesizeStage
from agentic_rag.answering.stages.tools import ToolsStage
from agentic_rag.answering.state_machine import Stage
from agentic_rag.answering.tools.http_fetch import HttpFetch
from agentic_rag.answering.verification.defang_links import NO_HOSTS
from agentic_rag.models.chat.request import ChatTask
from agentic_rag.models.providers.llm_client import LlmClients
from agentic_rag.retrieval.retrieve import Retrieve
from agentic_rag.web.url_policy import HostList


@dataclass(frozen=True, slots=True)
class ChatUse:
    """What chat models do for answers; `passages` writes for HyDE, wherever its model is."""

    llm_clients: LlmClients
    tasks: frozenset[ChatTask]
    passages: HypotheticalPassages


def answer_question(
    ports: AnswerPorts,
    recorder: RunRecorder,
    defaults: AnswerDefaults,
    *,
    retrieve: Retrieve | None = None,
    chat: ChatUse | None = None,
    aliases: Mapping[str, str] = FINANCE_ALIASES,
    http_fetch: HttpFetch | None = None,
    link_hosts: HostList = NO_HOSTS,
    ttl_seconds: int = DEFAULT_TTL_SECONDS,
) -> AnswerQuestion:
    """The use case with its stages; `http_fetch` where that tool is switched on. The caller closes `recorder`."""
    steps = (
        GateStage(),
        _planning(chat, PlanStage(fetches=http_fetch is not None)),
        RewriteStage(aliases),
        _passages(chat),
        EmbedStage(ports.embedders),
        RetrieveStage(retrieve or Retrieve(ports.telemetry), ports.embedders, ports.clock),
        SkippedStage(Stage.SEARCH, "off"),
        ToolsStage(http_fetch, ports.clock),
        _synthesis(chat),
        _checking(chat, SelfCheckStage(link_hosts)),
    )
    pipeline = RunPipeline(ports.database, ports.clock, StageRunner(ports.telemetry, ports.clock), steps)
    return AnswerQuestion(
        ports, pipeline, recorder, defaults, advisors=chat.llm_clients if chat else None, ttl_seconds=ttl_seconds
    )


def _passages(chat: ChatUse | None) -> StageStep:
    if chat is None:
        return HydeStage(None)
    written = HydeStage(chat.passages)
    return LlmOrRulesStage(HydeStage(None), lambda _: written, chat.llm_clients)


def _planning(chat: ChatUse | None, rules: PlanStage) -> StageStep:
    if chat is None or chat.tasks.isdisjoint((ChatTask.PLAN, ChatTask.REWRITE)):
        return rules
    tasks = chat.tasks
    return LlmOrRulesStage(rules, lambda advisor: LlmPlanStage(rules, advisor, tasks), chat.llm_clients)


def _synthesis(chat: ChatUse | None) -> StageStep:
    if chat is None or ChatTask.SYNTHESIZE not in chat.tasks:
        return SynthesizeStage()
    rules = SynthesizeStage()
    return LlmOrRulesStage(rules, lambda advisor: LlmSynthesizeStage(rules, advisor), chat.llm_clients)


def _checking(chat: ChatUse | None, rules: SelfCheckStage) -> StageStep:
    if chat is None or ChatTask.JUDGE not in chat.tasks:
        return rules
    return LlmOrRulesStage(rules, lambda advisor: LlmSelfCheckStage(rules, advisor), chat.llm_clients)

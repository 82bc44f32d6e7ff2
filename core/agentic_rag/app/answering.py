"""Wires the stages of a run to their ports: the one list of what a run does, in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agentic_rag.app.advisor import Advisors
from agentic_rag.app.answer import DEFAULT_TTL_SECONDS, AnswerPorts, AnswerQuestion
from agentic_rag.app.retrieve import Retrieve
from agentic_rag.app.run_pipeline import RunPipeline
from agentic_rag.app.run_recorder import RunRecorder
from agentic_rag.app.stage_runner import StageRunner
from agentic_rag.app.stages.advised import AdvisedStage
from agentic_rag.app.stages.embed import EmbedStage
from agentic_rag.app.stages.gate import GateStage
from agentic_rag.app.stages.hyde import HydeStage
from agentic_rag.app.stages.judged_self_check import JudgedSelfCheckStage
from agentic_rag.app.stages.model_plan import ModelPlanStage
from agentic_rag.app.stages.model_synthesize import ModelSynthesizeStage
from agentic_rag.app.stages.plan import PlanStage
from agentic_rag.app.stages.retrieve import RetrieveStage
from agentic_rag.app.stages.rewrite import RewriteStage
from agentic_rag.app.stages.self_check import SelfCheckStage
from agentic_rag.app.stages.skipped import SkippedStage
from agentic_rag.app.stages.stage import StageStep
from agentic_rag.app.stages.synthesize import SynthesizeStage
from agentic_rag.app.stages.tools import ToolsStage
from agentic_rag.app.tools.http_fetch import HttpFetch
from agentic_rag.domain.answer_options import AnswerDefaults
from agentic_rag.domain.chat import ChatTask
from agentic_rag.domain.live_links import NO_HOSTS
from agentic_rag.domain.netpolicy import HostList
from agentic_rag.domain.pipeline import Stage
from agentic_rag.domain.rewriting import FINANCE_ALIASES
from agentic_rag.ports.hypothetical_passages import HypotheticalPassages


@dataclass(frozen=True, slots=True)
class ChatUse:
    """What chat models do for answers; `passages` writes for HyDE, wherever its model is."""

    advisors: Advisors
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
        ports, pipeline, recorder, defaults, advisors=chat.advisors if chat else None, ttl_seconds=ttl_seconds
    )


def _passages(chat: ChatUse | None) -> StageStep:
    if chat is None:
        return HydeStage(None)
    written = HydeStage(chat.passages)
    return AdvisedStage(HydeStage(None), lambda _: written, chat.advisors)


def _planning(chat: ChatUse | None, rules: PlanStage) -> StageStep:
    if chat is None or chat.tasks.isdisjoint((ChatTask.PLAN, ChatTask.REWRITE)):
        return rules
    tasks = chat.tasks
    return AdvisedStage(rules, lambda advisor: ModelPlanStage(rules, advisor, tasks), chat.advisors)


def _synthesis(chat: ChatUse | None) -> StageStep:
    if chat is None or ChatTask.SYNTHESIZE not in chat.tasks:
        return SynthesizeStage()
    rules = SynthesizeStage()
    return AdvisedStage(rules, lambda advisor: ModelSynthesizeStage(rules, advisor), chat.advisors)


def _checking(chat: ChatUse | None, rules: SelfCheckStage) -> StageStep:
    if chat is None or ChatTask.JUDGE not in chat.tasks:
        return rules
    return AdvisedStage(rules, lambda advisor: JudgedSelfCheckStage(rules, advisor), chat.advisors)

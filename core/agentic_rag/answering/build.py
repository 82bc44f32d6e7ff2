"""Wires the stages of a run to their ports: the table of stages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from agentic_rag.answering.ask import DEFAULT_TTL_SECONDS, RUN_UNITS, AnswerPorts, AnswerQuestion
from agentic_rag.answering.cells.finder import TableCells
from agentic_rag.answering.evidence.finder import EvidenceFinder
from agentic_rag.answering.feedback.notice import NoticeFeedback
from agentic_rag.answering.figures.finder import FinancialFigures
from agentic_rag.answering.options import AnswerDefaults
from agentic_rag.answering.outside import Outside
from agentic_rag.answering.ports import HypotheticalPassages
from agentic_rag.answering.runs.record import RunRecorder
from agentic_rag.answering.stages.embed import EmbedStage
from agentic_rag.answering.stages.gate import DirectStage, GateStage
from agentic_rag.answering.stages.hyde import HydeStage
from agentic_rag.answering.stages.plan import LlmPlanStage, PlanStage
from agentic_rag.answering.stages.retrieve import RetrieveStage
from agentic_rag.answering.stages.rewrite import RewriteStage
from agentic_rag.answering.stages.self_check import LlmSelfCheckStage, SelfCheckStage
from agentic_rag.answering.stages.stage import LlmOrRulesStage, StageStep, TalliedStage
from agentic_rag.answering.stages.synthesize import SynthesizeStage
from agentic_rag.answering.stages.synthesize_with_llm import LlmSynthesizeStage
from agentic_rag.answering.stages.tools import ToolsStage
from agentic_rag.answering.state_machine import Stage
from agentic_rag.answering.tools.registry import switch_on
from agentic_rag.answering.tools.tool import Tool
from agentic_rag.answering.verification.defang_links import NO_HOSTS
from agentic_rag.kernel.concurrency import WaitingRoom
from agentic_rag.language.symbols import ReadDefinitions
from agentic_rag.models.chat.request import ChatTask
from agentic_rag.models.providers.llm_client import LlmClient, LlmClients
from agentic_rag.retrieval.retrieve import Retrieve
from agentic_rag.web.url_policy import HostList


@dataclass(frozen=True, slots=True)
class ChatUse:
    """The work of chat models in answers; `passages` writes for HyDE."""

    llm_clients: LlmClients
    tasks: frozenset[ChatTask]
    passages: HypotheticalPassages


AT_ONCE = 8
"""Questions that a process answers at a time by rules: the connections of its pool, each of which holds a snapshot."""

WAIT_SECONDS = 5.0
"""How long a question waits for room: with its own time of 10 s within the 30 s after which proxies give up."""

FINDERS: tuple[EvidenceFinder, ...] = (TableCells(), FinancialFigures())
"""The domains with evidence of their own. A new one is a file and a row here."""


def answer_question(
    ports: AnswerPorts,
    recorder: RunRecorder,
    defaults: AnswerDefaults,
    *,
    retrieve: Retrieve | None = None,
    chat: ChatUse | None = None,
    finders: tuple[EvidenceFinder, ...] = FINDERS,
    tools: tuple[Tool, ...] = (),
    link_hosts: HostList = NO_HOSTS,
    definitions: ReadDefinitions | None = None,
    ttl_seconds: int = DEFAULT_TTL_SECONDS,
    room: WaitingRoom | None = None,
    outside: Outside | None = None,
    noticed: NoticeFeedback | None = None,
    replaced: Mapping[Stage, StageStep] = MappingProxyType({}),
    is_dry: bool = False,
) -> AnswerQuestion:
    """The use case with its stages, or those of `replaced` in their place; `tools` are the tools that need ports;
    `finders` are the domains with evidence of their own; without `outside`, or with `is_dry`, runs only decide about
    the web. The caller closes `recorder`.
    """
    switched_on = switch_on(tools)
    stages: dict[Stage, StageStep] = {
        Stage.GATE: GateStage(),
        Stage.PLAN: PlanStage(switched_on),
        Stage.REWRITE: RewriteStage(),
        Stage.HYDE: HydeStage(None),
        Stage.EMBED: EmbedStage(ports.embedders),
        Stage.RETRIEVE: RetrieveStage(retrieve or Retrieve(ports.telemetry), ports.embedders, ports.clock, finders),
        Stage.TOOLS: ToolsStage(switched_on, ports.clock),
        Stage.SYNTHESIZE: SynthesizeStage(finders, ports.reader),
        Stage.SELF_CHECK: SelfCheckStage(link_hosts, definitions),
        Stage.SEARCH: DirectStage(ports.clock, ports.telemetry, outside, is_dry=is_dry),
    }
    llm_clients = None if chat is None else chat.llm_clients
    if chat is not None:
        stages |= _llm_stages(chat, stages)
    stages |= replaced
    return AnswerQuestion(
        ports,
        stages,
        recorder,
        defaults,
        room=room or waiting_room(),
        llm_clients=llm_clients,
        noticed=noticed,
        ttl_seconds=ttl_seconds,
        is_dry=is_dry,
    )


def waiting_room(at_once: int = AT_ONCE) -> WaitingRoom:
    """The room of a process's questions and searches: as many may wait as are answered in about the time that they
    wait.
    """
    return WaitingRoom(at_once * RUN_UNITS, places=8 * at_once, seconds=WAIT_SECONDS)


def _llm_stages(chat: ChatUse, rules: Mapping[Stage, StageStep]) -> dict[Stage, StageStep]:
    """The stages in which a chat model works, each over its stage by rules."""
    tasks = chat.tasks
    plan, synthesize, self_check = rules[Stage.PLAN], rules[Stage.SYNTHESIZE], rules[Stage.SELF_CHECK]
    by_llm: dict[Stage, Callable[[LlmClient], StageStep]] = {}
    if tasks & {ChatTask.PLAN, ChatTask.REWRITE}:
        by_llm[Stage.PLAN] = lambda llm: LlmPlanStage(plan, llm, tasks)
    if ChatTask.SYNTHESIZE in tasks:
        by_llm[Stage.SYNTHESIZE] = lambda llm: LlmSynthesizeStage(synthesize, llm)
    if ChatTask.JUDGE in tasks:
        by_llm[Stage.SELF_CHECK] = lambda llm: LlmSelfCheckStage(self_check, llm)
    by_llm = {stage: partial(TalliedStage, make) for stage, make in by_llm.items()}
    by_llm[Stage.HYDE] = lambda _: HydeStage(chat.passages)
    return {stage: LlmOrRulesStage(rules[stage], make, chat.llm_clients) for stage, make in by_llm.items()}

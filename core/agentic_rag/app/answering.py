"""Wires the stages of a run to their ports: the one list of what a run does, in order."""

from __future__ import annotations

from collections.abc import Mapping

from agentic_rag.app.answer import DEFAULT_TTL_SECONDS, AnswerPorts, AnswerQuestion
from agentic_rag.app.retrieve import Retrieve
from agentic_rag.app.run_pipeline import RunPipeline
from agentic_rag.app.run_recorder import RunRecorder
from agentic_rag.app.stage_runner import StageRunner
from agentic_rag.app.stages.embed import EmbedStage
from agentic_rag.app.stages.gate import GateStage
from agentic_rag.app.stages.plan import PlanStage
from agentic_rag.app.stages.retrieve import RetrieveStage
from agentic_rag.app.stages.rewrite import RewriteStage
from agentic_rag.app.stages.self_check import SelfCheckStage
from agentic_rag.app.stages.skipped import SkippedStage
from agentic_rag.app.stages.synthesize import SynthesizeStage
from agentic_rag.app.stages.tools import ToolsStage
from agentic_rag.domain.answer_options import AnswerDefaults
from agentic_rag.domain.pipeline import Stage
from agentic_rag.domain.rewriting import FINANCE_ALIASES


def answer_question(
    ports: AnswerPorts,
    recorder: RunRecorder,
    defaults: AnswerDefaults,
    *,
    retrieve: Retrieve | None = None,
    aliases: Mapping[str, str] = FINANCE_ALIASES,
    ttl_seconds: int = DEFAULT_TTL_SECONDS,
) -> AnswerQuestion:
    """The use case with its stages. The caller closes `recorder`."""
    steps = (
        GateStage(),
        PlanStage(),
        RewriteStage(aliases),
        SkippedStage(Stage.HYDE, "off"),
        EmbedStage(ports.embedders),
        RetrieveStage(retrieve or Retrieve(ports.telemetry), ports.embedders, ports.clock),
        SkippedStage(Stage.SEARCH, "off"),
        ToolsStage(),
        SynthesizeStage(),
        SelfCheckStage(),
    )
    pipeline = RunPipeline(ports.database, ports.clock, StageRunner(ports.telemetry, ports.clock), steps)
    return AnswerQuestion(ports, pipeline, recorder, defaults, ttl_seconds=ttl_seconds)

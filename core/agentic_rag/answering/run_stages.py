"""Runs one stage: its span, metric, timing, deadline share and event, so that no stage knows about any of them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agentic_rag.answering.answer import Answer
from agentic_rag.answering.assemble import assemble
from agentic_rag.answering.lazy_snapshot import LazySnapshot
from agentic_rag.answering.run import StageRecord
from agentic_rag.answering.run_state import RunState, StageResult
from agentic_rag.answering.stages.stage import StageStep
from agentic_rag.answering.state_machine import Stage, StageEvent, next_stage, stage_share
from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.dependency import Dependency
from agentic_rag.kernel.errors import AgenticRagError
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.models.embedding.space import EmbeddingSpace
from agentic_rag.tenancy.access import ReadScope
from agentic_rag.tenancy.principals import WorkspaceRef

OUT_OF_TIME = "BUDGET"
_AWAITING = frozenset({Stage.EMBED, Stage.RETRIEVE, Stage.TOOLS, Stage.SELF_CHECK})
"""Stages that are cut off at the deadline. The others compute in bounded time; what they ask of a chat model ends by
itself at a share of the time left (`models.providers.llm_client`)."""


@dataclass(frozen=True, slots=True)
class TimedResult:
    """A stage's result with the record of it."""

    result: StageResult
    record: StageRecord


class StageRunner:
    """One wrapper for all stages."""

    def __init__(self, telemetry: Telemetry, clock: Clock) -> None:
        self._telemetry = telemetry
        self._clock = clock

    async def run(self, step: StageStep, state: RunState, reads: LazySnapshot, began: float) -> TimedResult:
        """Run `step`; `began` is when the run did (monotonic seconds). Errors: those of the step."""
        name = step.stage.value
        start = self._clock.monotonic()
        outcome = "INTERNAL"
        try:
            with self._telemetry.span(f"rag.{name}") as span:
                result = await self._within_budget(step, state, reads, start)
                outcome = result.outcome
                span.set("rag.stage.outcome", outcome)
        except AgenticRagError as error:
            outcome = error.code
            raise
        finally:
            seconds = self._clock.monotonic() - start
            self._telemetry.observe("rag_stage_seconds", seconds, stage=name)
            if outcome not in ("ok", "INTERNAL") and not outcome.startswith(("ok", "skipped")):
                self._telemetry.event("rag_stage_ended", stage=name, outcome=outcome)
        return TimedResult(result, StageRecord(name, start - began, seconds, outcome))

    async def _within_budget(self, step: StageStep, state: RunState, reads: LazySnapshot, now: float) -> StageResult:
        if step.stage not in _AWAITING:
            return await step.run(state, reads)
        if state.deadline.remaining(now) <= 0:
            return StageResult(state, StageEvent.OUT_OF_TIME, OUT_OF_TIME)
        try:
            async with asyncio.timeout(stage_share(state.deadline, step.stage, now)):
                return await step.run(state, reads)
        except TimeoutError:
            return StageResult(state, StageEvent.OUT_OF_TIME, OUT_OF_TIME)


@dataclass(frozen=True, slots=True)
class PipelineResult:
    """An answer with what it was read from."""

    workspace: WorkspaceRef
    answer: Answer
    stages: tuple[StageRecord, ...]
    corpus_version: int
    graph_version: int
    space: EmbeddingSpace
    access: ReadScope | None = None
    """What who asked might read then; None when nothing was read."""
    hurried: bool = False
    """Something was left out because time ran out: with more time the answer may be another."""


class RunPipeline:
    """The state machine of `answering.state_machine` over a set of steps, one per stage."""

    def __init__(self, database: Database, clock: Clock, runner: StageRunner, steps: Sequence[StageStep]) -> None:
        self._database = database
        self._clock = clock
        self._runner = runner
        self._steps: Mapping[Stage, StageStep] = {step.stage: step for step in steps}

    async def run(self, state: RunState) -> PipelineResult:
        """From the gate to an answer. Errors: `DependencyUnavailable`, `NotFound`, `InvalidInput`, `SpaceMismatch`."""
        began = self._clock.monotonic()
        records: list[StageRecord] = []
        stage = Stage.GATE
        async with LazySnapshot(self._database, state.question.workspace, state.question.as_of, state.readers) as reads:
            while stage is not Stage.DONE:
                timed = await self._runner.run(self._steps[stage], state, reads, began)
                records.append(timed.record)
                state = timed.result.state
                if stage is Stage.EMBED and timed.result.event is StageEvent.OUT_OF_TIME:
                    state = replace(state, degraded=(*state.degraded, Dependency.EMBEDDER))
                stage = next_stage(stage, timed.result.event)
        if state.gate is None:
            raise AgenticRagError("A run ended without a decision of the gate.")
        version = state.corpus_version if state.read_version is None else state.read_version
        graph = version if state.graph_version is None else state.graph_version
        answer = assemble(state, state.gate)
        return PipelineResult(
            state.question.workspace, answer, tuple(records), version, graph, state.space, state.access, state.hurried
        )

"""Runs one stage: its span, metric, timing, deadline share and event, so that no stage knows about any of them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from agentic_rag.app.reads import Reads
from agentic_rag.app.stages.stage import StageStep
from agentic_rag.domain.answers import StageRecord
from agentic_rag.domain.errors import AgenticRagError
from agentic_rag.domain.pipeline import Stage, Verdict
from agentic_rag.domain.run_state import RunState, StageResult
from agentic_rag.ports.clock import Clock
from agentic_rag.ports.telemetry import Telemetry

OUT_OF_TIME = "BUDGET"
_AWAITING = frozenset({Stage.EMBED, Stage.RETRIEVE, Stage.TOOLS, Stage.SELF_CHECK})
"""Stages that are cut off at the deadline. The others compute in bounded time; what they ask of a chat model ends by
itself at a share of the time left (`app.advisor`)."""


@dataclass(frozen=True, slots=True)
class Timed:
    """A stage's result with the record of it."""

    result: StageResult
    record: StageRecord


class StageRunner:
    """One wrapper for all stages."""

    def __init__(self, telemetry: Telemetry, clock: Clock) -> None:
        self._telemetry = telemetry
        self._clock = clock

    async def run(self, step: StageStep, state: RunState, reads: Reads, began: float) -> Timed:
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
        return Timed(result, StageRecord(name, start - began, seconds, outcome))

    async def _within_budget(self, step: StageStep, state: RunState, reads: Reads, now: float) -> StageResult:
        if step.stage not in _AWAITING:
            return await step.run(state, reads)
        if state.budget.left(now) <= 0:
            return StageResult(state, Verdict.OUT_OF_TIME, OUT_OF_TIME)
        try:
            async with asyncio.timeout(state.budget.share(step.stage, now)):
                return await step.run(state, reads)
        except TimeoutError:
            return StageResult(state, Verdict.OUT_OF_TIME, OUT_OF_TIME)

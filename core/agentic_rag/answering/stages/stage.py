"""The interface of a stage, and the parts that stages share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import reduce
from typing import Protocol

from agentic_rag.answering.lazy_snapshot import LazySnapshot
from agentic_rag.answering.run import StageRecord
from agentic_rag.answering.run_state import RunState, StageResult
from agentic_rag.answering.state_machine import Stage, StageEvent
from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.dependency import Dependency
from agentic_rag.kernel.stages import StageEnding, run_stage
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.models.chat.request import ChatSpend, LlmError
from agentic_rag.models.providers.llm_client import LlmClient, LlmClients


class StageStep(Protocol):
    """One stage of a run: takes the state, returns the next one. Spans, metrics and deadlines are the caller's."""

    async def run(self, state: RunState, reads: LazySnapshot) -> StageResult:
        """Do the work of the stage."""
        ...


class LlmOrRulesStage:
    """Runs `by_llm` for a workspace with a chat model, `rules` for the others."""

    def __init__(self, rules: StageStep, by_llm: Callable[[LlmClient], StageStep], llm_clients: LlmClients) -> None:
        self._rules = rules
        self._by_llm = by_llm
        self._llm_clients = llm_clients

    async def run(self, state: RunState, reads: LazySnapshot) -> StageResult:
        """Run the stage that the workspace of the question has."""
        llm = await self._llm_clients.client_for(state.question.asked.workspace)
        step = self._rules if llm is None else self._by_llm(llm)
        return await step.run(state, reads)


class TalliedStage:
    """The stage that `make` builds with a client, whose calls are added to what the run has spent."""

    def __init__(self, make: Callable[[LlmClient], StageStep], llm: LlmClient) -> None:
        self._make = make
        self._llm = llm

    async def run(self, state: RunState, reads: LazySnapshot) -> StageResult:
        """Run the stage."""
        spent: list[ChatSpend] = []
        result = await self._make(self._llm.telling(spent.append)).run(state, reads)
        if not spent:
            return result
        total = reduce(ChatSpend.plus, spent, state.spent or ChatSpend())
        return replace(result, state=replace(result.state, spent=total))


async def run_within(seconds: float | None, step: StageStep, state: RunState, reads: LazySnapshot) -> StageResult:
    """The result of a stage that may take so long (None: it is not cut off), or that it ran out of time."""
    if seconds is None:
        return await step.run(state, reads)
    if seconds > 0:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                return await step.run(state, reads)
    return StageResult(state, StageEvent.OUT_OF_TIME, "BUDGET")


def note_degraded(state: RunState, dependency: Dependency) -> RunState:
    """The state of a run that did without a dependency."""
    return replace(state, degraded=tuple(dict.fromkeys((*state.degraded, dependency))))


def degraded_outcome(errors: Sequence[LlmError]) -> str:
    """The outcome of a stage whose model calls failed."""
    return "degraded: " + ", ".join(dict.fromkeys(error.code for error in errors))


@contextmanager
def record_stage(
    stage: Stage, began: float, records: list[StageRecord], telemetry: Telemetry, clock: Clock
) -> Generator[StageEnding]:
    """A stage with its record; `began` is when the run did."""
    start = clock.monotonic()
    with run_stage(telemetry, stage.value, clock.monotonic) as ending:
        yield ending
    records.append(StageRecord(stage.value, start - began, ending.seconds, ending.outcome))

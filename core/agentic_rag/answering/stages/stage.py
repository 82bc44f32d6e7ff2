"""What every stage of a run looks like."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from agentic_rag.answering.lazy_snapshot import LazySnapshot
from agentic_rag.answering.run_state import RunState, StageResult
from agentic_rag.answering.state_machine import Stage
from agentic_rag.kernel.dependency import Dependency
from agentic_rag.models.chat.request import LlmError
from agentic_rag.models.providers.llm_client import LlmClient, LlmClients


class StageStep(Protocol):
    """One step: takes the state, returns a new one. Knows nothing of spans, metrics or deadlines."""

    @property
    def stage(self) -> Stage:
        """Which step this is."""
        ...

    async def run(self, state: RunState, reads: LazySnapshot) -> StageResult:
        """Do the step."""
        ...


class LlmOrRulesStage:
    """`advised` makes the step of a chat model; `rules` is the step of workspaces without one."""

    def __init__(self, rules: StageStep, advised: Callable[[LlmClient], StageStep], advisors: LlmClients) -> None:
        self._rules = rules
        self._advised = advised
        self._advisors = advisors

    @property
    def stage(self) -> Stage:
        """The stage that both are."""
        return self._rules.stage

    async def run(self, state: RunState, reads: LazySnapshot) -> StageResult:
        """Take the step of the workspace that is asked."""
        advisor = await self._advisors.client_for(state.question.workspace)
        step = self._rules if advisor is None else self._advised(advisor)
        return await step.run(state, reads)


class SkippedStage:
    """Passes the state on and says why it did nothing."""

    def __init__(self, stage: Stage, why: str) -> None:
        self._stage = stage
        self._outcome = f"skipped: {why}"

    @property
    def stage(self) -> Stage:
        """Which step is switched off."""
        return self._stage

    async def run(self, state: RunState, reads: LazySnapshot) -> StageResult:
        """Change nothing."""
        return StageResult(state, outcome=self._outcome)


def without_chat(state: RunState) -> RunState:
    """The state of a run that misses what the model would have said."""
    return replace(state, degraded=tuple(dict.fromkeys((*state.degraded, Dependency.CHAT_MODEL))))


def outcome_of(faults: Sequence[LlmError]) -> str:
    """The stage's outcome."""
    return "degraded: " + ", ".join(dict.fromkeys(fault.code for fault in faults))

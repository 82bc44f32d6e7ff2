"""A stage that a chat model takes over for organisations that have one."""

from __future__ import annotations

from collections.abc import Callable

from agentic_rag.app.advisor import Advisor, Advisors
from agentic_rag.app.reads import Reads
from agentic_rag.app.stages.stage import StageStep
from agentic_rag.domain.pipeline import Stage
from agentic_rag.domain.run_state import RunState, StageResult


class AdvisedStage:
    """`advised` makes the step of a chat model; `rules` is the step of workspaces without one."""

    def __init__(self, rules: StageStep, advised: Callable[[Advisor], StageStep], advisors: Advisors) -> None:
        self._rules = rules
        self._advised = advised
        self._advisors = advisors

    @property
    def stage(self) -> Stage:
        """The stage that both are."""
        return self._rules.stage

    async def run(self, state: RunState, reads: Reads) -> StageResult:
        """Take the step of the workspace that is asked."""
        advisor = await self._advisors.advisor_of(state.question.workspace)
        step = self._rules if advisor is None else self._advised(advisor)
        return await step.run(state, reads)

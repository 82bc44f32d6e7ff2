"""Plan: the parts of the question, its answer type and the tools it names."""

from __future__ import annotations

from dataclasses import replace

from agentic_rag.app.reads import Reads
from agentic_rag.domain.follow_ups import standalone
from agentic_rag.domain.pipeline import Stage, Verdict
from agentic_rag.domain.planning import plan
from agentic_rag.domain.run_state import RunState, StageResult


class PlanStage:
    """Plans the standalone question by rules."""

    stage = Stage.PLAN

    async def run(self, state: RunState, reads: Reads) -> StageResult:
        """Attach the standalone question and its plan."""
        whole = state.standalone or standalone(state.text, state.question.history).text
        planned = replace(state, standalone=whole, plan=plan(whole, use_tools=state.options.use_tools))
        if state.gate is not None and not state.gate.directives.use_retrieval:
            return StageResult(planned, Verdict.WITHOUT_RETRIEVAL)
        return StageResult(planned)

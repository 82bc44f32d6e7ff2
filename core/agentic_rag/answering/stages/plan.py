"""Plan: the parts of the question, its answer type and the tools it names."""

from __future__ import annotations

from dataclasses import replace

from agentic_rag.answering.lazy_snapshot import Reads
from agentic_rag.answering.query.planner import plan
from agentic_rag.answering.query.standalone import standalone
from agentic_rag.answering.run_state import RunState, StageResult
from agentic_rag.answering.state_machine import Stage, Verdict
from agentic_rag.answering.tools.web_pages import pages_asked_for, without_addresses


class PlanStage:
    """Plans the standalone question by rules. With `fetches`, pages that the question itself names are asked for."""

    stage = Stage.PLAN

    def __init__(self, *, fetches: bool = False) -> None:
        self._fetches = fetches

    async def run(self, state: RunState, reads: Reads) -> StageResult:
        """Attach the standalone question and its plan."""
        whole = state.standalone or standalone(state.text, state.question.history).text
        # An earlier answer quotes documents: only what the caller wrote now may name a page.
        pages = pages_asked_for(state.text) if self._fetches and state.options.use_tools else ()
        if pages:
            whole = without_addresses(whole)
        made = plan(whole, use_tools=state.options.use_tools)
        planned = replace(state, standalone=whole, plan=replace(made, tools=(*made.tools, *pages)))
        if state.gate is not None and not state.gate.directives.use_retrieval:
            return StageResult(planned, Verdict.WITHOUT_RETRIEVAL)
        return StageResult(planned)

"""Plan: the parts of the question, its answer type and the tools it names."""

from __future__ import annotations

from dataclasses import replace

from agentic_rag.answering.lazy_snapshot import LazySnapshot
from agentic_rag.answering.query.planner import plan_question
from agentic_rag.answering.query.standalone import make_standalone
from agentic_rag.answering.run_state import RunState, StageResult
from agentic_rag.answering.state_machine import Stage, StageEvent
from agentic_rag.answering.tools.web_pages import request_pages, strip_addresses


class PlanStage:
    """Plans the standalone question by rules. With `fetches`, pages that the question itself names are asked for."""

    stage = Stage.PLAN

    def __init__(self, *, fetches: bool = False) -> None:
        self._fetches = fetches

    async def run(self, state: RunState, reads: LazySnapshot) -> StageResult:
        """Attach the standalone question and its plan."""
        whole = state.standalone or make_standalone(state.text, state.question.history).text
        # An earlier answer quotes documents: only what the caller wrote now may name a page.
        pages = request_pages(state.text) if self._fetches and state.options.use_tools else ()
        if pages:
            whole = strip_addresses(whole)
        made = plan_question(whole, use_tools=state.options.use_tools)
        planned = replace(state, standalone=whole, plan=replace(made, tools=(*made.tools, *pages)))
        if state.gate is not None and not state.gate.directives.use_retrieval:
            return StageResult(planned, StageEvent.WITHOUT_RETRIEVAL)
        return StageResult(planned)

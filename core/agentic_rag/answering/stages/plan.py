"""Plan: divides the question into sub-questions, detects the answer type and the tools it names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agentic_rag.answering.lazy_snapshot import LazySnapshot
from agentic_rag.answering.plan import ToolRequest
from agentic_rag.answering.prompts.plan import plan_prompt
from agentic_rag.answering.prompts.standalone import standalone_prompt
from agentic_rag.answering.query.planner import may_need_steps, plan_question
from agentic_rag.answering.run_state import RunState, StageResult
from agentic_rag.answering.stages.stage import StageStep, degraded_outcome, note_degraded
from agentic_rag.answering.state_machine import StageEvent
from agentic_rag.answering.tools.tool import Tool
from agentic_rag.kernel.dependency import Dependency
from agentic_rag.models.chat.request import ChatTask, LlmError, LlmResult
from agentic_rag.models.providers.llm_client import LlmClient


class PlanStage:
    """Plans the stand-alone question by rules."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = [tool for tool in tools if tool.answer_type is None]

    async def run(self, state: RunState, reads: LazySnapshot) -> StageResult:
        """Attach the plan."""
        question, text = state.question, state.question.text
        requests: list[ToolRequest] = []
        for tool in self._tools if state.options.use_tools else ():
            # An earlier answer quotes documents: only what the caller wrote now may name a page.
            arguments = tool.wanted(question.written)
            requests += [ToolRequest(tool.name, argument) for argument in arguments]
            text = tool.mask(text) if arguments else text
        plan = plan_question(text, use_tools=state.options.use_tools)
        planned = replace(question, text=text, plan=replace(plan, tools=(*plan.tools, *requests)))
        event = StageEvent.CONTINUE if planned.allows_retrieval else StageEvent.WITHOUT_RETRIEVAL
        return StageResult(replace(state, question=planned), event)


class LlmPlanStage:
    """A chat model makes a follow-up stand alone and divides the question; `rules` does the rest.

    A question that needs no plan (arithmetic, a document's name, nothing to retrieve, a single part by the rules
    without a relative clause) never reaches the model.
    """

    def __init__(self, rules: StageStep, llm: LlmClient, tasks: frozenset[ChatTask]) -> None:
        self._rules = rules
        self._llm = llm
        self._tasks = tasks

    async def run(self, state: RunState, reads: LazySnapshot) -> StageResult:
        """Attach the stand-alone question and its plan."""
        if not state.question.allows_retrieval:
            return await self._rules.run(state, reads)
        errors: list[LlmError] = []
        outcome = "ok"
        written, history = state.question.written, state.question.asked.history
        if history and ChatTask.REWRITE in self._tasks:
            outcome = f"ok: {self._llm.model}"
            standalone = await self._llm.ask(lambda nonce: standalone_prompt(written, history, nonce), state.deadline)
            if isinstance(standalone, LlmResult):
                state = replace(state, question=replace(state.question, text=standalone.value))
            else:
                errors.append(standalone)
        result = await self._rules.run(state, reads)
        planned = result.state
        text, rules = planned.question.text, planned.question.plan
        divides = rules is not None and (len(rules.sub_questions) > 1 or may_need_steps(text))
        if rules is not None and divides and not rules.tools and ChatTask.PLAN in self._tasks:
            model = self._llm.model
            outcome = f"ok: {model}"
            divided = await self._llm.ask(lambda nonce: plan_prompt(text, rules, model, nonce), planned.deadline)
            if isinstance(divided, LlmResult):
                planned = replace(planned, question=replace(planned.question, plan=divided.value))
            else:
                errors.append(divided)
        if not errors:
            return StageResult(planned, result.event, outcome)
        return StageResult(note_degraded(planned, Dependency.CHAT_MODEL), result.event, degraded_outcome(errors))

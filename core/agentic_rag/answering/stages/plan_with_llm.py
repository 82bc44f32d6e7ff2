"""Plan with a chat model: it makes a follow-up stand alone and divides the question; rules do what it cannot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agentic_rag.answering.lazy_snapshot import LazySnapshot
from agentic_rag.answering.prompts.plan import plan_prompt
from agentic_rag.answering.prompts.standalone import standalone_prompt
from agentic_rag.answering.question import Turn
from agentic_rag.answering.run_state import RunState, StageResult
from agentic_rag.answering.stages.stage import StageStep, outcome_of, without_chat
from agentic_rag.answering.state_machine import Stage
from agentic_rag.kernel.deadline import Deadline
from agentic_rag.models.chat.request import ChatTask, LlmError, LlmResult
from agentic_rag.models.providers.llm_client import LlmClient


class LlmRewriter:
    """Makes follow-up questions stand alone."""

    def __init__(self, advisor: LlmClient) -> None:
        self._advisor = advisor

    async def standalone(self, question: str, history: Sequence[Turn], deadline: Deadline) -> LlmResult[str] | LlmError:
        """`question` with what it takes from the conversation."""
        return await self._advisor.ask(lambda nonce: standalone_prompt(question, history, nonce), deadline)


class LlmPlanStage:
    """`rules` plans whatever the model does not: its stage runs on the stand-alone question the model wrote, and what
    needs no plan (arithmetic, named documents, nothing to retrieve) never reaches the model.
    """

    stage = Stage.PLAN

    def __init__(self, rules: StageStep, advisor: LlmClient, tasks: frozenset[ChatTask]) -> None:
        self._rules = rules
        self._advisor = advisor
        self._rewriter = LlmRewriter(advisor)
        self._tasks = tasks

    async def run(self, state: RunState, reads: LazySnapshot) -> StageResult:
        """Attach the stand-alone question and its plan."""
        if state.gate is not None and not state.gate.directives.use_retrieval:
            return await self._rules.run(state, reads)
        faults: list[LlmError] = []
        if state.question.history and ChatTask.REWRITE in self._tasks:
            written = await self._rewriter.standalone(state.text, state.question.history, state.deadline)
            if isinstance(written, LlmResult):
                state = replace(state, standalone=written.value)
            else:
                faults.append(written)
        result = await self._rules.run(state, reads)
        planned = result.state
        rules = planned.plan
        if rules is not None and not rules.tools and ChatTask.PLAN in self._tasks:
            question, model = planned.standalone, self._advisor.model
            advice = await self._advisor.ask(lambda nonce: plan_prompt(question, rules, model, nonce), planned.deadline)
            if isinstance(advice, LlmResult):
                planned = replace(planned, plan=advice.value)
            else:
                faults.append(advice)
        if not faults:
            return StageResult(planned, result.event, f"ok: {self._advisor.model}")
        return StageResult(without_chat(planned), result.event, outcome_of(faults))

"""Tools: runs the tools of the plan, and ends runs that may not retrieve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agentic_rag.answering.answer import Abstention, AbstentionReason, Outcome
from agentic_rag.answering.gate_decision import DowngradeCause, GateDecision
from agentic_rag.answering.lazy_snapshot import LazySnapshot
from agentic_rag.answering.messages import Message, RunMessage
from agentic_rag.answering.run_state import Ending, RunState, StageResult
from agentic_rag.answering.state_machine import StageEvent
from agentic_rag.answering.tools.tool import Tool
from agentic_rag.kernel.clock import Clock


class ToolsStage:
    """Runs what the plan names, in its order."""

    def __init__(self, tools: Sequence[Tool], clock: Clock) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._clock = clock

    async def run(self, state: RunState, reads: LazySnapshot) -> StageResult:
        """Attach the calls and what they found; without retrieval this is where the run ends."""
        question = state.question
        for request in question.plan.tools if question.plan else ():
            tool = self._tools[request.tool]
            if tool.needs_retrieval and not question.allows_retrieval:
                continue
            seconds = state.deadline.remaining(self._clock.monotonic())
            result = await tool.run(request, state, reads, seconds)
            if result.event is StageEvent.FINISH:
                return result
            state = result.state
        if not question.allows_retrieval and not state.retrieved.fetched:
            return StageResult(
                replace(state, ending=_end_without_retrieval(question.gate, question.text)), StageEvent.FINISH
            )
        if not state.retrieved.tool_calls:
            return StageResult(state, outcome="skipped: the plan names no tool")
        return StageResult(state)


def _end_without_retrieval(gate: GateDecision | None, question: str) -> Ending:
    cause = next((one.cause for one in gate.downgrades if one.after == "skip"), None) if gate else None
    if cause is DowngradeCause.CALCULATION:
        reason, why = AbstentionReason.POLICY, Message.TOOLS_OFF
    elif cause is DowngradeCause.CORPUS_EMPTY:
        reason, why = AbstentionReason.NO_EVIDENCE, Message.EMPTY_WORKSPACE
    else:
        reason, why = AbstentionReason.POLICY, Message.NOT_A_QUESTION
    return Ending("", Outcome.ABSTAINED, abstention=Abstention(reason, RunMessage(why).for_question(question)))

"""Self-check with a judge: a chat model compares each sentence with what it cites before the usual check."""

from __future__ import annotations

from dataclasses import replace

from agentic_rag.answering.lazy_snapshot import Reads
from agentic_rag.answering.prompts.judge import judge_consultation
from agentic_rag.answering.run_state import RunState, StageResult
from agentic_rag.answering.stages.stage import StageStep, outcome_of, without_chat
from agentic_rag.answering.state_machine import Stage
from agentic_rag.answering.verification.judge import claims_of, judged
from agentic_rag.models.chat.request import Fault
from agentic_rag.models.providers.llm_client import Advisor


class JudgedSelfCheckStage:
    """`rules` verifies and writes what the judge left; without a verdict it checks alone."""

    stage = Stage.SELF_CHECK

    def __init__(self, rules: StageStep, advisor: Advisor) -> None:
        self._rules = rules
        self._advisor = advisor

    async def run(self, state: RunState, reads: Reads) -> StageResult:
        """Drop what the judge does not find supported, then check."""
        abstaining = state.shortfall is not None and not state.missing
        if not state.draft or abstaining or (state.repairs and state.author is not None):
            return await self._rules.run(state, reads)
        await reads.release()
        claims = claims_of(state)
        advice = await self._advisor.ask(
            lambda nonce: judge_consultation(state.standalone, claims, nonce), state.deadline
        )
        if isinstance(advice, Fault):
            checked = await self._rules.run(without_chat(state), reads)
            return replace(checked, outcome=f"{outcome_of([advice])}; {checked.outcome}")
        checked = await self._rules.run(judged(state, advice.value), reads)
        return replace(checked, outcome=f"{checked.outcome}: {self._advisor.model}")

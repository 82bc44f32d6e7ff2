"""Self-check with a judge: a chat model compares each sentence with what it cites before the usual check."""

from __future__ import annotations

from dataclasses import replace

from agentic_rag.answering.lazy_snapshot import LazySnapshot
from agentic_rag.answering.prompts.judge import judge_prompt
from agentic_rag.answering.run_state import RunState, StageResult
from agentic_rag.answering.stages.stage import StageStep, outcome_of, without_chat
from agentic_rag.answering.state_machine import Stage
from agentic_rag.answering.verification.judge import apply_verdicts, collect_claims
from agentic_rag.models.chat.request import LlmError
from agentic_rag.models.providers.llm_client import LlmClient


class LlmSelfCheckStage:
    """`rules` verifies and writes what the judge left; without a verdict it checks alone."""

    stage = Stage.SELF_CHECK

    def __init__(self, rules: StageStep, advisor: LlmClient) -> None:
        self._rules = rules
        self._advisor = advisor

    async def run(self, state: RunState, reads: LazySnapshot) -> StageResult:
        """Drop what the judge does not find supported, then check."""
        abstaining = state.shortfall is not None and not state.missing
        if not state.draft or abstaining or (state.repairs and state.author is not None):
            return await self._rules.run(state, reads)
        await reads.release()
        claims = collect_claims(state)
        advice = await self._advisor.ask(lambda nonce: judge_prompt(state.standalone, claims, nonce), state.deadline)
        if isinstance(advice, LlmError):
            checked = await self._rules.run(without_chat(state), reads)
            return replace(checked, outcome=f"{outcome_of([advice])}; {checked.outcome}")
        checked = await self._rules.run(apply_verdicts(state, advice.value), reads)
        return replace(checked, outcome=f"{checked.outcome}: {self._advisor.model}")

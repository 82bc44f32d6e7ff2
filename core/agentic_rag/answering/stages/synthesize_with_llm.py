"""Synthesize with a chat model, where the extractive draft says that there is an answer to write."""

from __future__ import annotations

from dataclasses import replace

from agentic_rag.answering.answer import AbstentionReason
from agentic_rag.answering.evidence.prune_draft import add_missing, prune_draft, question_parts
from agentic_rag.answering.extraction.extractive import DraftSentence
from agentic_rag.answering.lazy_snapshot import LazySnapshot
from agentic_rag.answering.plan import SubQuestion
from agentic_rag.answering.prompts.synthesis import synthesis_prompt
from agentic_rag.answering.query.rewrite import mask_placeholder
from agentic_rag.answering.run_state import RunState, Shortfall, StageResult
from agentic_rag.answering.stages.stage import StageStep, outcome_of, without_chat
from agentic_rag.answering.state_machine import Stage
from agentic_rag.answering.verification.model_draft import draft_from_model
from agentic_rag.models.chat.request import LlmError
from agentic_rag.models.providers.llm_client import LlmClient

UNVERIFIED = LlmError("CHAT_UNVERIFIED")
NOT_IN_PASSAGES = "The nearest passages do not answer the question, says the model that read them."


class LlmSynthesizeStage:
    """`rules` drafts first: it decides whether the passages support an answer at all, and its draft stands when the
    model fails or when sources disagree.
    """

    stage = Stage.SYNTHESIZE

    def __init__(self, rules: StageStep, advisor: LlmClient) -> None:
        self._rules = rules
        self._advisor = advisor

    async def run(self, state: RunState, reads: LazySnapshot) -> StageResult:
        """Attach the model's draft, or that of the rules."""
        if state.author is not None:
            kept = _without_refusals(state)
            if kept:
                return StageResult(prune_draft(state, kept), outcome=f"ok: {state.author}")
        drafted = await self._rules.run(replace(state, author=None), reads)
        if state.repairs or not _is_worth_asking(drafted.state):
            return drafted
        return await self._write_answer(drafted, reads)

    async def _write_answer(self, drafted: StageResult, reads: LazySnapshot) -> StageResult:
        state, parts = drafted.state, question_parts(drafted.state)
        texts = [_text(state, place, part) for place, part in enumerate(parts)]
        await reads.release()
        advice = await self._advisor.ask(
            lambda nonce: synthesis_prompt(state.standalone, texts, state.passages, nonce), state.deadline
        )
        if isinstance(advice, LlmError):
            return replace(drafted, state=without_chat(state), outcome=outcome_of([advice]))
        answer, said = advice.value, f"ok: {self._advisor.model}"
        if not answer.sentences:
            unanswered = Shortfall(AbstentionReason.LOW_SUPPORT, NOT_IN_PASSAGES)
            return replace(drafted, state=replace(state, shortfall=unanswered, missing=()), outcome=said)
        draft = draft_from_model(answer, state.passages, parts)
        if not draft.sentences:
            return replace(drafted, state=without_chat(state), outcome=outcome_of([UNVERIFIED]))
        written = replace(
            state, draft=draft.sentences, conflicting=draft.conflicting, author=self._advisor.model, missing=()
        )
        return replace(drafted, state=add_missing(written, draft.missing), outcome=said)


def _is_worth_asking(state: RunState) -> bool:
    """There is an answer by rules, of sentences that were chosen for the question, and no two sources disagree: both
    sides of those are cited already.
    """
    abstaining = state.shortfall is not None and not state.missing
    return bool(state.draft) and not abstaining and not state.conflicting and state.found is None


def _without_refusals(state: RunState) -> tuple[DraftSentence, ...]:
    return tuple(
        one for one in state.draft if (state.passages[one.passage].chunk.ordinal, one.start) not in state.excluded
    )


def _text(state: RunState, place: int, part: SubQuestion) -> str:
    """A part as it was searched for, with what earlier ones found."""
    return state.parts[place].text if place < len(state.parts) else mask_placeholder(part)

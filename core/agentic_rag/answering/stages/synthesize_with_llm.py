"""Synthesize with a chat model, where the extractive draft shows that there is an answer to write."""

from __future__ import annotations

from dataclasses import replace

from agentic_rag.answering.answer import AbstentionReason
from agentic_rag.answering.evidence.prune_draft import add_missing, prune_draft
from agentic_rag.answering.extraction.extractive import DraftSentence
from agentic_rag.answering.lazy_snapshot import LazySnapshot
from agentic_rag.answering.prompts.synthesis import synthesis_prompt
from agentic_rag.answering.query.rewrite import mask_placeholder
from agentic_rag.answering.run_state import RunState, Shortfall, StageResult
from agentic_rag.answering.stages.stage import StageStep, degraded_outcome, note_degraded
from agentic_rag.answering.verification.model_draft import draft_from_model
from agentic_rag.kernel.dependency import Dependency
from agentic_rag.models.chat.request import LlmError
from agentic_rag.models.providers.llm_client import LlmClient

UNVERIFIED = LlmError("CHAT_UNVERIFIED")
NOT_IN_PASSAGES = "The nearest passages do not answer the question, says the model that read them."


class LlmSynthesizeStage:
    """`rules` drafts first: it decides whether the passages support an answer at all, and its draft stands when the
    model fails or when sources disagree.
    """

    def __init__(self, rules: StageStep, llm: LlmClient) -> None:
        self._rules = rules
        self._llm = llm

    async def run(self, state: RunState, reads: LazySnapshot) -> StageResult:
        """Attach the model's draft, or that of the rules."""
        author = state.draft.author
        if author is not None:
            kept = _unrefused_sentences(state)
            if kept:
                return StageResult(prune_draft(state, kept), outcome=f"ok: {author}")
        drafted = await self._rules.run(replace(state, draft=replace(state.draft, author=None)), reads)
        if state.checked.repairs or not _is_worth_asking(drafted.state):
            return drafted
        return await self._write_answer(drafted, reads)

    async def _write_answer(self, drafted: StageResult, reads: LazySnapshot) -> StageResult:
        state, passages = drafted.state, drafted.state.retrieved.passages
        parts = state.question.sub_questions
        texts = _part_texts(state)
        await reads.release()
        reply = await self._llm.ask(
            lambda nonce: synthesis_prompt(state.question.text, texts, passages, nonce), state.deadline
        )
        if isinstance(reply, LlmError):
            return _keep_rules(drafted, reply)
        outcome = f"ok: {self._llm.model}"
        if not reply.value.sentences:
            unanswered = Shortfall(AbstentionReason.LOW_SUPPORT, NOT_IN_PASSAGES)
            draft = replace(state.draft, shortfall=unanswered, missing=())
            return replace(drafted, state=replace(state, draft=draft), outcome=outcome)
        written = draft_from_model(reply.value, passages, parts)
        if not written.sentences:
            return _keep_rules(drafted, UNVERIFIED)
        draft = replace(
            state.draft,
            sentences=written.sentences,
            is_conflicting=written.conflicting,
            author=self._llm.model,
            missing=(),
        )
        return replace(drafted, state=add_missing(state, draft, written.missing), outcome=outcome)


def _keep_rules(drafted: StageResult, error: LlmError) -> StageResult:
    state = note_degraded(drafted.state, Dependency.CHAT_MODEL)
    return replace(drafted, state=state, outcome=degraded_outcome([error]))


def _is_worth_asking(state: RunState) -> bool:
    """The rules answer with sentences chosen for the question, and no two sources disagree: both sides of a conflict
    are cited already.
    """
    draft = state.draft
    is_answer = bool(draft.sentences) and not draft.is_abstention and not draft.is_conflicting
    return is_answer and state.retrieved.opening is None


def _unrefused_sentences(state: RunState) -> tuple[DraftSentence, ...]:
    passages = state.retrieved.passages
    return tuple(
        one
        for one in state.draft.sentences
        if (passages[one.passage].chunk.ordinal, one.start) not in state.checked.excluded
    )


def _part_texts(state: RunState) -> list[str]:
    """The sub-questions as they were searched for, with the findings of earlier ones."""
    parts = state.retrieved.parts
    return [
        parts[place].query.text if place < len(parts) else mask_placeholder(part)
        for place, part in enumerate(state.question.sub_questions)
    ]

"""Synthesize with a chat model, wherever a passage is near."""

from __future__ import annotations

from dataclasses import replace

from agentic_rag.answering.answer import AbstentionReason, Outcome
from agentic_rag.answering.evidence.prune_draft import add_missing, prune_draft
from agentic_rag.answering.extraction.extractive import DraftSentence
from agentic_rag.answering.lazy_snapshot import LazySnapshot
from agentic_rag.answering.messages import Message, RunMessage
from agentic_rag.answering.prompts.synthesis import synthesis_prompt
from agentic_rag.answering.query.rewrite import mask_placeholder
from agentic_rag.answering.run_state import RunState, Shortfall, StageResult
from agentic_rag.answering.stages.stage import StageStep, degraded_outcome, note_degraded
from agentic_rag.answering.verification.model_draft import draft_from_model
from agentic_rag.kernel.dependency import Dependency
from agentic_rag.models.chat.request import LlmError
from agentic_rag.models.providers.llm_client import ESTIMATED, LlmClient

UNVERIFIED = LlmError("CHAT_UNVERIFIED")
NEAR_SCORE = 0.05
"""The absolute score of the best passage from which a model reads what was found. Questions on other subjects than the
corpus's stay below it.
"""


class LlmSynthesizeStage:
    """`rules` drafts first. Its draft stands where sources disagree or a document was looked up; where the model fails
    it is shown as the nearest passages, and never as an answer of the model.
    """

    def __init__(self, rules: StageStep, llm: LlmClient) -> None:
        self._rules = rules
        self._llm = llm

    async def run(self, state: RunState, reads: LazySnapshot) -> StageResult:
        """Attach the model's draft, or that of the rules."""
        before = state.draft
        if before.author is not None:
            kept = _unrefused_sentences(state)
            if kept:
                return StageResult(prune_draft(state, kept), outcome=f"ok: {before.author}")
        drafted = await self._rules.run(replace(state, draft=replace(before, author=None)), reads)
        if before.author is not None:
            return _show_nearest(drafted, UNVERIFIED)
        if state.checked.repairs:
            told = before.shortfall
            return _with_shortfall(drafted, told) if told is not None and told.is_failure else drafted
        return await self._write_answer(drafted, reads) if _is_worth_asking(drafted.state) else drafted

    async def _write_answer(self, drafted: StageResult, reads: LazySnapshot) -> StageResult:
        state, passages = drafted.state, drafted.state.retrieved.passages
        parts = state.question.sub_questions
        texts = _part_texts(state)
        await reads.release()
        reply = await self._llm.ask(
            lambda nonce: synthesis_prompt(state.question.text, texts, passages, nonce), state.deadline
        )
        if reply is ESTIMATED:
            # The judge would be asked about an answer, which is mostly a sentence for each part.
            likely = replace(
                state.draft,
                sentences=state.draft.sentences[: len(parts)],
                author=self._llm.model,
                missing=(),
                shortfall=None,
            )
            return replace(drafted, state=replace(state, draft=likely))
        if isinstance(reply, LlmError):
            return _show_nearest(drafted, reply)
        outcome = f"ok: {self._llm.model}"
        if not reply.value.sentences:
            unanswered = Shortfall(AbstentionReason.LOW_SUPPORT, RunMessage(Message.NOT_IN_PASSAGES))
            draft = replace(state.draft, shortfall=unanswered, missing=())
            return replace(drafted, state=replace(state, draft=draft), outcome=outcome)
        written = draft_from_model(reply.value, passages, parts)
        if not written.sentences:
            return _show_nearest(drafted, UNVERIFIED)
        draft = replace(
            state.draft,
            sentences=written.sentences,
            is_conflicting=written.conflicting,
            author=self._llm.model,
            certainty=None,
            missing=(),
            shortfall=None,
        )
        return replace(drafted, state=add_missing(state, draft, written.missing), outcome=outcome)


def _show_nearest(drafted: StageResult, error: LlmError) -> StageResult:
    """The draft of the rules under the reason why it is not the model's."""
    state = note_degraded(drafted.state, Dependency.CHAT_MODEL)
    why = RunMessage(Message.MODEL_UNVERIFIED if error is UNVERIFIED else Message.MODEL_SILENT)
    told = replace(drafted, state=state, outcome=degraded_outcome([error]))
    return _with_shortfall(told, Shortfall(AbstentionReason.DEPENDENCY, why))


def _with_shortfall(drafted: StageResult, shortfall: Shortfall) -> StageResult:
    """The draft of the rules, with why it is not the model's; what the rules doubt stays UNCERTAIN."""
    draft = drafted.state.draft
    outcome = None
    if draft.sentences and not draft.is_abstention:
        doubted = draft.shortfall is not None and draft.shortfall.outcome is Outcome.UNCERTAIN
        outcome = Outcome.UNCERTAIN if doubted else Outcome.PARTIALLY_GROUNDED
    noted = replace(draft, shortfall=replace(shortfall, outcome=outcome))
    return replace(drafted, state=replace(drafted.state, draft=noted))


def _is_worth_asking(state: RunState) -> bool:
    """A passage is near, no document was looked up, no two sources disagree and the question has one reading: both
    sides of a conflict, and all readings, are cited already.
    """
    found, draft = state.retrieved, state.draft
    if found.opening is not None or draft.is_conflicting or draft.is_underspecified or not draft.sentences:
        return False
    searched = (*found.parts, *(() if found.whole is None else (found.whole,)))
    return not draft.is_abstention or any(part.confidence.top_score >= NEAR_SCORE for part in searched)


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

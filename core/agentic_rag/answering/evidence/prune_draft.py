"""What a draft still answers after sentences were taken out of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agentic_rag.answering.answer import AbstentionReason
from agentic_rag.answering.extraction.extractive import DraftSentence
from agentic_rag.answering.messages import Message, RunMessage
from agentic_rag.answering.query.rewrite import mask_placeholder
from agentic_rag.answering.run_state import Draft, RunState, Shortfall
from agentic_rag.answering.verification.model_draft import find_lost_parts


def prune_draft(state: RunState, kept: Sequence[DraftSentence]) -> RunState:
    """The draft with only these sentences; sub-questions that lose all of theirs are missing."""
    draft = state.draft
    before, after = ({one.part for one in sentences} for sentences in (draft.sentences, kept))
    lost = find_lost_parts(before, after, state.question.sub_questions)
    return add_missing(state, replace(draft, sentences=tuple(kept)), lost)


def add_missing(state: RunState, draft: Draft, places: Sequence[int]) -> RunState:
    """The state with `draft`, where the sub-questions at these positions are missing, too."""
    parts = state.question.sub_questions
    missing = tuple(dict.fromkeys((*draft.missing, *(mask_placeholder(parts[place]) for place in places))))
    told = draft.shortfall
    shortfall = told if told is not None and told.is_failure else explain_shortfall(state, missing)
    return replace(state, draft=replace(draft, missing=missing, shortfall=shortfall))


def explain_shortfall(state: RunState, missing: Sequence[str]) -> Shortfall | None:
    """Why an answer without these sub-questions is not whole; None when none is missing."""
    if not missing:
        return None
    reason = AbstentionReason.BUDGET if state.retrieved.subquestions_skipped else AbstentionReason.LOW_SUPPORT
    return Shortfall(reason, RunMessage(Message.PARTS_MISSING, "; ".join(f"“{part}”" for part in missing)))

"""What a run still answers after sentences were taken out of its draft."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agentic_rag.answering.answer import AbstentionReason
from agentic_rag.answering.extraction.extractive import DraftSentence
from agentic_rag.answering.plan import SubQuestion
from agentic_rag.answering.query.rewrite import mask_placeholder
from agentic_rag.answering.run_state import RunState, Shortfall
from agentic_rag.answering.verification.model_draft import find_lost_parts


def question_parts(state: RunState) -> tuple[SubQuestion, ...]:
    """The parts of the question; the question itself when it was not planned."""
    return state.plan.sub_questions if state.plan else (SubQuestion(state.standalone),)


def prune_draft(state: RunState, kept: Sequence[DraftSentence]) -> RunState:
    """The draft with only these sentences; parts that lose all of theirs are missing."""
    before, after = ({one.part for one in sentences} for sentences in (state.draft, kept))
    return add_missing(replace(state, draft=tuple(kept)), find_lost_parts(before, after, question_parts(state)))


def add_missing(state: RunState, places: Sequence[int]) -> RunState:
    """The parts at these positions are missing besides those that are."""
    parts = question_parts(state)
    missing = tuple(dict.fromkeys((*state.missing, *(mask_placeholder(parts[place]) for place in places))))
    return replace(state, missing=missing, shortfall=explain_shortfall(state, missing))


def explain_shortfall(state: RunState, missing: Sequence[str]) -> Shortfall | None:
    """What keeps an answer without these parts from being whole; None when no part is missing."""
    if not missing:
        return None
    reason = AbstentionReason.BUDGET if state.cut_short else AbstentionReason.LOW_SUPPORT
    return Shortfall(reason, "No answer was found for: " + "; ".join(f"“{part}”" for part in missing))

"""The draft of an answer to a question that may be about several things, and why an answer is none for certain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agentic_rag.answering.answer import AbstentionReason, Outcome, Support
from agentic_rag.answering.evidence.answerability import is_enough_without_lead
from agentic_rag.answering.evidence.other_language import is_of_other_language
from agentic_rag.answering.extraction.candidate_units import Subquery
from agentic_rag.answering.extraction.extractive import DraftSentence, ExcludedSpans
from agentic_rag.answering.extraction.part_units import PartUnits
from agentic_rag.answering.messages import Message, RunMessage
from agentic_rag.answering.run_state import Draft, RunState, Shortfall
from agentic_rag.answering.shapes.bearers import find_bearers, find_sole_bearer, is_of_other_documents
from agentic_rag.answering.shapes.question_kind import QuestionKind
from agentic_rag.answering.shapes.readings import find_readings
from agentic_rag.answering.verification.citations import all_quotes
from agentic_rag.retrieval.candidates import Passage


def of_several_things(
    draft: Draft,
    asked: tuple[Subquery, QuestionKind, PartUnits],
    passages: Sequence[Passage],
    support: Support,
    excluded: ExcludedSpans,
) -> Draft | None:
    """The draft with what answers for each thing that the question may be about; None where it is about one."""
    bearers = find_bearers(*asked, passages, excluded)
    if bearers.sentences:
        why = None if bearers.is_conflicting else several_readings()
        return replace(draft, sentences=bearers.sentences, is_conflicting=bearers.is_conflicting, shortfall=why)
    several = find_readings(*asked, passages, excluded) if is_enough_without_lead(support) else ()
    return replace(draft, sentences=several, is_conflicting=False, shortfall=several_readings()) if several else None


def tell_of_one_thing(state: RunState, asked: tuple[Subquery, Sequence[Passage]], kind: QuestionKind) -> RunState:
    """The draft as uncertain where it is asked what a name is and no quote is of a document that opens with that; where
    it is no answer, or none for certain, and one thing bears the name, with the sentence about it that tells what is
    asked.
    """
    draft = state.draft
    if draft.is_underspecified or draft.is_conflicting or not draft.sentences:
        return state
    if draft.shortfall is None:
        quoted = {one.passage for one in all_quotes(draft.sentences)}
        is_beside = is_of_other_documents(asked[0], kind, asked[1], quoted)
        return replace(state, draft=replace(draft, shortfall=not_established(()))) if is_beside else state
    sole = find_sole_bearer(asked[0], kind, asked[1], state.checked.excluded)
    if sole is None:
        return state
    return replace(state, draft=replace(draft, sentences=(sole,), shortfall=not_established(())))


def several_readings() -> Shortfall:
    """That the question has several readings."""
    return Shortfall(AbstentionReason.UNDERSPECIFIED, RunMessage(Message.UNDERSPECIFIED), Outcome.UNDERSPECIFIED)


def not_established(lacking: Sequence[str], *, is_part: bool = False) -> Shortfall:
    """That the answer is the nearest text alone, with the words of the question that it is not about, or that it is a
    part of a list (`is_part`).
    """
    message = Message.PART_OF_LIST if is_part else Message.OF_ANOTHER if lacking else Message.NOT_ESTABLISHED
    why = RunMessage(message, ", ".join(f"“{one}”" for one in lacking))
    return Shortfall(AbstentionReason.NOT_ESTABLISHED, why, Outcome.UNCERTAIN)


def show_nearest(state: RunState, draft: Draft, nearest: tuple[DraftSentence, ...]) -> Draft:
    """The nearest sentences in the place of an answer that nothing supports."""
    reason, why = AbstentionReason.LOW_SUPPORT, Message.TOO_LITTLE
    if not nearest:
        reason, why = AbstentionReason.NO_EVIDENCE, Message.NOTHING_FOUND
    return replace(draft, sentences=nearest, shortfall=no_answer(state, reason, why))


def no_answer(state: RunState, reason: AbstentionReason, why: Message) -> Shortfall:
    """Why there is none; passages in another language than the question say it by themselves."""
    if is_of_other_language(state.question.text, state.retrieved.passages):
        reason, why = AbstentionReason.OTHER_LANGUAGE, Message.OTHER_LANGUAGE
    return Shortfall(reason, RunMessage(why))

"""The draft of an answer to a question that may be about several things, and why an answer is none for certain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agentic_rag.answering.answer import AbstentionReason, Outcome, Support
from agentic_rag.answering.evidence.answerability import is_enough_without_lead
from agentic_rag.answering.extraction.candidate_units import Subquery
from agentic_rag.answering.extraction.extractive import ExcludedSpans
from agentic_rag.answering.extraction.part_units import PartUnits
from agentic_rag.answering.messages import Message, RunMessage
from agentic_rag.answering.run_state import Draft, Shortfall
from agentic_rag.answering.shapes.bearers import find_bearers
from agentic_rag.answering.shapes.question_kind import QuestionKind
from agentic_rag.answering.shapes.readings import find_readings
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

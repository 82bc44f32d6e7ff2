"""Finds units of different documents that disagree about what is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agentic_rag.answering.extraction.candidate_units import CandidateUnit, Subquery
from agentic_rag.answering.extraction.contradiction import (
    answers_differ,
    are_dated_issues,
    are_other_editions,
    asks_for_date,
    contradicts,
)
from agentic_rag.answering.extraction.term_matching import weight_of
from agentic_rag.answering.extraction.text_units import UnitKind
from agentic_rag.answering.plan import AnswerType
from agentic_rag.retrieval.candidates import Passage

MAX_SIDES = 3
"""Units, best first, that a contradiction is looked for."""
MIN_SIDE_RATIO = 0.8
"""A side must score this share of the best unit."""
MIN_SHARED = 0.2
"""Of the question's weight in both of two sentences that answer it."""


def find_contradiction(
    units: Sequence[CandidateUnit],
    passages: Sequence[Passage],
    part: Subquery,
    stated: Callable[[CandidateUnit], str],
) -> tuple[CandidateUnit, CandidateUnit] | None:
    """One of the best units, and the first of another document that makes its statement with another value, or denies
    it. Editions of a document, whose titles name other years, do not contradict each other.
    """
    kind = part.answer_type
    about_dates = kind is AnswerType.DATE or asks_for_date(part.text)
    for place, best in enumerate(units[:MAX_SIDES]):
        if best.score < MIN_SIDE_RATIO * units[0].score:
            break
        chunk = passages[best.passage].chunk
        quote = stated(best)
        for unit in units[place + 1 :]:
            other = passages[unit.passage].chunk
            if other.document_id == chunk.document_id or are_other_editions(chunk.document_title, other.document_title):
                continue
            if _is_about_another(best, unit) or _is_about_another(unit, best):
                continue
            said = stated(unit)
            if contradicts(quote, said, kind, about_dates=about_dates):
                return best, unit
            close = unit.score >= MIN_SIDE_RATIO * units[0].score
            if close and _answer_both(best, unit, passages, part) and answers_differ(quote, said, part.text, kind):
                return best, unit
    return None


def _is_about_another(unit: CandidateUnit, other: CandidateUnit) -> bool:
    """True where title or headings of a unit name something of the question that the other's passage has nowhere: "the
    pressure is 18 bar" of one plant, and of another.
    """
    held = other.mask | other.context_mask | other.near_mask | other.passage_mask
    return bool(unit.context_mask & ~unit.mask & ~held)


def _answer_both(best: CandidateUnit, unit: CandidateUnit, passages: Sequence[Passage], part: Subquery) -> bool:
    """True for two sentences with such a value as is asked for and something of the question in common, of which
    neither stands in another issue of the other's document.
    """
    if are_dated_issues(*(passages[one.passage].chunk.document_title for one in (best, unit))):
        return False
    proses = (UnitKind.PROSE, UnitKind.LIST_ITEM)
    fit = best.fits and unit.fits and best.kind in proses and unit.kind in proses
    return fit and weight_of(best.mask & unit.mask, part.terms) >= MIN_SHARED

"""Questions that ask whether something was found: what a study or report found answers them, and not what it set out
to do, however many words of the question that has.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from uuid import UUID

from agentic_rag.answering.extraction.candidate_units import CandidateUnit, Subquery, segment_passage
from agentic_rag.answering.extraction.reading import headings_above
from agentic_rag.answering.shapes.question_kind import QuestionKind
from agentic_rag.language.sentence_roles import SentenceRole, role_of, role_of_label
from agentic_rag.retrieval.candidates import SCORE_DIGITS, Passage

ROLE_CREDIT: Mapping[SentenceRole, float] = MappingProxyType(
    {SentenceRole.CONCLUSION: 0.6, SentenceRole.RESULT: 0.4, SentenceRole.METHOD: -0.2, SentenceRole.AIM: -0.6}
)
"""What a role adds to the score of a unit."""
PLACE_CREDIT: Mapping[SentenceRole, float] = MappingProxyType(
    {SentenceRole.RESULT: 0.4, SentenceRole.METHOD: -0.2, SentenceRole.AIM: -0.4}
)
"""The same of the paragraph, in a text without headings: the last tells results, the first why it was done."""
_FOUND = frozenset({SentenceRole.RESULT, SentenceRole.CONCLUSION})
_DONE = frozenset({SentenceRole.AIM, SentenceRole.METHOD})
_KINDS = frozenset({QuestionKind.YES_NO, QuestionKind.FACT, QuestionKind.COMPARISON})
_ASKING = re.compile(r"\b(?:who|whom|whose|what|when|where|why|which|how)\b", re.IGNORECASE)
_ASKS_FINDING = re.compile(
    r"\bwhat (?:did|do|does) (?:the|this|these) .*\b(?:find|show|conclude|decide)\b|"
    r"\bwhat (?:was|were|is|are) the (?:main )?(?:findings?|results?|conclusions?|outcomes?) of (?:the|this) "
    r"(?:study|trial|report|paper|survey|review|pilot|test|evaluation)\W*$",
    re.IGNORECASE,
)
_CLAIM = re.compile(
    r"[:,;–—]|--| - |\b(?:is|are|was|were|do|does|did|can|could|should|will|would|may|has|have|had)\b", re.IGNORECASE
)
"""What a title that asks has: a second half, or a verb. A noun alone asks which one it is."""


def asks_for_finding(question: str, kind: QuestionKind) -> bool:
    """True for a question whether something is so (also put as a title with a question mark), or what was found."""
    if _ASKS_FINDING.search(question):
        return True
    if kind not in _KINDS or not question.rstrip().endswith("?") or _ASKING.search(question):
        return False
    return kind is QuestionKind.YES_NO or _CLAIM.search(question) is not None


def prefer_findings(
    part: Subquery, kind: QuestionKind, units: Sequence[CandidateUnit], passages: Sequence[Passage]
) -> list[CandidateUnit]:
    """The units, best first, where those of the document with the best one count more or less by their role in it, if
    it tells what was done and what was found. Which document answers is left to the other signs.
    """
    if not units or not asks_for_finding(part.text, kind):
        return list(units)
    best = max(units, key=lambda unit: unit.score)
    document_id = passages[best.passage].chunk.document_id
    if not _reports(document_id, passages):
        return list(units)
    weighed = [
        replace(unit, score=round(unit.score + _credit(unit, passages[unit.passage]), SCORE_DIGITS))
        if passages[unit.passage].chunk.document_id == document_id
        else unit
        for unit in units
    ]
    return sorted(weighed, key=lambda unit: (-unit.score, unit.passage, unit.start))


def _reports(document_id: UUID, passages: Sequence[Passage]) -> bool:
    """True for a document whose passages have an aim or method, and a result or conclusion."""
    chunks = [passage.chunk for passage in passages if passage.chunk.document_id == document_id]
    held = frozenset[SentenceRole]().union(*(_roles_in(chunk.text, chunk.heading_path) for chunk in chunks))
    return bool(held & _DONE and held & _FOUND)


@lru_cache(256)
def _roles_in(text: str, headings: tuple[str, ...]) -> frozenset[SentenceRole]:
    labels = (*headings, *(line for line in text.splitlines() if line.startswith("#")))
    said = (role_of(sentence) for sentence in re.split(r"(?<=[.!?])\s+", text))
    return frozenset(role for role in (*map(role_of_label, labels), *said) if role is not None)


def _credit(unit: CandidateUnit, passage: Passage) -> float:
    headings = headings_above(passage, unit.start)[1:]
    told = next((role for one in reversed(headings) if (role := role_of_label(one)) is not None), None)
    role = told or role_of(passage.chunk.text[unit.start : unit.end])
    own = 0.0 if role is None else ROLE_CREDIT[role]
    return own if headings else own + _place_credit(unit, passage)


def _place_credit(unit: CandidateUnit, passage: Passage) -> float:
    """By the paragraph of a text that opens its document and has several."""
    reading = segment_passage(passage)
    last = len(reading.ends) - 1
    if passage.chunk.start > 0 or not last:
        return 0.0
    place = reading.block_of(unit.start)
    role = SentenceRole.RESULT if place == last else SentenceRole.AIM if not place else SentenceRole.METHOD
    return PLACE_CREDIT[role]

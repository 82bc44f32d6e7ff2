"""Whether the chosen evidence supports an answer, part by part.

    support = 0.9 · coverage + 0.1 · score
    coverage = Σ weight(t) · credit(t)

over the part's content terms, for the chosen unit that has most of it: terms spread over several documents support
nothing. Weight is the term's share of the question's rarity; credit is 1 for a term in the unit itself, 0.8 in its
title, headings or table header, 0.4 elsewhere in its passage, else 0. The score is the passage's fused one.
RETRIEVAL.md: a first passage's score separates supported from unsupported questions best, and its scale differs by
corpus; coverage by idf share is the part of it that keeps its scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agentic_rag.domain.answer_fit import holds
from agentic_rag.domain.evidence import Passage
from agentic_rag.domain.passage_units import PartQuery, Unit
from agentic_rag.domain.synthesis import PartDraft
from agentic_rag.domain.term_match import weight_of

COVERAGE_SHARE = 0.9
CONTEXT_CREDIT = 0.8
PASSAGE_CREDIT = 0.4
WITHOUT_ANSWER = 0.7
"""Factor for a unit that has no figure, date or name where one is asked for."""

DEFAULT_THRESHOLD = 0.46
"""Below it a part counts as unsupported. With the deterministic embedder, on the 65 golden questions of the sample
corpus: 9 of 14 unanswerable ones abstain, and 5 of the 49 answerable ones that are no calculation. A workspace may
calibrate its own."""


@dataclass(frozen=True, slots=True)
class Support:
    """The support of each part in [0, 1], and the positions of the parts that have enough or too little."""

    scores: tuple[float, ...]
    supported: tuple[int, ...]
    missing: tuple[int, ...]


def support_of(part: PartQuery, draft: PartDraft, passages: Sequence[Passage]) -> float:
    """The support of one part by its best unit, rounded to 1e-6; 0 without one."""
    return max((_unit_support(part, unit, passages) for unit in draft.units), default=0.0)


def _unit_support(part: PartQuery, unit: Unit, passages: Sequence[Passage]) -> float:
    passage = passages[unit.passage]
    above = unit.context & ~unit.mask
    rest = unit.passage_mask & ~unit.mask & ~unit.context
    coverage = (
        weight_of(unit.mask, part.terms)
        + CONTEXT_CREDIT * weight_of(above, part.terms)
        + PASSAGE_CREDIT * weight_of(rest, part.terms)
    )
    score = min(1.0, max(0.0, passage.candidate.score))
    support = COVERAGE_SHARE * coverage + (1 - COVERAGE_SHARE) * score
    if not holds(passage.chunk.text[unit.start : unit.end], part.answer_type, part.text):
        support *= WITHOUT_ANSWER
    return round(support, 6)


def assess(scores: Sequence[float], threshold: float = DEFAULT_THRESHOLD) -> Support:
    """Which parts are supported."""
    supported = tuple(place for place, score in enumerate(scores) if score >= threshold)
    missing = tuple(place for place, score in enumerate(scores) if score < threshold)
    return Support(tuple(scores), supported, missing)

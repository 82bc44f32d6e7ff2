"""Whether the chosen evidence supports an answer, part by part.

    support = 0.9 · coverage + 0.1 · top score
    coverage = Σ weight(t) · credit(t)

over the part's content terms, where weight is the term's share of the question's rarity and credit is 1 for a term in a
chosen sentence, 0.8 in its title or headings, 0.4 elsewhere in its passage, else 0. The top score is the first passage's
fused score. RETRIEVAL.md: a first passage's score separates supported from unsupported questions best, and its scale
differs by corpus; coverage by idf share is the part of it that keeps its scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agentic_rag.domain.passage_units import PartQuery
from agentic_rag.domain.synthesis import PartDraft
from agentic_rag.domain.term_match import weight_of

COVERAGE_SHARE = 0.9
CONTEXT_CREDIT = 0.8
PASSAGE_CREDIT = 0.4

DEFAULT_THRESHOLD = 0.5
"""Below it a part counts as unsupported. Set on the development questions of clapnq and pubmedqa with the deterministic
embedder; a workspace may calibrate its own."""


@dataclass(frozen=True, slots=True)
class Support:
    """The support of each part in [0, 1], and the positions of the parts that have enough or too little."""

    scores: tuple[float, ...]
    supported: tuple[int, ...]
    missing: tuple[int, ...]


def support_of(part: PartQuery, draft: PartDraft, top_score: float) -> float:
    """The support of one part, rounded to 1e-6; 0 without a sentence."""
    if not draft.sentences:
        return 0.0
    headings = draft.context & ~draft.covered
    rest = draft.surrounding & ~draft.covered & ~draft.context
    coverage = (
        weight_of(draft.covered, part.terms)
        + CONTEXT_CREDIT * weight_of(headings, part.terms)
        + PASSAGE_CREDIT * weight_of(rest, part.terms)
    )
    return round(COVERAGE_SHARE * coverage + (1 - COVERAGE_SHARE) * min(1.0, max(0.0, top_score)), 6)


def assess(scores: Sequence[float], threshold: float = DEFAULT_THRESHOLD) -> Support:
    """Which parts are supported."""
    supported = tuple(place for place, score in enumerate(scores) if score >= threshold)
    missing = tuple(place for place, score in enumerate(scores) if score < threshold)
    return Support(tuple(scores), supported, missing)

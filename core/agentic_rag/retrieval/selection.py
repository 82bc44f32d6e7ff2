"""Selects passages from a ranking by minimum score, cap per document, diversity, and number."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from agentic_rag.documents.document import Chunk
from agentic_rag.language.tokenizer import query_terms
from agentic_rag.retrieval.candidates import SCORE_DIGITS, Candidate

MIN_SCORE = "min_score"
SIMILARITY = "similarity"
PER_DOCUMENT = "per_document"
DIVERSITY = "diversity"
NEAR_DUPLICATE = "near_duplicate"
TOP_K = "top_k"
CONTEXT_BUDGET = "context_budget"
OUTVOTED = "outvoted"
"""Why a candidate was dropped, as `CandidateTrace.dropped_because` says it."""

NEAR_DUPLICATE_SIMILARITY = 0.9
"""Similarity to a kept passage from which a passage that diversity drops is called a near duplicate."""

OVERFETCH_FACTOR = 2
"""Candidates examined per passage wanted where a rule may drop some, so that enough remain."""


@dataclass(frozen=True, slots=True)
class SelectionRules:
    """How many passages are selected, and the reasons to drop one."""

    top_k: int
    min_score: float = 0.0
    per_document: int | None = None
    """At most so many passages of one document; None: no cap."""
    diversity: float = 0.0
    """0: the best passages. Else the weight, up to 1, of being unlike those already chosen (maximal marginal relevance:
    Carbonell, Goldstein, "The use of MMR, diversity-based reranking …", SIGIR 1998, with λ = 1 − diversity).
    """
    has_min_similarity: bool = False
    """Whether passages may be left out for being too far from the question."""

    @property
    def candidate_count(self) -> int:
        """How many ranked candidates the rules need to see."""
        leaves_out = self.per_document is not None or self.diversity > 0 or self.has_min_similarity
        return self.top_k * (OVERFETCH_FACTOR if leaves_out else 1)


@dataclass(frozen=True, slots=True)
class SelectionOutcome:
    """A ranked passage, and why it is not handed on (None: it is)."""

    chunk: Chunk
    candidate: Candidate
    drop_reason: str | None


def select(
    ranked: Sequence[tuple[Chunk, Candidate]], rules: SelectionRules, too_far: frozenset[int] = frozenset()
) -> list[SelectionOutcome]:
    """Judge passages that come best first, in their order; `too_far` are the ordinals of those that are not similar
    enough to the question. With diversity the passages are chosen one after the other
    by (1 − diversity) · score ÷ best score − diversity · likeness to the chosen ones; the order stays that of the
    scores.
    """
    chosen = _Selection(ranked, rules, too_far)
    while len(chosen.places) < rules.top_k and (place := chosen.next()) is not None:
        chosen.take(place)
    kept = frozenset(chosen.places)
    return [
        SelectionOutcome(chunk, candidate, None if place in kept else chosen.why_not(place))
        for place, (chunk, candidate) in enumerate(ranked)
    ]


class _Selection:
    """What was chosen so far."""

    def __init__(
        self, ranked: Sequence[tuple[Chunk, Candidate]], rules: SelectionRules, too_far: frozenset[int]
    ) -> None:
        self.places: list[int] = []
        self._left = list(range(len(ranked)))
        self._ranked = ranked
        self._rules = rules
        self._too_far = too_far
        self._best = max((candidate.score for _, candidate in ranked), default=0.0) or 1.0
        self._of_document: Counter[UUID] = Counter()
        self._terms = [query_terms(chunk.text) for chunk, _ in ranked] if rules.diversity > 0 else []
        self._likeness = [0.0] * len(ranked)
        """To the most alike of the chosen."""

    def next(self) -> int | None:
        """The place of the best passage that may still be chosen. Without diversity that is the first one left, since
        passages come best first. What is barred stays barred.
        """
        if self._rules.diversity > 0:
            self._left.sort(key=lambda place: (-self._marginal_score(place), place))
        while self._left:
            place = self._left.pop(0)
            if not self._is_out(place):
                return place
        return None

    def take(self, place: int) -> None:
        """Choose it."""
        self.places.append(place)
        if self._rules.per_document is not None:
            self._of_document[self._ranked[place][0].document_id] += 1
        for other, terms in enumerate(self._terms):
            self._likeness[other] = max(self._likeness[other], cosine_similarity(terms, self._terms[place]))

    def why_not(self, place: int) -> str:
        """Why a passage was not chosen."""
        if self._ranked[place][1].score < self._rules.min_score:
            return MIN_SCORE
        if self._ranked[place][1].ordinal in self._too_far:
            return SIMILARITY
        if self._is_out(place):
            return PER_DOCUMENT
        if self._rules.diversity > 0 and place < max(self.places, default=-1):
            return NEAR_DUPLICATE if self._likeness[place] >= NEAR_DUPLICATE_SIMILARITY else DIVERSITY
        return TOP_K

    def _is_out(self, place: int) -> bool:
        chunk, candidate = self._ranked[place]
        cap = self._rules.per_document
        if candidate.score < self._rules.min_score or candidate.ordinal in self._too_far:
            return True
        return cap is not None and self._of_document[chunk.document_id] >= cap

    def _marginal_score(self, place: int) -> float:
        diversity = self._rules.diversity
        share = self._ranked[place][1].score / self._best
        return round((1 - diversity) * share - diversity * self._likeness[place], SCORE_DIGITS)


def cosine_similarity(one: Mapping[str, int], other: Mapping[str, int]) -> float:
    """Cosine of two term counts, in [0, 1]."""
    product = sum(count * other.get(term, 0) for term, count in one.items())
    if not product:
        return 0.0
    return min(1.0, product / math.sqrt(_square(one) * _square(other)))


def _square(terms: Mapping[str, int]) -> int:
    return sum(count * count for count in terms.values())

"""How far the best passage of a search is ahead of the rest. It separates questions that the corpus answers from
questions that it only resembles."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agentic_rag.retrieval.candidates import SCORE_DIGITS, ArmHit, Retriever
from agentic_rag.retrieval.graph.paths import GraphPaths

MARGIN_RANKS = 5
"""The best passage is measured against the one that many places behind it: a question may have several good passages,
but in the corpora looked at seldom more (3 to 20 were as good)."""


@dataclass(frozen=True, slots=True)
class RankingConfidence:
    """Computed from the scores of the text arms and from the paths between passages; all in [0, 1]."""

    top_score: float
    """The highest score of both arms together."""
    dense_score: float
    """The highest of the dense arm by itself, times how far its space is trusted."""
    margin: float
    """The difference to the score of the passage `MARGIN_RANKS` places behind the best one."""
    path_probability: float
    """`GraphPaths.path_probability`: high when a second passage covers what the first leaves open. 0 without a graph.
    """


NO_CONFIDENCE = RankingConfidence(0.0, 0.0, 0.0, 0.0)


def measure_confidence(
    arms: Mapping[Retriever, Sequence[ArmHit]],
    lexical_share: float,
    dense_trust: float,
    trails: GraphPaths | None = None,
) -> RankingConfidence:
    """The confidence in a ranking; the arms are weighted as in fusion."""
    onward = 0.0 if trails is None else trails.path_probability
    dense, lexical = arms.get(Retriever.DENSE, ()), arms.get(Retriever.LEXICAL, ())
    scores = {hit.ordinal: (1.0 - lexical_share) * hit.score for hit in dense}
    for hit in lexical:
        scores[hit.ordinal] = scores.get(hit.ordinal, 0.0) + lexical_share * hit.score
    first = heapq.nlargest(MARGIN_RANKS + 1, scores.values())
    if not first:
        return NO_CONFIDENCE
    behind = first[MARGIN_RANKS] if len(first) > MARGIN_RANKS else 0.0
    closest = max((hit.score for hit in dense), default=0.0)
    return RankingConfidence(
        top_score=round(first[0], SCORE_DIGITS),
        dense_score=round(dense_trust * closest, SCORE_DIGITS),
        margin=round(first[0] - behind, SCORE_DIGITS),
        path_probability=onward,
    )

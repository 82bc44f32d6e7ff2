"""One ranking out of several arms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentic_rag.models.embedding.space import HASHED_PROVIDER, EmbeddingSpace
from agentic_rag.retrieval.candidates import SCORE_DIGITS, ArmHit, ArmScore, Candidate, Retriever
from agentic_rag.retrieval.fusion_options import FusionMethod, FusionWeights
from agentic_rag.retrieval.lexical.bm25 import BOUND_WEIGHT, COVERAGE_WEIGHT

RRF_K = 60
"""Cormack, Clarke, Büttcher, "Reciprocal rank fusion outperforms Condorcet …", SIGIR 2009."""

MODEL_TRUST = 1.0
"""Of a trained embedding model: the measured formula cos + 0.8·bn + 0.25·cov, a lexical share of 1.05 / 2.05."""

HASHED_TRUST = 0.1
"""Of the deterministic embedding (a lexical share of 0.91): it sees spellings, which the lexical arm sees better.

Hit@10 / MRR@10 on 500 known-item questions over 20,000 chunks: BM25 .934 / .837, dense .794 / .621, fused .938 / .867
(with 0.2625, a share of 0.8: .936 / .867; with 1: .922 / .832). R@10 against BM25 on six question sets: −1.0 to +0.9
(with 0.2625 −3.5 to +0.2).
"""


def dense_trust_of(space: EmbeddingSpace) -> float:
    """How far cosines of a space count beside BM25."""
    return HASHED_TRUST if space.provider == HASHED_PROVIDER else MODEL_TRUST


def lexical_share(arms: Mapping[Retriever, Sequence[ArmHit]], dense_trust: float = MODEL_TRUST) -> float:
    """How much of the text arms' weight is lexical, for one question.

    With both arms 1.05 / (1.05 + `dense_trust`), `dense_trust` in [0, 1]: both scores are absolute, so they tell
    their own certainty per question (where rare words are not matched, the lexical score is small).
    When an arm did not run at all (a dependency is missing), the other takes the whole weight.
    """
    if not 0.0 <= dense_trust <= 1.0:
        raise ValueError(f"dense_trust must lie in [0, 1], not {dense_trust}")
    if Retriever.DENSE not in arms:
        return 1.0
    if Retriever.LEXICAL not in arms:
        return 0.0
    lexical = BOUND_WEIGHT + COVERAGE_WEIGHT
    return lexical / (lexical + dense_trust)


def effective_lexical_share(
    arms: Mapping[Retriever, Sequence[ArmHit]], weights: FusionWeights, dense_trust: float = MODEL_TRUST
) -> float:
    """The lexical part of the text arms: what the caller set, else `lexical_share`."""
    return weights.lexical_share if weights.lexical_share is not None else lexical_share(arms, dense_trust)


def fuse(
    arms: Mapping[Retriever, Sequence[ArmHit]],
    weights: Mapping[Retriever, float],
    method: FusionMethod = FusionMethod.WEIGHTED,
    limit: int | None = None,
) -> list[Candidate]:
    """The best `limit` candidates of all arms (None: all), highest score first, ties by ordinal. The order of `arms`
    does not matter.

    WEIGHTED: Σ weight · absolute score. RRF: Σ weight · 61 / (60 + rank), so that a candidate that is first in every
    arm scores the sum of the weights. An arm adds exactly 0 to a candidate that it did not find. Candidates that only
    arms of weight 0 found are left out. Each arm's hits come best first; the first of a repeated ordinal counts. Scores
    are rounded to 1e-6.
    """
    found: list[tuple[Retriever, float, dict[int, tuple[int, ArmHit]]]] = []
    scores: dict[int, float] = {}
    for retriever, weight in weights.items():
        places: dict[int, tuple[int, ArmHit]] = {}
        for rank, hit in enumerate(arms.get(retriever, ()), start=1):
            places.setdefault(hit.ordinal, (rank, hit))
        found.append((retriever, weight, places))
        if weight > 0:
            for ordinal, (rank, hit) in places.items():
                gain = (RRF_K + 1) / (RRF_K + rank) if method is FusionMethod.RRF else hit.score
                scores[ordinal] = scores.get(ordinal, 0.0) + weight * gain
    ranked = sorted([(-round(score, SCORE_DIGITS), ordinal) for ordinal, score in scores.items()])
    return [
        Candidate(
            ordinal,
            -negated,
            tuple(
                [
                    ArmScore(arm, place[0], place[1].raw, place[1].score, weight)
                    for arm, weight, places in found
                    if (place := places.get(ordinal)) is not None
                ]
            ),
        )
        for negated, ordinal in (ranked if limit is None else ranked[:limit])
    ]

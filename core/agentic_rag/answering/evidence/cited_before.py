"""What earlier answers cited: read again by id in this snapshot, and scored like anything else, without a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from agentic_rag.answering.question import Turn
from agentic_rag.documents.document import Chunk, CitedPassage
from agentic_rag.kernel.database import CorpusSnapshot
from agentic_rag.retrieval.arms.table import arm_weights
from agentic_rag.retrieval.candidates import SCORE_DIGITS, ArmHit, Candidate, Retriever
from agentic_rag.retrieval.fusion import effective_lexical_share, fuse
from agentic_rag.retrieval.graph.multi_hop import CandidatePool
from agentic_rag.retrieval.query import ARM_LIMIT, RetrievalQuery

MOST_KEPT = 20
"""Passages that are read again, those cited last first."""
NO_ENTITIES: frozenset[int] = frozenset()
STILL_MATTERS = 0.25
"""Share of the question's terms, by rarity, that a passage must hold."""


async def find_cited_before(
    snapshot: CorpusSnapshot, history: Sequence[Turn], query: RetrievalQuery
) -> list[tuple[Chunk, Candidate]]:
    """The passages cited before that still have to do with the question, best first; those that the scope hides, or
    that are gone, are left out. Their ranks lie behind those of the arms' own lists.
    """
    chunks = await snapshot.documents.chunks_by_citation(_recent_citations(history), query.scope.access_ids)
    if query.scope.ordinals is not None:
        chunks = [chunk for chunk in chunks if chunk.ordinal in query.scope.ordinals]
    if not chunks:
        return []
    by_ordinal = {chunk.ordinal: chunk for chunk in chunks}
    ordinals = sorted(by_ordinal)
    cosines: dict[int, float] = {}
    asked, space = query.vector, snapshot.space
    if asked is not None and space is not None and asked.space == space.space:
        cosines = await snapshot.vectors.cosines(asked.vector, space.space_id, ordinals)
    pool = CandidatePool(
        ordinals=np.array(ordinals, np.int64),
        cosine=np.array([max(0.0, cosines.get(ordinal, 0.0)) for ordinal in ordinals]),
        terms=await snapshot.lexical.profile(query.terms, ordinals, query.scope),
        titles=[NO_ENTITIES],
        title_places=np.zeros(len(ordinals), np.int64),
        named=np.zeros(len(ordinals)),
        documents=np.zeros(len(ordinals)),
        lexical_share=effective_lexical_share({}, query.weights, query.dense_trust),
    )
    arms = {Retriever.LEXICAL: _hits(pool, pool.lexical)}
    if cosines:
        arms[Retriever.DENSE] = _hits(pool, pool.cosine)
    found = fuse(arms, arm_weights(arms, query.weights, query.dense_trust))
    return [
        (by_ordinal[one.ordinal], _behind(one))
        for one in found
        if _coverage(pool, one.ordinal) >= STILL_MATTERS and one.score >= query.min_score
    ]


def _recent_citations(history: Sequence[Turn]) -> list[CitedPassage]:
    return list(dict.fromkeys(one for turn in reversed(history) for one in turn.cited))[:MOST_KEPT]


def _hits(pool: CandidatePool, scores: NDArray[np.float64]) -> list[ArmHit]:
    hits = [
        ArmHit(int(ordinal), round(float(score), SCORE_DIGITS), round(float(score), SCORE_DIGITS))
        for ordinal, score in zip(pool.ordinals, scores, strict=True)
    ]
    return sorted(hits, key=lambda hit: (-hit.score, hit.ordinal))


def _coverage(pool: CandidatePool, ordinal: int) -> float:
    idf = pool.terms.idf
    return float(pool.terms.present[pool.rows[ordinal]] @ idf) / (float(idf.sum()) or 1.0)


def _behind(candidate: Candidate) -> Candidate:
    return replace(candidate, arms=tuple(replace(one, rank=ARM_LIMIT + one.rank) for one in candidate.arms))

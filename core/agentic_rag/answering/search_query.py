"""The query of one search of a run."""

from __future__ import annotations

from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from agentic_rag.answering.answer import SearchSettings
from agentic_rag.models.embedding.space import EmbeddingSpace, min_cosine
from agentic_rag.retrieval.candidates import SearchScope
from agentic_rag.retrieval.fusion import dense_trust_of
from agentic_rag.retrieval.query import QueryVector, RetrievalQuery


def build_query(
    workspace_id: UUID,
    settings: SearchSettings,
    text: str,
    vector: NDArray[np.float32] | None,
    scope: SearchScope,
    space: EmbeddingSpace | None,
    title_query: str = "",
) -> RetrievalQuery:
    """The query for `text`, whose vector is in `space`; without a space no passage has a vector."""
    return RetrievalQuery(
        workspace_id=workspace_id,
        text=text,
        vector=None if vector is None or space is None else QueryVector(space, vector),
        scope=scope,
        top_k=settings.top_k,
        fusion=settings.fusion,
        weights=settings.weights,
        dense_trust=1.0 if space is None else dense_trust_of(space),
        min_score=settings.min_score,
        per_document=settings.per_document,
        diversity=settings.diversity,
        min_cosine=0.0
        if space is None
        else min_cosine(settings.similarity_threshold, space, settings.similarity_exponent),
        title_query=title_query,
        rerank=settings.rerank,
    )

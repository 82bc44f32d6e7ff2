"""What retrieval is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from agentic_rag.language.tokenizer import search_terms
from agentic_rag.models.embedding.space import EmbeddingSpace
from agentic_rag.retrieval.candidates import SearchScope
from agentic_rag.retrieval.fusion_options import FusionMethod, FusionWeights
from agentic_rag.retrieval.selection import SelectionRules

ARM_LIMIT = 60
"""Candidates asked of each text arm: beyond it neither recall nor fusion changed on the development sets' corpora."""


@dataclass(frozen=True, slots=True)
class QueryVector:
    """A question's vector and the space it belongs to."""

    space: EmbeddingSpace
    vector: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class RetrievalQuery:
    """A search and how its arms are merged. Without a vector the dense arm is not asked."""

    workspace_id: UUID
    text: str
    vector: QueryVector | None
    scope: SearchScope
    top_k: int
    fusion: FusionMethod = FusionMethod.WEIGHTED
    weights: FusionWeights = FusionWeights()
    dense_trust: float = 1.0
    min_score: float = 0.0
    per_document: int | None = None
    diversity: float = 0.0
    min_cosine: float = 0.0
    """Minimum cosine of a passage; 0 for none. It has no effect without a vector."""
    rerank: int = 0
    """The first passages that the reranker of workspaces that wish for one puts in order; 0: none."""
    title_query: str = ""
    """The question with the words that name documents; `text` is used when it is empty."""

    with_beside: bool = False
    """The chunks beside the first passages are asked for next."""
    titles_are_checked: bool = False
    """Titles may be told from memory: the caller ranks again where one of them was stale."""

    @property
    def terms(self) -> Mapping[str, int]:
        """The terms by which postings are searched for `text`, with their counts."""
        return search_terms(self.text)

    @property
    def rules(self) -> SelectionRules:
        """The rules that select passages from the ranking."""
        is_sifted = self.min_cosine > 0 and self.vector is not None
        return SelectionRules(self.top_k, self.min_score, self.per_document, self.diversity, is_sifted)

"""Search settings of a workspace or template."""

from __future__ import annotations

import math
from dataclasses import dataclass

from agentic_rag.kernel.errors import InvalidInput

MAX_RESULTS = 50
"""As `answering.options.MAX_TOP_K`."""
MAX_RERANKED = 4
"""With so many a run takes at most a tenth longer (`make gate`, requirement C17)."""


@dataclass(frozen=True, slots=True)
class RagConfig:
    """The number of passages of a search and their minimal similarity to the question (0 to 1). Raises `InvalidInput`
    outside the range of the API.
    """

    top_k: int = 5
    similarity_threshold: float = 0.7
    rerank: int = 0
    """The first passages of a search that the shipped reader puts in order; 0: none. One alone has no order."""

    def __post_init__(self) -> None:
        if not 1 <= self.top_k <= MAX_RESULTS:
            raise InvalidInput(f"`topK` takes 1 to {MAX_RESULTS}.", path=("ragConfig", "topK"))
        if not (math.isfinite(self.similarity_threshold) and 0 <= self.similarity_threshold <= 1):
            raise InvalidInput("`similarityThreshold` takes 0 to 1.", path=("ragConfig", "similarityThreshold"))
        if self.rerank not in (0, *range(2, MAX_RERANKED + 1)):
            raise InvalidInput(f"`rerank` takes 0 or 2 to {MAX_RERANKED}.", path=("ragConfig", "rerank"))


def reranker_name(name: str, passages: int) -> str:
    """What runs call a reranker that orders so many passages because their workspace wishes so."""
    return f"{name}:{passages}"

"""Converts a similarity threshold of 0 to 1 into a cosine of an embedding space."""

from __future__ import annotations

from agentic_rag.models.embedding.space import HASHED_PROVIDER, EmbeddingSpace

MODEL_EXPONENT = 4.0
"""Exponent for trained models: a threshold of 0.7 requires a cosine of 0.24, 0.75 one of 0.32. Taken as a cosine, 0.7
would drop five of six passages that answer (all-MiniLM-L6-v2, 120 questions of three sets); the sources' thresholds
come from models whose cosines all exceed 0.7.
"""

HASHED_EXPONENT = 8.0
"""Exponent for hashed spellings (`adapters.deterministic.hashed_embedding`), whose cosines are smaller: 0.7 requires
0.06, 0.75 requires 0.10.
"""


def min_cosine(threshold: float, space: EmbeddingSpace) -> float:
    """The smallest cosine that satisfies `threshold`. It grows with the threshold: 0 accepts every passage, 1 only the
    question itself.
    """
    return threshold ** (HASHED_EXPONENT if space.provider == HASHED_PROVIDER else MODEL_EXPONENT)

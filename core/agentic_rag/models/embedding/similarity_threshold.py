"""What a similarity threshold of 0 to 1 means in the cosines of an embedding space."""

from __future__ import annotations

from agentic_rag.models.embedding.space import HASHED_PROVIDER, EmbeddingSpace

MODEL_EXPONENT = 4.0
"""Of trained models: a threshold of 0.7 asks for a cosine of 0.24, 0.75 for 0.32. Read as a cosine itself, 0.7 would
leave out five of six passages that answer (all-MiniLM-L6-v2 over 120 questions of three sets); the sources' thresholds
are from models whose cosines all lie above 0.7.
"""

HASHED_EXPONENT = 8.0
"""Of spellings (`adapters.deterministic.hashed_embedding`), whose cosines are smaller still: 0.7 asks for 0.06, 0.75
for 0.10.
"""


def min_cosine(threshold: float, space: EmbeddingSpace) -> float:
    """The cosine from which a passage is as similar as `threshold` asks: it grows with it, 0 asks for nothing and 1 for
    the question itself.
    """
    return threshold ** (HASHED_EXPONENT if space.provider == HASHED_PROVIDER else MODEL_EXPONENT)

"""The embedder of a system without a provider key."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from agentic_rag.adapters.deterministic.hashed_embedding import DIMENSIONS, embed_texts
from agentic_rag.kernel.compute import Compute
from agentic_rag.models.embedding.space import EmbeddingSpace

DETERMINISTIC_SPACE = EmbeddingSpace("deterministic", "hashed-ngrams-v1", DIMENSIONS)

_BATCH = 256
"""About 10 ms of work, so that one call does not block the event loop for longer."""


class DeterministicEmbedder:
    """Implements `models.embedding.ports.Embedder` with `adapters.deterministic.hashed_embedding`. A single text is
    embedded in place; several texts run in `compute`, if there is one.
    """

    def __init__(self, compute: Compute | None = None) -> None:
        self._compute = compute

    @property
    def space(self) -> EmbeddingSpace:
        """The space of the hashed vectors."""
        return DETERMINISTIC_SPACE

    @property
    def batch_size(self) -> int:
        return _BATCH

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit-length vectors, shape (len(texts), 384), in the order of `texts`."""
        if self._compute is None or len(texts) == 1:
            return embed_texts(texts)
        return await self._compute.run(embed_texts, texts, len(texts))

    async def aclose(self) -> None:
        """Nothing to release."""

"""Pads a model's vectors with zeros to the dimensions of a larger space; cosines stay the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from agentic_rag.models.embedding.ports import CountingEmbedder, Embedder
from agentic_rag.models.embedding.space import EmbeddingSpace


def pad_vectors(vectors: NDArray[np.float32], dimensions: int) -> NDArray[np.float32]:
    """Pad the rows with zeros to `dimensions`, which is not smaller than their length."""
    return np.pad(vectors, ((0, 0), (0, dimensions - vectors.shape[1])))


class PaddedEmbedder:
    """Implements `models.embedding.ports.Embedder` over `inner`; the two spaces differ in dimensions only."""

    def __init__(self, inner: Embedder, dimensions: int) -> None:
        self._inner = inner
        self._space = replace(inner.space, dimensions=dimensions)

    @property
    def space(self) -> EmbeddingSpace:
        """The space of all vectors of this embedder."""
        return self._space

    @property
    def batch_size(self) -> int:
        """The largest batch worth sending in one call."""
        return self._inner.batch_size

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit-length vectors, shape (len(texts), dimensions), in the order of `texts`."""
        return pad_vectors(await self._inner.embed(texts), self._space.dimensions)

    async def embed_with_usage(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], int | None]:
        """As `embed`, with the tokens that the provider charges for."""
        if not isinstance(self._inner, CountingEmbedder):
            return await self.embed(texts), None
        vectors, tokens = await self._inner.embed_with_usage(texts)
        return pad_vectors(vectors, self._space.dimensions), tokens

    async def aclose(self) -> None:
        """Release connections."""
        await self._inner.aclose()

"""An embedder in a space of more dimensions than its model has, as a workspace may fix them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from agentic_rag.domain.padding import padded
from agentic_rag.domain.spaces import EmbeddingSpace
from agentic_rag.ports.embedder import CountingEmbedder, Embedder


class PaddedEmbedder:
    """Implements `ports.Embedder` over `inner`, whose space is the same but for its dimensions."""

    def __init__(self, inner: Embedder, dimensions: int) -> None:
        self._inner = inner
        self._space = replace(inner.space, dimensions=dimensions)

    @property
    def space(self) -> EmbeddingSpace:
        """The space all vectors of this embedder belong to."""
        return self._space

    @property
    def batch_size(self) -> int:
        """The most texts worth sending in one call."""
        return self._inner.batch_size

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit-length vectors, shape (len(texts), dimensions), in the order of `texts`."""
        return padded(await self._inner.embed(texts), self._space.dimensions)

    async def embed_counted(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], int | None]:
        """The same, with the tokens that the provider charges for."""
        if not isinstance(self._inner, CountingEmbedder):
            return await self.embed(texts), None
        vectors, tokens = await self._inner.embed_counted(texts)
        return padded(vectors, self._space.dimensions), tokens

    async def aclose(self) -> None:
        """Release connections."""
        await self._inner.aclose()

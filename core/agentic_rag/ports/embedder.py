"""Turns text into vectors of one embedding space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from agentic_rag.domain.spaces import EmbeddingSpace


class Embedder(Protocol):
    """One model, one space.

    Errors: `Retryable` (rate limit with its wait, time-out, 5xx), `Permanent` (rejected key: code
    PROVIDER_KEY_REJECTED; input refused),
    `SpaceMismatch` when the provider answers with other dimensions than the space has.
    """

    @property
    def space(self) -> EmbeddingSpace:
        """The space all vectors of this embedder belong to."""
        ...

    @property
    def batch_size(self) -> int:
        """The most texts worth sending in one call."""
        ...

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit-length vectors, shape (len(texts), dimensions), in the order of `texts`."""
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...

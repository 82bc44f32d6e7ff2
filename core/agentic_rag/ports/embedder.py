"""Turns text into vectors of one embedding space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from agentic_rag.domain.spaces import EmbeddingSpace, SpaceChoice


class Embedders(Protocol):
    """The embedders of a process, one per space."""

    @property
    def default(self) -> Embedder:
        """What a workspace without vectors begins with."""
        ...

    def for_space(self, space: EmbeddingSpace) -> Embedder:
        """The embedder of a space; the same one each time. Errors: `SpaceMismatch` when the settings of this process
        have none for it (no key).
        """
        ...

    def named(self, choice: SpaceChoice) -> EmbeddingSpace:
        """The space a person named, its gaps filled from the settings. Errors: `InvalidInput` code SPACE_UNKNOWN."""
        ...


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

"""Turns text into vectors of one embedding space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from agentic_rag.domain.spaces import EmbeddingSpace, SpaceChoice
from agentic_rag.domain.tenancy import WorkspaceRef


class EmbedderSource(Protocol):
    """Finds the embedders that work for a workspace."""

    async def of(self, workspace: WorkspaceRef) -> Embedders:
        """Those of the key that its organisation brought, else the platform's. Errors: `MissingProviderKey` when the
        organisation must bring a key and has none; others of `app.provider_access`.
        """
        ...

    async def admit(self, workspace: WorkspaceRef) -> None:
        """Let work pass that cannot be done without embeddings. Errors: as `of`; `BudgetExceeded`."""
        ...


class Embedders(Protocol):
    """The embedders that work for one organisation, one per space."""

    @property
    def default(self) -> Embedder:
        """What a workspace without vectors begins with."""
        ...

    def for_space(self, space: EmbeddingSpace) -> Embedder:
        """The embedder of a space; the same one each time. Errors: `SpaceMismatch` when the settings of this process
        have none for it (no key).
        """
        ...

    def starting(self, dimensions: int | None) -> EmbeddingSpace:
        """The space of a new workspace, which may fix its dimensions (None: those of the default)."""
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


@runtime_checkable
class CountingEmbedder(Protocol):
    """An embedder whose provider says how many tokens it charges for."""

    async def embed_counted(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], int | None]:
        """As `Embedder.embed`, with the tokens of all calls; None when the provider did not say."""
        ...

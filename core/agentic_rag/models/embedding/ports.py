"""Turns text into vectors of one embedding space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from agentic_rag.models.embedding.recall_gate import RecallComparison, RecallGate
from agentic_rag.models.embedding.space import EmbeddingSpace, SpaceChoice, SpaceRecord
from agentic_rag.tenancy.principals import WorkspaceRef


class EmbedderSource(Protocol):
    """Finds the embedders that work for a workspace."""

    async def of(self, workspace: WorkspaceRef) -> Embedders:
        """Those of the key that its organisation brought, else the platform's. Errors: `MissingProviderKey` when the
        organisation must bring a key and has none; others of `models.providers.tenant_models`.
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

    def resolve_space(self, choice: SpaceChoice) -> EmbeddingSpace:
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

    async def embed_with_usage(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], int | None]:
        """As `Embedder.embed`, with the tokens of all calls; None when the provider did not say."""
        ...


@dataclass(frozen=True, slots=True)
class ChunkWithoutVector:
    """A readable passage (of the newest or an older version) without a vector in some space."""

    ordinal: int
    text: str


class SpaceStore(Protocol):
    """Inside a transaction of one organisation. What changes a state locks the workspace first, so that no publish and
    no erasure comes between; a job is locked before it, as everywhere.
    """

    async def all(self, workspace: WorkspaceRef) -> Sequence[SpaceRecord]:
        """The workspace's spaces, oldest first, dropped ones left out."""
        ...

    async def begin(self, workspace: WorkspaceRef, space: EmbeddingSpace, gate: RecallGate | None) -> SpaceRecord:
        """Register a space for filling, or take up one that was retired, abandoned or left half filled, with its
        vectors; the gate replaces an earlier one. Errors: `InvalidInput` codes SPACE_ALREADY_ACTIVE and
        SWITCH_UNDER_WAY, `NotFound` (workspace).
        """
        ...

    async def gate(self, workspace: WorkspaceRef, space_id: int) -> RecallGate | None:
        """What the switch to the space must not worsen."""
        ...

    async def missing(
        self, workspace: WorkspaceRef, space_id: int, after: int, limit: int
    ) -> Sequence[ChunkWithoutVector]:
        """Passages beyond ordinal `after` without a vector in the space, by ordinal."""
        ...

    async def fill(self, workspace: WorkspaceRef, space_id: int, vectors: Mapping[int, bytes]) -> bool:
        """Write vectors (little-endian float16) by ordinal; what was erased or is there already is left out. False,
        and nothing is written, when the space is not FILLING any more. Errors: `SpaceMismatch` (length).
        """
        ...

    async def hold(self, workspace: WorkspaceRef, space_id: int) -> bool:
        """Have publishes and erasures wait until the transaction ends, for a switch to the space; False when it is not
        FILLING.
        """
        ...

    async def activate(self, workspace: WorkspaceRef, space_id: int, grace: timedelta) -> int | None:
        """Let a FILLING or RETIRED space answer from the next corpus version on, and retire the one that did; the
        version. None, and nothing is changed, when a readable passage has no vector in it. Errors: `NotFound` code
        SPACE_GONE when it stands in no such state.
        """
        ...

    async def record_verdict(self, workspace: WorkspaceRef, space_id: int, verdict: RecallComparison) -> None:
        """Keep what the gate measured."""
        ...

    async def set_support_threshold(self, workspace: WorkspaceRef, space_id: int, threshold: float | None) -> bool:
        """Keep the support (0 to 1) below which answers from the space become abstentions; None: the process's default.
        False when there is no such space.
        """
        ...

    async def abandon(self, workspace: WorkspaceRef, space_id: int, grace: timedelta) -> bool:
        """FILLING to ABANDONED; False when it was not FILLING."""
        ...

    async def drop_old_spaces(self, workspace: WorkspaceRef, limit: int) -> bool:
        """Drop up to `limit` vectors of spaces past their grace period, and the spaces that have none left; True when
        there may be more.
        """
        ...

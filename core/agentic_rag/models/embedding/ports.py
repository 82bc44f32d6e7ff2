"""Embedders, and the store of embedding spaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from agentic_rag.models.embedding.calibration import CalibrationRecord
from agentic_rag.models.embedding.recall_gate import RecallComparison, RecallGate
from agentic_rag.models.embedding.space import EmbeddingSpace, SpaceChoice, SpaceRecord
from agentic_rag.tenancy.principals import WorkspaceRef


class EmbedderSource(Protocol):
    """Selects the embedders of a workspace."""

    async def of(self, workspace: WorkspaceRef) -> Embedders:
        """The embedders of the organisation's own key, else the platform's. Errors: `MissingProviderKey` when the
        organisation must bring a key and has none; others of `models.providers.tenant_models`.
        """
        ...

    async def admit(self, workspace: WorkspaceRef) -> None:
        """Check key and budget before work that needs embeddings. Errors: as `of`; `BudgetExceeded`."""
        ...

    async def is_billed(self, workspace: WorkspaceRef) -> bool:
        """Whether embedding costs the workspace dollars, or nobody knows. Errors: as `of`."""
        ...


class Embedders(Protocol):
    """The embedders of one organisation, one per space."""

    @property
    def default(self) -> Embedder:
        """The embedder of a new workspace."""
        ...

    def for_space(self, space: EmbeddingSpace) -> Embedder:
        """The embedder of a space; the same object each time. Errors: `SpaceMismatch` when this process has no embedder
        for it (no key).
        """
        ...

    def resolve_space(self, choice: SpaceChoice) -> EmbeddingSpace:
        """The space that a user named, completed from the settings. Errors: `InvalidInput` code SPACE_UNKNOWN."""
        ...


class Embedder(Protocol):
    """One model, one space.

    Errors: `Retryable` (rate limit with its wait, time-out, 5xx), `Permanent` (rejected key: code
    PROVIDER_KEY_REJECTED; input refused),
    `SpaceMismatch` when the provider answers with other dimensions than the space has.
    """

    @property
    def space(self) -> EmbeddingSpace:
        """The space of its vectors."""
        ...

    @property
    def batch_size(self) -> int:
        """The largest batch worth sending in one call."""
        ...

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit-length vectors, shape (len(texts), dimensions), in the order of `texts`."""
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...


@runtime_checkable
class CountingEmbedder(Protocol):
    """An embedder whose provider reports the tokens it charges for."""

    async def embed_with_usage(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], int | None]:
        """As `Embedder.embed`, with the tokens of all calls; None when the provider did not report them."""
        ...


@dataclass(frozen=True, slots=True)
class ChunkWithoutVector:
    """A passage, visible in the newest or an older version, without a vector in a space."""

    ordinal: int
    text: str


class SpaceStore(Protocol):
    """Inside a transaction of one organisation. A change of state locks the workspace first, so that no publish and no
    erasure runs meanwhile. Jobs are locked before workspaces, as everywhere.
    """

    async def all(self, workspace: WorkspaceRef) -> Sequence[SpaceRecord]:
        """The workspace's spaces without dropped ones, oldest first."""
        ...

    async def begin(self, workspace: WorkspaceRef, space: EmbeddingSpace, gate: RecallGate | None) -> SpaceRecord:
        """Register a space for filling, or resume a retired, abandoned or half-filled one with its vectors. `gate`
        replaces an earlier one. Errors: `InvalidInput` codes SPACE_ALREADY_ACTIVE and SWITCH_UNDER_WAY, `NotFound`
        (workspace).
        """
        ...

    async def gate(self, workspace: WorkspaceRef, space_id: int) -> RecallGate | None:
        """The recall gate of the switch to the space."""
        ...

    async def missing(
        self, workspace: WorkspaceRef, space_id: int, after: int, limit: int
    ) -> Sequence[ChunkWithoutVector]:
        """Passages after ordinal `after` without a vector in the space, by ordinal."""
        ...

    async def fill(self, workspace: WorkspaceRef, space_id: int, vectors: Mapping[int, bytes]) -> bool:
        """Write vectors (little-endian float16) by ordinal; erased passages and existing vectors are skipped. False,
        with nothing written, when the space is no longer FILLING. Errors: `SpaceMismatch` (length).
        """
        ...

    async def hold(self, workspace: WorkspaceRef, space_id: int) -> bool:
        """Block publishes and erasures until the transaction ends, for a switch to the space. False when the space is
        not FILLING.
        """
        ...

    async def activate(self, workspace: WorkspaceRef, space_id: int, grace: timedelta) -> int | None:
        """Activate a FILLING or RETIRED space from the next corpus version on and retire the active one; returns that
        version. None, with nothing changed, when a readable passage has no vector in the space. Errors: `NotFound`
        code SPACE_GONE in any other state.
        """
        ...

    async def record_verdict(self, workspace: WorkspaceRef, space_id: int, verdict: RecallComparison) -> None:
        """Store the gate's measurement."""
        ...

    async def calibration(self, workspace: WorkspaceRef, space_id: int) -> CalibrationRecord:
        """The calibrations of a space; empty when there are none, and for an unknown space."""
        ...

    async def set_calibration(self, workspace: WorkspaceRef, space_id: int, record: CalibrationRecord) -> bool:
        """Store the calibrations of a space: the one in force says below which support its answers become abstentions;
        without one that is the process's default. False when the space does not exist.
        """
        ...

    async def abandon(self, workspace: WorkspaceRef, space_id: int, grace: timedelta) -> bool:
        """FILLING to ABANDONED; False when it was not FILLING."""
        ...

    async def drop_old_spaces(self, workspace: WorkspaceRef, limit: int) -> bool:
        """Delete up to `limit` vectors of spaces past their grace period, and the spaces without vectors. True when
        more may be left.
        """
        ...

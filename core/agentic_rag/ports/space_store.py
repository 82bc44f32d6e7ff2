"""Embedding spaces of a workspace: which there are, how far they are filled, which one answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from agentic_rag.domain.recall_gate import GateVerdict, RecallGate
from agentic_rag.domain.spaces import EmbeddingSpace, SpaceRecord
from agentic_rag.domain.tenancy import WorkspaceRef


@dataclass(frozen=True, slots=True)
class Unembedded:
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

    async def missing(self, workspace: WorkspaceRef, space_id: int, after: int, limit: int) -> Sequence[Unembedded]:
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

    async def record_verdict(self, workspace: WorkspaceRef, space_id: int, verdict: GateVerdict) -> None:
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

    async def drop_expired(self, workspace: WorkspaceRef, limit: int) -> bool:
        """Drop up to `limit` vectors of spaces past their grace period, and the spaces that have none left; True when
        there may be more.
        """
        ...

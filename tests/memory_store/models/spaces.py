"""`models.embedding.ports.SpaceStore` in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from tests.memory_store.session.state import StoredSpace, WorkspaceState
from tests.memory_store.session.store import Working

from agentic_rag.kernel.errors import NotFound, SpaceMismatch
from agentic_rag.models.embedding.calibration import CalibrationRecord
from agentic_rag.models.embedding.ports import ChunkWithoutVector
from agentic_rag.models.embedding.recall_gate import RecallComparison, RecallGate
from agentic_rag.models.embedding.space import (
    SPACE_TRANSITIONS,
    EmbeddingSpace,
    RegisteredSpace,
    SpaceRecord,
    SpaceState,
    must_start_fill,
)
from agentic_rag.tenancy.principals import WorkspaceRef

BYTES_PER_COMPONENT = 2
"""Of a half-precision vector."""


class MemorySpaceStore:
    """Inside a transaction of one organisation."""

    def __init__(self, working: Working) -> None:
        self._working = working

    async def all(self, workspace: WorkspaceRef) -> Sequence[SpaceRecord]:
        """The workspace's spaces, oldest first."""
        state = self._working.read(workspace)
        return [] if state is None else [_record(state, stored) for stored in state.spaces]

    async def begin(self, workspace: WorkspaceRef, space: EmbeddingSpace, gate: RecallGate | None) -> SpaceRecord:
        """Register a space for filling, or take one up again."""
        state = self._working.write(workspace)
        known = await self.all(workspace)
        record = next((one for one in known if one.registered.space == space), None)
        changes = must_start_fill(record, [one for one in known if one.state is SpaceState.FILLING])
        registered = register_space(state, space, self._working.now())
        stored = _stored(state, registered.space_id)
        since = self._working.now() if changes else stored.since
        begun = StoredSpace(registered, SpaceState.FILLING, since, gate=gate)
        _put(state, begun)
        return _record(state, begun)

    async def gate(self, workspace: WorkspaceRef, space_id: int) -> RecallGate | None:
        """What the switch to the space must not worsen."""
        state = self._working.read(workspace)
        found = None if state is None else _find(state, space_id)
        return None if found is None else found.gate

    async def missing(
        self, workspace: WorkspaceRef, space_id: int, after: int, limit: int
    ) -> Sequence[ChunkWithoutVector]:
        """Passages beyond ordinal `after` without a vector in the space, by ordinal."""
        state = self._working.read(workspace)
        if state is None:
            return []
        found = [
            ChunkWithoutVector(ordinal, passage.placements[-1].draft.text)
            for ordinal, passage in state.passages.items()
            if ordinal > after and space_id not in passage.vectors
        ]
        return sorted(found, key=lambda one: one.ordinal)[:limit]

    async def fill(self, workspace: WorkspaceRef, space_id: int, vectors: Mapping[int, bytes]) -> bool:
        """Write vectors by ordinal; False when the space is not FILLING any more."""
        state = self._working.write(workspace)
        stored = _find(state, space_id)
        if stored is None or stored.state is not SpaceState.FILLING:
            return False
        length = BYTES_PER_COMPONENT * stored.registered.space.dimensions
        if any(len(vector) != length for vector in vectors.values()):
            raise SpaceMismatch(f"The vectors do not fit the space {stored.registered.space.name}.")
        for ordinal, vector in vectors.items():
            passage = state.passages.get(ordinal)
            if passage is not None and space_id not in passage.vectors:
                state.passages[ordinal] = replace(passage, vectors={**passage.vectors, space_id: vector})
        return True

    async def hold(self, workspace: WorkspaceRef, space_id: int) -> bool:
        """Whether the space is FILLING; transactions follow each other anyway."""
        stored = _find(self._working.write(workspace), space_id)
        return stored is not None and stored.state is SpaceState.FILLING

    async def activate(self, workspace: WorkspaceRef, space_id: int, grace: timedelta) -> int | None:
        """Let a complete space answer from the next version on; None when a vector is missing."""
        state = self._working.write(workspace)
        stored = _find(state, space_id)
        if stored is None or SpaceState.ACTIVE not in SPACE_TRANSITIONS[stored.state]:
            raise NotFound(
                f"The embedding space {space_id} no longer exists; start the switch again.", code="SPACE_GONE"
            )
        if await self.missing(workspace, space_id, -1, 1):
            return None
        now = self._working.now()
        for other in state.spaces:
            if other.state is SpaceState.ACTIVE:
                _put(state, replace(other, state=SpaceState.RETIRED, since=now, drop_after=now + grace))
        _put(state, replace(stored, state=SpaceState.ACTIVE, since=now, drop_after=None, gate=None))
        version = state.next_version()
        state.workspace = replace(state.workspace, active_space=space_id)
        return version

    async def record_verdict(self, workspace: WorkspaceRef, space_id: int, verdict: RecallComparison) -> None:
        """Keep what the gate measured."""
        state = self._working.write(workspace)
        _put(state, replace(_stored(state, space_id), verdict=verdict))

    async def calibration(self, workspace: WorkspaceRef, space_id: int) -> CalibrationRecord:
        """The calibrations of a space."""
        state = self._working.read(workspace)
        found = None if state is None else _find(state, space_id)
        return CalibrationRecord() if found is None else found.calibration

    async def set_calibration(self, workspace: WorkspaceRef, space_id: int, record: CalibrationRecord) -> bool:
        """Keep the calibrations of a space."""
        state = self._working.write(workspace)
        stored = _find(state, space_id)
        if stored is None:
            return False
        _put(state, replace(stored, calibration=record))
        return True

    async def abandon(self, workspace: WorkspaceRef, space_id: int, grace: timedelta) -> bool:
        """FILLING to ABANDONED; False when it was not FILLING."""
        state = self._working.write(workspace)
        stored = _find(state, space_id)
        if stored is None or stored.state is not SpaceState.FILLING:
            return False
        now = self._working.now()
        _put(state, replace(stored, state=SpaceState.ABANDONED, since=now, drop_after=now + grace, gate=None))
        return True

    async def drop_old_spaces(self, workspace: WorkspaceRef, limit: int) -> bool:
        """Drop the spaces past their grace period with their vectors, however many."""
        drop_expired_spaces(self._working.write(workspace), self._working.now())
        return False


def register_space(state: WorkspaceState, space: EmbeddingSpace, now: datetime) -> RegisteredSpace:
    """The workspace's number for a space; the first one answers from the start."""
    for known in state.spaces:
        if known.registered.space == space:
            return known.registered
    state.last_space += 1
    registered = RegisteredSpace(state.last_space, space)
    first = state.workspace.active_space is None
    state.spaces = (
        *state.spaces,
        StoredSpace(registered, SpaceState.ACTIVE if first else SpaceState.FILLING, now),
    )
    if first:
        state.workspace = replace(state.workspace, active_space=registered.space_id)
    return registered


def is_expired(stored: StoredSpace, now: datetime) -> bool:
    """Whether a space that answers no more is past its grace period."""
    return (
        stored.state in (SpaceState.RETIRED, SpaceState.ABANDONED)
        and stored.drop_after is not None
        and stored.drop_after <= now
    )


def drop_expired_spaces(state: WorkspaceState, now: datetime) -> None:
    """Drop the spaces past their grace period with their vectors, staged ones too."""
    gone = {stored.registered.space_id for stored in state.spaces if is_expired(stored, now)}
    if not gone:
        return
    state.spaces = tuple(stored for stored in state.spaces if stored.registered.space_id not in gone)
    for ordinal, passage in state.passages.items():
        left = {number: vector for number, vector in passage.vectors.items() if number not in gone}
        state.passages[ordinal] = replace(passage, vectors=left)
    for revision_id, chunks in state.staged.items():
        state.staged[revision_id] = tuple(
            replace(chunk, vector=None, space_id=None) if chunk.space_id in gone else chunk for chunk in chunks
        )


def _find(state: WorkspaceState, space_id: int) -> StoredSpace | None:
    return next((stored for stored in state.spaces if stored.registered.space_id == space_id), None)


def _stored(state: WorkspaceState, space_id: int) -> StoredSpace:
    stored = _find(state, space_id)
    if stored is None:
        raise NotFound(f"There is no space {space_id}.", code="SPACE_GONE")
    return stored


def _put(state: WorkspaceState, changed: StoredSpace) -> None:
    state.spaces = tuple(
        changed if stored.registered.space_id == changed.registered.space_id else stored for stored in state.spaces
    )


def _record(state: WorkspaceState, stored: StoredSpace) -> SpaceRecord:
    number = stored.registered.space_id
    return SpaceRecord(
        registered=stored.registered,
        state=stored.state,
        done=sum(number in passage.vectors for passage in state.passages.values()),
        total=len(state.passages),
        since=stored.since,
        drop_after=stored.drop_after,
        verdict=stored.verdict,
    )

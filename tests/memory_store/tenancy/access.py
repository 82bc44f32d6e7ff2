"""`tenancy.ports.AccessStore` in memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from tests.memory_store.session.state import WorkspaceState
from tests.memory_store.session.store import Working

from agentic_rag.kernel.errors import NotFound
from agentic_rag.tenancy.access import ReadIdentity, ReadScope
from agentic_rag.tenancy.ports import AccessChange
from agentic_rag.tenancy.principals import WorkspaceRef


class MemoryAccessStore:
    """Inside a transaction of one organisation."""

    def __init__(self, working: Working) -> None:
        self._working = working

    async def readable(self, workspace: WorkspaceRef, readers: ReadIdentity) -> ReadScope:
        """What the readers may read now."""
        state = self._working.read(workspace)
        return ReadScope() if state is None else state.readable(readers)

    async def intern(self, workspace: WorkspaceRef, principals: tuple[str, ...]) -> int:
        """The number of the set of exactly these principals, made when there is none."""
        state = self._state(workspace)
        known = next((one for one, held in state.access_sets.items() if held == principals), None)
        if known is not None:
            return known
        made = max(state.access_sets) + 1
        self._working.write(workspace).access_sets[made] = principals
        return made

    async def principals(self, workspace: WorkspaceRef, access_ids: Collection[int]) -> Mapping[int, tuple[str, ...]]:
        """The principals of these sets."""
        state = self._working.read(workspace)
        held = {} if state is None else state.access_sets
        return {one: held[one] for one in access_ids if one in held}

    async def unreadable(
        self, workspace: WorkspaceRef, document_ids: Sequence[UUID], readers: ReadIdentity
    ) -> set[UUID]:
        """Those of the documents that are there and that the readers may not read."""
        state = self._working.read(workspace)
        if state is None:
            return set()
        asked = [state.documents[one] for one in document_ids if one in state.documents]
        return {one.document_id for one in asked if not readers.may_read(state.access_sets[one.access_id])}

    async def change(self, workspace: WorkspaceRef, document_id: UUID, access_id: int) -> AccessChange | None:
        """Give a document to the readers of another set; None when there is no such document."""
        known = self._state(workspace).documents.get(document_id)
        if known is None:
            return None
        if known.access_id == access_id:
            return AccessChange(None, 0)
        state = self._working.write(workspace)
        state.documents[document_id] = replace(known, access_id=access_id, updated_at=self._working.now())
        if known.revision_id is None:
            return AccessChange(None, 0)
        version = state.access_version = state.next_version()
        moved = list(state.passages_of(document_id))
        for ordinal, passage in moved:
            state.passages[ordinal] = passage.shown_to(access_id)
        return AccessChange(version, len(moved))

    def _state(self, workspace: WorkspaceRef) -> WorkspaceState:
        state = self._working.read(workspace)
        if state is None:
            raise NotFound("There is no such workspace.", code="WORKSPACE_NOT_FOUND")
        return state

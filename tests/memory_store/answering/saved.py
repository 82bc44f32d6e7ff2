"""`answering.ports.SavedStore` in memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from tests.memory_store.session.store import Working

from agentic_rag.answering.saved.saved_question import Replayed, SavedQuestion, SavedState
from agentic_rag.tenancy.principals import Principal, WorkspaceRef


@dataclass(frozen=True, slots=True)
class MemorySavedStore:
    """Saved questions of workspaces."""

    working: Working

    async def every(self, workspace: WorkspaceRef) -> list[SavedQuestion]:
        state = self.working.read(workspace)
        return [] if state is None else sorted(state.saved.values(), key=lambda one: (one.saved_at, one.saved_id))

    async def put(self, saved: SavedQuestion) -> None:
        self.working.write(saved.workspace).saved[saved.saved_id] = _stored(saved)

    async def note_rights(self, workspace: WorkspaceRef, principal: Principal, now: datetime) -> None:
        for one in await self.every(workspace):
            if one.principal.subject_id == principal.subject_id:
                await self.put(replace(one, principal=principal, seen_at=now))

    async def note(self, saved: SavedQuestion, found: Replayed, checked_at: datetime | None) -> None:
        held = {one.saved_id: one for one in await self.every(saved.workspace)}.get(saved.saved_id)
        if held is None or held.run_id != saved.run_id:
            return
        run_id = found.run_id if found.state is SavedState.SAME and found.run_id is not None else saved.run_id
        await self.put(replace(held, run_id=run_id, replayed=found, checked_at=checked_at))

    async def remove(self, workspace: WorkspaceRef, saved_id: UUID, subject: str) -> bool:
        own = [one for one in await self.every(workspace) if one.principal.subject_id == subject]
        if saved_id not in {one.saved_id for one in own}:
            return False
        del self.working.write(workspace).saved[saved_id]
        return True


def _stored(saved: SavedQuestion) -> SavedQuestion:
    """Without what only a request has."""
    return replace(saved, principal=replace(saved.principal, credential=""))

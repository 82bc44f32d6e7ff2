"""`tenancy.ports.AccessStore` in memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from tests.memory_store.session.state import WorkspaceState
from tests.memory_store.session.store import Working

from agentic_rag.documents.document import Document
from agentic_rag.kernel.errors import NotFound, Retryable
from agentic_rag.tenancy.access import NO_SCOPE, Hiding, ReadIdentity, ReadScope, is_hidden
from agentic_rag.tenancy.ports import AccessChange
from agentic_rag.tenancy.principals import WorkspaceRef


class MemoryAccessStore:
    """Inside a transaction of one organisation."""

    def __init__(self, working: Working) -> None:
        self._working = working

    async def readable(self, workspace: WorkspaceRef, readers: ReadIdentity) -> ReadScope:
        """What the readers may read now."""
        state = self._working.read(workspace)
        return NO_SCOPE if state is None else state.readable(readers)

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

    async def shown_version(self, workspace: WorkspaceRef, scope: ReadScope, version: int) -> int:
        """The number that a caller is shown for a version."""
        hidden = self._state(workspace).hidden_versions(scope)
        return version - sum(one <= version for one in hidden)

    async def stored_version(self, workspace: WorkspaceRef, scope: ReadScope, shown: int) -> int:
        """The first version still kept that a caller is shown under a number."""
        state = self._state(workspace)
        before = [one - place for place, one in enumerate(sorted(state.hidden_versions(scope)), 1)]
        first = shown + sum(one < shown for one in before)
        return min(shown + sum(one <= shown for one in before), max(first, state.oldest_version))

    async def version_at(self, workspace: WorkspaceRef, instant: datetime) -> int | None:
        """The version that was the newest one at an instant."""
        times = self._state(workspace).version_times
        return max((version for version, since in times.items() if since <= instant), default=None)

    async def unreadable(
        self, workspace: WorkspaceRef, document_ids: Sequence[UUID], readers: ReadIdentity
    ) -> set[UUID]:
        """Those of the documents that the readers may not read, or could not when they were erased."""
        state = self._working.read(workspace)
        if state is None:
            return set()
        known = {**state.tombstones, **state.documents}
        return {
            one
            for one in document_ids
            if one in known and not readers.may_read(state.access_sets[known[one].access_id])
        }

    async def sees(self, workspace: WorkspaceRef, document_id: UUID, readers: ReadIdentity) -> bool:
        """Whether the document is there, or was, and the readers may read it, or could."""
        state = self._working.read(workspace)
        known = {} if state is None else {**state.tombstones, **state.documents}
        return document_id in known and not await self.unreadable(workspace, [document_id], readers)

    async def owns(self, workspace: WorkspaceRef, key: UUID, subject: str) -> bool:
        """Whether the subject owns a document, or that of a job."""
        state = self._working.read(workspace)
        if state is None:
            return False
        stored = state.jobs.get(key)
        document = state.documents.get(key if stored is None else stored.job.document_id or key)
        return document is not None and document.uploaded_by == subject

    async def held_sets(self, workspace: WorkspaceRef, document_id: UUID) -> Mapping[int, tuple[str, ...]]:
        """The sets of a document, of its passages and of its past text, with their principals."""
        state = self._state(workspace)
        known = state.documents.get(document_id)
        held = {passage.access_id for _, passage in state.passages_of(document_id)}
        if known is not None:
            held |= {known.access_id, state.past_access.get(document_id, known.access_id)}
        return {one: state.access_sets[one] for one in held}

    async def change(
        self, workspace: WorkspaceRef, document_id: UUID, access_id: int, older: Mapping[int, int] | None = None
    ) -> AccessChange | None:
        """Give a document to the readers of another set; None when there is no such document."""
        known = self._state(workspace).documents.get(document_id)
        if known is None:
            return None
        if known.access_id == access_id and known.revision_id is None:
            return AccessChange(None, 0)
        moves: dict[int, int] = {}
        for ordinal, passage in self._state(workspace).passages_of(document_id):
            to = access_id if older is None or passage.visible_to is None else older.get(passage.access_id)
            if to is None:
                raise _readers_changed()
            if to != passage.access_id:
                moves[ordinal] = to
        if known.revision_id is not None:
            self._remember(workspace, known, access_id, older)
        if known.access_id == access_id and not moves:
            return AccessChange(None, 0)
        state = self._working.write(workspace)
        principals = state.access_sets[access_id]
        is_withdrawn, is_missing = (is_hidden(principals, one) for one in (Hiding.WITHDRAWN, Hiding.MISSING))
        state.documents[document_id] = replace(
            known, access_id=access_id, is_withdrawn=is_withdrawn, is_missing=is_missing, updated_at=self._working.now()
        )
        if known.revision_id is None:
            return AccessChange(None, 0)
        touched = {known.access_id, access_id, *moves.values(), *(state.passages[one].access_id for one in moves)}
        version = state.access_version = state.next_version(touched=touched)
        for ordinal, to in moves.items():
            state.passages[ordinal] = state.passages[ordinal].shown_to(to)
        return AccessChange(version, len(moves))

    def _remember(
        self, workspace: WorkspaceRef, known: Document, access_id: int, older: Mapping[int, int] | None
    ) -> None:
        state = self._state(workspace)
        before = state.past_access.get(known.document_id, known.access_id)
        past = access_id if older is None else older.get(before)
        if past is None:
            raise _readers_changed()
        if past != access_id:
            self._working.write(workspace).past_access[known.document_id] = past
        elif known.document_id in state.past_access:
            del self._working.write(workspace).past_access[known.document_id]

    async def set_owner(self, workspace: WorkspaceRef, document_id: UUID, owner: str) -> None:
        """Another owner."""
        known = self._state(workspace).documents.get(document_id)
        if known is not None:
            self._working.write(workspace).documents[document_id] = replace(known, uploaded_by=owner)

    async def set_writers(self, workspace: WorkspaceRef, document_id: UUID, writers: tuple[str, ...]) -> None:
        """Other writers."""
        known = self._state(workspace).documents.get(document_id)
        if known is not None:
            self._working.write(workspace).documents[document_id] = replace(known, writers=writers)

    def _state(self, workspace: WorkspaceRef) -> WorkspaceState:
        state = self._working.read(workspace)
        if state is None:
            raise NotFound("There is no such workspace.", code="WORKSPACE_NOT_FOUND")
        return state


def _readers_changed() -> Retryable:
    return Retryable("The readers of this document changed meanwhile.", code="DATABASE_CONFLICT")

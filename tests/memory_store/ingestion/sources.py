"""`ingestion.sources.ports.SourceStore` in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from uuid import UUID

from tests.memory_store.session.store import Working

from agentic_rag.documents.document import DocumentStatus
from agentic_rag.ingestion.sources.source import Source, SourceHealth
from agentic_rag.models.providers.provider_keys import SealedKey
from agentic_rag.tenancy.access import Hiding, is_hidden
from agentic_rag.tenancy.principals import WorkspaceRef


class MemorySourceStore:
    """Inside a transaction."""

    def __init__(self, working: Working, org_id: UUID) -> None:
        self._working = working
        self._org_id = org_id

    async def add(self, source: Source) -> bool:
        """Store a source, due at once where it has a schedule."""
        known = self._working.write(source.workspace).sources
        if any(one.stated.name == source.stated.name for one in known.values()):
            return False
        due = self._working.now() if source.stated.every_seconds else None
        known[source.source_id] = replace(source, health=SourceHealth(next_at=due), created_at=self._working.now())
        return True

    async def all(self, workspace: WorkspaceRef) -> list[Source]:
        """The sources of a workspace, by name."""
        state = self._working.read(workspace)
        return [] if state is None else sorted(state.sources.values(), key=lambda one: one.stated.name)

    async def get(self, workspace: WorkspaceRef, source_id: UUID) -> Source | None:
        """The source, or None."""
        state = self._working.read(workspace)
        return None if state is None else state.sources.get(source_id)

    async def record(self, workspace: WorkspaceRef, source_id: UUID, health: SourceHealth) -> None:
        """Replace what is known of its synchronisations."""
        known = self._working.write(workspace).sources
        if source_id in known:
            known[source_id] = replace(known[source_id], health=health)

    async def mark_leaving(self, workspace: WorkspaceRef, source_id: UUID) -> None:
        """Begin its removal."""
        known = self._working.write(workspace).sources
        if source_id in known:
            known[source_id] = replace(known[source_id], is_leaving=True)

    async def remove(self, workspace: WorkspaceRef, source_id: UUID) -> None:
        """Forget it."""
        self._working.write(workspace).sources.pop(source_id, None)

    async def document_counts(self, workspace: WorkspaceRef, source: str) -> Mapping[DocumentStatus, int]:
        """Its documents by status, without those that it no longer has."""
        counted = dict.fromkeys(DocumentStatus, 0)
        state = self._working.read(workspace)
        if state is None:
            return counted
        for document in state.documents.values():
            is_missing = is_hidden(state.access_sets.get(document.access_id, ()), Hiding.MISSING)
            counted[document.status] += document.provenance.get("source") == source and not is_missing
        return counted

    async def brought(self, workspace: WorkspaceRef) -> list[str]:
        """What brought documents of the workspace."""
        state = self._working.read(workspace)
        held = () if state is None else state.documents.values()
        return sorted({one.provenance["source"] for one in held if "source" in one.provenance})

    async def envelopes(self) -> Mapping[str, SealedKey]:
        """The encrypted credentials of the organisation's sources."""
        return {one.provenance: one.sealed for one in self._own() if one.sealed is not None}

    async def rewrap(self, owner: str, before: SealedKey, after: SealedKey) -> bool:
        """Replace an envelope, unless it is not the one it was."""
        for one in self._own():
            if one.provenance == owner and one.sealed == before:
                self._working.write(one.workspace).sources[one.source_id] = replace(one, sealed=after)
                return True
        return False

    def _own(self) -> list[Source]:
        return [
            one
            for workspace, state in self._working.states.items()
            if workspace.org_id == self._org_id
            for one in state.sources.values()
        ]

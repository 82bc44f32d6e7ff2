"""Where sources are kept, and how they are opened."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol
from uuid import UUID

from agentic_rag.documents.document import DocumentStatus
from agentic_rag.ingestion.ports import SourceConnector
from agentic_rag.ingestion.sources.source import NewSource, Source, SourceHealth
from agentic_rag.kernel.secret import Secret
from agentic_rag.models.providers.provider_keys import SealedKey
from agentic_rag.tenancy.principals import WorkspaceRef

OpenSource = Callable[[NewSource, Secret | None], AbstractAsyncContextManager[SourceConnector]]
"""Opens a source with its credential; what it needs on disk is gone when the block ends."""


class SourceStore(Protocol):
    """Inside a transaction of one organisation."""

    async def add(self, source: Source) -> bool:
        """Store a source, due at once where it has a schedule; False when the workspace has one of that name. Errors:
        `NotFound` (workspace).
        """
        ...

    async def all(self, workspace: WorkspaceRef) -> list[Source]:
        """The sources of a workspace, by name."""
        ...

    async def get(self, workspace: WorkspaceRef, source_id: UUID) -> Source | None:
        """The source, or None."""
        ...

    async def record(self, workspace: WorkspaceRef, source_id: UUID, health: SourceHealth) -> None:
        """Replace what is known of its synchronisations."""
        ...

    async def mark_leaving(self, workspace: WorkspaceRef, source_id: UUID) -> None:
        """Begin its removal; the schedule leaves it alone."""
        ...

    async def remove(self, workspace: WorkspaceRef, source_id: UUID) -> None:
        """Forget it, with its credential. Its documents stay as they are."""
        ...

    async def document_counts(self, workspace: WorkspaceRef, source: str) -> Mapping[DocumentStatus, int]:
        """The documents that a source (`provenance["source"]`) brought and still has, by status; every status is
        present.
        """
        ...

    async def brought(self, workspace: WorkspaceRef) -> list[str]:
        """What brought documents of the workspace (`provenance["source"]`), each once, sorted."""
        ...

    async def envelopes(self) -> Mapping[str, SealedKey]:
        """The encrypted credentials of all sources of the organisation, by the owner that each is bound to."""
        ...

    async def rewrap(self, owner: str, before: SealedKey, after: SealedKey) -> bool:
        """Replace the envelope `before` by `after`; False when the stored envelope is no longer `before`."""
        ...

"""Organisations and workspaces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol
from uuid import UUID

from agentic_rag.domain.spaces import EmbeddingSpace, RegisteredSpace
from agentic_rag.domain.tenancy import Workspace, WorkspaceKind, WorkspaceRef, WorkspaceSettings


class WorkspaceStore(Protocol):
    """Inside a transaction of one organisation."""

    async def create(
        self,
        workspace_id: UUID,
        name: str,
        kind: WorkspaceKind,
        external_ref: str | None,
        settings: WorkspaceSettings,
    ) -> Workspace:
        """Make a workspace with its default access set. Errors: `InvalidInput` code WORKSPACE_EXISTS when name or
        external ref is taken.
        """
        ...

    async def get(self, workspace_id: UUID) -> Workspace | None:
        """The workspace, or None."""
        ...

    async def by_name(self, name: str) -> Workspace | None:
        """The workspace of that name, or None."""
        ...

    async def by_reference(self, kind: WorkspaceKind, external_ref: str) -> Workspace | None:
        """The workspace of that kind under the caller's own id, or None."""
        ...

    async def change_settings(
        self, workspace_id: UUID, apply: Callable[[WorkspaceSettings], WorkspaceSettings]
    ) -> Workspace:
        """Replace the settings by what `apply` makes of them; nobody else changes them meanwhile. Errors: `NotFound`
        code WORKSPACE_NOT_FOUND, and what `apply` raises.
        """
        ...

    async def all(self) -> list[Workspace]:
        """Every workspace of the organisation but that of the leak canary, by name."""
        ...

    async def drop_expired(self, workspace: WorkspaceRef) -> bool:
        """Drop a bounded number of what is past its keeping (runs older than `runs_days`, expired cached answers,
        versions past `history_days`); True when there may be more.
        """
        ...

    async def register_space(self, workspace: WorkspaceRef, space: EmbeddingSpace) -> RegisteredSpace:
        """The workspace's number for the space, made at first use; the first one becomes the active space."""
        ...

    async def active_space(self, workspace: WorkspaceRef) -> RegisteredSpace | None:
        """The space that answers questions; None for an empty workspace."""
        ...

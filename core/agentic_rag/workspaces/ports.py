"""Organisations: seen from inside one of them, and as operators and the start-up make them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol
from uuid import UUID

from agentic_rag.models.embedding.space import EmbeddingSpace, RegisteredSpace
from agentic_rag.tenancy.api_keys import NewApiKey
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.organisation import Organisation, OrganisationSettings
from agentic_rag.workspaces.rate_limits import Bucket, RateLimitRefusal
from agentic_rag.workspaces.settings import WorkspaceSettings
from agentic_rag.workspaces.workspace import Workspace, WorkspaceKind


class OrganisationStore(Protocol):
    """Inside a transaction of one organisation. Errors of every call: `NotFound` when it was never made."""

    async def current(self) -> Organisation:
        """The organisation of the transaction."""
        ...

    async def change(self, apply: Callable[[OrganisationSettings], OrganisationSettings]) -> Organisation:
        """Replace the settings by what `apply` makes of them; nobody else changes them meanwhile."""
        ...


class OrganisationRegister(Protocol):
    """Every organisation, for operators. Errors: `DependencyUnavailable`, `Misconfigured` (the login may not)."""

    async def create(self, org_id: UUID, name: str, external_ref: str | None) -> Organisation:
        """Make one. Errors: `InvalidInput` code ORGANISATION_EXISTS when name or external ref is taken."""
        ...

    async def all(self) -> list[Organisation]:
        """Every organisation, by name."""
        ...


class Organisations(Protocol):
    """What start-up and identity need, outside any tenant. `ensure_` calls may be repeated: a second one changes
    nothing. Errors: `DependencyUnavailable`.
    """

    async def find(self, reference: str) -> UUID | None:
        """The organisation with that id, or with that external ref. None when there is none, or more than one."""
        ...

    async def ensure_organisation(self, org_id: UUID, name: str) -> None:
        """Make the organisation when it does not exist."""
        ...

    async def ensure_api_key(self, org_id: UUID, key: NewApiKey) -> None:
        """Store the key when the organisation has none with that hash. Errors: `NotFound` (organisation)."""
        ...


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

    async def apply_retention(self, workspace: WorkspaceRef) -> bool:
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


class RateBuckets(Protocol):
    """Buckets of organisations, as `workspaces.rate_limits` describes them."""

    async def take(self, org_id: UUID, buckets: Sequence[Bucket]) -> RateLimitRefusal | None:
        """Take from all of the buckets or from none: None when all had enough, else the one to wait longest for.

        Errors: `DependencyUnavailable`.
        """
        ...

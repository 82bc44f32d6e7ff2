"""Stores of organisations and workspaces, and the buckets of their rate limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
    """The organisation of a transaction. Errors of every call: `NotFound` when it does not exist."""

    async def current(self) -> Organisation:
        """The organisation of the transaction."""
        ...

    async def rename(self, name: str) -> Organisation:
        """Give it another name. Errors: `InvalidInput` code ORGANISATION_EXISTS when another one has the name."""
        ...

    async def change(self, apply: Callable[[OrganisationSettings], OrganisationSettings]) -> Organisation:
        """Replace the settings by the result of `apply`. The row stays locked until the transaction ends."""
        ...


class OrganisationRegister(Protocol):
    """All organisations, for operators. Errors: `DependencyUnavailable`, `Misconfigured` (a right is missing)."""

    async def create(
        self,
        org_id: UUID,
        name: str,
        external_ref: str | None,
        settings: OrganisationSettings = OrganisationSettings(),  # noqa: B008 - frozen
    ) -> Organisation:
        """Create one. Errors: `InvalidInput` code ORGANISATION_EXISTS when name or external ref is taken."""
        ...

    async def all(self) -> list[Organisation]:
        """Every organisation, by name."""
        ...


class Organisations(Protocol):
    """Organisations as start-up and identity see them, outside any tenant. A repeated `ensure_` call changes nothing.
    Errors: `DependencyUnavailable`.
    """

    async def find(self, reference: str) -> UUID | None:
        """The organisation with that id, or with that external ref. None when there is none, or more than one."""
        ...

    async def ensure_organisation(self, org_id: UUID, name: str) -> None:
        """Create the organisation unless it exists."""
        ...

    async def ensure_api_key(self, org_id: UUID, key: NewApiKey) -> None:
        """Store the key unless the organisation has one with that hash. Errors: `NotFound` (organisation)."""
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
        """Create a workspace with its default access set. Errors: `InvalidInput` code WORKSPACE_EXISTS when name or
        external ref is taken.
        """
        ...

    async def get(self, workspace_id: UUID) -> Workspace | None:
        """The workspace, or None."""
        ...

    async def get_many(self, workspace_ids: Sequence[UUID]) -> Mapping[UUID, Workspace]:
        """Those that are there, by id."""
        ...

    async def by_name(self, name: str) -> Workspace | None:
        """The workspace of that name, or None."""
        ...

    async def by_reference(self, kind: WorkspaceKind, external_ref: str) -> Workspace | None:
        """The workspace of that kind and external ref, or None."""
        ...

    async def rename(self, workspace_id: UUID, name: str) -> Workspace:
        """Give a workspace another name; ids and external ref stay. Errors: `NotFound` code WORKSPACE_NOT_FOUND,
        `InvalidInput` code WORKSPACE_EXISTS when another one has the name.
        """
        ...

    async def set_access(
        self, workspace_id: UUID, readers: tuple[str, ...] | None, writers: tuple[str, ...] | None
    ) -> Workspace:
        """Let exactly these principals enter a workspace, and these change its documents. Errors: `NotFound` code
        WORKSPACE_NOT_FOUND.
        """
        ...

    async def change_settings(
        self, workspace_id: UUID, apply: Callable[[WorkspaceSettings], WorkspaceSettings]
    ) -> Workspace:
        """Replace the settings by the result of `apply`. The row stays locked until the transaction ends. Errors:
        `NotFound` code WORKSPACE_NOT_FOUND, and those of `apply`.
        """
        ...

    async def all(self) -> list[Workspace]:
        """All workspaces of the organisation except the leak canary's, sorted by name."""
        ...

    async def apply_retention(self, workspace: WorkspaceRef) -> bool:
        """Delete a bounded number of expired rows: runs, finished jobs, usage, audit and versions past the days of the
        workspace's settings, expired cached answers. True when more may be left.
        """
        ...

    async def register_space(self, workspace: WorkspaceRef, space: EmbeddingSpace) -> RegisteredSpace:
        """The workspace's number for the space. The first call creates it; the first space becomes the active one."""
        ...

    async def active_space(self, workspace: WorkspaceRef) -> RegisteredSpace | None:
        """The space that answers questions; None for an empty workspace."""
        ...


class RateBuckets(Protocol):
    """Rate-limit buckets of organisations (see `workspaces.rate_limits`)."""

    async def take(self, org_id: UUID, buckets: Sequence[Bucket]) -> RateLimitRefusal | None:
        """Take from all buckets or from none. None when all had enough, else the bucket with the longest wait.

        Errors: `DependencyUnavailable`.
        """
        ...

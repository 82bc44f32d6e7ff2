"""`workspaces.ports.WorkspaceStore` in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from tests.memory_store.ingestion.compaction import purge_history
from tests.memory_store.models.spaces import drop_expired_spaces, register_space
from tests.memory_store.session.state import WorkspaceState, expired_runs
from tests.memory_store.session.store import Working

from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag.models.embedding.space import EmbeddingSpace, RegisteredSpace
from agentic_rag.operations.canary import canary_workspace
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.settings import WorkspaceSettings
from agentic_rag.workspaces.workspace import Workspace, WorkspaceKind


class MemoryWorkspaceStore:
    """Inside a transaction of one organisation."""

    def __init__(self, working: Working, org_id: UUID) -> None:
        self._working = working
        self._org_id = org_id

    async def create(
        self,
        workspace_id: UUID,
        name: str,
        kind: WorkspaceKind,
        external_ref: str | None,
        settings: WorkspaceSettings,
    ) -> Workspace:
        """Make a workspace."""
        for other in await self.all():
            same_reference = external_ref is not None and (other.kind, other.external_ref) == (kind, external_ref)
            if same_reference or other.name == name or other.ref.workspace_id == workspace_id:
                taken = f"name {name!r}" if external_ref is None else f"name {name!r} or reference {external_ref!r}"
                raise InvalidInput(f"A workspace with the {taken} exists already.", code="WORKSPACE_EXISTS")
        workspace = Workspace(
            ref=WorkspaceRef(self._org_id, workspace_id),
            name=name,
            kind=kind,
            external_ref=external_ref,
            corpus_version=0,
            graph_version=0,
            active_space=None,
            created_at=self._working.now(),
            settings=settings,
        )
        self._working.add(WorkspaceState(workspace))
        return workspace

    async def get(self, workspace_id: UUID) -> Workspace | None:
        """The workspace, or None."""
        state = self._working.read(WorkspaceRef(self._org_id, workspace_id))
        return None if state is None else state.workspace

    async def get_many(self, workspace_ids: Sequence[UUID]) -> Mapping[UUID, Workspace]:
        """Those that are there, by id."""
        found = [await self.get(one) for one in workspace_ids]
        return {one.ref.workspace_id: one for one in found if one is not None}

    async def by_name(self, name: str) -> Workspace | None:
        """The workspace of that name, or None."""
        return next((workspace for workspace in await self.all() if workspace.name == name), None)

    async def by_reference(self, kind: WorkspaceKind, external_ref: str) -> Workspace | None:
        """The workspace of that kind under the caller's own id, or None."""
        wanted = (kind, external_ref)
        return next((one for one in await self.all() if (one.kind, one.external_ref) == wanted), None)

    async def rename(self, workspace_id: UUID, name: str) -> Workspace:
        """Give a workspace another name. Errors: `NotFound` code WORKSPACE_NOT_FOUND, `InvalidInput`."""
        ref = WorkspaceRef(self._org_id, workspace_id)
        if self._working.read(ref) is None:
            raise NotFound("There is no such workspace.", code="WORKSPACE_NOT_FOUND")
        if any(one.name == name and one.ref != ref for one in await self.all()):
            raise InvalidInput(f"A workspace with the name {name!r} exists already.", code="WORKSPACE_EXISTS")
        state = self._working.write(ref)
        state.workspace = replace(state.workspace, name=name)
        return state.workspace

    async def set_access(
        self, workspace_id: UUID, readers: tuple[str, ...] | None, writers: tuple[str, ...] | None
    ) -> Workspace:
        """Other readers and writers. Errors: `NotFound` code WORKSPACE_NOT_FOUND."""
        ref = WorkspaceRef(self._org_id, workspace_id)
        if self._working.read(ref) is None:
            raise NotFound("There is no such workspace.", code="WORKSPACE_NOT_FOUND")
        state = self._working.write(ref)
        state.workspace = replace(state.workspace, readers=readers, writers=writers)
        return state.workspace

    async def change_settings(
        self, workspace_id: UUID, apply: Callable[[WorkspaceSettings], WorkspaceSettings]
    ) -> Workspace:
        """Replace the settings by what `apply` makes of them. Errors: `NotFound` code WORKSPACE_NOT_FOUND."""
        ref = WorkspaceRef(self._org_id, workspace_id)
        if self._working.read(ref) is None:
            raise NotFound("There is no such workspace.", code="WORKSPACE_NOT_FOUND")
        state = self._working.write(ref)
        state.workspace = replace(state.workspace, settings=apply(state.workspace.settings))
        return state.workspace

    async def all(self) -> list[Workspace]:
        """Every workspace of the organisation but that of the leak canary, by name."""
        hidden = canary_workspace(self._org_id)
        workspaces = [
            state.workspace
            for ref, state in self._working.states.items()
            if ref.org_id == self._org_id and ref != hidden and self._working.read(ref)
        ]
        return sorted(workspaces, key=lambda workspace: workspace.name)

    async def apply_retention(self, workspace: WorkspaceRef) -> bool:
        """Drop what is past its keeping; cached answers are kept elsewhere."""
        state = self._working.write(workspace)
        for run_id in expired_runs(state, self._working.now()):
            del state.runs[run_id]
        purge_history(self._working, state)
        drop_expired_spaces(state, self._working.now())
        return False

    async def register_space(self, workspace: WorkspaceRef, space: EmbeddingSpace) -> RegisteredSpace:
        """The workspace's number for the space. Errors: `NotFound` (workspace)."""
        state = self._working.write(workspace)
        return register_space(state, space, self._working.now())

    async def active_space(self, workspace: WorkspaceRef) -> RegisteredSpace | None:
        """The space that answers questions; None for an empty workspace."""
        state = self._working.read(workspace)
        return None if state is None else state.active_space()

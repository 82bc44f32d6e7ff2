"""The context of one request: its caller, its operation and its data loaders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from uuid import UUID

import strawberry
from strawberry.dataloader import DataLoader

from agentic_rag.documents.document import Document
from agentic_rag.documents.document_access import list_scope
from agentic_rag.jobs.job import JobAttempt, JobRef
from agentic_rag.jobs.turns import QueuePlace
from agentic_rag.kernel.errors import InvalidInput, no_such_workspace
from agentic_rag.kernel.pagination import MAX_PAGE, PageRequest
from agentic_rag.kernel.public_ids import NodeId, NodeKind, decode
from agentic_rag.tenancy.access import read_identity
from agentic_rag.tenancy.principals import Principal, WorkspaceRef
from agentic_rag.tenancy.shown_versions import show_versions
from agentic_rag.workspaces.rate_limits import Demand
from agentic_rag_server.parts import ServerParts


class RequestContext:
    """Everything that resolvers share."""

    def __init__(
        self,
        parts: ServerParts,
        principal: Principal,
        trace_id: str,
        operation_name: str | None = None,
        counted: Demand | None = None,
        base_url: Callable[[], str] = str,
    ) -> None:
        self.parts = parts
        self.principal = principal
        self.trace_id = trace_id
        self.operation_name = operation_name
        self.counted: Demand = counted or {}
        """The demand that was counted before the body was read."""
        self._base_url = base_url

    @property
    def base_url(self) -> str:
        """The server as the caller names it, without a slash at its end. It takes a request apart once more, and few
        fields ask for it.
        """
        return self._base_url()

    def ref(self, node: NodeId) -> WorkspaceRef:
        """The workspace of a public id, always inside the caller's organisation."""
        return WorkspaceRef(self.principal.org_id, node.workspace_id)

    async def shown_versions(self, ref: WorkspaceRef, *versions: int) -> list[int]:
        """Stored corpus versions as the caller is shown them."""
        return await show_versions(self.parts.database, ref, read_identity(self.principal), versions)

    async def workspace(self, workspace_id: str, path: tuple[str, ...] = ("workspaceId",)) -> WorkspaceRef:
        """An existing workspace by its public id. Errors: `InvalidInput`, `NotFound`."""
        ref = self.ref(decode(workspace_id, NodeKind.WORKSPACE, path=path))
        if await self.parts.database.corpus_version(ref) is None:
            raise no_such_workspace()
        return ref

    async def workspace_by_name(self, name: str, path: tuple[str, ...]) -> WorkspaceRef:
        """An existing workspace by its name. Errors: `InvalidInput`."""
        if "\0" not in name:
            async with self.parts.database.transaction(self.principal.org_id) as transaction:
                found = await transaction.workspaces.by_name(name)
            if found is not None:
                return found.ref
        raise InvalidInput("There is no workspace of this name.", code="WORKSPACE_NOT_FOUND", path=path)

    async def named_workspace(
        self, workspace_id: str | None, name: str | None, path: tuple[str, ...] = ()
    ) -> WorkspaceRef:
        """The workspace that an input at `path` names by its id or by its name. Errors: `InvalidInput`."""
        if (workspace_id is None) == (name is None):
            raise InvalidInput(
                "Name one workspace: by `workspaceId`, or by `workspace`, its name.",
                code="WORKSPACE_UNNAMED",
                path=(*path, "workspaceId"),
            )
        if workspace_id is not None:
            return self.ref(decode(workspace_id, NodeKind.WORKSPACE, path=(*path, "workspaceId")))
        return await self.workspace_by_name(name or "", (*path, "workspace"))

    def forget_loaded(self) -> None:
        """What was read for one event of a subscription is no longer true at the next."""
        for name in ("documents", "access_sets", "job_attempts", "queue_places"):
            self.__dict__.pop(name, None)

    @cached_property
    def documents(self) -> DataLoader[tuple[UUID, UUID], Document | None]:
        """Documents by (workspace, document), one transaction per query level. None for a missing or hidden one."""
        return DataLoader(self._load_documents)

    @cached_property
    def access_sets(self) -> DataLoader[tuple[UUID, int], tuple[str, ...]]:
        """Principals by (workspace, access set), one transaction per query level."""
        return DataLoader(self._load_access_sets)

    @cached_property
    def job_attempts(self) -> DataLoader[tuple[UUID, UUID], tuple[JobAttempt, ...]]:
        """Attempts by (workspace, job), one transaction per query level."""
        return DataLoader(self._load_attempts)

    @cached_property
    def queue_places(self) -> DataLoader[tuple[UUID, UUID], QueuePlace | None]:
        """Where jobs wait, by (workspace, job), one transaction per query level."""
        return DataLoader(self._load_places)

    async def _load_places(self, keys: Sequence[tuple[UUID, UUID]]) -> Sequence[QueuePlace | None]:
        org_id = self.principal.org_id
        async with self.parts.database.transaction(org_id) as transaction:
            return [await transaction.jobs.place(JobRef(WorkspaceRef(org_id, one), key)) for one, key in keys]

    async def _load_attempts(self, keys: Sequence[tuple[UUID, UUID]]) -> Sequence[tuple[JobAttempt, ...]]:
        org_id = self.principal.org_id
        async with self.parts.database.transaction(org_id) as transaction:
            return [await transaction.jobs.attempts(WorkspaceRef(org_id, workspace), key) for workspace, key in keys]

    async def _load_documents(self, keys: Sequence[tuple[UUID, UUID]]) -> Sequence[Document | None]:
        org_id = self.principal.org_id
        async with self.parts.database.transaction(org_id) as transaction:
            scopes = {
                workspace: await list_scope(transaction, self.principal, WorkspaceRef(org_id, workspace))
                for workspace in dict.fromkeys(workspace for workspace, _ in keys)
            }
            return [
                await transaction.documents.get(WorkspaceRef(org_id, workspace), key, scopes[workspace])
                for workspace, key in keys
            ]

    async def _load_access_sets(self, keys: Sequence[tuple[UUID, int]]) -> Sequence[tuple[str, ...]]:
        org_id = self.principal.org_id
        found: dict[tuple[UUID, int], tuple[str, ...]] = {}
        async with self.parts.database.transaction(org_id) as transaction:
            for workspace in {workspace for workspace, _ in keys}:
                asked = {access_id for held, access_id in keys if held == workspace}
                sets = await transaction.access.principals(WorkspaceRef(org_id, workspace), asked)
                found |= {(workspace, access_id): principals for access_id, principals in sets.items()}
        return [found.get(key, ()) for key in keys]


Info = strawberry.Info[RequestContext, None]


def page_request(first: int, after: str | None) -> PageRequest:
    """The arguments of a connection. Errors: `InvalidInput`."""
    if not 1 <= first <= MAX_PAGE:
        raise InvalidInput(f"`first` must be 1 to {MAX_PAGE}.", path=("first",))
    return PageRequest(first, after)

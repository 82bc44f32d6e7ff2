"""Runs the system in this process: the server's application behind a GraphQL client, and the container for operations
that GraphQL does not offer yet.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, TypeVar
from uuid import UUID

from agentic_rag.documents.document import Document, DocumentStatus
from agentic_rag.jobs.workers import WorkerRecord
from agentic_rag.kernel.database import Database, Transaction
from agentic_rag.kernel.pagination import MAX_PAGE, Page, PageRequest
from agentic_rag.settings import Settings
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, Principal, Role, SubjectKind, WorkspaceRef
from agentic_rag.workspaces.organisation import Organisation
from agentic_rag.workspaces.workspace import Workspace
from agentic_rag_cli.client.access import server_url
from agentic_rag_cli.client.graphql_client import IN_PROCESS, GraphQLClient
from agentic_rag_cli.client.ids import choose_organisation, choose_workspace, workspaces_in

if TYPE_CHECKING:
    import httpx2

    from agentic_rag.bootstrap import Container
    from agentic_rag.workspaces.enforce_rate_limits import Admission
    from agentic_rag_server.graphql.schema import RagSchema

T = TypeVar("T")

ACTOR = "system:cli"
"""The subject of the in-process command line in the audit log."""

_MAX_BODY_BYTES = 256 * 1024 * 1024
"""Limit for requests that never leave the process, such as the dataset of `rag eval --background`."""


def operator_of(org_id: UUID) -> Principal:
    """The principal of the in-process command line. It may do everything, since its user has the database's
    password.
    """
    return Principal(org_id=org_id, subject="cli", role=Role.OPERATOR, kind=SubjectKind.SYSTEM)


class System:
    """A wired container and the organisation that commands act in."""

    def __init__(self, container: Container, org_id: UUID = DEFAULT_ORG_ID) -> None:
        self.container = container
        self.org_id = org_id

    def client(self, org_id: UUID | None = None) -> GraphQLClient:
        """A client of the application in this process, as an operator of `org_id` (default: the system's
        organisation).
        """
        timeout = self.container.settings.answering.budget_ms[1]
        return GraphQLClient(IN_PROCESS, str(org_id or self.org_id), timeout, self._transport)

    async def serve_mcp(self, workspace: str | None) -> None:
        """Serve MCP on standard input and output, as an operator of the system's organisation. Errors: those of
        `serve_stdio`.
        """
        from agentic_rag_cli.client.mcp_bridge import serve_stdio

        settings = self.container.settings
        timeout = settings.answering.budget_ms[1]
        self.container.register.start()
        await serve_stdio(server_url(settings), str(self.org_id), timeout, workspace, self._transport)

    @cached_property
    def _transport(self) -> httpx2.ASGITransport:
        from agentic_rag_cli.client.event_transport import EventTransport
        from agentic_rag_server.app import build_app
        from agentic_rag_server.main import server_parts

        parts = server_parts(self.container)
        options = replace(
            parts.options, enabled=True, persisted_only=False, persisted_operations=None, max_body_bytes=_MAX_BODY_BYTES
        )
        served = replace(parts, options=options, identity=_Operators(), admission=_unlimited(parts.admission))
        return EventTransport(build_app(served, _schema()))

    async def workspaces(self) -> list[Workspace]:
        """Every workspace, by name."""
        async with self.container.database.transaction(self.org_id) as transaction:
            return await transaction.workspaces.all()

    async def workspace(self, name: str | None, *things: str) -> Workspace:
        """The workspace of that name, else the one that the public ids among `things` belong to, else the only one.

        Errors: those of `choose_workspace`.
        """
        every = {one.ref.workspace_id: one for one in await self.workspaces()}
        return every[choose_workspace({key: one.name for key, one in every.items()}, name, workspaces_in(things))]

    async def ensure_workspace(self, name: str) -> Workspace:
        """The workspace of that name, created when it is missing. Errors: `InvalidInput`."""
        from agentic_rag.workspaces.administer import NewWorkspace

        known = await self.find_workspace(name)
        return known or await self.container.administer.create_workspace(self.org_id, NewWorkspace(name), ACTOR)

    async def find_workspace(self, name: str) -> Workspace | None:
        """The workspace of that name, or None."""
        return next((one for one in await self.workspaces() if one.name == name), None)

    async def documents(
        self, workspace: WorkspaceRef, statuses: Sequence[DocumentStatus] = (), limit: int | None = None
    ) -> list[Document]:
        """Documents by source path, at most `limit`."""
        return await self.collect(lambda tx, request: tx.documents.page(workspace, request, statuses), limit)

    async def collect(
        self, read: Callable[[Transaction, PageRequest], Awaitable[Page[T]]], limit: int | None = None
    ) -> list[T]:
        """Rows of the organisation, each page read in a transaction of its own, at most `limit`."""
        return await collect(in_transaction(self.container.database, self.org_id, read), limit)

    async def organisation(self, text: str | None) -> Organisation:
        """The organisation of that id, external id or name; None: the system's. Errors: `NotFound`."""
        if text is None:
            return await self.container.administer.organisation(self.org_id)
        every = {str(one.org_id): one for one in await self.container.organisations.all()}
        return every[choose_organisation({key: (one.external_ref, one.name) for key, one in every.items()}, text)]

    async def worker_running(self) -> bool:
        """Whether a worker holds the dispatch lead. The check takes the lead for a moment."""
        async with aclosing(self.container.job_board()) as board:
            return not await board.lead()

    async def workers(self) -> list[WorkerRecord]:
        """Worker processes of the last day."""
        async with aclosing(self.container.job_board()) as board:
            return await board.workers()


def in_transaction(
    database: Database, org_id: UUID, read: Callable[[Transaction, PageRequest], Awaitable[Page[T]]]
) -> Callable[[PageRequest], Awaitable[Page[T]]]:
    """`read` for `collect`: each page in a transaction of its own."""

    async def page(request: PageRequest) -> Page[T]:
        async with database.transaction(org_id) as transaction:
            return await read(transaction, request)

    return page


async def collect(fetch: Callable[[PageRequest], Awaitable[Page[T]]], limit: int | None = None) -> list[T]:
    """Fetch page after page, at most `limit` items."""
    items: list[T] = []
    after: str | None = None
    while limit is None or len(items) < limit:
        wanted = MAX_PAGE if limit is None else min(MAX_PAGE, limit - len(items))
        page = await fetch(PageRequest(wanted, after))
        items.extend(page.items)
        if not page.has_next:
            break
        after = page.cursors[-1]
    return items


class _Operators:
    """Accepts the id of an organisation as a token: nothing outside this process reaches the application."""

    async def authenticate(self, token: str) -> Principal:
        return operator_of(UUID(token))


def _unlimited(limited: Admission) -> Admission:
    from agentic_rag.workspaces.enforce_rate_limits import Admission

    class Unlimited(Admission):
        """Admits every request: rate limits apply to clients of a server only. It still tells and sets them."""

        def __init__(self) -> None:
            vars(self).update(vars(limited))

        async def admit(self, principal: Principal, demand: object) -> None:
            """Admit the request."""

    return Unlimited()


@cache
def _schema() -> RagSchema:
    from agentic_rag_server.graphql.schema import build_schema

    return build_schema(introspection=False)


@asynccontextmanager
async def open_system(settings: Settings) -> AsyncIterator[System]:
    """Wire the system in this process and release everything when the block ends. Only errors are logged, unless
    AGENTIC_RAG_LOG_LEVEL is debug: the command's own output is for people.

    Errors: `DependencyUnavailable`, `Misconfigured` (migrations missing, no pgvector, role too strong), `NotFound` (no
    such organisation).
    """
    from agentic_rag.bootstrap import build_container

    quiet = settings if settings.operations.log_level == "debug" else settings.change(operations={"log_level": "error"})
    async with build_container(quiet) as container:
        await container.database.check()
        await container.first_access.ensure_organisation()
        system = System(container)
        if settings.tenant:
            system.org_id = (await system.organisation(settings.tenant)).org_id
        yield system

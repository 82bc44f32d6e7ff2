"""Documents of a workspace, and one by its id."""

from collections.abc import Awaitable, Callable

import strawberry

from agentic_rag.documents import document as documents
from agentic_rag.documents.document_access import DocumentRight, list_scope
from agentic_rag.kernel.public_ids import NodeKind, decode
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.graphql.answering.filters import DocumentFilterInput, read_filter
from agentic_rag_server.graphql.documents.documents import Document, DocumentStatus, find_document, show_document
from agentic_rag_server.graphql.http.context import Info, page_request
from agentic_rag_server.graphql.http.fields import Connection, connection_of, field, inner


@strawberry.type(description="One page of documents.")
class DocumentConnection(Connection[Document]):
    count: strawberry.Private[Callable[[], Awaitable[int]]]

    @inner(Action.READ, right=DocumentRight.KNOW, description="How many documents all pages together show.")
    async def total_count(self, info: Info) -> int:
        return await self.count()


@strawberry.type
class DocumentQuery:
    @field(Action.READ, right=DocumentRight.KNOW, description="Documents of a workspace, by source path.")
    async def documents(
        self,
        info: Info,
        workspace_id: strawberry.ID,
        first: int = 50,
        after: str | None = None,
        statuses: list[DocumentStatus] | None = None,  # type: ignore[valid-type]
        filter: DocumentFilterInput | None = None,
    ) -> DocumentConnection:
        context = info.context
        request = page_request(first, after)
        workspace = await context.workspace(workspace_id)
        chosen: tuple[documents.DocumentStatus, ...] = tuple(statuses or ())
        wanted = read_filter(filter, workspace, ("filter",))

        async def count() -> int:
            async with context.parts.database.transaction(workspace.org_id) as transaction:
                scope = await list_scope(transaction, context.principal, workspace)
                return await transaction.documents.count_listed(workspace, chosen, scope, wanted)

        async with context.parts.database.transaction(workspace.org_id) as transaction:
            scope = await list_scope(transaction, context.principal, workspace)
            page = await transaction.documents.page(workspace, request, chosen, scope, wanted)
        return connection_of(DocumentConnection, page, show_document, count=count)

    @field(Action.READ, right=DocumentRight.KNOW, description="A document by its id.")
    async def document(self, info: Info, id: strawberry.ID) -> Document | None:
        return await find_document(info.context, decode(id, NodeKind.DOCUMENT))

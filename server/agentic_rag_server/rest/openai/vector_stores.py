"""`/v1/vector_stores`: workspaces by the name of OpenAI's API, and searches in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from agentic_rag.answering.context.search_passages import FoundPassage
from agentic_rag.answering.options import MAX_TOP_K
from agentic_rag.answering.question import AnswerOptions, Question
from agentic_rag.documents.document import Document, DocumentStatus
from agentic_rag.documents.document_access import list_scope
from agentic_rag.documents.metadata import FieldValue
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.public_ids import NodeKind, decode, encode_workspace
from agentic_rag.kernel.text import require_no_nul
from agentic_rag.tenancy.principals import Principal
from agentic_rag.workspaces.administer import NewWorkspace
from agentic_rag.workspaces.rate_limits import Traffic
from agentic_rag.workspaces.workspace import Workspace
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Rule, Sight
from agentic_rag_server.rest.answering.search import REFUSALS, Query
from agentic_rag_server.rest.documents.uploads import NODE_ID
from agentic_rag_server.rest.http.bodies import read_json
from agentic_rag_server.rest.http.models import NOT_STORED, Model, OpenAIRefusal, answer
from agentic_rag_server.rest.http.operations import Endpoint, Parameter, ResponseSpec, admitted, operation
from agentic_rag_server.rest.openai.attributes import AttributeFilter, read_attributes_filter
from agentic_rag_server.rest.openai.files import PAGING, read_limit
from agentic_rag_server.rest.openai.places import FileIds, file_ids, name_of, store_workspace, uploads_of
from agentic_rag_server.rest.openai.response_models import RankingOptions

TAG = "vector stores"
PATH = "/v1/vector_stores"
STORE = Parameter("workspace", "path", "Id of the vector store.", NODE_ID)
MAX_QUERIES = 8


class FileCounts(Model, frozen=True, rename=None):
    """Files that the caller may know of, by their state."""

    in_progress: int
    completed: int
    failed: int
    cancelled: int
    total: int


class VectorStore(Model, frozen=True, rename=None):
    """A workspace. Bytes are not counted: `usage_bytes` is 0."""

    id: str
    object: Literal["vector_store"]
    created_at: int
    last_active_at: int
    name: str
    status: Literal["in_progress", "completed"]
    file_counts: FileCounts
    usage_bytes: int
    metadata: dict[str, str]


class VectorStoreList(Model, frozen=True, rename=None):
    """Vector stores by name."""

    object: Literal["list"]
    data: list[VectorStore]
    first_id: str | None
    last_id: str | None
    has_more: bool


class NewVectorStore(Model, frozen=True, rename=None):
    """A workspace to make. What would not be kept is refused."""

    name: str
    file_ids: Annotated[list[str], Meta(max_length=100)] | None = None
    metadata: dict[str, str] | None = None
    expires_after: dict[str, Any] | None = None
    chunking_strategy: dict[str, Any] | None = None


class VectorStoreChange(Model, frozen=True, rename=None):
    """What is to change. What would not be kept is refused."""

    name: str | None = None
    metadata: dict[str, str] | None = None
    expires_after: dict[str, Any] | None = None


class VectorStoreDeleted(Model, frozen=True, rename=None):
    """What is gone."""

    id: str
    object: Literal["vector_store.deleted"]
    deleted: bool


class StoreSearch(Model, frozen=True, rename=None):
    """A search."""

    query: Query | Annotated[list[Query], Meta(min_length=1, max_length=MAX_QUERIES)]
    max_num_results: Annotated[int, Meta(ge=1, le=MAX_TOP_K)] = 10
    ranking_options: RankingOptions | None = None
    filters: AttributeFilter | None = None
    rewrite_query: bool | None = None


class TextContent(Model, frozen=True, rename=None):
    """A text."""

    type: Literal["text"]
    text: str


class StoreSearchResult(Model, frozen=True, rename=None):
    """A passage."""

    file_id: str
    filename: str
    score: Annotated[float, Meta(description="Of all arms together, 0 to 1.")]
    attributes: dict[str, FieldValue]
    content: list[TextContent]


class StoreSearchPage(Model, frozen=True, rename=None):
    """The passages, best first, all on one page."""

    object: Literal["vector_store.search_results.page"]
    search_query: list[str]
    data: list[StoreSearchResult]
    has_more: bool
    next_page: None


class VectorStoresEndpoint(Endpoint):
    """Every workspace of the organisation is a vector store, that of the uploaded files too."""

    tag = TAG

    @operation(
        "POST",
        PATH,
        "createVectorStore",
        summary="Make a vector store",
        description="Takes the role admin. `file_ids` are added as `POST …/files` does.",
        rule=Rule((Action.CREATE_WORKSPACE,), Sight.ORGANISATION),
        takes=NewVectorStore,
        answers=(ResponseSpec(200, "The vector store.", VectorStore),),
        refusals=REFUSALS,
        refusal=OpenAIRefusal,
    )
    async def create(self, request: Request) -> Response:
        """Errors: `InvalidInput` (WORKSPACE_EXISTS, members that would not be kept), those of `CopyDocument`."""
        principal = admitted(request).principal
        given = await read_json(request, NewVectorStore, self._parts.options.max_body_bytes)
        refuse_unkept(metadata=given.metadata, expires_after=given.expires_after)
        refuse_chunking(given.chunking_strategy)
        files = [decode(one, NodeKind.DOCUMENT, path=("file_ids",)) for one in given.file_ids or ()]
        for file in files:
            # Before the workspace is made, so that a wrong id leaves nothing behind.
            await self._parts.copy_document.find(principal, file)
        made = await self._parts.administer.create_workspace(
            principal.org_id, NewWorkspace(given.name), principal.subject_id
        )
        for file in files:
            await self._parts.copy_document.run(principal, file, made.ref)
        return answer(await self._show(principal, made), headers=NOT_STORED)

    @operation(
        "GET",
        PATH,
        "listVectorStores",
        summary="The vector stores of the organisation",
        rule=Rule((Action.READ,), Sight.ORGANISATION),
        parameters=PAGING,
        answers=(ResponseSpec(200, "The vector stores.", VectorStoreList),),
        refusals=(400, 401, 403, 404, 429, 500, 503),
        refusal=OpenAIRefusal,
    )
    async def page(self, request: Request) -> Response:
        """Errors: `InvalidInput`, `NotFound` for an `after` that is gone."""
        principal = admitted(request).principal
        first, after = read_limit(request), request.query_params.get("after")
        async with self._parts.database.transaction(principal.org_id) as transaction:
            found = await transaction.workspaces.all()
        if after is not None:
            last = await store_workspace(self._parts, principal, after)
            found = [one for one in found if one.name > last.name]
        stores = [await self._show(principal, one) for one in found[:first]]
        ids = [one.id for one in stores]
        more = len(found) > first
        body = VectorStoreList("list", stores, ids[0] if ids else None, ids[-1] if ids else None, more)
        return answer(body, headers=NOT_STORED)

    @operation(
        "GET",
        f"{PATH}/{{workspace}}",
        "getVectorStore",
        summary="A vector store",
        rule=Rule((Action.READ,), Sight.ORGANISATION),
        parameters=(STORE,),
        answers=(ResponseSpec(200, "The vector store.", VectorStore),),
        refusals=(400, 401, 403, 404, 429, 500, 503),
        refusal=OpenAIRefusal,
    )
    async def get(self, request: Request) -> Response:
        """Errors: those of `store_workspace`."""
        principal = admitted(request).principal
        workspace = await store_workspace(self._parts, principal, request.path_params["workspace"])
        return answer(await self._show(principal, workspace), headers=NOT_STORED)

    @operation(
        "POST",
        f"{PATH}/{{workspace}}",
        "updateVectorStore",
        summary="Rename a vector store",
        description="Takes the role admin.",
        rule=Rule((Action.CHANGE_WORKSPACE,), Sight.ORGANISATION),
        parameters=(STORE,),
        takes=VectorStoreChange,
        answers=(ResponseSpec(200, "The vector store.", VectorStore),),
        refusals=(400, 401, 403, 404, 413, 415, 429, 500, 503),
        refusal=OpenAIRefusal,
    )
    async def update(self, request: Request) -> Response:
        """Errors: those of `store_workspace` and `rename_workspace`; `InvalidInput` for members that are not kept."""
        principal = admitted(request).principal
        given = await read_json(request, VectorStoreChange, self._parts.options.max_body_bytes)
        refuse_unkept(metadata=given.metadata, expires_after=given.expires_after)
        workspace = await store_workspace(self._parts, principal, request.path_params["workspace"])
        if given.name is not None:
            administer, actor = self._parts.administer, principal.subject_id
            workspace = await administer.rename_workspace(workspace.ref, given.name, actor)
        return answer(await self._show(principal, workspace), headers=NOT_STORED)

    @operation(
        "DELETE",
        f"{PATH}/{{workspace}}",
        "deleteVectorStore",
        summary="Delete a vector store",
        description="It is gone at once, with what it holds; a worker erases it from every store. Uploaded files stay. "
        "Takes the role admin.",
        rule=Rule((Action.DELETE_WORKSPACE,), Sight.ORGANISATION),
        parameters=(STORE,),
        answers=(ResponseSpec(200, "It is gone.", VectorStoreDeleted),),
        refusals=(400, 401, 403, 404, 429, 500, 503),
        refusal=OpenAIRefusal,
    )
    async def delete(self, request: Request) -> Response:
        """Errors: those of `store_workspace`; `InvalidInput` for the store of the uploaded files."""
        principal = admitted(request).principal
        workspace = await store_workspace(self._parts, principal, request.path_params["workspace"])
        uploads = await self._parts.attachments.find(uploads_of(principal.org_id))
        if uploads is not None and workspace.ref == uploads.ref:
            raise InvalidInput("This holds the uploaded files: delete those by `DELETE /v1/files/{id}`.", path=("id",))
        erase, actor = self._parts.request_erasure, principal.subject_id
        await erase.workspace(workspace.ref, workspace.name, actor, cancel_jobs=True)
        body = VectorStoreDeleted(request.path_params["workspace"], "vector_store.deleted", True)
        return answer(body, headers=NOT_STORED)

    @operation(
        "POST",
        f"{PATH}/{{workspace}}/search",
        "searchVectorStore",
        summary="The passages of a vector store for a text",
        rule=Rule((Action.ASK,), Sight.ORGANISATION),
        parameters=(STORE,),
        takes=StoreSearch,
        traffic=Traffic.ASK,
        answers=(ResponseSpec(200, "The passages.", StoreSearchPage),),
        refusals=REFUSALS,
        refusal=OpenAIRefusal,
    )
    async def search(self, request: Request) -> Response:
        """Several queries are searched for one after another. Errors: those of `SearchPassages`, `store_workspace`."""
        principal = admitted(request).principal
        given = await read_json(request, StoreSearch, self._parts.options.max_body_bytes)
        workspace = await store_workspace(self._parts, principal, request.path_params["workspace"])
        queries = [given.query] if isinstance(given.query, str) else given.query
        if len(queries) > 1:
            await self._parts.admission.admit(principal, {Traffic.ASK: len(queries) - 1})
        least = None if given.ranking_options is None else given.ranking_options.score_threshold
        narrowed = read_attributes_filter(given.filters, workspace.ref)
        options = AnswerOptions(top_k=given.max_num_results, min_score=least, filter=narrowed)
        best: dict[int, FoundPassage] = {}
        for query in queries:
            asked = Question(workspace.ref, require_no_nul(query, "query"), options=options)
            for one in (await self._parts.search.run(principal, asked)).passages:
                known = best.get(one.chunk.ordinal)
                if known is None or known.candidate.score < one.candidate.score:
                    best[one.chunk.ordinal] = one
        found = sorted(best.values(), key=lambda one: -one.candidate.score)[: given.max_num_results]
        ids = await file_ids(self._parts, principal, [one.chunk.source_path for one in found])
        async with self._parts.database.transaction(principal.org_id) as transaction:
            held = await transaction.documents.get_many(workspace.ref, [one.chunk.document_id for one in found])
        shown = [_show_result(one, workspace, ids, held) for one in found]
        body = StoreSearchPage("vector_store.search_results.page", queries, shown, False, None)
        return answer(body, headers=NOT_STORED)

    async def _show(self, principal: Principal, workspace: Workspace) -> VectorStore:
        async with self._parts.database.transaction(principal.org_id) as transaction:
            scope = await list_scope(transaction, principal, workspace.ref)
            counts = await transaction.documents.count(workspace.ref, scope)
        under_way = counts[DocumentStatus.PENDING] + counts[DocumentStatus.PROCESSING]
        done, failed = counts[DocumentStatus.READY], counts[DocumentStatus.FAILED]
        made = int(workspace.created_at.timestamp())
        return VectorStore(
            id=encode_workspace(workspace.ref.workspace_id),
            object="vector_store",
            created_at=made,
            last_active_at=made,
            name=workspace.name,
            status="in_progress" if under_way else "completed",
            file_counts=FileCounts(under_way, done, failed, 0, under_way + done + failed),
            usage_bytes=0,
            metadata={},
        )


def refuse_unkept(**members: object) -> None:
    """Errors: `InvalidInput` for a member with a value, which would not be kept or read."""
    for name, value in members.items():
        if value:
            raise InvalidInput(f"`{name}` is not supported here: leave it out.", path=(name,))


def refuse_chunking(strategy: dict[str, Any] | None) -> None:
    """Errors: `InvalidInput` for any strategy but `auto`."""
    if strategy is not None and strategy.get("type") != "auto":
        raise InvalidInput(
            "Passages are cut as the workspace's settings say: leave `chunking_strategy` out, or give `auto`.",
            path=("chunking_strategy",),
        )


def _show_result(
    found: FoundPassage, workspace: Workspace, ids: FileIds, held: Mapping[UUID, Document]
) -> StoreSearchResult:
    chunk = found.chunk
    document = held.get(chunk.document_id)
    return StoreSearchResult(
        file_id=ids.of(workspace.ref, chunk.document_id, chunk.source_path),
        filename=name_of(chunk.source_path),
        score=found.candidate.score,
        attributes={} if document is None else dict(document.metadata.fields),
        content=[TextContent("text", chunk.text)],
    )

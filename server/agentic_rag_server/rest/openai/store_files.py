"""`/v1/vector_stores/{id}/files`: the documents of a workspace by the name of OpenAI's API."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from agentic_rag.documents.document import Document, DocumentStatus
from agentic_rag.documents.document_access import DocumentRight, list_scope
from agentic_rag.documents.document_ids import resolve_ids
from agentic_rag.documents.metadata import FieldValue, MetadataChange
from agentic_rag.kernel.errors import InvalidInput, no_such_document
from agentic_rag.kernel.public_ids import NodeId, NodeKind, decode, encode_workspace
from agentic_rag.tenancy.principals import Principal, WorkspaceRef
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Rule
from agentic_rag_server.parts import ServerParts
from agentic_rag_server.rest.documents.uploads import NODE_ID, UPLOAD_REFUSALS
from agentic_rag_server.rest.http.bodies import read_json
from agentic_rag_server.rest.http.models import NOT_STORED, Model, OpenAIRefusal, answer
from agentic_rag_server.rest.http.operations import Endpoint, Parameter, ResponseSpec, admitted, operation
from agentic_rag_server.rest.openai.attributes import Attributes, attributes_change
from agentic_rag_server.rest.openai.files import PAGING, find_file, read_paging
from agentic_rag_server.rest.openai.places import FileIds, file_ids, store_workspace
from agentic_rag_server.rest.openai.vector_stores import PATH, STORE, TAG, TextContent, refuse_chunking

_PATH = f"{PATH}/{{workspace}}/files"
_FILE = Parameter("document", "path", "Id of the file.", NODE_ID)
STORED_SOON = {**NOT_STORED, "openai-poll-after-ms": "250"}
"""Clients that wait for a file ask again so soon."""

_REFUSALS = (400, 401, 403, 404, 429, 500, 503)

_STATUS: dict[DocumentStatus, Literal["in_progress", "completed", "failed"]] = {
    DocumentStatus.PENDING: "in_progress",
    DocumentStatus.PROCESSING: "in_progress",
    DocumentStatus.READY: "completed",
    DocumentStatus.FAILED: "failed",
}


_STATES = ("in_progress", "completed", "failed", "cancelled")
FILTER = Parameter("filter", "query", "Files in this state only.", {"type": "string", "enum": list(_STATES)})


class LastError(Model, frozen=True, rename=None):
    """Why a file cannot be read; the message begins with the product's code."""

    code: Literal["server_error", "invalid_file"]
    message: str


class StoreFile(Model, frozen=True, rename=None):
    """A file of a vector store."""

    id: str
    object: Literal["vector_store.file"]
    created_at: int
    vector_store_id: str
    status: Literal["in_progress", "completed", "failed"]
    last_error: LastError | None
    usage_bytes: int
    attributes: dict[str, FieldValue]


class StoreFileList(Model, frozen=True, rename=None):
    """Files by path."""

    object: Literal["list"]
    data: list[StoreFile]
    first_id: str | None
    last_id: str | None
    has_more: bool


class NewStoreFile(Model, frozen=True, rename=None):
    """A file to add. What would not be kept is refused."""

    file_id: str
    attributes: Attributes | None = None
    chunking_strategy: dict[str, Any] | None = None


class StoreFileChange(Model, frozen=True, rename=None):
    """The attributes of a file from now on; null removes them."""

    attributes: Attributes | None


class StoreFileDeleted(Model, frozen=True, rename=None):
    """What is gone from the vector store; the uploaded file stays."""

    id: str
    object: Literal["vector_store.file.deleted"]
    deleted: bool


class StoreFileContent(Model, frozen=True, rename=None):
    """The parts of a text, all on one page."""

    object: Literal["vector_store.file_content.page"]
    data: list[TextContent]
    has_more: bool
    next_page: None


class StoreFilesEndpoint(Endpoint):
    """A file that is added is copied, and read in the vector store's own way."""

    tag = TAG

    @operation(
        "POST",
        _PATH,
        "addVectorStoreFile",
        summary="Add a file to a vector store",
        description="Takes the role member, and the right to read the file.",
        rule=Rule((Action.UPLOAD_DOCUMENT,), DocumentRight.READ),
        parameters=(STORE,),
        takes=NewStoreFile,
        answers=(ResponseSpec(200, "The file; a worker reads it.", StoreFile),),
        refusals=UPLOAD_REFUSALS,
        refusal=OpenAIRefusal,
    )
    async def add(self, request: Request) -> Response:
        """Errors: those of `CopyDocument`, `store_workspace`; `InvalidInput`."""
        principal = admitted(request).principal
        given = await read_json(request, NewStoreFile, self._parts.options.max_body_bytes)
        attributes = attributes_change(given.attributes)
        refuse_chunking(given.chunking_strategy)
        node = decode(given.file_id, NodeKind.DOCUMENT, path=("file_id",))
        store = (await store_workspace(self._parts, principal, request.path_params["workspace"])).ref
        key = await add_to_store(self._parts, principal, node, store, attributes)
        return await self._answer(principal, await find_file(self._parts, store, key))

    @operation(
        "GET",
        _PATH,
        "listVectorStoreFiles",
        summary="The files of a vector store",
        rule=Rule((Action.READ,), DocumentRight.KNOW),
        parameters=(STORE, FILTER, *PAGING),
        answers=(ResponseSpec(200, "The files.", StoreFileList),),
        refusals=_REFUSALS,
        refusal=OpenAIRefusal,
    )
    async def page(self, request: Request) -> Response:
        """Errors: those of `store_workspace`, `read_paging` and `wanted_statuses`."""
        principal = admitted(request).principal
        store = (await store_workspace(self._parts, principal, request.path_params["workspace"])).ref
        asked, wanted = await read_paging(self._parts, request, principal), wanted_statuses(request)
        if not wanted:
            return answer(StoreFileList("list", [], None, None, False), headers=NOT_STORED)
        async with self._parts.database.transaction(store.org_id) as transaction:
            scope = await list_scope(transaction, principal, store)
            page = await transaction.documents.page(store, asked, wanted, scope=scope)
        ids = await file_ids(self._parts, principal, [one.source_path for one in page.items])
        files = [show_store_file(one, ids) for one in page.items]
        shown = [one.id for one in files]
        body = StoreFileList("list", files, shown[0] if shown else None, shown[-1] if shown else None, page.has_next)
        return answer(body, headers=NOT_STORED)

    @operation(
        "GET",
        f"{_PATH}/{{document}}",
        "getVectorStoreFile",
        summary="A file of a vector store and where it stands",
        rule=Rule((Action.READ,), DocumentRight.KNOW),
        parameters=(STORE, _FILE),
        answers=(ResponseSpec(200, "The file.", StoreFile),),
        refusals=_REFUSALS,
        refusal=OpenAIRefusal,
    )
    async def get(self, request: Request) -> Response:
        """Errors: those of `_held`."""
        return await self._answer(admitted(request).principal, await self._held(request))

    @operation(
        "GET",
        f"{_PATH}/{{document}}/content",
        "getVectorStoreFileContent",
        summary="The text that was read of a file, whole",
        rule=Rule((Action.READ,), DocumentRight.READ),
        parameters=(STORE, _FILE),
        answers=(ResponseSpec(200, "The text, in parts.", StoreFileContent),),
        refusals=_REFUSALS,
        refusal=OpenAIRefusal,
    )
    async def content(self, request: Request) -> Response:
        """Errors: those of `_held` and `ReadText`."""
        held, principal = await self._held(request), admitted(request).principal
        read = partial(self._parts.read_text.run, principal, held.workspace, held.document_id)
        parts = [await read()]
        while (last := parts[-1]).end < last.layout.characters:
            # Of one version, so that the parts make one text.
            parts.append(await read(last.end, as_of=last.corpus_version))
        content = [TextContent("text", one.text) for one in parts]
        return answer(StoreFileContent("vector_store.file_content.page", content, False, None), headers=NOT_STORED)

    @operation(
        "POST",
        f"{_PATH}/{{document}}",
        "updateVectorStoreFile",
        summary="Give a file of a vector store other attributes",
        description="They take the place of those before. Takes its owner or a writer with the role member, or the "
        "role admin.",
        rule=Rule((Action.UPDATE_DOCUMENT,), DocumentRight.WRITE),
        parameters=(STORE, _FILE),
        takes=StoreFileChange,
        answers=(ResponseSpec(200, "The file.", StoreFile),),
        refusals=_REFUSALS,
        refusal=OpenAIRefusal,
    )
    async def update(self, request: Request) -> Response:
        """Errors: those of `_held` and `UpdateDocument`."""
        principal = admitted(request).principal
        given = await read_json(request, StoreFileChange, self._parts.options.max_body_bytes)
        held = await self._held(request)
        change = attributes_change(given.attributes, tuple(held.metadata.fields))
        changed = await self._parts.update_document.run(principal, held.workspace, held.document_id, change)
        return await self._answer(principal, changed)

    @operation(
        "DELETE",
        f"{_PATH}/{{document}}",
        "deleteVectorStoreFile",
        summary="Erase a file from a vector store",
        description="Takes its owner with the role member, or the role admin. The uploaded file stays.",
        rule=Rule((Action.DELETE_DOCUMENT,), DocumentRight.OWN),
        parameters=(STORE, _FILE),
        answers=(ResponseSpec(200, "It is gone.", StoreFileDeleted),),
        refusals=_REFUSALS,
        refusal=OpenAIRefusal,
    )
    async def delete(self, request: Request) -> Response:
        """Errors: those of `_held`."""
        held = await self._held(request)
        await self._parts.delete.run(held.workspace, held.document_id, admitted(request).principal.subject_id)
        body = StoreFileDeleted(request.path_params["document"], "vector_store.file.deleted", True)
        return answer(body, headers=NOT_STORED)

    async def _held(self, request: Request) -> Document:
        """The file of the store that an id means: its own, or that of the uploaded file that it is a copy of. Errors:
        those of `store_workspace` and `require`.
        """
        principal = admitted(request).principal
        store = (await store_workspace(self._parts, principal, request.path_params["workspace"])).ref
        node = decode(request.path_params["document"], NodeKind.DOCUMENT, path=("file_id",))
        if node.workspace_id != store.workspace_id:
            source = WorkspaceRef(principal.org_id, node.workspace_id)
            async with self._parts.database.transaction(store.org_id) as transaction:
                uploaded = await transaction.documents.get(source, node.key)
                if uploaded is None:
                    raise no_such_document()
                ids = await resolve_ids(transaction.documents, store, [uploaded.source_path])
            node = NodeId(NodeKind.DOCUMENT, store.workspace_id, ids[uploaded.source_path])
        await self.require(request, node)
        return await find_file(self._parts, store, node.key)

    async def _answer(self, principal: Principal, document: Document) -> Response:
        ids = await file_ids(self._parts, principal, [document.source_path])
        return answer(show_store_file(document, ids), headers=STORED_SOON)


async def add_to_store(
    parts: ServerParts, principal: Principal, file: NodeId, store: WorkspaceRef, attributes: MetadataChange
) -> UUID:
    """The id that a file has in the store: a file of another place is copied. Errors: those of `CopyDocument` and
    `UpdateDocument`.
    """
    if file.workspace_id != store.workspace_id:
        return (await parts.copy_document.run(principal, file, store, attributes)).document_id
    await parts.copy_document.find(principal, file)
    if not attributes.is_empty:
        await parts.update_document.run(principal, store, file.key, attributes)
    return file.key


def wanted_statuses(request: Request) -> tuple[DocumentStatus, ...]:
    """The statuses of the documents in the state that `filter` names; else all. Errors: `InvalidInput`."""
    wanted = request.query_params.get("filter")
    if wanted is not None and wanted not in _STATES:
        raise InvalidInput(f"`filter` is one of {', '.join(_STATES)}.", path=("filter",))
    return tuple(status for status, state in _STATUS.items() if wanted in (None, state))


def show_store_file(document: Document, ids: FileIds) -> StoreFile:
    fault = document.fault
    return StoreFile(
        id=ids.of(document.workspace, document.document_id, document.source_path),
        object="vector_store.file",
        created_at=int(document.created_at.timestamp()),
        vector_store_id=encode_workspace(document.workspace.workspace_id),
        status=_STATUS[document.status],
        last_error=None
        if fault is None
        else LastError("server_error" if fault.retryable else "invalid_file", f"{fault.code}: {fault.message}"),
        usage_bytes=document.size,
        attributes=dict(document.metadata.fields),
    )

"""`/v1/files`: documents by the name of OpenAI's API. Uploaded ones stand in a workspace of their own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from agentic_rag.documents.document import Document, DocumentStatus
from agentic_rag.documents.document_access import DocumentRight, may_own
from agentic_rag.ingestion.upload import ReceivedUpload, UploadOptions
from agentic_rag.kernel.errors import InvalidInput, no_such_document
from agentic_rag.kernel.pagination import MAX_PAGE, PageRequest, cursor_after
from agentic_rag.kernel.public_ids import NodeKind, decode, encode
from agentic_rag.tenancy.principals import Principal, WorkspaceRef
from agentic_rag.workspaces.workspace import Workspace
from agentic_rag_server.auth.roles import Action, authorise
from agentic_rag_server.auth.rules import Rule, Sight
from agentic_rag_server.parts import ServerParts
from agentic_rag_server.rest.documents.source import ORIGINAL_ANSWERS, ORIGINAL_HEADERS, original_response
from agentic_rag_server.rest.documents.uploads import NODE_ID, UPLOAD_REFUSALS
from agentic_rag_server.rest.http.bodies import FIELDS_BYTES, Receive
from agentic_rag_server.rest.http.models import NOT_STORED, Model, OpenAIRefusal, answer
from agentic_rag_server.rest.http.multipart import MultipartBody
from agentic_rag_server.rest.http.operations import (
    Endpoint,
    FileForm,
    FormField,
    Parameter,
    ResponseSpec,
    admitted,
    operation,
)
from agentic_rag_server.rest.openai.places import uploads_of

TAG = "files"
PURPOSES = ("assistants", "user_data")

_ID = Parameter("document", "path", "Id of the file.", NODE_ID)
_PURPOSE = Parameter("purpose", "query", "Files of this purpose only; all have `assistants`.", {"type": "string"})
PAGING = (
    Parameter(
        "limit", "query", f"How many, {MAX_PAGE} at most.", {"type": "integer", "minimum": 1, "default": MAX_PAGE}
    ),
    Parameter("after", "query", "The id of the last one of the page before.", {"type": "string", "minLength": 1}),
)
_REFUSALS = (400, 401, 403, 404, 429, 500, 503)

_STATUS: dict[DocumentStatus, Literal["uploaded", "processed", "error"]] = {
    DocumentStatus.PENDING: "uploaded",
    DocumentStatus.PROCESSING: "uploaded",
    DocumentStatus.READY: "processed",
    DocumentStatus.FAILED: "error",
}


class FileObject(Model, frozen=True, rename=None):
    """A file. Every one is shown with the purpose `assistants`."""

    id: str
    object: Literal["file"]
    bytes: int
    created_at: int
    filename: str
    purpose: Literal["assistants"]
    status: Literal["uploaded", "processed", "error"]
    status_details: Annotated[str | None, Meta(description="Why it cannot be read.")]


class FileList(Model, frozen=True, rename=None):
    """Files in the order of their ids' paths."""

    object: Literal["list"]
    data: list[FileObject]
    first_id: str | None
    last_id: str | None
    has_more: bool


class FileDeleted(Model, frozen=True, rename=None):
    """What is gone, here and from the vector stores that it was added to by the same owner."""

    id: str
    object: Literal["file"]
    deleted: bool


class FilesEndpoint(Endpoint):
    """Files are documents; a vector store that takes one holds a copy."""

    tag = TAG

    @operation(
        "POST",
        "/v1/files",
        "createFile",
        summary="Upload a file for vector stores",
        description="Takes the role member; the first file of an organisation, which makes their workspace, admin.",
        rule=Rule((Action.UPLOAD_DOCUMENT,), Sight.ORGANISATION),
        takes=FileForm((FormField("purpose", f"One of {', '.join(PURPOSES)}.", 100),)),
        answers=(ResponseSpec(200, "The file; a worker reads it.", FileObject),),
        refusals=UPLOAD_REFUSALS,
        refusal=OpenAIRefusal,
    )
    async def create(self, request: Request) -> Response:
        """Errors: those of `UploadDocument`, `Forbidden`, `InvalidInput` for other fields and purposes."""
        principal = admitted(request).principal
        parts = self._parts
        body = MultipartBody(request, parts.options.max_upload_bytes + FIELDS_BYTES)
        workspace = await self._uploads(principal)

        async def receive(name: str, pieces: AsyncIterator[bytes]) -> ReceivedUpload:
            return await parts.upload.receive(workspace.ref, name, pieces)

        received = await self._read(body, receive)
        # Two files of one name are two files.
        path = f"{parts.ids.new()}/{received.file_name}"
        attachment = await parts.attachments.submit(received, UploadOptions(path), principal)
        return answer(show_file(attachment.document), headers=NOT_STORED)

    @operation(
        "GET",
        "/v1/files",
        "listFiles",
        summary="The uploaded files",
        rule=Rule((Action.READ,), Sight.ORGANISATION),
        parameters=(_PURPOSE, *PAGING),
        answers=(ResponseSpec(200, "The files.", FileList),),
        refusals=_REFUSALS,
        refusal=OpenAIRefusal,
    )
    async def page(self, request: Request) -> Response:
        """Errors: `InvalidInput`, `NotFound` for an `after` that is gone."""
        principal = admitted(request).principal
        asked = await read_paging(self._parts, request, principal)
        if request.query_params.get("purpose", PURPOSES[0]) != PURPOSES[0]:
            # Every file is shown with this purpose.
            return answer(FileList("list", [], None, None, False), headers=NOT_STORED)
        page = await self._parts.attachments.page(uploads_of(principal.org_id), asked, principal)
        files = [show_file(one) for one in page.items]
        ids = [one.id for one in files]
        body = FileList("list", files, ids[0] if ids else None, ids[-1] if ids else None, page.has_next)
        return answer(body, headers=NOT_STORED)

    @operation(
        "GET",
        "/v1/files/{document}",
        "getFile",
        summary="A file and where it stands",
        rule=Rule((Action.READ,), DocumentRight.KNOW),
        parameters=(_ID,),
        answers=(ResponseSpec(200, "The file.", FileObject),),
        refusals=_REFUSALS,
        refusal=OpenAIRefusal,
    )
    async def get(self, request: Request) -> Response:
        """Errors: those of `require`, `InvalidInput`, `NotFound`."""
        document, _ = await self._file(request)
        return answer(show_file(document), headers=NOT_STORED)

    @operation(
        "GET",
        "/v1/files/{document}/content",
        "getFileContent",
        summary="The file, byte by byte",
        rule=Rule((Action.READ,), DocumentRight.READ),
        parameters=(_ID, *ORIGINAL_HEADERS),
        answers=ORIGINAL_ANSWERS,
        refusals=tuple(sorted({*_REFUSALS, 416})),
        refusal=OpenAIRefusal,
    )
    async def content(self, request: Request) -> Response:
        """Errors: those of `require` and `original_response`."""
        node = decode(request.path_params["document"], NodeKind.DOCUMENT)
        ref, principal = await self.require(request, node)
        return await original_response(self._parts, request, ref, principal, node.key)

    @operation(
        "DELETE",
        "/v1/files/{document}",
        "deleteFile",
        summary="Erase a file here and in the vector stores",
        description="Takes its owner with the role member, or the role admin. Copies that others own stay.",
        rule=Rule((Action.DELETE_DOCUMENT,), DocumentRight.OWN),
        parameters=(_ID,),
        answers=(ResponseSpec(200, "It is gone.", FileDeleted),),
        refusals=_REFUSALS,
        refusal=OpenAIRefusal,
    )
    async def delete(self, request: Request) -> Response:
        """Errors: those of `require`, `InvalidInput`, `NotFound`."""
        document, principal = await self._file(request)
        for place, key in [*await self._copies(principal, document), (document.workspace, document.document_id)]:
            await self._parts.delete.run(place, key, principal.subject_id)
        return answer(FileDeleted(request.path_params["document"], "file", True), headers=NOT_STORED)

    async def _copies(self, principal: Principal, document: Document) -> list[tuple[WorkspaceRef, UUID]]:
        """The copies of an uploaded file that the caller may erase. Of a document that is no uploaded file, another one
        with its path is no copy.
        """
        if not await self._is_upload(principal, document):
            return []
        async with self._parts.database.transaction(principal.org_id) as transaction:
            return [
                (one.ref, key)
                for one in await transaction.workspaces.all()
                if one.ref != document.workspace
                for key in await transaction.documents.occupants(one.ref, [document.source_path], [])
                for found in [await transaction.documents.get(one.ref, key)]
                if found is not None and may_own(principal, found)
            ]

    async def _is_upload(self, principal: Principal, document: Document) -> bool:
        uploads = await self._parts.attachments.find(uploads_of(principal.org_id))
        return uploads is not None and uploads.ref == document.workspace

    async def _file(self, request: Request) -> tuple[Document, Principal]:
        """A file that the caller has the operation's right to."""
        node = decode(request.path_params["document"], NodeKind.DOCUMENT)
        ref, principal = await self.require(request, node)
        return await find_file(self._parts, ref, node.key), principal

    async def _uploads(self, principal: Principal) -> Workspace:
        """The workspace of uploaded files; made when the caller may make workspaces. Errors: `Forbidden`."""
        holder = uploads_of(principal.org_id)
        found = await self._parts.attachments.find(holder)
        if found is None:
            authorise(principal, Action.CREATE_WORKSPACE)
            found = await self._parts.attachments.open(holder, principal.subject_id)
        return found

    async def _read(self, body: MultipartBody, receive: Receive) -> ReceivedUpload:
        received: ReceivedUpload | None = None
        try:
            async for part in body.parts():
                if part.name == "file" and received is None and part.file_name is not None:
                    received = await receive(part.file_name, part.content)
                elif part.name != "purpose" or part.file_name is not None:
                    raise InvalidInput("Send one file as `file`, and its `purpose`.", path=(part.name,))
                elif await part.text() not in PURPOSES:
                    raise InvalidInput(f"`purpose` is one of {', '.join(PURPOSES)}.", path=("purpose",))
            if received is None:
                raise InvalidInput("The body has no part `file`.", path=("file",))
        except BaseException:
            if received is not None:
                await self._parts.upload.discard(received)
            raise
        return received


async def find_file(parts: ServerParts, ref: WorkspaceRef, document_id: UUID) -> Document:
    """A document. Errors: `NotFound` code DOCUMENT_NOT_FOUND."""
    async with parts.database.transaction(ref.org_id) as transaction:
        found = await transaction.documents.get(ref, document_id)
    if found is None:
        raise no_such_document()
    return found


def read_limit(request: Request) -> int:
    """How many are asked for, `MAX_PAGE` at most. Errors: `InvalidInput`, also for `before`: pages go forward."""
    if "before" in request.query_params:
        raise InvalidInput("Pages go forward: give `after`, the id of the last one of a page.", path=("before",))
    limit = request.query_params.get("limit", str(MAX_PAGE))
    if not (limit.isascii() and limit.isdecimal() and len(limit) <= 6 and int(limit)):
        raise InvalidInput("`limit` is a number from 1 on.", path=("limit",))
    return min(int(limit), MAX_PAGE)


async def read_paging(parts: ServerParts, request: Request, principal: Principal) -> PageRequest:
    """The requested page of documents. Errors: `InvalidInput`, `NotFound`
    for an `after` that is gone.
    """
    first, after = read_limit(request), request.query_params.get("after")
    if after is None:
        return PageRequest(first)
    node = decode(after, NodeKind.DOCUMENT, path=("after",))
    ref = WorkspaceRef(principal.org_id, node.workspace_id)
    await parts.document_access.require(principal, ref, node.key)
    return PageRequest(first, cursor_after((await find_file(parts, ref, node.key)).source_path))


def show_file(document: Document) -> FileObject:
    """A document as a file."""
    return FileObject(
        id=encode(NodeKind.DOCUMENT, document.workspace.workspace_id, document.document_id),
        object="file",
        bytes=document.size,
        created_at=int(document.created_at.timestamp()),
        filename=document.file_name,
        purpose="assistants",
        status=_STATUS[document.status],
        status_details=None if document.fault is None else document.fault.message,
    )

"""`/v1/workspaces/{workspace}/documents`: upload a file and follow its status."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from agentic_rag.documents.document import Document, DocumentStatus
from agentic_rag.ingestion.upload import ReceivedUpload, Upload
from agentic_rag.kernel.errors import no_such_document
from agentic_rag.kernel.public_ids import NodeKind, decode, encode, encode_workspace
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.rest.http.bodies import FIELDS_BYTES, FORM, IDEMPOTENCY_KEY, read_upload
from agentic_rag_server.rest.http.models import NOT_STORED, Instant, Model, answer, instant
from agentic_rag_server.rest.http.multipart import MultipartBody
from agentic_rag_server.rest.http.operations import Endpoint, Parameter, ResponseSpec, operation

TAG = "documents"
PATH = "/v1/workspaces/{workspace}/documents"

NODE_ID = {"type": "string", "minLength": 24, "maxLength": 44, "pattern": "^[A-Za-z0-9_-]+=*$"}
WORKSPACE = Parameter("workspace", "path", "Id of the workspace, as GraphQL shows it.", NODE_ID)
DOCUMENT = Parameter("document", "path", "Id of the document.", NODE_ID)

REPLAYED = ("Idempotency-Replayed", "`true` when this key was answered before.")
UPLOAD_REFUSALS = (400, 401, 402, 403, 404, 409, 413, 415, 422, 429, 500, 503)

LOCATION = ("Location", "Where to ask how far it is.")


class UploadAccepted(Model, frozen=True):
    """The answer to an upload: the same for every repetition."""

    id: str
    workspace_id: str
    source_path: str
    size: Annotated[int, Meta(description="Bytes.")]
    content_sha256: str
    unchanged: Annotated[bool, Meta(description="Whether these very bytes were READY already.")]
    job_id: str | None
    status_url: str


class Fault(Model, frozen=True):
    """Why a document is FAILED."""

    code: str
    message: str
    attempts: int
    retryable: bool


class Progress(Model, frozen=True):
    """Passages embedded so far, of how many."""

    chunks_done: int
    chunk_count: int


class DocumentState(Model, frozen=True):
    """A document and where it stands."""

    id: str
    workspace_id: str
    source_path: str
    title: str
    file_name: str
    media_type: str
    size: int
    status: DocumentStatus
    error: Fault | None
    progress: Progress
    created_at: Instant
    updated_at: Instant
    source_url: str


class UploadsEndpoint(Endpoint):
    """A file streams to the blob store as it arrives."""

    tag = TAG

    @operation(
        "POST",
        PATH,
        "uploadDocument",
        summary="Upload a file",
        description="The same path in the same workspace is the same document. Takes the role member.",
        parameters=(WORKSPACE, IDEMPOTENCY_KEY),
        takes=FORM,
        answers=(ResponseSpec(202, "Accepted; a worker reads it.", UploadAccepted, headers=(LOCATION, REPLAYED)),),
        refusals=UPLOAD_REFUSALS,
    )
    async def post(self, request: Request) -> Response:
        """Accept a file: 202 with the status URL. The header `Idempotency-Key` makes a repetition safe.

        Errors: those of `authorise`, `UploadDocument` and `read_upload`.
        """
        principal = await self.authorise(request, Action.UPLOAD_DOCUMENT)
        node = decode(request.path_params["workspace"], NodeKind.WORKSPACE)
        uploads, ref = self._parts.upload, WorkspaceRef(principal.org_id, node.workspace_id)

        async def receive(file_name: str, pieces: AsyncIterator[bytes]) -> ReceivedUpload:
            return await uploads.receive(ref, file_name, pieces)

        body = MultipartBody(request, self._parts.options.max_upload_bytes + FIELDS_BYTES)
        received, options = await read_upload(body, receive, uploads.discard, request.headers.get("idempotency-key"))
        upload = await uploads.submit(received, options, principal)
        shown = show_upload(upload)
        return answer(shown, 202, {**upload_headers(upload), "location": shown.status_url})

    @operation(
        "GET",
        f"{PATH}/{{document}}",
        "getDocument",
        summary="How far a document is",
        parameters=(WORKSPACE, DOCUMENT),
        answers=(ResponseSpec(200, "The document.", DocumentState),),
        refusals=(400, 401, 403, 404, 500, 503),
    )
    async def get(self, request: Request) -> Response:
        """The document's status. Errors: those of `authorise`, `InvalidInput`, `NotFound`."""
        principal = await self.authorise(request, Action.READ)
        workspace = decode(request.path_params["workspace"], NodeKind.WORKSPACE)
        node = decode(request.path_params["document"], NodeKind.DOCUMENT)
        ref = WorkspaceRef(principal.org_id, workspace.workspace_id)
        document: Document | None = None
        if node.workspace_id == workspace.workspace_id:
            await self._parts.document_access.require(principal, ref, node.key)
            async with self._parts.database.transaction(ref.org_id) as transaction:
                document = await transaction.documents.get(ref, node.key)
        if document is None:
            raise no_such_document()
        return answer(show_document(document), headers=NOT_STORED)


def upload_headers(upload: Upload) -> dict[str, str]:
    """The headers of every answer to an upload."""
    return {**NOT_STORED, "idempotency-replayed": "true"} if upload.replayed else NOT_STORED


def show_upload(upload: Upload) -> UploadAccepted:
    """An upload as REST shows it."""
    workspace_id = encode_workspace(upload.workspace.workspace_id)
    document_id = encode(NodeKind.DOCUMENT, upload.workspace.workspace_id, upload.document_id)
    job = upload.job_id
    return UploadAccepted(
        id=document_id,
        workspace_id=workspace_id,
        source_path=upload.source_path,
        size=upload.size,
        content_sha256=upload.content_hash.hex(),
        unchanged=job is None,
        job_id=None if job is None else encode(NodeKind.JOB, upload.workspace.workspace_id, job),
        status_url=f"/v1/workspaces/{workspace_id}/documents/{document_id}",
    )


def show_document(document: Document) -> DocumentState:
    """A document as REST shows it."""
    workspace_id = document.workspace.workspace_id
    public_id = encode(NodeKind.DOCUMENT, workspace_id, document.document_id)
    fault = document.fault
    return DocumentState(
        id=public_id,
        workspace_id=encode_workspace(workspace_id),
        source_path=document.source_path,
        title=document.title,
        file_name=document.file_name,
        media_type=document.media_type,
        size=document.size,
        status=document.status,
        error=None
        if fault is None
        else Fault(code=fault.code, message=fault.message, attempts=fault.attempts, retryable=fault.retryable),
        progress=Progress(chunks_done=document.chunks_done, chunk_count=document.chunk_count),
        created_at=instant(document.created_at),
        updated_at=instant(document.updated_at),
        source_url=f"/v1/documents/{public_id}/source",
    )

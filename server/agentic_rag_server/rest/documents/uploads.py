"""`/v1/workspaces/{workspace}/documents`: upload a file."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from agentic_rag.ingestion.upload import ReceivedUpload, Upload
from agentic_rag.kernel.public_ids import NodeKind, decode, encode, encode_workspace
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Rule, Sight
from agentic_rag_server.rest.http.bodies import FIELDS_BYTES, FORM, IDEMPOTENCY_KEY, PATH_FORM, read_file, read_upload
from agentic_rag_server.rest.http.models import NOT_STORED, Model, answer
from agentic_rag_server.rest.http.multipart import MultipartBody
from agentic_rag_server.rest.http.operations import Endpoint, Parameter, ResponseSpec, admitted, operation

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


class UploadEstimated(Model, frozen=True):
    """What an upload would cost. The fields of embedding are null for a file that could not be read."""

    size: Annotated[int, Meta(description="Bytes.")]
    media_type: str
    space: Annotated[str | None, Meta(description="Model and dimensions of the vectors.")] = None
    chunks: Annotated[int | None, Meta(description="Passages that would be embedded.")] = None
    tokens: Annotated[int | None, Meta(description="Estimated.")] = None
    reused_chunks: Annotated[int | None, Meta(description="Passages whose vectors stay as they are.")] = None
    cost_usd: Annotated[float | None, Meta(description="Null without a known price; 0 on the server itself.")] = None
    error_code: Annotated[str | None, Meta(description="Why the document would become FAILED.")] = None
    error_message: str | None = None


class UploadsEndpoint(Endpoint):
    """A file streams to the blob store as it arrives."""

    tag = TAG

    @operation(
        "POST",
        f"{PATH}/estimate",
        "estimateUpload",
        summary="What uploading a file would cost",
        description="The file is read, cut into chunks, and forgotten. Takes the role member.",
        rule=Rule((Action.UPLOAD_DOCUMENT,), Sight.PATH),
        parameters=(WORKSPACE,),
        takes=PATH_FORM,
        answers=(ResponseSpec(200, "The estimate.", UploadEstimated),),
        refusals=UPLOAD_REFUSALS,
    )
    async def estimate(self, request: Request) -> Response:
        """Errors: those of `EstimateUpload` and `read_file`."""
        principal = admitted(request).principal
        node = decode(request.path_params["workspace"], NodeKind.WORKSPACE)
        ref, most = WorkspaceRef(principal.org_id, node.workspace_id), self._parts.options.max_upload_bytes
        name, content, path = await read_file(MultipartBody(request, most + FIELDS_BYTES), most)
        found = await self._parts.estimate_upload.run(principal, ref, name, content, path)
        cost, fault = found.file.cost, found.file.fault
        shown = UploadEstimated(found.size, found.media_type)
        if cost is not None:
            shown = UploadEstimated(
                found.size, found.media_type, cost.space, cost.chunks, cost.tokens, cost.reused_chunks, cost.cost_usd
            )
        elif fault is not None:
            shown = UploadEstimated(found.size, found.media_type, error_code=fault.code, error_message=fault.message)
        return answer(shown, 200, NOT_STORED)

    @operation(
        "POST",
        PATH,
        "uploadDocument",
        summary="Upload a file",
        description="The same path in the same workspace is the same document. Takes the role member.",
        rule=Rule((Action.UPLOAD_DOCUMENT,), Sight.PATH),
        parameters=(WORKSPACE, IDEMPOTENCY_KEY),
        takes=FORM,
        answers=(ResponseSpec(202, "Accepted; a worker reads it.", UploadAccepted, headers=(LOCATION, REPLAYED)),),
        refusals=UPLOAD_REFUSALS,
    )
    async def post(self, request: Request) -> Response:
        """Accept a file: 202 with the status URL. The header `Idempotency-Key` makes a repetition safe.

        Errors: those of `UploadDocument` and `read_upload`.
        """
        principal = admitted(request).principal
        node = decode(request.path_params["workspace"], NodeKind.WORKSPACE)
        uploads, ref = self._parts.upload, WorkspaceRef(principal.org_id, node.workspace_id)

        async def receive(file_name: str, pieces: AsyncIterator[bytes]) -> ReceivedUpload:
            return await uploads.receive(ref, file_name, pieces)

        body = MultipartBody(request, self._parts.options.max_upload_bytes + FIELDS_BYTES)
        received, options = await read_upload(body, receive, uploads.discard, request.headers.get("idempotency-key"))
        upload = await uploads.submit(received, options, principal)
        shown = show_upload(upload)
        return answer(shown, 202, {**upload_headers(upload), "location": shown.status_url})


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

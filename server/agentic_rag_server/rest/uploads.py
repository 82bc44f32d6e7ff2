"""`/v1/workspaces/{id}/documents`: upload a file, then ask how far it is."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from agentic_rag.app.upload import Received, Upload, UploadOptions
from agentic_rag.domain.documents import Document
from agentic_rag.domain.errors import InvalidInput, NotFound
from agentic_rag.domain.tenancy import WorkspaceRef
from agentic_rag_server.auth.bearer import principal_of
from agentic_rag_server.auth.roles import Action, authorise
from agentic_rag_server.graphql.context import require_enabled
from agentic_rag_server.graphql.node_ids import NodeKind, decode, encode, encode_workspace
from agentic_rag_server.rest.multipart import MultipartBody
from agentic_rag_server.wiring import ServerContainer

FIELDS_BYTES = 256 * 1024
"""What a body may have beside its file."""

NOT_STORED = {"cache-control": "no-store"}


class UploadsEndpoint:
    """Uploads stream through: the file goes to the blob store as it arrives."""

    def __init__(self, container: ServerContainer) -> None:
        self._container = container

    async def post(self, request: Request) -> Response:
        """Accept a file. 202 with the status URL; the header `Idempotency-Key` makes a repetition safe.

        Errors: `Unauthenticated`, `Forbidden`, `FeatureDisabled`, those of `UploadDocument` and `MultipartBody`.
        """
        principal = await principal_of(request, self._container.identity)
        require_enabled(self._container)
        authorise(principal, Action.UPLOAD_DOCUMENT)
        node = decode(request.path_params["id"], NodeKind.WORKSPACE)
        ref = WorkspaceRef(principal.org_id, node.workspace_id)
        body = MultipartBody(request, self._container.options.max_upload_bytes + FIELDS_BYTES)
        received, fields = await self._receive(ref, body)
        upload = await self._container.upload.submit(
            received,
            UploadOptions(fields.get("sourcePath"), fields.get("title"), request.headers.get("idempotency-key")),
            principal.subject,
        )
        shown = shown_upload(upload)
        headers = {**NOT_STORED, "location": shown["statusUrl"]}
        if upload.replayed:
            headers["idempotency-replayed"] = "true"
        return JSONResponse(shown, 202, headers)

    async def get(self, request: Request) -> Response:
        """How far a document is. Errors: `Unauthenticated`, `FeatureDisabled`, `InvalidInput`, `NotFound`."""
        principal = await principal_of(request, self._container.identity)
        require_enabled(self._container)
        workspace = decode(request.path_params["id"], NodeKind.WORKSPACE)
        node = decode(request.path_params["document"], NodeKind.DOCUMENT)
        ref = WorkspaceRef(principal.org_id, workspace.workspace_id)
        document: Document | None = None
        if node.workspace_id == workspace.workspace_id:
            async with self._container.database.transaction(ref.org_id) as transaction:
                document = await transaction.documents.get(ref, node.key)
        if document is None:
            raise NotFound("There is no such document.")
        return JSONResponse(shown_document(document), headers=NOT_STORED)

    async def _receive(self, ref: WorkspaceRef, body: MultipartBody) -> tuple[Received, dict[str, str]]:
        """The file and the fields, in any order. What was received goes again when the rest cannot be read."""
        received: Received | None = None
        fields: dict[str, str] = {}
        try:
            async for part in body.parts():
                if part.name == "file" and received is None and part.file_name is not None:
                    received = await self._container.upload.receive(ref, part.file_name, part.content)
                elif part.name in ("sourcePath", "title") and part.name not in fields and part.file_name is None:
                    fields[part.name] = await part.text()
                else:
                    raise InvalidInput(
                        "Send one file as `file`, and if you like the fields `sourcePath` and `title`.",
                        path=(part.name,),
                    )
            if received is None:
                raise InvalidInput("The body has no part `file`.", path=("file",))
        except BaseException:
            if received is not None:
                await self._container.upload.discard(received)
            raise
        return received, fields


def shown_upload(upload: Upload) -> dict[str, Any]:
    """The answer to an upload: the same for every repetition."""
    workspace_id = encode_workspace(upload.workspace.workspace_id)
    document_id = encode(NodeKind.DOCUMENT, upload.workspace.workspace_id, upload.document_id)
    job = upload.job_id
    return {
        "id": document_id,
        "workspaceId": workspace_id,
        "sourcePath": upload.source_path,
        "size": upload.size,
        "contentSha256": upload.content_hash.hex(),
        "unchanged": job is None,
        "jobId": None if job is None else encode(NodeKind.JOB, upload.workspace.workspace_id, job),
        "statusUrl": f"/v1/workspaces/{workspace_id}/documents/{document_id}",
    }


def shown_document(document: Document) -> dict[str, Any]:
    """A document and where it stands."""
    workspace_id = document.workspace.workspace_id
    public_id = encode(NodeKind.DOCUMENT, workspace_id, document.document_id)
    fault = document.fault
    return {
        "id": public_id,
        "workspaceId": encode_workspace(workspace_id),
        "sourcePath": document.source_path,
        "title": document.title,
        "fileName": document.file_name,
        "mediaType": document.media_type,
        "size": document.size,
        "status": document.status.value,
        "error": None
        if fault is None
        else {
            "code": fault.code,
            "message": fault.message,
            "attempts": fault.attempts,
            "retryable": fault.retryable,
        },
        "progress": {"chunksDone": document.chunks_done, "chunkCount": document.chunk_count},
        "createdAt": document.created_at.isoformat(),
        "updatedAt": document.updated_at.isoformat(),
        "sourceUrl": f"/v1/documents/{public_id}/source",
    }

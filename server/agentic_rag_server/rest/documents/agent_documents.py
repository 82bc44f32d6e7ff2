"""`/organization/{orgId}/agents/{id}/documents`: the documents of an agent (requirement E1)."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from agentic_rag.documents.document import Document, DocumentStatus
from agentic_rag.ingestion.attachments import Attachment
from agentic_rag.kernel.errors import NotFound
from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag.tenancy.principals import Principal
from agentic_rag.workspaces.external_owner import ExternalOwner, agent
from agentic_rag_server.auth.bearer import principal_of
from agentic_rag_server.auth.roles import Action, authorise
from agentic_rag_server.graphql.http.context import require_product_on
from agentic_rag_server.parts import ServerParts
from agentic_rag_server.rest.documents.attached import (
    DOCUMENT_ID,
    EXTERNAL_REF,
    LINK,
    PAGING,
    document_key,
    link_header,
    next_cursor,
    paging,
    take_file,
)
from agentic_rag_server.rest.documents.documents import DocumentErased, show_erasure
from agentic_rag_server.rest.documents.uploads import REPLAYED
from agentic_rag_server.rest.http.envelope import ENVELOPED, EnvelopedRefusal, Success
from agentic_rag_server.rest.http.forms import FORM, IDEMPOTENCY_KEY
from agentic_rag_server.rest.http.models import NOT_STORED, Instant, Model, answer, instant
from agentic_rag_server.rest.http.operations import OperationSpec, Parameter, ResponseSpec

TAG = "agent documents"
PATH = f"{ENVELOPED}{{orgId}}/agents/{{id}}/documents"

UPLOADED = "Document uploaded. Processing will begin shortly."
UNCHANGED = "Document is unchanged. There is nothing to process."
LISTED = "Documents retrieved."
DELETED = "Document deleted."

ORGANISATION = Parameter("orgId", "path", "The organisation of the token: its id, or its externalRef.", EXTERNAL_REF)
AGENT = Parameter("id", "path", "The caller's own id of the agent.", EXTERNAL_REF)
DOCUMENT = Parameter("docId", "path", "Id of the document.", DOCUMENT_ID)

ProcessingStatus = Literal["pending", "processing", "ready", "failed"]

_STATUS: dict[DocumentStatus, ProcessingStatus] = {
    DocumentStatus.PENDING: "pending",
    DocumentStatus.PROCESSING: "processing",
    DocumentStatus.READY: "ready",
    DocumentStatus.FAILED: "failed",
}


class UploadedMetadata(Model, frozen=True):
    """Bytes, and where the file stands."""

    file_size: int
    processing_status: ProcessingStatus


class UploadedAgentDocument(Model, frozen=True):
    """A file that was uploaded."""

    id: Annotated[str, Meta(extra_json_schema={"format": "uuid"})]
    filename: str
    mime_type: str
    metadata: UploadedMetadata


class AgentDocumentMetadata(Model, frozen=True):
    """Bytes, where the file stands, how many passages it has, and why it failed."""

    file_size: int
    processing_status: ProcessingStatus
    chunk_count: int | None
    error_code: str | None
    error_message: str | None


class AgentDocument(Model, frozen=True):
    """A file of an agent."""

    id: Annotated[str, Meta(extra_json_schema={"format": "uuid"})]
    filename: str
    mime_type: str
    uploaded_by: str
    source_id: Annotated[str, Meta(description="The id by which citations and GraphQL know the document.")]
    created_at: Instant
    updated_at: Instant
    metadata: AgentDocumentMetadata


class AgentDocumentAccepted(Success, frozen=True):
    """The envelope of an upload."""

    data: UploadedAgentDocument


class AgentDocumentList(Success, frozen=True):
    """The envelope of a list."""

    data: list[AgentDocument]


class AgentDocumentErased(Success, frozen=True):
    """The envelope of a deletion."""

    data: DocumentErased


class AgentDocumentsEndpoint:
    """Reading is open to every role; another organisation's path answers as one that does not exist."""

    def __init__(self, parts: ServerParts) -> None:
        self._parts = parts

    def operations(self) -> list[OperationSpec]:
        """What this serves."""
        return [
            OperationSpec(
                method="POST",
                path=PATH,
                name="uploadAgentDocument",
                tag=TAG,
                summary="Upload a document for an agent",
                description="Takes the role member; the first upload of an agent, which makes its workspace, admin. "
                "A file of the same name (or `sourcePath`) replaces the earlier one.",
                serve=self.upload,
                parameters=(ORGANISATION, AGENT, IDEMPOTENCY_KEY),
                takes=FORM,
                answers=(
                    ResponseSpec(202, "Accepted; a worker reads it.", AgentDocumentAccepted, headers=(REPLAYED,)),
                ),
                refusals=(400, 401, 402, 403, 404, 409, 413, 415, 422, 429, 500, 503),
                refusal=EnvelopedRefusal,
            ),
            OperationSpec(
                method="GET",
                path=PATH,
                name="listAgentDocuments",
                tag=TAG,
                summary="The documents of an agent",
                description="An agent without documents has an empty list.",
                serve=self.list,
                parameters=(ORGANISATION, AGENT, *PAGING),
                answers=(ResponseSpec(200, "The documents.", AgentDocumentList, headers=(LINK,)),),
                refusals=(400, 401, 403, 404, 429, 500, 503),
                refusal=EnvelopedRefusal,
            ),
            OperationSpec(
                method="DELETE",
                path=f"{PATH}/{{docId}}",
                name="deleteAgentDocument",
                tag=TAG,
                summary="Erase a document, its passages and its original",
                description="Takes the role member.",
                serve=self.delete,
                parameters=(ORGANISATION, AGENT, DOCUMENT),
                answers=(ResponseSpec(200, "What was removed, with the certificate.", AgentDocumentErased),),
                refusals=(400, 401, 403, 404, 429, 500, 503),
                refusal=EnvelopedRefusal,
            ),
        ]

    async def upload(self, request: Request) -> Response:
        """Accept a file. Errors: those of `_opened` and `take_file`, `Forbidden`."""
        principal, holder = await self._authorise_agent(request)
        authorise(principal, Action.UPLOAD_DOCUMENT)
        taken = await take_file(self._parts, request, principal, holder)
        headers = {**NOT_STORED, **({"idempotency-replayed": "true"} if taken.upload.replayed else {})}
        message = UNCHANGED if taken.upload.job_id is None else UPLOADED
        return answer(AgentDocumentAccepted("success", message, show_agent_upload(taken)), 202, headers)

    async def list(self, request: Request) -> Response:
        """A page of documents. Errors: those of `_opened`, `InvalidInput`."""
        principal, holder = await self._authorise_agent(request)
        asked = paging(request)
        page = await self._parts.attachments.page(holder, asked, principal)
        headers = {**NOT_STORED, **link_header(request, asked, next_cursor(page))}
        return answer(
            AgentDocumentList("success", LISTED, [show_agent_document(one) for one in page.items]), headers=headers
        )

    async def delete(self, request: Request) -> Response:
        """Erase a document. Errors: those of `_opened`, `Forbidden`, `NotFound`."""
        principal, holder = await self._authorise_agent(request)
        authorise(principal, Action.DELETE_DOCUMENT)
        text = request.path_params["docId"]
        deletion = await self._parts.attachments.delete(holder, document_key(text), principal)
        return answer(AgentDocumentErased("success", DELETED, show_erasure(text, deletion)))

    async def _authorise_agent(self, request: Request) -> tuple[Principal, ExternalOwner]:
        """Who asks, and the agent. Errors: `Unauthenticated`, `FeatureDisabled`, `InvalidInput`, `NotFound` (another
        organisation than the token's).
        """
        principal = await principal_of(request, self._parts.identity)
        require_product_on(self._parts)
        if not await self._parts.attachments.is_ours(principal.org_id, request.path_params["orgId"]):
            raise NotFound("There is no such organisation.")
        return principal, agent(principal.org_id, request.path_params["id"])


def show_agent_upload(taken: Attachment) -> UploadedAgentDocument:
    """An uploaded file as the façade shows it."""
    document = taken.document
    return UploadedAgentDocument(
        id=str(document.document_id),
        filename=document.file_name,
        mime_type=document.media_type,
        metadata=UploadedMetadata(file_size=document.size, processing_status=_STATUS[document.status]),
    )


def show_agent_document(document: Document) -> AgentDocument:
    """A document as the façade lists it."""
    fault = document.fault
    return AgentDocument(
        id=str(document.document_id),
        filename=document.file_name,
        mime_type=document.media_type,
        uploaded_by=document.uploaded_by,
        source_id=encode(NodeKind.DOCUMENT, document.workspace.workspace_id, document.document_id),
        created_at=instant(document.created_at),
        updated_at=instant(document.updated_at),
        metadata=AgentDocumentMetadata(
            file_size=document.size,
            processing_status=_STATUS[document.status],
            chunk_count=document.chunk_count or None,
            error_code=None if fault is None else fault.code,
            error_message=None if fault is None else fault.message,
        ),
    )

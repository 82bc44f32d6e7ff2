"""`/organization/{orgId}/agents/{id}/documents`: the documents of an agent (requirement E1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import Meta
from starlette.requests import Request

from agentic_rag.documents.document import Document, DocumentStatus
from agentic_rag.documents.document_access import DocumentRight
from agentic_rag.ingestion.attachments import Attachment
from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag.tenancy.principals import Principal, name_of_subject
from agentic_rag.workspaces.workspace import ExternalOwner, agent
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Rule, Sight
from agentic_rag_server.rest.documents.attached import EXTERNAL_REF, AttachedDocumentsEndpoint, Facade, Names
from agentic_rag_server.rest.documents.documents import DocumentErased
from agentic_rag_server.rest.http.models import ENVELOPED, EnvelopedRefusal, Instant, Model, Success, instant
from agentic_rag_server.rest.http.operations import Parameter, admitted

TAG = "agent documents"
PATH = f"{ENVELOPED}{{orgId}}/agents/{{id}}/documents"

UPLOADED = "Document uploaded. Processing will begin shortly."
UNCHANGED = "Document is unchanged. There is nothing to process."
LISTED = "Documents retrieved."
DELETED = "Document deleted."

ORGANISATION = Parameter("orgId", "path", "The organisation of the token: its id, or its externalRef.", EXTERNAL_REF)
AGENT = Parameter("id", "path", "The caller's own id of the agent.", EXTERNAL_REF)

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


class AgentDocumentsEndpoint(AttachedDocumentsEndpoint):
    """Every role may read. The path of another organisation answers as one that does not exist."""

    tag = TAG
    facade = Facade(
        tag=TAG,
        path=PATH,
        upload_path=PATH,
        owner=(ORGANISATION, AGENT),
        document="docId",
        upload=Names(
            "uploadAgentDocument",
            "Upload a document for an agent",
            "Takes the role member; the first upload of an agent, which makes its workspace, admin. "
            "A file of the same name (or `sourcePath`) replaces the earlier one.",
            AgentDocumentAccepted,
            Rule((Action.UPLOAD_DOCUMENT,), Sight.PATH),
        ),
        page=Names(
            "listAgentDocuments",
            "The documents of an agent",
            "An agent without documents has an empty list.",
            AgentDocumentList,
            Rule((Action.READ,), DocumentRight.KNOW),
        ),
        page_says="The documents.",
        page_refusals=(400, 401, 403, 404, 429, 500, 503),
        erase=Names(
            "deleteAgentDocument",
            "Erase a document, its passages and its original",
            "Takes the owner of the document with the role member, or the role admin.",
            AgentDocumentErased,
            Rule((Action.DELETE_DOCUMENT,), DocumentRight.OWN),
        ),
        refusal=EnvelopedRefusal,
    )

    async def find_owner(self, request: Request) -> tuple[Principal, ExternalOwner]:
        """The caller and the agent; another organisation's path was refused before."""
        principal = admitted(request).principal
        return principal, agent(principal.org_id, request.path_params["id"])

    def upload_body(self, attachment: Attachment, owner: ExternalOwner) -> AgentDocumentAccepted:
        """The file in its envelope."""
        message = UNCHANGED if attachment.upload.job_id is None else UPLOADED
        return AgentDocumentAccepted("success", message, show_agent_upload(attachment))

    def page_body(
        self, documents: Sequence[Document], next_cursor: str | None, owner: ExternalOwner
    ) -> AgentDocumentList:
        """The documents in their envelope; the header `Link` has the cursor."""
        return AgentDocumentList("success", LISTED, [show_agent_document(one) for one in documents])

    def erase_body(self, erased: DocumentErased) -> AgentDocumentErased:
        """The deletion in its envelope."""
        return AgentDocumentErased("success", DELETED, erased)


def show_agent_upload(attachment: Attachment) -> UploadedAgentDocument:
    """The file of an upload."""
    document = attachment.document
    return UploadedAgentDocument(
        id=str(document.document_id),
        filename=document.file_name,
        mime_type=document.media_type,
        metadata=UploadedMetadata(file_size=document.size, processing_status=_STATUS[document.status]),
    )


def show_agent_document(document: Document) -> AgentDocument:
    """A document of an agent."""
    fault = document.fault
    return AgentDocument(
        id=str(document.document_id),
        filename=document.file_name,
        mime_type=document.media_type,
        uploaded_by=name_of_subject(document.uploaded_by),
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

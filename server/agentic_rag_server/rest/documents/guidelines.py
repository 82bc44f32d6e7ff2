"""`/api/projects/{id}/guidelines`: the guideline knowledge base of a project (requirement B8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from agentic_rag.documents.document import Document, DocumentStatus
from agentic_rag.ingestion.attachments import Attachment
from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag.tenancy.principals import Principal, name_of_subject
from agentic_rag.workspaces.organisation import FeatureFlag
from agentic_rag.workspaces.settings import MAX_INLINE_CHARACTERS
from agentic_rag.workspaces.workspace import ExternalOwner, project
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Rule, Sight
from agentic_rag_server.rest.documents.attached import EXTERNAL_REF, AttachedDocumentsEndpoint, Facade, Names
from agentic_rag_server.rest.documents.documents import DocumentErased
from agentic_rag_server.rest.http.bodies import read_json
from agentic_rag_server.rest.http.models import NOT_STORED, Instant, Model, answer, instant
from agentic_rag_server.rest.http.operations import Parameter, ResponseSpec, admitted, operation

TAG = "guidelines"
PATH = "/api/projects/{id}/guidelines"

ACCEPTED = (
    "application/pdf",
    "text/markdown",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
)
"""PDF, Markdown and DOCX."""

PROJECT = Parameter("id", "path", "The caller's own id of the project.", EXTERNAL_REF)

GuidelineStatus = Literal["PROCESSING", "READY", "FAILED"]

_STATUS: dict[DocumentStatus, GuidelineStatus] = {
    DocumentStatus.PENDING: "PROCESSING",
    DocumentStatus.PROCESSING: "PROCESSING",
    DocumentStatus.READY: "READY",
    DocumentStatus.FAILED: "FAILED",
}


class GuidelineDocument(Model, frozen=True):
    """An uploaded file and where it stands."""

    id: str
    organization_id: str
    project_id: str
    file_name: str
    mime_type: str
    status: GuidelineStatus
    chunk_count: int | None
    error_code: str | None
    error_message: str | None
    uploaded_by: str
    source_id: Annotated[str, Meta(description="The id by which citations and GraphQL know the document.")]
    created_at: Instant
    updated_at: Instant


class GuidelineList(Model, frozen=True):
    """A project's files by path."""

    documents: list[GuidelineDocument]
    next_cursor: Annotated[str | None, Meta(description="`after` of the next page; null on the last one.")]


class InlineGuidelines(Model, frozen=True):
    """A project's plain-text guidelines."""

    project_id: str
    inline_guidelines: str | None


class InlineGuidelinesChange(Model, frozen=True, forbid_unknown_fields=True):
    """The new text; null or an empty one removes it."""

    inline_guidelines: Annotated[str, Meta(max_length=MAX_INLINE_CHARACTERS)] | None


_RULE = Rule((Action.MANAGE_GUIDELINES,), Sight.ORGANISATION)

_FILES = "Takes the role admin and the feature `ragGuidelines`."


class GuidelinesEndpoint(AttachedDocumentsEndpoint):
    """For admins. Files need the feature `ragGuidelines`; the plain text needs neither it nor a provider key."""

    tag = TAG
    facade = Facade(
        tag=TAG,
        path=PATH,
        upload_path=f"{PATH}/upload",
        owner=(PROJECT,),
        document="documentId",
        upload=Names(
            "uploadGuideline",
            "Upload a PDF, Markdown or DOCX file",
            f"{_FILES} A file of the same name (or `sourcePath`) replaces the earlier one.",
            GuidelineDocument,
            _RULE,
        ),
        page=Names(
            "listGuidelines",
            "The files of a project and where they stand",
            f"{_FILES} A project without files has an empty list.",
            GuidelineList,
            _RULE,
        ),
        page_says="The files.",
        page_refusals=(400, 401, 403, 429, 500, 503),
        erase=Names("deleteGuideline", "Erase a file and all its passages", _FILES, DocumentErased, _RULE),
        accepted=ACCEPTED,
    )

    async def find_owner(self, request: Request) -> tuple[Principal, ExternalOwner]:
        """The caller and the project, with the feature."""
        principal, owner = self._project(request)
        await self._parts.attachments.require_feature(principal.org_id, FeatureFlag.RAG_GUIDELINES)
        return principal, owner

    def upload_body(self, attachment: Attachment, owner: ExternalOwner) -> GuidelineDocument:
        """The file."""
        return show_guideline(attachment.document, owner)

    def page_body(self, documents: Sequence[Document], next_cursor: str | None, owner: ExternalOwner) -> GuidelineList:
        """The files and the cursor."""
        return GuidelineList(documents=[show_guideline(one, owner) for one in documents], next_cursor=next_cursor)

    @operation(
        "GET",
        f"{PATH}/inline",
        "getInlineGuidelines",
        summary="The plain-text guidelines of a project",
        description="Takes the role admin.",
        rule=_RULE,
        parameters=(PROJECT,),
        answers=(ResponseSpec(200, "The text, or null.", InlineGuidelines),),
        refusals=(400, 401, 403, 429, 500, 503),
    )
    async def get_inline(self, request: Request) -> Response:
        """The plain text. Errors: those of `_project`."""
        _, owner = self._project(request)
        text = await self._parts.attachments.inline_guidelines(owner)
        return answer(InlineGuidelines(project_id=owner.external_ref, inline_guidelines=text), headers=NOT_STORED)

    @operation(
        "PUT",
        f"{PATH}/inline",
        "setInlineGuidelines",
        summary="Replace the plain-text guidelines of a project",
        description="Takes the role admin.",
        rule=_RULE,
        parameters=(PROJECT,),
        takes=InlineGuidelinesChange,
        answers=(ResponseSpec(200, "The text as it is kept.", InlineGuidelines),),
        refusals=(400, 401, 403, 413, 415, 429, 500, 503),
    )
    async def put_inline(self, request: Request) -> Response:
        """Replace the plain text. Errors: those of `_project` and `read_json`."""
        principal, owner = self._project(request)
        change = await read_json(request, InlineGuidelinesChange, self._parts.options.max_body_bytes)
        workspace = await self.workspace_of(principal, owner)
        text = await self._parts.attachments.set_inline_guidelines(
            workspace.ref, change.inline_guidelines, principal.subject_id
        )
        return answer(InlineGuidelines(project_id=owner.external_ref, inline_guidelines=text), headers=NOT_STORED)

    def _project(self, request: Request) -> tuple[Principal, ExternalOwner]:
        """The caller and the project. Errors: `InvalidInput`."""
        principal = admitted(request).principal
        return principal, project(principal.org_id, request.path_params["id"])


def show_guideline(document: Document, owner: ExternalOwner) -> GuidelineDocument:
    """The file of a project."""
    fault = document.fault
    ref = document.workspace
    return GuidelineDocument(
        id=str(document.document_id),
        organization_id=str(ref.org_id),
        project_id=owner.external_ref,
        file_name=document.file_name,
        mime_type=document.media_type,
        status=_STATUS[document.status],
        chunk_count=document.chunk_count or None,
        error_code=None if fault is None else fault.code,
        error_message=None if fault is None else fault.message,
        uploaded_by=name_of_subject(document.uploaded_by),
        source_id=encode(NodeKind.DOCUMENT, ref.workspace_id, document.document_id),
        created_at=instant(document.created_at),
        updated_at=instant(document.updated_at),
    )

"""`/api/projects/{id}/guidelines`: the guideline knowledge base of a project (requirement B8)."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from agentic_rag.documents.document import Document, DocumentStatus
from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag.tenancy.principals import Principal
from agentic_rag.workspaces.external_owner import ExternalOwner, project
from agentic_rag.workspaces.organisation import FeatureFlag
from agentic_rag.workspaces.settings import MAX_INLINE_CHARACTERS
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
    workspace_of,
)
from agentic_rag_server.rest.documents.documents import DocumentErased, show_erasure
from agentic_rag_server.rest.documents.uploads import REPLAYED
from agentic_rag_server.rest.http.forms import FORM, IDEMPOTENCY_KEY
from agentic_rag_server.rest.http.json_body import read_json
from agentic_rag_server.rest.http.models import NOT_STORED, Instant, Model, answer, instant
from agentic_rag_server.rest.http.operations import OperationSpec, Parameter, ResponseSpec

TAG = "guidelines"
PATH = "/api/projects/{id}/guidelines"

ACCEPTED = (
    "application/pdf",
    "text/markdown",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
)
"""PDF, Markdown and DOCX: what guidelines are written in."""

PROJECT = Parameter("id", "path", "The caller's own id of the project.", EXTERNAL_REF)
DOCUMENT = Parameter("documentId", "path", "Id of the document.", DOCUMENT_ID)

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


class GuidelinesEndpoint:
    """For admins; files only where the feature `ragGuidelines` is on. The plain text needs neither it nor a key: it is
    what there was before, and what stays where files are switched off.
    """

    def __init__(self, parts: ServerParts) -> None:
        self._parts = parts

    def operations(self) -> list[OperationSpec]:
        """What this serves."""
        files = "Takes the role admin and the feature `ragGuidelines`."
        return [
            OperationSpec(
                method="POST",
                path=f"{PATH}/upload",
                name="uploadGuideline",
                tag=TAG,
                summary="Upload a PDF, Markdown or DOCX file",
                description=f"{files} A file of the same name (or `sourcePath`) replaces the earlier one.",
                serve=self.upload,
                parameters=(PROJECT, IDEMPOTENCY_KEY),
                takes=FORM,
                answers=(ResponseSpec(202, "Accepted; a worker reads it.", GuidelineDocument, headers=(REPLAYED,)),),
                refusals=(400, 401, 402, 403, 404, 409, 413, 415, 422, 429, 500, 503),
            ),
            OperationSpec(
                method="GET",
                path=PATH,
                name="listGuidelines",
                tag=TAG,
                summary="The files of a project and where they stand",
                description=f"{files} A project without files has an empty list.",
                serve=self.list,
                parameters=(PROJECT, *PAGING),
                answers=(ResponseSpec(200, "The files.", GuidelineList, headers=(LINK,)),),
                refusals=(400, 401, 403, 429, 500, 503),
            ),
            OperationSpec(
                method="DELETE",
                path=f"{PATH}/{{documentId}}",
                name="deleteGuideline",
                tag=TAG,
                summary="Erase a file and all its passages",
                description=files,
                serve=self.delete,
                parameters=(PROJECT, DOCUMENT),
                answers=(ResponseSpec(200, "What was removed, with the certificate.", DocumentErased),),
                refusals=(400, 401, 403, 404, 429, 500, 503),
            ),
            OperationSpec(
                method="GET",
                path=f"{PATH}/inline",
                name="getInlineGuidelines",
                tag=TAG,
                summary="The plain-text guidelines of a project",
                description="Takes the role admin.",
                serve=self.get_inline,
                parameters=(PROJECT,),
                answers=(ResponseSpec(200, "The text, or null.", InlineGuidelines),),
                refusals=(400, 401, 403, 429, 500, 503),
            ),
            OperationSpec(
                method="PUT",
                path=f"{PATH}/inline",
                name="setInlineGuidelines",
                tag=TAG,
                summary="Replace the plain-text guidelines of a project",
                description="Takes the role admin.",
                serve=self.put_inline,
                parameters=(PROJECT,),
                takes=InlineGuidelinesChange,
                answers=(ResponseSpec(200, "The text as it is kept.", InlineGuidelines),),
                refusals=(400, 401, 403, 413, 415, 429, 500, 503),
            ),
        ]

    async def upload(self, request: Request) -> Response:
        """Accept a file. Errors: those of `_opened` and `take_file`."""
        principal, holder = await self._authorise_project(request, files=True)
        taken = await take_file(self._parts, request, principal, holder, ACCEPTED)
        headers = {**NOT_STORED, **({"idempotency-replayed": "true"} if taken.upload.replayed else {})}
        return answer(show_guideline(taken.document, holder), 202, headers)

    async def list(self, request: Request) -> Response:
        """A page of files. Errors: those of `_opened`, `InvalidInput`."""
        principal, holder = await self._authorise_project(request, files=True)
        asked = paging(request)
        page = await self._parts.attachments.page(holder, asked, principal)
        cursor = next_cursor(page)
        body = GuidelineList(documents=[show_guideline(one, holder) for one in page.items], next_cursor=cursor)
        return answer(body, headers={**NOT_STORED, **link_header(request, asked, cursor)})

    async def delete(self, request: Request) -> Response:
        """Erase a file. Errors: those of `_opened`, `NotFound`."""
        principal, holder = await self._authorise_project(request, files=True)
        text = request.path_params["documentId"]
        deletion = await self._parts.attachments.delete(holder, document_key(text), principal)
        return answer(show_erasure(text, deletion))

    async def get_inline(self, request: Request) -> Response:
        """The plain text. Errors: those of `_opened`."""
        _, holder = await self._authorise_project(request, files=False)
        text = await self._parts.attachments.inline_guidelines(holder)
        return answer(InlineGuidelines(project_id=holder.external_ref, inline_guidelines=text), headers=NOT_STORED)

    async def put_inline(self, request: Request) -> Response:
        """Replace the plain text. Errors: those of `_opened` and `read_json`."""
        principal, holder = await self._authorise_project(request, files=False)
        change = await read_json(request, InlineGuidelinesChange, self._parts.options.max_body_bytes)
        workspace = await workspace_of(self._parts, principal, holder)
        text = await self._parts.attachments.set_inline_guidelines(
            workspace.ref, change.inline_guidelines, principal.subject
        )
        return answer(InlineGuidelines(project_id=holder.external_ref, inline_guidelines=text), headers=NOT_STORED)

    async def _authorise_project(self, request: Request, *, files: bool) -> tuple[Principal, ExternalOwner]:
        """Who asks, and the project. Errors: `Unauthenticated`, `FeatureDisabled`, `Forbidden`, `InvalidInput`."""
        principal = await principal_of(request, self._parts.identity)
        require_product_on(self._parts)
        authorise(principal, Action.MANAGE_GUIDELINES)
        if files:
            await self._parts.attachments.require_feature(principal.org_id, FeatureFlag.RAG_GUIDELINES)
        return principal, project(principal.org_id, request.path_params["id"])


def show_guideline(document: Document, holder: ExternalOwner) -> GuidelineDocument:
    """A file as the façade shows it."""
    fault = document.fault
    ref = document.workspace
    return GuidelineDocument(
        id=str(document.document_id),
        organization_id=str(ref.org_id),
        project_id=holder.external_ref,
        file_name=document.file_name,
        mime_type=document.media_type,
        status=_STATUS[document.status],
        chunk_count=document.chunk_count or None,
        error_code=None if fault is None else fault.code,
        error_message=None if fault is None else fault.message,
        uploaded_by=document.uploaded_by,
        source_id=encode(NodeKind.DOCUMENT, ref.workspace_id, document.document_id),
        created_at=instant(document.created_at),
        updated_at=instant(document.updated_at),
    )

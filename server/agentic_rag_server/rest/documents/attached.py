"""The documents of an external owner, a project or an agent: one endpoint behind both façades."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import quote, urlencode
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from agentic_rag.documents.document import Document
from agentic_rag.ingestion.attachments import Attachment
from agentic_rag.ingestion.upload import ReceivedUpload
from agentic_rag.kernel.errors import InvalidInput, no_such_document
from agentic_rag.kernel.pagination import MAX_PAGE, PageRequest
from agentic_rag.tenancy.principals import MAX_NAME_CHARACTERS, Principal
from agentic_rag.workspaces.organisation import FeatureFlag
from agentic_rag.workspaces.workspace import ExternalOwner, Workspace
from agentic_rag_server.auth.roles import Action, authorise
from agentic_rag_server.auth.rules import Rule
from agentic_rag_server.graphql.http.context import page_request
from agentic_rag_server.rest.documents.documents import DocumentErased, show_erasure
from agentic_rag_server.rest.documents.uploads import REPLAYED, UPLOAD_REFUSALS, upload_headers
from agentic_rag_server.rest.http.bodies import FIELDS_BYTES, FORM, IDEMPOTENCY_KEY, read_upload
from agentic_rag_server.rest.http.models import NOT_STORED, Model, Refusal, answer
from agentic_rag_server.rest.http.multipart import MultipartBody
from agentic_rag_server.rest.http.operations import Endpoint, OperationSpec, Parameter, ResponseSpec

EXTERNAL_REF = {"type": "string", "minLength": 1, "maxLength": MAX_NAME_CHARACTERS, "pattern": "^[^/]+$"}

PAGING = (
    Parameter(
        "first",
        "query",
        f"How many, 1 to {MAX_PAGE}.",
        {"type": "integer", "minimum": 1, "maximum": MAX_PAGE, "default": MAX_PAGE},
    ),
    Parameter("after", "query", "A cursor that an earlier page gave.", {"type": "string", "minLength": 1}),
)
LINK = ("Link", 'The next page, with `rel="next"`; left out on the last one.')


@dataclass(frozen=True, slots=True)
class Names:
    """The words of one operation, the type of its body, and who may do it."""

    name: str
    summary: str
    description: str
    body: type[Model]
    rule: Rule


@dataclass(frozen=True, slots=True)
class Facade:
    """The declaration of a façade."""

    tag: str
    path: str
    upload_path: str
    owner: tuple[Parameter, ...]
    """The path parameters that name the owner."""
    document: str
    """The path parameter of a document's id."""
    upload: Names
    page: Names
    page_says: str
    """The description of a page in the OpenAPI document."""
    page_refusals: tuple[int, ...]
    erase: Names
    refusal: type[Model] = Refusal
    accepted: Collection[str] | None = None
    """The media types of uploads; None for every type that the product reads."""


class AttachedDocumentsEndpoint(Endpoint):
    """Uploads, lists and erases the documents of an owner. A façade defines the names, the caller's rights and the
    bodies.
    """

    facade: ClassVar[Facade]

    def operations(self) -> list[OperationSpec]:
        """The three operations on documents, then those that the façade declares itself."""
        facade = self.facade
        document = Parameter(facade.document, "path", "Id of the document.", {"type": "string", "format": "uuid"})
        return [
            self._declare(
                facade.upload,
                method="POST",
                path=facade.upload_path,
                serve=self.upload,
                parameters=(*facade.owner, IDEMPOTENCY_KEY),
                takes=FORM,
                answers=(ResponseSpec(202, "Accepted; a worker reads it.", facade.upload.body, headers=(REPLAYED,)),),
                refusals=UPLOAD_REFUSALS,
            ),
            self._declare(
                facade.page,
                method="GET",
                path=facade.path,
                serve=self.page,
                parameters=(*facade.owner, *PAGING),
                answers=(ResponseSpec(200, facade.page_says, facade.page.body, headers=(LINK,)),),
                refusals=facade.page_refusals,
            ),
            self._declare(
                facade.erase,
                method="DELETE",
                path=f"{facade.path}/{{{facade.document}}}",
                serve=self.erase,
                parameters=(*facade.owner, document),
                answers=(ResponseSpec(200, "What was removed, with the certificate.", facade.erase.body),),
                refusals=(400, 401, 403, 404, 429, 500, 503),
            ),
            *super().operations(),
        ]

    async def upload(self, request: Request) -> Response:
        """Accept a file. Errors: those of `find_owner` and `_receive`."""
        principal, owner = await self.find_owner(request)
        attachment = await self._receive(request, principal, owner)
        return answer(self.upload_body(attachment, owner), 202, upload_headers(attachment.upload))

    async def page(self, request: Request) -> Response:
        """A page of documents. Errors: those of `find_owner`, `InvalidInput`."""
        principal, owner = await self.find_owner(request)
        asked = _paging(request)
        found = await self._parts.attachments.page(owner, asked, principal)
        cursor = found.cursors[-1] if found.has_next else None
        headers = {**NOT_STORED, **_link_header(request, asked, cursor)}
        return answer(self.page_body(found.items, cursor, owner), headers=headers)

    async def erase(self, request: Request) -> Response:
        """Erase a document. Errors: those of `find_owner`, `NotFound`."""
        principal, owner = await self.find_owner(request)
        text = request.path_params[self.facade.document]
        deletion = await self._parts.attachments.delete(owner, _document_key(text), principal)
        return answer(self.erase_body(show_erasure(text, deletion)))

    async def find_owner(self, request: Request) -> tuple[Principal, ExternalOwner]:
        """The caller and the owner. Errors: `InvalidInput`, `NotFound`."""
        raise NotImplementedError

    def upload_body(self, attachment: Attachment, owner: ExternalOwner) -> Model:
        """The answer to an upload."""
        raise NotImplementedError

    def page_body(self, documents: Sequence[Document], next_cursor: str | None, owner: ExternalOwner) -> Model:
        """A page of documents; `next_cursor` is None on the last one."""
        raise NotImplementedError

    def erase_body(self, erased: DocumentErased) -> Model:
        """The answer to a deletion."""
        return erased

    async def workspace_of(self, principal: Principal, owner: ExternalOwner) -> Workspace:
        """The owner's workspace; made when the caller may make workspaces, or the organisation lets members open those
        of agents and projects. Errors: `Forbidden`.
        """
        attachments = self._parts.attachments
        found = await attachments.find(owner)
        if found is None:
            if not await attachments.has_feature(owner.org_id, FeatureFlag.MEMBERS_OPEN_WORKSPACES):
                authorise(principal, Action.CREATE_WORKSPACE)
            found = await attachments.open(owner, principal.subject_id)
        return found

    async def _receive(self, request: Request, principal: Principal, owner: ExternalOwner) -> Attachment:
        """Stream the request's file into the owner's workspace, once the provider key is known to be there. Errors:
        `MissingProviderKey`, `Forbidden`, those of `read_upload` and `Attachments`.
        """
        attachments = self._parts.attachments
        await attachments.require_provider(owner.org_id)
        body = MultipartBody(request, self._parts.options.max_upload_bytes + FIELDS_BYTES)
        workspace = await self.workspace_of(principal, owner)

        async def receive(file_name: str, pieces: AsyncIterator[bytes]) -> ReceivedUpload:
            return await self._parts.upload.receive(workspace.ref, file_name, pieces, self.facade.accepted)

        received, options = await read_upload(
            body, receive, self._parts.upload.discard, request.headers.get("idempotency-key")
        )
        return await attachments.submit(received, options, principal)

    def _declare(self, names: Names, **declared: Any) -> OperationSpec:
        return OperationSpec(
            name=names.name,
            tag=self.facade.tag,
            summary=names.summary,
            description=names.description,
            refusal=self.facade.refusal,
            rule=names.rule,
            **declared,
        )


def _paging(request: Request) -> PageRequest:
    """The requested page. Errors: `InvalidInput`."""
    first = request.query_params.get("first", str(MAX_PAGE))
    if not (first.isascii() and first.isdigit() and len(first) <= len(str(MAX_PAGE))):
        raise InvalidInput(f"`first` must be 1 to {MAX_PAGE}.", path=("first",))
    return page_request(int(first), request.query_params.get("after"))


def _link_header(request: Request, asked: PageRequest, cursor: str | None) -> dict[str, str]:
    """`Link` to the next page (RFC 8288), as a path on this server."""
    if cursor is None:
        return {}
    query = urlencode({"first": asked.first, "after": cursor})
    return {"link": f'<{quote(request.url.path)}?{query}>; rel="next"'}


def _document_key(text: str) -> UUID:
    """A document's id. Errors: `NotFound` also for a text that is no id."""
    try:
        key = UUID(text)
    except ValueError:
        key = None
    if key is None or str(key) != text.lower():
        raise no_such_document()
    return key

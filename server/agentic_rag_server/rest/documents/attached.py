"""What both façades share: how a holder's file comes in, how its documents are paged, and how ids are read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from urllib.parse import quote, urlencode
from uuid import UUID

from starlette.requests import Request

from agentic_rag.documents.document import Document
from agentic_rag.ingestion.attachments import Attachment
from agentic_rag.ingestion.upload import ReceivedUpload
from agentic_rag.kernel.errors import InvalidInput, no_such_document
from agentic_rag.kernel.pagination import MAX_PAGE, Page, PageRequest
from agentic_rag.tenancy.principals import MAX_NAME_CHARACTERS, Principal
from agentic_rag.workspaces.external_owner import ExternalOwner
from agentic_rag.workspaces.workspace import Workspace
from agentic_rag_server.auth.roles import Action, authorise
from agentic_rag_server.graphql.http.context import page_request
from agentic_rag_server.parts import ServerParts
from agentic_rag_server.rest.http.forms import FIELDS_BYTES, read_upload
from agentic_rag_server.rest.http.multipart import MultipartBody
from agentic_rag_server.rest.http.operations import Parameter

EXTERNAL_REF = {"type": "string", "minLength": 1, "maxLength": MAX_NAME_CHARACTERS, "pattern": "^[^/]+$"}
DOCUMENT_ID = {"type": "string", "format": "uuid"}

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


def paging(request: Request) -> PageRequest:
    """The page that is asked for. Errors: `InvalidInput`."""
    first = request.query_params.get("first", str(MAX_PAGE))
    if not (first.isascii() and first.isdigit() and len(first) <= len(str(MAX_PAGE))):
        raise InvalidInput(f"`first` must be 1 to {MAX_PAGE}.", path=("first",))
    return page_request(int(first), request.query_params.get("after"))


def next_cursor(page: Page[Document]) -> str | None:
    """Where the next page begins; None after the last one."""
    return page.cursors[-1] if page.has_next else None


def link_header(request: Request, asked: PageRequest, cursor: str | None) -> dict[str, str]:
    """`Link` to the next page (RFC 8288), as a path on this server."""
    if cursor is None:
        return {}
    query = urlencode({"first": asked.first, "after": cursor})
    return {"link": f'<{quote(request.url.path)}?{query}>; rel="next"'}


def document_key(text: str) -> UUID:
    """A document's id. Errors: `NotFound`: what is no id names no document."""
    try:
        key = UUID(text)
    except ValueError:
        key = None
    if key is None or str(key) != text.lower():
        raise no_such_document()
    return key


async def workspace_of(parts: ServerParts, principal: Principal, holder: ExternalOwner) -> Workspace:
    """The holder's workspace, made if the caller may make workspaces. Errors: `Forbidden`."""
    found = await parts.attachments.find(holder)
    if found is None:
        authorise(principal, Action.CREATE_WORKSPACE)
        found = await parts.attachments.open(holder, principal.subject)
    return found


async def take_file(
    parts: ServerParts,
    request: Request,
    principal: Principal,
    holder: ExternalOwner,
    accepted: Collection[str] | None = None,
) -> Attachment:
    """Stream the request's file into the holder's workspace. The provider key is asked for before anything else.

    Errors: `MissingProviderKey`, `Forbidden`, those of `MultipartBody`, `read_upload` and `Attachments`.
    """
    attached = parts.attachments
    await attached.require_provider(holder.org_id)
    body = MultipartBody(request, parts.options.max_upload_bytes + FIELDS_BYTES)
    workspace = await workspace_of(parts, principal, holder)

    async def receive(file_name: str, pieces: AsyncIterator[bytes]) -> ReceivedUpload:
        return await attached.receive(workspace.ref, file_name, pieces, accepted)

    received, options = await read_upload(body, receive, attached, request.headers.get("idempotency-key"))
    return await attached.submit(received, options, principal)

"""`GET /v1/documents/{id}/source`: the original of a document, the target of a citation."""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import quote
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from agentic_rag.documents.document_access import DocumentRight
from agentic_rag.documents.originals import key_of_original
from agentic_rag.ingestion.upload import prepend
from agentic_rag.kernel.errors import no_such_document
from agentic_rag.kernel.public_ids import NodeKind, decode
from agentic_rag.tenancy.audit import AuditAction
from agentic_rag.tenancy.principals import Principal, WorkspaceRef
from agentic_rag.tenancy.record_audit import audit_read
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Rule
from agentic_rag_server.parts import ServerParts
from agentic_rag_server.rest.documents.uploads import DOCUMENT, TAG
from agentic_rag_server.rest.http.operations import Endpoint, ResponseSpec, operation

INLINE = frozenset({"application/pdf", "text/plain", "text/markdown", "image/png", "image/jpeg"})
"""Types that a browser may display. Others are saved, so that no document runs as a page of this origin."""

SECURITY_HEADERS = {
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox; default-src 'none'",
    "cache-control": "private, no-cache",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
}

MAX_NAME_CHARACTERS = 150
_MEDIA_TYPE = re.compile(r"[A-Za-z0-9!#$&^_.+-]{1,64}/[A-Za-z0-9!#$&^_.+-]{1,100}")
_UNSAFE = re.compile(r"[^A-Za-z0-9 ._()+,=@~-]")


class SourceEndpoint(Endpoint):
    """Streams originals to callers who may read the document."""

    tag = TAG

    @operation(
        "GET",
        "/v1/documents/{id}/source",
        "getOriginal",
        summary="The original of a document, byte by byte",
        rule=Rule((Action.READ,), DocumentRight.READ),
        parameters=(replace(DOCUMENT, name="id"),),
        answers=(ResponseSpec(200, "The file, in its own media type.", media_type="*/*"),),
        refusals=(400, 401, 403, 404, 500, 503),
    )
    async def get(self, request: Request) -> Response:
        """Errors: those of `require`, `InvalidInput`, `NotFound`, `DependencyUnavailable`."""
        node = decode(request.path_params["id"], NodeKind.DOCUMENT)
        ref, principal = await self.require(request, node)
        return await original_response(self._parts, ref, principal, node.key)


async def original_response(parts: ServerParts, ref: WorkspaceRef, reader: Principal, document_id: UUID) -> Response:
    """The original of a document, as a stream. Whoever takes a copy is named in the audit log. Errors: `NotFound`,
    `DependencyUnavailable`.
    """
    async with parts.database.transaction(ref.org_id) as transaction:
        document = await transaction.documents.get(ref, document_id)
        originals = await transaction.originals.of(ref, document_id)
    if document is None:
        raise no_such_document()
    stream = parts.blobs.stream(key_of_original(document, originals))
    first = await anext(stream, b"")
    act, told = AuditAction.READ_ORIGINAL, {"bytes": document.size}
    await audit_read(parts.database, parts.telemetry, act, ref, document_id, reader.subject_id, **told)
    media = document.media_type if _MEDIA_TYPE.fullmatch(document.media_type) else "application/octet-stream"
    headers = {
        **SECURITY_HEADERS,
        "content-type": media,
        "content-disposition": content_disposition(document.file_name, inline=media in INLINE),
    }
    return StreamingResponse(prepend(first, stream), headers=headers)


def content_disposition(file_name: str, *, inline: bool) -> str:
    """The header for any file name: an ASCII fallback without quotes, separators and control characters, and the name
    percent-encoded (RFC 6266 §4.3, RFC 8187 §3.2).
    """
    kind = "inline" if inline else "attachment"
    name = file_name.replace("\\", "/").rsplit("/", 1)[-1]
    name = "".join(letter for letter in name if letter.isprintable())[:MAX_NAME_CHARACTERS].strip(" .") or "document"
    fallback = _UNSAFE.sub("_", name)
    header = f'{kind}; filename="{fallback}"'
    if fallback != name:
        header += f"; filename*=UTF-8''{quote(name.encode('utf-8', 'replace'), safe='')}"
    return header

"""`GET /v1/documents/{id}/source`: the original of a document, or a part of it, the target of a citation."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any
from urllib.parse import quote
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from agentic_rag.documents.document import Document
from agentic_rag.documents.document_access import DocumentRight
from agentic_rag.documents.originals import original_of
from agentic_rag.documents.ports import Original
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
from agentic_rag_server.rest.http.errors import refusal_response
from agentic_rag_server.rest.http.operations import Endpoint, Parameter, ResponseSpec, operation
from agentic_rag_server.rest.http.ranges import content_range, is_held, is_same, requested_part

INLINE = frozenset({"application/pdf", "text/plain", "text/markdown", "image/png", "image/jpeg"})
"""Types that a browser may display. Others are saved, so that no document runs as a page of this origin."""

SECURITY_HEADERS = {
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox; default-src 'none'",
    "cache-control": "private, no-cache",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
}

_TEXT: dict[str, Any] = {"type": "string"}
ORIGINAL_HEADERS = (
    Parameter("range", "header", "`bytes=FIRST-LAST`, `bytes=FIRST-` or `bytes=-COUNT`: one part.", _TEXT),
    Parameter("if-range", "header", "The ETag of the parts held: with another one the file is sent whole.", _TEXT),
    Parameter("if-none-match", "header", "ETags of files that the caller holds.", _TEXT),
)
_PLACED = (("accept-ranges", "`bytes`."), ("etag", "Of the bytes of the whole file."))
ORIGINAL_ANSWERS = (
    ResponseSpec(200, "The file, in its own media type.", media_type="*/*", headers=_PLACED),
    ResponseSpec(
        206,
        "The part that `Range` names. Several parts at once are answered with the file.",
        media_type="*/*",
        headers=(*_PLACED, ("content-range", "Which bytes, of how many.")),
    ),
    ResponseSpec(304, "The caller holds this file.", media_type=""),
)

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
        parameters=(replace(DOCUMENT, name="id"), *ORIGINAL_HEADERS),
        answers=ORIGINAL_ANSWERS,
        refusals=(400, 401, 403, 404, 416, 500, 503),
    )
    async def get(self, request: Request) -> Response:
        """Errors: those of `require`, `InvalidInput`, `NotFound`, `DependencyUnavailable`."""
        node = decode(request.path_params["id"], NodeKind.DOCUMENT)
        ref, principal = await self.require(request, node)
        return await original_response(self._parts, request, ref, principal, node.key)


async def original_response(
    parts: ServerParts, request: Request, ref: WorkspaceRef, reader: Principal, document_id: UUID
) -> Response:
    """`send_original` of the published one. Errors: `NotFound`, `DependencyUnavailable`."""
    async with parts.database.transaction(ref.org_id) as transaction:
        document = await transaction.documents.get(ref, document_id)
        originals = await transaction.originals.of(ref, document_id)
    if document is None:
        raise no_such_document()
    return await send_original(parts, request, reader, document, original_of(document, originals))


async def send_original(
    parts: ServerParts, request: Request, reader: Principal, document: Document, original: Original
) -> Response:
    """An original of a document, or the part of it that the request names, as a stream. Whoever takes a copy is named
    in the audit log, with the number of bytes. The caller has the right to read. Errors: `DependencyUnavailable`.
    """
    headers = _headers(original)
    if is_held(request.headers.getlist("if-none-match"), headers["etag"]):
        return Response(status_code=304, headers=headers)
    part = None
    if request.method == "GET" and is_same(request.headers.get("if-range"), headers["etag"]):
        part = requested_part(request.headers.get("range"), original.size)
    if part is not None:
        headers["content-range"] = content_range(part, original.size)
        if not part:
            return _no_such_part(request, original.size, headers["content-range"])
    told: dict[str, int] = {"bytes": original.size} if part is None else {"bytes": len(part), "from": part.start}
    headers["content-length"] = str(told["bytes"])
    if request.method == "HEAD":
        return Response(headers=headers | _media(document))
    stream = parts.blobs.stream(original.key, part)
    first = await anext(stream, b"")
    act = AuditAction.READ_ORIGINAL
    ref, what = document.workspace, document.document_id
    await audit_read(parts.database, parts.telemetry, act, ref, what, reader.subject_id, **told)
    status = 200 if part is None else 206
    return StreamingResponse(prepend(first, stream), status, headers | _media(document))


def _headers(original: Original) -> dict[str, str]:
    """Of every answer that does not refuse. The tag is strong: it names the bytes."""
    return {**SECURITY_HEADERS, "accept-ranges": "bytes", "etag": f'"{original.content_hash.hex()}"'}


def _media(document: Document) -> dict[str, str]:
    media = document.media_type if _MEDIA_TYPE.fullmatch(document.media_type) else "application/octet-stream"
    return {
        "content-type": media,
        "content-disposition": content_disposition(document.file_name, inline=media in INLINE),
    }


def _no_such_part(request: Request, size: int, content_range: str) -> Response:
    message = f"The file has {size} bytes: `Range` names none of them."
    return refusal_response(
        request.scope, 416, "RANGE_NOT_SATISFIABLE", message, {"content-range": content_range, "accept-ranges": "bytes"}
    )


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

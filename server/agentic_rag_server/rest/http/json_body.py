"""Reads a JSON body into a typed value."""

from __future__ import annotations

from typing import TypeVar

import msgspec
from starlette.requests import ClientDisconnect, Request

from agentic_rag.kernel.errors import ContentUnsupported, InvalidInput, UploadTooLarge
from agentic_rag_server.rest.http.models import Model

MEDIA_TYPE = "application/json"

_Body = TypeVar("_Body", bound=Model)


async def read_json(request: Request, body: type[_Body], most: int) -> _Body:
    """The body as a value of its type. Errors: `ContentUnsupported` code UNSUPPORTED_MEDIA_TYPE, `UploadTooLarge` code
    BODY_TOO_LARGE beyond `most` bytes, `InvalidInput` code BAD_JSON or INVALID_INPUT with what does not fit.
    """
    if request.headers.get("content-type", "").split(";", 1)[0].strip().lower() != MEDIA_TYPE:
        raise ContentUnsupported(f"Send the body as `{MEDIA_TYPE}`.", code="UNSUPPORTED_MEDIA_TYPE")
    content = await _content(request, most)
    try:
        return msgspec.json.decode(content, type=body)
    except msgspec.ValidationError as wrong:
        raise InvalidInput(f"The body does not fit: {wrong}.") from wrong
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as wrong:
        raise InvalidInput("The body is not JSON in UTF-8.", code="BAD_JSON") from wrong


async def _content(request: Request, most: int) -> bytes:
    content = b""
    try:
        async for piece in request.stream():
            content += piece
            if len(content) > most:
                raise UploadTooLarge(f"The body may have {most} bytes at most.", code="BODY_TOO_LARGE")
    except ClientDisconnect as gone:
        raise InvalidInput("The request ended before its body did.", code="CLIENT_GONE") from gone
    return content

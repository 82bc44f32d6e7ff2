"""Bodies that several REST operations share. One class makes both the body that is sent and its OpenAPI schema."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta
from starlette.responses import Response

ENVELOPED = "/organization/"
"""Below this path every body has the envelope `{status, message, data}`."""

OPENAI = ("/v1/chat/", "/v1/models", "/v1/responses", "/v1/files", "/v1/vector_stores")
"""Below these paths every refusal has OpenAI's members too."""

MCP = "/mcp"
"""The path whose refusals are errors of JSON-RPC too, which is what clients of the Model Context Protocol read."""

MCP_REFUSED = -32010
"""The number of a refusal of this product, in JSON-RPC's band that is free for servers."""

JSON = "application/json"

NOT_STORED = {"cache-control": "no-store"}

Instant = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
"""ISO 8601 with its offset."""


class Model(msgspec.Struct, frozen=True, rename="camel"):
    """A JSON object with camel-case names. All members are always there; null where there is no value."""


class ErrorDetail(Model, frozen=True):
    """A refusal. `code` is stable; docs/errors.md lists them all."""

    code: str
    message: str
    trace_id: Annotated[str, Meta(description="Quote it when you report the error; 32 hex digits.")]


class Refusal(Model, frozen=True):
    """The body of every answer from 400 on."""

    error: ErrorDetail


class Success(Model, frozen=True):
    """What an envelope of an answer below 400 begins with."""

    status: Literal["success"]
    message: str


class EnvelopedRefusal(Model, frozen=True):
    """The body of every answer from 400 on: the envelope, and beside it what all refusals of this API hold."""

    status: Literal["error"]
    message: str
    data: None
    error: ErrorDetail


class OpenAIError(ErrorDetail, frozen=True):
    """A refusal as OpenAI's clients read it. `param` is the offending argument."""

    type: Literal[
        "invalid_request_error", "authentication_error", "permission_error", "rate_limit_error", "server_error"
    ]
    param: str | None


class OpenAIRefusal(Model, frozen=True):
    """The body of every answer from 400 on, with all that OpenAI's have."""

    error: OpenAIError


class McpError(Model, frozen=True):
    """A refusal as clients of the protocol read it: one number for all, and ours in `data`."""

    code: int
    message: str
    data: ErrorDetail


class McpRefusal(Model, frozen=True):
    """The body of an answer from 400 on to a request that did not come to the protocol."""

    error: McpError
    jsonrpc: Literal["2.0"] = "2.0"
    id: None = None


_ERROR_TYPES = {401: "authentication_error", 402: "permission_error", 403: "permission_error", 429: "rate_limit_error"}


def refusal_body(
    path: str, status: int, code: str, message: str, trace_id: str, argument: Sequence[str] = ()
) -> Refusal | EnvelopedRefusal | OpenAIRefusal | McpRefusal:
    """The body that a path answers a refusal with."""
    if path.startswith(OPENAI):
        kind: Any = "server_error" if status >= 500 else _ERROR_TYPES.get(status, "invalid_request_error")
        return OpenAIRefusal(error=OpenAIError(code, message, trace_id, kind, ".".join(argument) or None))
    detail = ErrorDetail(code=code, message=message, trace_id=trace_id)
    if path == MCP:
        return McpRefusal(error=McpError(MCP_REFUSED, message, detail))
    if path.startswith(ENVELOPED):
        return EnvelopedRefusal(status="error", message=message, data=None, error=detail)
    return Refusal(error=detail)


def instant(moment: datetime) -> str:
    """The moment in ISO 8601."""
    return moment.isoformat()


def answer(body: Model, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """The body as a JSON response."""
    return Response(msgspec.json.encode(body), status, headers, media_type=JSON)

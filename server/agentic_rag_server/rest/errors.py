"""Product errors as HTTP statuses: the one table, used by REST and for requests that never reach a GraphQL field."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from agentic_rag.domain.errors import (
    AgenticRagError,
    BudgetExceeded,
    ContentRefused,
    ContentUnsupported,
    DependencyUnavailable,
    FeatureDisabled,
    Forbidden,
    IdempotencyConflict,
    InvalidInput,
    Misconfigured,
    MissingProviderKey,
    NotFound,
    Permanent,
    PolicyRefused,
    Retryable,
    Unauthenticated,
    UploadTooLarge,
)
from agentic_rag_server.auth.bearer import CHALLENGE
from agentic_rag_server.observing import trace_id_of

STATUS: dict[type[AgenticRagError], int] = {
    Unauthenticated: 401,
    MissingProviderKey: 402,
    Forbidden: 403,
    FeatureDisabled: 403,
    PolicyRefused: 403,
    NotFound: 404,
    IdempotencyConflict: 409,
    UploadTooLarge: 413,
    ContentUnsupported: 415,
    ContentRefused: 422,
    InvalidInput: 400,
    Permanent: 422,
    BudgetExceeded: 429,
    DependencyUnavailable: 503,
    Misconfigured: 503,
    Retryable: 503,
    AgenticRagError: 500,
}


def status_of(error: AgenticRagError) -> int:
    """The status of the nearest class in the table."""
    return next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)


def error_response(error: AgenticRagError, trace_id: str) -> Response:
    """A product error as `{"error": {code, message, traceId}}`."""
    headers: dict[str, str] = {}
    if isinstance(error, Unauthenticated):
        headers.update(CHALLENGE)
    if isinstance(error, Retryable) and error.retry_after_seconds is not None:
        headers["retry-after"] = str(max(1, round(error.retry_after_seconds)))
    body = {"error": {"code": error.code, "message": error.message, "traceId": trace_id}}
    return JSONResponse(body, status_of(error), headers)


async def on_product_error(request: Request, error: Exception) -> Response:
    """Starlette's exception handler for product errors."""
    if not isinstance(error, AgenticRagError):
        raise error
    return error_response(error, trace_id_of(request.scope))


async def on_wrong_method(request: Request, error: Exception) -> Response:
    """Starlette's handler for a path that serves other methods."""
    message = "This path does not serve that method."
    body = {"error": {"code": "METHOD_NOT_ALLOWED", "message": message, "traceId": trace_id_of(request.scope)}}
    return JSONResponse(body, 405, getattr(error, "headers", None))


async def on_no_route(request: Request, _: Exception) -> Response:
    """Starlette's handler for a path it does not know."""
    return error_response(NotFound("There is nothing at this path."), trace_id_of(request.scope))

"""Product errors as HTTP responses, for REST and for requests that never reach a GraphQL field."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from email.utils import format_datetime

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from agentic_rag.kernel.errors import (
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
    RateLimited,
    Retryable,
    RunCancelled,
    Unauthenticated,
    UploadTooLarge,
)
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag_server.auth.bearer import CHALLENGE
from agentic_rag_server.graphql.http.errors import report_product
from agentic_rag_server.request_telemetry import trace_id_of
from agentic_rag_server.rest.http.models import NOT_STORED, answer, refusal_body

STATUS: dict[type[AgenticRagError], int] = {
    Unauthenticated: 401,
    MissingProviderKey: 402,
    Forbidden: 403,
    FeatureDisabled: 403,
    PolicyRefused: 403,
    NotFound: 404,
    IdempotencyConflict: 409,
    RunCancelled: 409,
    UploadTooLarge: 413,
    ContentUnsupported: 415,
    ContentRefused: 422,
    InvalidInput: 400,
    Permanent: 422,
    BudgetExceeded: 429,
    RateLimited: 429,
    DependencyUnavailable: 503,
    Misconfigured: 503,
    Retryable: 503,
    AgenticRagError: 500,
}


def status_of(error: AgenticRagError) -> int:
    """The status of the nearest base class in the table."""
    return next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)


def headers_of(error: AgenticRagError) -> dict[str, str]:
    """The headers of a product error."""
    headers: dict[str, str] = {}
    if isinstance(error, Unauthenticated):
        headers.update(CHALLENGE)
    if isinstance(error, Retryable) and error.retry_after_seconds is not None:
        headers["retry-after"] = str(max(1, math.ceil(error.retry_after_seconds)))
    if isinstance(error, BudgetExceeded) and error.resets_at is not None:
        headers["retry-after"] = format_datetime(error.resets_at, usegmt=True)
    return headers


def error_response(request: Request, error: AgenticRagError) -> Response:
    """The response for a product error."""
    argument = error.path if isinstance(error, InvalidInput) else ()
    return refusal_response(request.scope, status_of(error), error.code, error.message, headers_of(error), argument)


def refusal_response(
    scope: Scope,
    status: int,
    code: str,
    message: str,
    headers: Mapping[str, str] | None = None,
    argument: Sequence[str] = (),
) -> Response:
    """The response that refuses the request."""
    body = refusal_body(scope["path"], status, code, message, trace_id_of(scope), argument)
    return answer(body, status, {**NOT_STORED, **(headers or {})})


def on_product_error(telemetry: Telemetry) -> Callable[[Request, Exception], Awaitable[Response]]:
    """Starlette's exception handler for product errors."""

    async def handle(request: Request, error: Exception) -> Response:
        if not isinstance(error, AgenticRagError):
            raise error
        report_product(error, telemetry)
        return error_response(request, error)

    return handle


async def on_wrong_method(request: Request, error: Exception) -> Response:
    """Starlette's handler for a method that the path does not serve."""
    headers = getattr(error, "headers", None)
    return refusal_response(request.scope, 405, "METHOD_NOT_ALLOWED", "This path does not serve that method.", headers)


async def on_no_route(request: Request, _: Exception) -> Response:
    """Starlette's handler for an unknown path."""
    there = "GET /openapi.json lists the paths of REST, questions go to POST /graphql."
    return error_response(request, NotFound(f"There is nothing at this path. {there}"))

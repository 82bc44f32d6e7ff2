"""Pages of other origins: what a browser lets them do with this server."""

from __future__ import annotations

from collections.abc import Collection

from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

from agentic_rag_server.graphql.documents.uploads import PREFLIGHT_HEADERS
from agentic_rag_server.rest.answering.cited_pages import FIRST, MARKED

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
REQUEST_HEADERS = (
    "authorization",
    "content-type",
    "idempotency-key",
    "if-none-match",
    "if-range",
    "prefer",
    "range",
    *PREFLIGHT_HEADERS,
)
RESPONSE_HEADERS = (
    "accept-ranges",
    "content-disposition",
    "content-range",
    "etag",
    "location",
    "retry-after",
    MARKED,
    FIRST,
)
PREFLIGHT_SECONDS = 600


def cross_origin(origins: Collection[str]) -> list[Middleware]:
    """Answers preflight requests of these origins, and lets their pages read answers; nothing without origins.

    Credentials of the browser are never sent along: a page brings its own bearer token.
    """
    if not origins:
        return []
    allowed = Middleware(
        CORSMiddleware,
        allow_origins=tuple(origins),
        allow_methods=METHODS,
        allow_headers=REQUEST_HEADERS,
        expose_headers=RESPONSE_HEADERS,
        max_age=PREFLIGHT_SECONDS,
    )
    return [allowed]

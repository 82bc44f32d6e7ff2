"""One span and one metric per request, and a masked 500 for uncaught errors."""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec
import orjson
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag_server.graphql.http.errors import INTERNAL_MESSAGE, report_internal
from agentic_rag_server.rest.http.models import refusal_body

_TRACE_ID = "agentic_rag.trace_id"
_GRAPHQL = "/graphql"
_CONSOLE = "/console"
_WHOLE = (_GRAPHQL, "/mcp")
"""Paths that are routes of their own."""

_STREAM = "agentic_rag.is_stream"
STREAM_ROUTE = "/graphql (events)"
"""The label of streams, which last as long as their readers."""

OTHER_ROUTE = "other"
"""The label of unknown paths."""


def trace_id_of(scope: Scope) -> str:
    """The trace id of the request: 32 hex digits."""
    return str(scope.get(_TRACE_ID, "0" * 32))


def mark_stream(scope: Scope) -> None:
    """The answer of this request is a stream: how long it lasts says nothing of the server."""
    scope[_STREAM] = True


class RequestTelemetry:
    """ASGI middleware: continues the caller's trace, measures the request, and answers an uncaught error with a masked
    500 that carries the trace id.
    """

    def __init__(self, app: ASGIApp, telemetry: Telemetry, route_of: Callable[[str], str | None]) -> None:
        """`route_of` returns the route pattern of a path, which bounds the values of the metric's label."""
        self._app = app
        self._telemetry = telemetry
        self._route_of = route_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = scope["path"]
        route = self._name_of(path)
        began = time.perf_counter()
        status = 0

        async def watch(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [
                    *message["headers"],
                    (b"x-trace-id", trace_id_of(scope).encode()),
                ]
            await send(message)

        with self._telemetry.span("http.request", {"http.route": route}, _carrier(scope)) as span:
            scope[_TRACE_ID] = span.trace_id
            try:
                await self._app(scope, receive, watch)
            except Exception as error:
                report_internal(error, self._telemetry)
                if status:
                    raise
                await _internal(watch, span.trace_id, path)
            finally:
                span.set("http.response.status_code", status)
                seconds = time.perf_counter() - began
                route = STREAM_ROUTE if _STREAM in scope else route
                self._telemetry.observe("rag_http_request_seconds", seconds, route=route, status=str(status))

    def _name_of(self, path: str) -> str:
        if path == _CONSOLE or path.startswith(f"{_CONSOLE}/"):
            return _CONSOLE
        return path if path in _WHOLE else self._route_of(path) or OTHER_ROUTE


def _carrier(scope: Scope) -> dict[str, str] | None:
    for name, value in scope["headers"]:
        if name == b"traceparent":
            return {"traceparent": value.decode("latin-1")}
    return None


async def _internal(send: Send, trace_id: str, path: str) -> None:
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 500, "headers": headers})
    await send({"type": "http.response.body", "body": _internal_error_body(trace_id, path)})


def _internal_error_body(trace_id: str, path: str) -> bytes:
    if path == _GRAPHQL:
        extensions = {"code": "INTERNAL", "traceId": trace_id}
        return orjson.dumps({"errors": [{"message": INTERNAL_MESSAGE, "extensions": extensions}]})
    return msgspec.json.encode(refusal_body(path, 500, "INTERNAL", INTERNAL_MESSAGE, trace_id))

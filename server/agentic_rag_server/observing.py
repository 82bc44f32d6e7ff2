"""One span, one metric and one last net for every request."""

from __future__ import annotations

import re
import time

import orjson
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agentic_rag.ports.telemetry import Telemetry
from agentic_rag_server.graphql.errors import INTERNAL_MESSAGE, report_internal

_TRACE_ID = "agentic_rag.trace_id"
_SOURCE = re.compile(r"/v1/documents/[^/]+/source")
_FIXED = frozenset({"/graphql", "/healthz", "/readyz", "/metrics"})


def trace_id_of(scope: Scope) -> str:
    """The trace id of the request under way; 32 hex digits."""
    return str(scope.get(_TRACE_ID, "0" * 32))


def route_of(path: str) -> str:
    """The route pattern of a path: a label with few values, whatever clients send."""
    if path in _FIXED:
        return path
    return "/v1/documents/{id}/source" if _SOURCE.fullmatch(path) else "other"


class Observing:
    """ASGI middleware: continues the caller's trace, times the request, and turns a fault of the program into a
    masked 500 that carries the trace id.
    """

    def __init__(self, app: ASGIApp, telemetry: Telemetry) -> None:
        self._app = app
        self._telemetry = telemetry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        route = route_of(scope["path"])
        began = time.perf_counter()
        status = 0

        async def watch(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-trace-id", trace_id_of(scope).encode())]
            await send(message)

        with self._telemetry.span("http.request", {"http.route": route}, _carrier(scope)) as span:
            scope[_TRACE_ID] = span.trace_id
            try:
                await self._app(scope, receive, watch)
            except Exception as error:
                report_internal(error, self._telemetry)
                if status:
                    raise
                await _internal(watch, span.trace_id, graphql=route == "/graphql")
            finally:
                span.set("http.response.status_code", status)
                seconds = time.perf_counter() - began
                self._telemetry.observe("rag_http_request_seconds", seconds, route=route, status=str(status))


def _carrier(scope: Scope) -> dict[str, str] | None:
    for name, value in scope["headers"]:
        if name == b"traceparent":
            return {"traceparent": value.decode("latin-1")}
    return None


async def _internal(send: Send, trace_id: str, *, graphql: bool) -> None:
    if graphql:
        body = {"errors": [{"message": INTERNAL_MESSAGE, "extensions": {"code": "INTERNAL", "traceId": trace_id}}]}
    else:
        body = {"error": {"code": "INTERNAL", "message": INTERNAL_MESSAGE, "traceId": trace_id}}  # type: ignore[dict-item]
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 500, "headers": headers})
    await send({"type": "http.response.body", "body": orjson.dumps(body)})

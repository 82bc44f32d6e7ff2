"""The endpoint `/graphql`: one operation per request, by POST, and queries also by GET."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import orjson
from graphql import ExecutionResult
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from agentic_rag.kernel.errors import AgenticRagError, Overloaded
from agentic_rag.tenancy.record_audit import on_behalf_of
from agentic_rag.workspaces.rate_limits import Demand, Traffic
from agentic_rag_server.auth.bearer import address_of, principal_of
from agentic_rag_server.graphql.documents.uploads import read_multipart, require_preflight
from agentic_rag_server.graphql.http.context import RequestContext
from agentic_rag_server.graphql.http.errors import error_entry, present, response_error
from agentic_rag_server.graphql.http.event_stream import EventStream, wants_events
from agentic_rag_server.graphql.http.persisted import PersistedOperations
from agentic_rag_server.graphql.http.responses import (
    GRAPHQL_RESPONSE,
    JSON,
    GraphQLRequest,
    RequestFault,
    read_operation,
    response_type,
)
from agentic_rag_server.graphql.http.streams import OpenStreams
from agentic_rag_server.graphql.ide.page import QueryPage
from agentic_rag_server.graphql.schema import EVERYTHING, QUERIES, QUERIES_AND_EVENTS, QUERIES_AND_MUTATIONS, RagSchema
from agentic_rag_server.parts import ServerParts
from agentic_rag_server.request_telemetry import trace_id_of
from agentic_rag_server.rest.http.compression import compressed
from agentic_rag_server.rest.http.errors import headers_of, status_of
from agentic_rag_server.rest.http.models import NOT_STORED
from agentic_rag_server.rest.http.multipart import is_multipart

A_FILE: Demand = {Traffic.WRITE: 1}
"""The demand of a request with a file, counted before its body is read. Only mutations take files."""


class GraphQLEndpoint:
    """An ASGI application. It answers in the client's media type, also requests that are not GraphQL."""

    def __init__(
        self, parts: ServerParts, schema: RagSchema, persisted: PersistedOperations, open_: OpenStreams
    ) -> None:
        self._parts = parts
        self._schema = schema
        self._persisted = persisted
        self._open = open_
        self._page = QueryPage() if parts.options.query_page else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        request = Request(scope, receive)
        if self._page is not None and _wants_page(request):
            await compressed(self._page.response())(scope, receive, send)
            return
        accept = request.headers.get("accept", "")
        media = JSON if wants_events(accept) else response_type(accept)
        trace_id = trace_id_of(scope)
        try:
            response = await self._answer(request, media, trace_id)
        except RequestFault as fault:
            error = error_entry(fault.message, fault.code, trace_id)
            response = _errors([error], fault.status, media or JSON, fault.headers)
        except AgenticRagError as error:
            response = _errors([response_error(error, trace_id)], status_of(error), media or JSON, headers_of(error))
        await compressed(response)(scope, receive, send)

    async def _answer(self, request: Request, media: str | None, trace_id: str) -> Response:
        if media is None:
            raise RequestFault(406, "NOT_ACCEPTABLE", f"Answers are `{GRAPHQL_RESPONSE}` or `{JSON}`.")
        principal = await principal_of(request, self._parts.identity)
        counted: Demand = {}
        if _carries_file(request):
            require_preflight(request)
            counted = A_FILE
            await self._parts.admission.admit(principal, counted)
        operation = self._persisted.resolve_document(await self._read(request), principal.org_id)
        named = partial(_base_url, request)
        context = RequestContext(self._parts, principal, trace_id, operation.operation_name, counted, named)
        if wants_events(request.headers.get("accept", "")):
            return await self._stream(request, operation, context)
        with on_behalf_of(principal, address_of(request)):
            allowed = QUERIES_AND_MUTATIONS if request.method == "POST" else QUERIES
            result = await self._schema.run(operation, context, allowed)
        overload = _overload(result)
        if overload is not None:
            raise overload
        return self._respond(result, media, trace_id)

    async def _stream(self, request: Request, operation: GraphQLRequest, context: RequestContext) -> Response:
        allowed = EVERYTHING if request.method == "POST" else QUERIES_AND_EVENTS
        document = await self._schema.admit(operation, context, allowed)
        if isinstance(document, ExecutionResult):
            return self._respond(document, GRAPHQL_RESPONSE, context.trace_id)
        return EventStream(self._schema.results(document, operation, context), context, self._open)

    def _respond(self, result: ExecutionResult, media: str, trace_id: str) -> Response:
        if not result.errors:
            return Response(orjson.dumps({"data": result.data}), media_type=media, headers=NOT_STORED)
        errors = present(result.errors, trace_id, self._parts.telemetry)
        if result.data is None and all(error.path is None for error in result.errors):
            return _errors(errors, 400 if media == GRAPHQL_RESPONSE else 200, media)
        return Response(orjson.dumps({"data": result.data, "errors": errors}), media_type=media, headers=NOT_STORED)

    async def _read(self, request: Request) -> GraphQLRequest:
        options = self._parts.options
        if _carries_file(request):
            most = options.max_upload_bytes + options.max_body_bytes
            return await read_multipart(request, most, options.max_body_bytes)
        return await read_operation(request, options.max_body_bytes)


def _overload(result: ExecutionResult) -> Overloaded | None:
    """The refusal of the request's question, when nothing else was answered."""
    if any(value is not None for value in (result.data or {}).values()):
        return None
    causes = (error.original_error for error in result.errors or ())
    return next((cause for cause in causes if isinstance(cause, Overloaded)), None)


def _base_url(request: Request) -> str:
    return str(request.base_url).rstrip("/")


def _carries_file(request: Request) -> bool:
    return request.method == "POST" and is_multipart(request)


def _wants_page(request: Request) -> bool:
    return (
        request.method == "GET"
        and "query" not in request.query_params
        and "text/html" in request.headers.get("accept", "")
    )


def _errors(
    errors: Sequence[Mapping[str, Any]], status: int, media: str, headers: Mapping[str, str] | None = None
) -> Response:
    return Response(
        orjson.dumps({"errors": errors}),
        status_code=status,
        media_type=media,
        headers={**NOT_STORED, **(headers or {})},
    )

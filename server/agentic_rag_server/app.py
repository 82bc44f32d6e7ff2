"""The ASGI application of the control plane."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route, WebSocketRoute

from agentic_rag.kernel.errors import AgenticRagError
from agentic_rag_server.auth.failed_credentials import FailedCredentials
from agentic_rag_server.body_limits import BodyLimits
from agentic_rag_server.connections import connection_limits
from agentic_rag_server.console.files import ConsoleFiles
from agentic_rag_server.console.issuer import issuer_client
from agentic_rag_server.console.sample import sample_routes
from agentic_rag_server.console.sign_in import SignIn
from agentic_rag_server.graphql.http.persisted import load_persisted_operations
from agentic_rag_server.graphql.http.socket import SocketEndpoint
from agentic_rag_server.graphql.http.streams import OpenStreams
from agentic_rag_server.graphql.http.view import GraphQLEndpoint
from agentic_rag_server.graphql.schema import RagSchema, build_schema
from agentic_rag_server.mcp.endpoint import McpEndpoint
from agentic_rag_server.other_origins import cross_origin
from agentic_rag_server.parts import ServerParts
from agentic_rag_server.request_telemetry import RequestTelemetry
from agentic_rag_server.rest.api import operations
from agentic_rag_server.rest.http.errors import on_no_route, on_product_error, on_wrong_method
from agentic_rag_server.rest.http.models import MCP
from agentic_rag_server.rest.http.operations import route_names, routes
from agentic_rag_server.security_headers import SecurityHeaders


def build_app(parts: ServerParts, schema: RagSchema | None = None) -> Starlette:
    """The application. It closes the parts when the server stops."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        try:
            yield
        finally:
            try:
                await tools.aclose()
                await parts.aclose()
            finally:
                parts.telemetry.shutdown()

    tools = McpEndpoint(parts)
    options = parts.options
    open_ = OpenStreams(connection_limits().connections, options.processes)
    schema = schema or build_schema(introspection=options.introspection)
    persisted = load_persisted_operations(options.persisted_operations, only=options.persisted_only)
    served = operations(parts)
    sign_in = SignIn(
        options.development_secret, options.claims, options.token_issuer, options.token_audience, parts.spend_code
    )
    console = [*sign_in.routes(), *sample_routes(), *ConsoleFiles(issuer_client(options)).routes()]
    app = Starlette(
        routes=[
            Route("/graphql", GraphQLEndpoint(parts, schema, persisted, open_)),
            WebSocketRoute("/graphql", SocketEndpoint(parts, schema, persisted, open_, options.browser_origins)),
            Route(MCP, tools, methods=["POST"]),
            *routes(served),
            *console,
        ],
        middleware=[
            *cross_origin(options.browser_origins),
            Middleware(FailedCredentials, telemetry=parts.telemetry, clock=parts.clock, processes=options.processes),
            Middleware(BodyLimits),
            Middleware(SecurityHeaders, behind_tls=options.behind_tls),
            Middleware(RequestTelemetry, telemetry=parts.telemetry, route_of=route_names(served)),
        ],
        exception_handlers={
            AgenticRagError: on_product_error(parts.telemetry),
            404: on_no_route,
            405: on_wrong_method,
        },
        lifespan=lifespan,
    )
    # A redirect to the path without its slash would be built from the client's Host header.
    app.router.redirect_slashes = False
    app.state.open_streams = open_
    return app

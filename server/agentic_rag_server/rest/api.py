"""Every operation of the REST API, in the order of the OpenAPI document."""

from __future__ import annotations

from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response

from agentic_rag.workspaces.rate_limits import Demand, Traffic
from agentic_rag_server.auth.bearer import principal_of
from agentic_rag_server.parts import ServerParts
from agentic_rag_server.rest.documents.agent_documents import AgentDocumentsEndpoint
from agentic_rag_server.rest.documents.documents import DocumentEndpoint
from agentic_rag_server.rest.documents.guidelines import GuidelinesEndpoint
from agentic_rag_server.rest.documents.source import SourceEndpoint
from agentic_rag_server.rest.documents.uploads import UploadsEndpoint
from agentic_rag_server.rest.health import HealthEndpoints
from agentic_rag_server.rest.http.openapi import OpenAPIEndpoint
from agentic_rag_server.rest.http.operations import OperationSpec

_ENDPOINTS = (
    UploadsEndpoint,
    DocumentEndpoint,
    SourceEndpoint,
    GuidelinesEndpoint,
    AgentDocumentsEndpoint,
    HealthEndpoints,
)


def operations(parts: ServerParts) -> list[OperationSpec]:
    """All operations, those of /openapi.json included. Every operation that takes a token counts as one request."""
    declared = [operation for endpoint in _ENDPOINTS for operation in endpoint(parts).operations()]
    served = [_with_rate_limit(parts, one) if one.takes_token else one for one in declared]
    return [*served, *OpenAPIEndpoint(parts, served).operations()]


def _with_rate_limit(parts: ServerParts, operation: OperationSpec) -> OperationSpec:
    demand: Demand = {Traffic.READ if operation.method == "GET" else Traffic.WRITE: 1}

    async def serve(request: Request) -> Response:
        principal = await principal_of(request, parts.identity)
        await parts.admission.admit(principal, demand)
        return await operation.serve(request)

    return replace(operation, serve=serve, refusals=tuple(sorted({*operation.refusals, 429})))

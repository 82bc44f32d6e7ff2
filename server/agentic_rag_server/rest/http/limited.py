"""Every operation that takes a token counts against the limits of its organisation before it is served."""

from __future__ import annotations

from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response

from agentic_rag.workspaces.rate_limits import Demand, Traffic
from agentic_rag_server.auth.bearer import principal_of
from agentic_rag_server.parts import ServerParts
from agentic_rag_server.rest.http.operations import OperationSpec

_READ: Demand = {Traffic.READ: 1}
_WRITE: Demand = {Traffic.WRITE: 1}
_TOO_MANY = 429


def with_rate_limit(parts: ServerParts, operation: OperationSpec) -> OperationSpec:
    """The operation as it is served: it may refuse with 429 whatever else it answers."""
    demand = _READ if operation.method == "GET" else _WRITE

    async def serve(request: Request) -> Response:
        principal = await principal_of(request, parts.identity)
        await parts.admission.admit(principal, demand)
        return await operation.serve(request)

    return replace(operation, serve=serve, refusals=tuple(sorted({*operation.refusals, _TOO_MANY})))

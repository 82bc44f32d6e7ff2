"""Every operation of the REST API, in the order in which the OpenAPI document lists them."""

from __future__ import annotations

from agentic_rag_server.parts import ServerParts
from agentic_rag_server.rest.documents.agent_documents import AgentDocumentsEndpoint
from agentic_rag_server.rest.documents.documents import DocumentEndpoint
from agentic_rag_server.rest.documents.guidelines import GuidelinesEndpoint
from agentic_rag_server.rest.documents.source import SourceEndpoint
from agentic_rag_server.rest.documents.uploads import UploadsEndpoint
from agentic_rag_server.rest.health import HealthEndpoints
from agentic_rag_server.rest.http.limited import with_rate_limit
from agentic_rag_server.rest.http.openapi import OpenAPIEndpoint
from agentic_rag_server.rest.http.operations import OperationSpec


def operations(parts: ServerParts) -> list[OperationSpec]:
    """What the server serves beside GraphQL, its own description included."""
    served = [
        *UploadsEndpoint(parts).operations(),
        *DocumentEndpoint(parts).operations(),
        *SourceEndpoint(parts).operations(),
        *GuidelinesEndpoint(parts).operations(),
        *AgentDocumentsEndpoint(parts).operations(),
        *HealthEndpoints(parts).operations(),
    ]
    admitted = [one if not one.takes_token else with_rate_limit(parts, one) for one in served]
    return [*admitted, *OpenAPIEndpoint(admitted).operations()]

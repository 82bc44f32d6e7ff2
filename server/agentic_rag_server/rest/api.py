"""Every operation of the REST API, in the order of the OpenAPI document."""

from __future__ import annotations

from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response

from agentic_rag.kernel.errors import NotFound
from agentic_rag.tenancy.record_audit import on_behalf_of
from agentic_rag.workspaces.rate_limits import Demand, Traffic
from agentic_rag_server.auth.bearer import address_of, principal_of
from agentic_rag_server.auth.rules import Rule
from agentic_rag_server.mcp.resource_metadata import ResourceMetadataEndpoint
from agentic_rag_server.parts import ServerParts
from agentic_rag_server.rest.answering.cited_originals import CitedOriginalsEndpoint
from agentic_rag_server.rest.answering.cited_pages import CitedPagesEndpoint
from agentic_rag_server.rest.answering.context import ContextEndpoint
from agentic_rag_server.rest.answering.search import SearchEndpoint
from agentic_rag_server.rest.answering.templates import TemplatesEndpoint
from agentic_rag_server.rest.documents.agent_documents import AgentDocumentsEndpoint
from agentic_rag_server.rest.documents.changes import ChangesEndpoint
from agentic_rag_server.rest.documents.chunks import ChunkEndpoint
from agentic_rag_server.rest.documents.documents import DocumentEndpoint
from agentic_rag_server.rest.documents.embeddings import EmbeddingsEndpoint
from agentic_rag_server.rest.documents.guidelines import GuidelinesEndpoint
from agentic_rag_server.rest.documents.source import SourceEndpoint
from agentic_rag_server.rest.documents.text import TextEndpoint
from agentic_rag_server.rest.documents.uploads import UploadsEndpoint
from agentic_rag_server.rest.health import HealthEndpoints
from agentic_rag_server.rest.http.openapi import OpenAPIEndpoint
from agentic_rag_server.rest.http.operations import OperationSpec, admit
from agentic_rag_server.rest.openai.chat import ChatEndpoint
from agentic_rag_server.rest.openai.files import FilesEndpoint
from agentic_rag_server.rest.openai.responses import ResponsesEndpoint
from agentic_rag_server.rest.openai.store_batches import FileBatchesEndpoint
from agentic_rag_server.rest.openai.store_files import StoreFilesEndpoint
from agentic_rag_server.rest.openai.vector_stores import VectorStoresEndpoint

_ENDPOINTS = (
    UploadsEndpoint,
    EmbeddingsEndpoint,
    DocumentEndpoint,
    ChangesEndpoint,
    SourceEndpoint,
    TextEndpoint,
    ChunkEndpoint,
    GuidelinesEndpoint,
    AgentDocumentsEndpoint,
    CitedPagesEndpoint,
    CitedOriginalsEndpoint,
    SearchEndpoint,
    ContextEndpoint,
    TemplatesEndpoint,
    ChatEndpoint,
    ResponsesEndpoint,
    FilesEndpoint,
    VectorStoresEndpoint,
    StoreFilesEndpoint,
    FileBatchesEndpoint,
    ResourceMetadataEndpoint,
    HealthEndpoints,
)


def operations(parts: ServerParts) -> list[OperationSpec]:
    """All operations, those of /openapi.json included. Every operation with a rule counts as one request."""
    declared = [operation for endpoint in _ENDPOINTS for operation in endpoint(parts).operations()]
    served = [one if one.rule is None else _guarded(parts, one, one.rule) for one in declared]
    return [*served, *OpenAPIEndpoint(parts, served).operations()]


def _guarded(parts: ServerParts, operation: OperationSpec, rule: Rule) -> OperationSpec:
    demand: Demand = {operation.traffic or (Traffic.READ if operation.method == "GET" else Traffic.WRITE): 1}

    async def serve(request: Request) -> Response:
        principal = await principal_of(request, parts.identity, operation.seconds)
        await parts.admission.admit(principal, demand)
        parts.options.require_enabled()
        organisation = request.path_params.get("orgId")
        if organisation is not None and not await parts.attachments.is_ours(principal.org_id, organisation):
            # Before the rights, so that the path of another organisation tells nothing.
            raise NotFound("There is no such organisation.")
        admit(request, principal, rule)
        with on_behalf_of(principal, address_of(request)):
            return await operation.serve(request)

    return replace(operation, serve=serve, refusals=tuple(sorted({*operation.refusals, 429})))

"""Deleting a document and ingesting it again over plain HTTP."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from agentic_rag.domain.certificate import certificate_json
from agentic_rag.domain.errors import InvalidInput, NotFound
from agentic_rag.domain.tenancy import WorkspaceRef
from agentic_rag_server.auth.bearer import principal_of
from agentic_rag_server.auth.roles import Action, authorise
from agentic_rag_server.graphql.context import require_enabled
from agentic_rag_server.graphql.node_ids import NodeId, NodeKind, decode, encode
from agentic_rag_server.wiring import ServerContainer

_TRUTH = {"true": True, "false": False}


class DocumentEndpoint:
    """`/v1/workspaces/{workspace}/documents/{document}` and what can be done to it."""

    def __init__(self, container: ServerContainer) -> None:
        self._container = container

    async def delete(self, request: Request) -> Response:
        """Erase the document: 200 with the certificate. Errors: `Unauthenticated`, `FeatureDisabled`, `Forbidden`,
        `InvalidInput`, `NotFound`, `DependencyUnavailable`.
        """
        ref, node, actor = await self._opened(request, Action.DELETE_DOCUMENT)
        deletion = await self._container.delete.run(ref, node.key, actor)
        if deletion.erasure is None:
            raise NotFound("There is no such document.", code="DOCUMENT_NOT_FOUND")
        certificate = deletion.certificate
        body = {
            "deletedId": request.path_params["document"],
            "corpusVersion": deletion.erasure.version,
            "unfinished": list(deletion.unfinished),
            "certificate": None if certificate is None else certificate_json(certificate),
        }
        return JSONResponse(body)

    async def reingest(self, request: Request) -> Response:
        """Queue the document's ingestion: 202 with the job. `?force=true` keeps nothing that is published. Errors: as
        `delete`, and `Permanent` code ORIGINAL_MISSING.
        """
        ref, node, _ = await self._opened(request, Action.REINGEST_DOCUMENT)
        force = _TRUTH.get(request.query_params.get("force", "false"))
        if force is None:
            raise InvalidInput("`force` is true or false.", path=("force",))
        queued = await self._container.reingest.run(ref, node.key, force=force)
        body = {
            "documentId": request.path_params["document"],
            "status": queued.document.status.value,
            "jobId": encode(NodeKind.JOB, ref.workspace_id, queued.job.job_id),
            "new": queued.is_new,
        }
        return JSONResponse(body, 202)

    async def _opened(self, request: Request, action: Action) -> tuple[WorkspaceRef, NodeId, str]:
        """Workspace, document, and who asks."""
        principal = await principal_of(request, self._container.identity)
        require_enabled(self._container)
        authorise(principal, action)
        workspace = decode(request.path_params["workspace"], NodeKind.WORKSPACE, path=("workspace",))
        node = decode(request.path_params["document"], NodeKind.DOCUMENT, path=("document",))
        if node.workspace_id != workspace.workspace_id:
            raise NotFound("There is no such document.", code="DOCUMENT_NOT_FOUND")
        return WorkspaceRef(principal.org_id, workspace.workspace_id), node, principal.subject

"""`GET /v1/runs/{id}/citations/{marker}/source`: the file that a citation was read from."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.public_ids import NodeKind, decode
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Rule, Sight
from agentic_rag_server.rest.documents.source import ORIGINAL_ANSWERS, ORIGINAL_HEADERS, send_original
from agentic_rag_server.rest.http.operations import Endpoint, Parameter, admitted, operation

CITATION_PATH = (
    Parameter("id", "path", "The run.", {"type": "string"}),
    Parameter("marker", "path", "The citation's number in the answer.", {"type": "integer", "minimum": 1}),
)


def marker_of(request: Request) -> int:
    """The number of a citation in a path. Errors: `InvalidInput`."""
    marker = request.path_params["marker"]
    if not (marker.isascii() and marker.isdecimal() and len(marker) <= 4):
        raise InvalidInput("A citation is named by its number in the answer.", path=("marker",))
    return int(marker)


class CitedOriginalsEndpoint(Endpoint):
    """Streams originals to callers who may read the run and the document."""

    tag = "answers"

    @operation(
        "GET",
        "/v1/runs/{id}/citations/{marker}/source",
        "getCitedOriginal",
        summary="The file that a citation was read from, byte by byte",
        description="Also where its document has another one by now, as a page of the web that changed: the `etag` is "
        "the SHA-256 of the response as it was fetched.",
        rule=Rule((Action.READ,), Sight.ASKER),
        parameters=(*CITATION_PATH, *ORIGINAL_HEADERS),
        answers=ORIGINAL_ANSWERS,
        refusals=(400, 401, 403, 404, 416, 500, 503),
    )
    async def get(self, request: Request) -> Response:
        """Errors: those of `FindCitedOriginal`, `InvalidInput`, `DependencyUnavailable`."""
        node = decode(request.path_params["id"], NodeKind.RUN)
        caller = admitted(request).principal
        ref = WorkspaceRef(caller.org_id, node.workspace_id)
        document, original = await self._parts.find_cited_original.run(caller, ref, node.key, marker_of(request))
        return await send_original(self._parts, request, caller, document, original)

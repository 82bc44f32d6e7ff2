"""`/v1/workspaces/{workspace}/embeddings/estimate`: what another embedding model would cost."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from agentic_rag.kernel.errors import no_such_workspace
from agentic_rag.kernel.public_ids import NodeKind, decode
from agentic_rag.kernel.text import require_no_nul
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Rule, Sight
from agentic_rag_server.rest.documents.uploads import TAG, WORKSPACE
from agentic_rag_server.rest.http.models import NOT_STORED, Model, answer
from agentic_rag_server.rest.http.operations import Endpoint, Parameter, ResponseSpec, admitted, operation


class SwitchEstimated(Model, frozen=True):
    """What embedding the passages of a workspace with another model would cost. Tokens are estimated."""

    space: Annotated[str, Meta(description="Model and dimensions of the vectors.")]
    chunks: Annotated[int, Meta(description="Passages that would be embedded.")]
    tokens: int
    reused_chunks: Annotated[int, Meta(description="Passages whose vectors stay as they are.")]
    cost_usd: Annotated[float | None, Meta(description="Null without a known price; 0 on the server itself.")]


class EmbeddingsEndpoint(Endpoint):
    """The twin of GraphQL's `estimateEmbeddingSwitch`."""

    tag = TAG

    @operation(
        "GET",
        "/v1/workspaces/{workspace}/embeddings/estimate",
        "estimateEmbeddingSwitch",
        summary="What a switch to another embedding model would cost",
        description="Every passage without a vector in it, those of readable older versions included. Takes the role "
        "admin.",
        rule=Rule((Action.READ, Action.SWITCH_SPACE), Sight.ORGANISATION),
        parameters=(
            WORKSPACE,
            Parameter(
                "to",
                "query",
                "`deterministic`, `onnx[:NAME]`, or `openai:MODEL[:DIMENSIONS]`.",
                {"type": "string", "minLength": 1},
            ),
        ),
        answers=(ResponseSpec(200, "The estimate.", SwitchEstimated),),
        refusals=(400, 401, 403, 404, 429, 500, 503),
    )
    async def estimate(self, request: Request) -> Response:
        """Errors: those of `SwitchEmbedding.estimate`, and `NotFound` code WORKSPACE_NOT_FOUND before them."""
        node = decode(request.path_params["workspace"], NodeKind.WORKSPACE)
        ref = WorkspaceRef(admitted(request).principal.org_id, node.workspace_id)
        if await self._parts.database.corpus_version(ref) is None:
            raise no_such_workspace()
        wished = require_no_nul(request.query_params.get("to", ""), "to")
        found = await self._parts.switch_spaces.estimate(ref, wished)
        return answer(
            SwitchEstimated(found.space, found.chunks, found.tokens, found.reused_chunks, found.cost_usd),
            headers=NOT_STORED,
        )

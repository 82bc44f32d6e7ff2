"""`GET /v1/chunks/{id}`: one chunk by its id."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from agentic_rag.documents.document_access import DocumentRight
from agentic_rag.kernel.errors import NotFound
from agentic_rag.kernel.public_ids import NodeKind, decode, encode
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Rule
from agentic_rag_server.rest.documents.uploads import NODE_ID, TAG
from agentic_rag_server.rest.http.models import NOT_STORED, Model, answer
from agentic_rag_server.rest.http.operations import Endpoint, Parameter, ResponseSpec, admitted, operation


class StoredChunk(Model, frozen=True):
    """A chunk as readers of its newest version see it, or of its last one saw it."""

    id: str
    source_id: Annotated[str, Meta(description="The document's id.")]
    title: str
    corpus_version: Annotated[int, Meta(description="The newest one.")]
    retired_at: Annotated[
        int | None, Meta(description="The first corpus version without the chunk; null for one that readers see.")
    ]
    text: Annotated[str | None, Meta(description="Null for a retired chunk whose version is past its retention.")]
    start: Annotated[int | None, Meta(description="Code points of the document's text.")]
    end: int | None
    index: int | None
    source_path: str | None
    url: str | None
    media_type: str | None
    page: int | None
    line_start: int | None
    line_end: int | None
    heading_path: list[str]


class ChunkEndpoint(Endpoint):
    """The twin of GraphQL's `chunk`."""

    tag = TAG

    @operation(
        "GET",
        "/v1/chunks/{id}",
        "getChunk",
        summary="A chunk by its id, also one that was retired",
        rule=Rule((Action.READ,), DocumentRight.READ),
        parameters=(Parameter("id", "path", "Id of the chunk.", NODE_ID),),
        answers=(ResponseSpec(200, "The chunk.", StoredChunk),),
        refusals=(400, 401, 403, 404, 429, 500, 503),
    )
    async def get(self, request: Request) -> Response:
        """404 for a chunk that is not there, and for one that the caller may not read. Errors: those of `ReadChunk`."""
        principal = admitted(request).principal
        node = decode(request.path_params["id"], NodeKind.CHUNK)
        ref = WorkspaceRef(principal.org_id, node.workspace_id)
        found = await self._parts.read_chunk.run(principal, ref, node.key)
        if found is None:
            raise NotFound("There is no such chunk.")
        chunk = found.chunk
        body = StoredChunk(
            id=request.path_params["id"],
            source_id=encode(NodeKind.DOCUMENT, ref.workspace_id, found.version.document_id),
            title=found.version.document_title,
            corpus_version=found.corpus_version,
            retired_at=found.retired_at,
            text=chunk and chunk.text,
            start=chunk and chunk.start,
            end=chunk and chunk.end,
            index=chunk and chunk.index,
            source_path=chunk and chunk.source_path,
            url=chunk and chunk.url,
            media_type=chunk and chunk.media_type,
            page=chunk and chunk.page,
            line_start=chunk and chunk.line_start,
            line_end=chunk and chunk.line_end,
            heading_path=[] if chunk is None else list(chunk.heading_path),
        )
        return answer(body, headers=NOT_STORED)

"""One chunk by its id."""

import strawberry

from agentic_rag.documents.document_access import DocumentRight
from agentic_rag.documents.read_chunk import FoundChunk
from agentic_rag.kernel.public_ids import NodeKind, decode, encode
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.graphql.answering.citations import TextSpan
from agentic_rag_server.graphql.http.context import Info, page_request
from agentic_rag_server.graphql.http.fields import Connection, connection, field


@strawberry.type(description="A chunk as readers of its newest version see it, or of its last one saw it.")
class Chunk:
    id: strawberry.ID
    source_id: strawberry.ID = strawberry.field(description="The document's id.")
    title: str = strawberry.field(description="Of the document, today.")
    corpus_version: int = strawberry.field(description="The newest one.")
    retired_at: int | None = strawberry.field(
        description="The first corpus version without the chunk; null for one that readers see."
    )
    text: str | None = strawberry.field(description="Null for a retired chunk whose version is past its retention.")
    span: TextSpan | None = strawberry.field(description="Where it stands in the document's text.")
    index: int | None = strawberry.field(description="Its place among the chunks of the document, from 0.")
    source_path: str | None
    url: str | None
    media_type: str | None
    page: int | None = strawberry.field(description="From 1; null for formats without pages.")
    line_start: int | None
    line_end: int | None
    heading_path: list[str]


@strawberry.type
class ChunkQuery:
    @field(
        Action.READ,
        right=DocumentRight.READ,
        description="A chunk by its id, also one that was retired. Null for one that is not there, and for one that "
        "the caller may not read.",
    )
    async def chunk(self, info: Info, id: strawberry.ID) -> Chunk | None:
        context = info.context
        node = decode(id, NodeKind.CHUNK)
        ref = context.ref(node)
        found = await context.parts.read_chunk.run(context.principal, ref, node.key)
        return None if found is None else show_chunk(ref, found)

    @field(
        Action.READ,
        right=DocumentRight.READ,
        document="document_id",
        description="The chunks of a document that readers of the newest version see, in its order.",
    )
    async def document_chunks(
        self, info: Info, document_id: strawberry.ID, first: int = 50, after: str | None = None
    ) -> Connection[Chunk]:
        context, node = info.context, decode(document_id, NodeKind.DOCUMENT, path=("documentId",))
        ref, request = context.ref(node), page_request(first, after)
        page = await context.parts.read_chunk.of_document(context.principal, ref, node.key, request)
        return connection(page, lambda found: show_chunk(ref, found))


def show_chunk(workspace: WorkspaceRef, found: FoundChunk) -> Chunk:
    """A chunk in the schema."""
    place, chunk = found.version, found.chunk
    return Chunk(
        id=strawberry.ID(encode(NodeKind.CHUNK, workspace.workspace_id, place.chunk_id)),
        source_id=strawberry.ID(encode(NodeKind.DOCUMENT, workspace.workspace_id, place.document_id)),
        title=place.document_title,
        corpus_version=found.corpus_version,
        retired_at=found.retired_at,
        text=chunk and chunk.text,
        span=None if chunk is None else TextSpan(start=chunk.start, end=chunk.end),
        index=None if chunk is None else chunk.index,
        source_path=chunk and chunk.source_path,
        url=chunk and chunk.url,
        media_type=chunk and chunk.media_type,
        page=chunk and chunk.page,
        line_start=chunk and chunk.line_start,
        line_end=chunk and chunk.line_end,
        heading_path=[] if chunk is None else list(chunk.heading_path),
    )

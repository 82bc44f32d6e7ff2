"""`searchPassages`: the passages for a text, with their text."""

from datetime import datetime
from uuid import UUID

import strawberry

from agentic_rag.answering.context import search_passages
from agentic_rag.answering.options import MAX_TOP_K
from agentic_rag.answering.question import MAX_QUESTION_CHARACTERS, AnswerOptions, Question
from agentic_rag.documents.document_access import DocumentRight
from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag.kernel.text import require_no_nul
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.answering.citations import ArmScore, Hop, Suspicion, TextSpan, show_arms, show_path
from agentic_rag_server.graphql.answering.filters import DocumentFilterInput, read_filter
from agentic_rag_server.graphql.answering.runs import Dependency
from agentic_rag_server.graphql.documents.documents import Document, show_document
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.fields import Payload, inner, mutation, to_schema
from agentic_rag_server.rest.documents.text import text_address


@strawberry.input(description="A search of one workspace; what is left out has the workspace's default.")
class SearchPassagesInput:
    query: str = strawberry.field(description=f"1 to {MAX_QUESTION_CHARACTERS} characters.")
    workspace_id: strawberry.ID | None = strawberry.field(
        default=None, description="The workspace by its id. Give it or `workspace`."
    )
    workspace: str | None = strawberry.field(default=None, description="The workspace by its name.")
    top_k: int | None = strawberry.field(default=None, description=f"Passages, 1 to {MAX_TOP_K}.")
    min_similarity: float | None = strawberry.field(
        default=None, description="Least similarity of a passage to the query, 0 to 1; 0: any."
    )
    min_score: float | None = strawberry.field(default=None, description="Least fused score of a passage, 0 to 1.")
    per_document: int | None = strawberry.field(
        default=None, description=f"At most so many passages of one document, up to {MAX_TOP_K}; 0: no cap."
    )
    filter: DocumentFilterInput | None = None
    as_of: int | None = strawberry.field(default=None, description="A corpus version to read at; null: the newest.")
    as_of_time: datetime | None = strawberry.field(
        default=None, description="Read what was the newest version at this instant; give it or `asOf`."
    )


@strawberry.type(description="A passage as it is stored, and why it was found.")
class Passage:
    source_id: strawberry.ID = strawberry.field(description="The document's id.")
    chunk_id: strawberry.ID
    title: str
    source_path: str
    url: str | None
    media_type: str
    evidence_url: str = strawberry.field(
        description="Opens the passage: `url`, else the text of the document at its span."
    )
    language: str | None = strawberry.field(description="The programming language; null for what is no source code.")
    symbol: str | None = strawberry.field(description="What source code of the passage defines first.")
    text: str
    span: TextSpan = strawberry.field(description="Where the passage stands in the document's text.")
    page: int | None = strawberry.field(description="From 1; null for formats without pages.")
    line_start: int
    line_end: int
    heading_path: list[str]
    similarity: float | None = strawberry.field(
        description="To the query, on the scale of `minSimilarity`: of the passages that answer, 0.7 keeps 95 in 100, "
        "0.75 keeps 90. Null without an embedding of the query."
    )
    cosine: float | None = strawberry.field(description="What the similarity is made of.")
    score: float = strawberry.field(description="Of all arms together, 0 to 1; passages are ordered by it.")
    scores: list[ArmScore]
    path: list[Hop] = strawberry.field(description="The trail that raised it; empty without one.")
    recognised: bool = strawberry.field(
        description="Whether words of it were recognised in a picture of their page (OCR): they may be misread."
    )
    flags: list[Suspicion] = strawberry.field(  # type: ignore[valid-type]
        description="Signs that the passage was written to steer a model; empty for an ordinary one."
    )
    workspace_id: strawberry.Private[UUID]
    document_id: strawberry.Private[UUID]

    @inner(Action.READ, right=DocumentRight.KNOW, description="The document; null when it was deleted since.")
    async def document(self, info: Info) -> Document | None:
        found = await info.context.documents.load((self.workspace_id, self.document_id))
        return show_document(found) if found else None


@strawberry.type(description="The passages for a text, best first; or, in `userErrors`, what to change in the request.")
class SearchPassagesPayload(Payload):
    passages: list[Passage] = strawberry.field(default_factory=list)
    corpus_version: int | None = strawberry.field(default=None, description="The version that was read.")
    embedding_space: str | None = strawberry.field(
        default=None, description="Provider, model, dimensions and precision; null for an empty workspace."
    )
    degraded: list[Dependency] = strawberry.field(default_factory=list)  # type: ignore[valid-type]


async def search(info: Info, input: SearchPassagesInput) -> SearchPassagesPayload:
    """Searches one workspace."""
    context = info.context
    workspace = await context.named_workspace(input.workspace_id, input.workspace)
    options = AnswerOptions(
        top_k=input.top_k,
        min_score=input.min_score,
        min_similarity=input.min_similarity,
        per_document=input.per_document,
        filter=read_filter(input.filter, workspace, ("filter",)),
    )
    asked = Question(
        workspace, require_no_nul(input.query, "query"), as_of=input.as_of, as_of_time=input.as_of_time, options=options
    )
    found = await context.parts.search.run(context.principal, asked)
    return SearchPassagesPayload(
        passages=[show_passage(one, workspace.workspace_id, context.base_url) for one in found.passages],
        corpus_version=found.corpus_version,
        embedding_space=None if found.space is None else found.space.name,
        degraded=list(found.degraded),
    )


def show_passage(found: search_passages.FoundPassage, workspace_id: UUID, base_url: str) -> Passage:
    """A passage, with its ids as clients know them, and its address at the server."""
    chunk = found.chunk
    place = workspace_id, chunk.document_id, chunk.start, chunk.end
    return to_schema(
        Passage,
        chunk,
        found,
        found.candidate,
        source_id=encode(NodeKind.DOCUMENT, workspace_id, chunk.document_id),
        chunk_id=encode(NodeKind.CHUNK, workspace_id, chunk.chunk_id),
        title=chunk.document_title,
        evidence_url=chunk.url or text_address(base_url, *place),
        language=found.language,
        symbol=found.symbol,
        span=TextSpan(start=chunk.start, end=chunk.end),
        heading_path=list(chunk.heading_path),
        recognised=found.is_recognised,
        scores=show_arms(found.candidate.arms),
        path=show_path(found.candidate.path, workspace_id),
        workspace_id=workspace_id,
    )


@strawberry.type
class PassageQuery:
    search_passages = mutation(
        Action.ASK,
        SearchPassagesPayload,
        right=Sight.ORGANISATION,
        description="The passages of a workspace for a text, as `ragAnswer` finds them for an undivided question.",
    )(search)

"""`POST /v1/search`: the passages of a workspace for a text."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from agentic_rag.answering.context.search_passages import FoundPassage
from agentic_rag.answering.options import MAX_TOP_K
from agentic_rag.answering.question import MAX_QUESTION_CHARACTERS, AnswerOptions, Question
from agentic_rag.documents.where import merge_filters
from agentic_rag.kernel.dependency import Dependency
from agentic_rag.kernel.public_ids import NodeKind, decode, encode
from agentic_rag.kernel.text import require_no_nul
from agentic_rag.language.prompt_injection import Suspicion
from agentic_rag.retrieval.candidates import Retriever
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.rate_limits import Traffic
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Rule, Sight
from agentic_rag_server.document_filters import FilterWish, narrow
from agentic_rag_server.document_filters import read_filter as read_wish
from agentic_rag_server.rest.documents.text import text_address
from agentic_rag_server.rest.http.bodies import read_json
from agentic_rag_server.rest.http.filters import FilterBody, Where, read_filter
from agentic_rag_server.rest.http.models import NOT_STORED, Model, answer
from agentic_rag_server.rest.http.operations import Endpoint, ResponseSpec, admitted, operation

TAG = "retrieval"
REFUSALS = (400, 401, 402, 403, 404, 413, 415, 429, 500, 503)

Query = Annotated[str, Meta(min_length=1, max_length=MAX_QUESTION_CHARACTERS)]
Count = Annotated[int, Meta(ge=1, le=MAX_TOP_K)]
Share = Annotated[float, Meta(ge=0, le=1)]
Version = Annotated[int, Meta(ge=0)]


class SearchRequest(Model, frozen=True, forbid_unknown_fields=True):
    """A search; what is left out has the workspace's default."""

    query: Query
    workspace_id: str
    top_k: Count | None = None
    min_similarity: Annotated[Share | None, Meta(description="Least similarity to the query; 0: any.")] = None
    source_path_prefix: str | None = None
    media_types: list[str] | None = None
    filter: FilterBody | None = None
    where: Annotated[Where | None, Meta(description="The same as text, beside the filter.")] = None
    as_of: Annotated[Version | None, Meta(description="A corpus version to read at.")] = None
    as_of_time: Annotated[
        datetime | None, Meta(description="Read what was the newest version then; give it or `asOf`.")
    ] = None


class ArmFigure(Model, frozen=True):
    """What one arm of retrieval gave a passage."""

    retriever: Retriever
    rank: int
    raw: float
    normalized: float
    weight: float


class PassageFound(Model, frozen=True):
    """A passage as it is stored, and why it was found."""

    source_id: str
    chunk_id: str
    title: str
    source_path: str
    url: str | None
    evidence_url: Annotated[str, Meta(description="Opens the passage: `url`, else the document's text at its span.")]
    media_type: str
    language: Annotated[str | None, Meta(description="The programming language; null for what is no source code.")]
    symbol: Annotated[str | None, Meta(description="What source code of the passage defines first.")]
    text: str
    start: Annotated[int, Meta(description="Code points of the document's text.")]
    end: int
    page: int | None
    line_start: int
    line_end: int
    heading_path: list[str]
    similarity: Annotated[float | None, Meta(description="To the query, 0 to 1, on the scale of `minSimilarity`.")]
    cosine: Annotated[float | None, Meta(description="What the similarity is made of.")]
    score: Annotated[float, Meta(description="Of all arms together, 0 to 1.")]
    scores: list[ArmFigure]
    recognised: Annotated[bool, Meta(description="Words of it were recognised in a picture (OCR), maybe wrongly.")]
    flags: Annotated[list[Suspicion], Meta(description="Signs that the passage was written to steer a model.")]


class SearchResponse(Model, frozen=True):
    """The passages, best first."""

    passages: list[PassageFound]
    corpus_version: int
    embedding_space: str | None
    degraded: list[Dependency]


class SearchEndpoint(Endpoint):
    """The twin of GraphQL's `searchPassages`."""

    tag = TAG

    @operation(
        "POST",
        "/v1/search",
        "searchPassages",
        summary="The passages of a workspace for a text",
        description="Those that the caller may read. Takes any role.",
        rule=Rule((Action.ASK,), Sight.ORGANISATION),
        takes=SearchRequest,
        traffic=Traffic.ASK,
        answers=(ResponseSpec(200, "The passages.", SearchResponse),),
        refusals=REFUSALS,
    )
    async def post(self, request: Request) -> Response:
        """Search. Errors: those of `SearchPassages` and `read_json`."""
        principal = admitted(request).principal
        given = await read_json(request, SearchRequest, self._parts.options.max_body_bytes)
        node = decode(given.workspace_id, NodeKind.WORKSPACE, path=("workspaceId",))
        workspace = WorkspaceRef(principal.org_id, node.workspace_id)
        named = FilterWish(source_path_prefix=given.source_path_prefix, media_types=given.media_types or ())
        narrowed = merge_filters(read_wish(named, workspace), read_filter(given.filter, workspace))
        narrowed = narrow(narrowed, given.where, workspace)
        options = AnswerOptions(top_k=given.top_k, min_similarity=given.min_similarity, filter=narrowed)
        asked = Question(
            workspace,
            require_no_nul(given.query, "query"),
            as_of=given.as_of,
            as_of_time=given.as_of_time,
            options=options,
        )
        found = await self._parts.search.run(principal, asked)
        base_url = str(request.base_url).rstrip("/")
        body = SearchResponse(
            passages=[_show_passage(one, node.workspace_id, base_url) for one in found.passages],
            corpus_version=found.corpus_version,
            embedding_space=None if found.space is None else found.space.name,
            degraded=list(found.degraded),
        )
        return answer(body, headers=NOT_STORED)


def _show_passage(found: FoundPassage, workspace_id: UUID, base_url: str) -> PassageFound:
    chunk, candidate = found.chunk, found.candidate
    return PassageFound(
        source_id=encode(NodeKind.DOCUMENT, workspace_id, chunk.document_id),
        chunk_id=encode(NodeKind.CHUNK, workspace_id, chunk.chunk_id),
        title=chunk.document_title,
        source_path=chunk.source_path,
        url=chunk.url,
        evidence_url=chunk.url or text_address(base_url, workspace_id, chunk.document_id, chunk.start, chunk.end),
        media_type=chunk.media_type,
        language=found.language,
        symbol=found.symbol,
        text=chunk.text,
        start=chunk.start,
        end=chunk.end,
        page=chunk.page,
        line_start=chunk.line_start,
        line_end=chunk.line_end,
        heading_path=list(chunk.heading_path),
        similarity=found.similarity,
        cosine=found.cosine,
        score=candidate.score,
        scores=[
            ArmFigure(retriever=one.retriever, rank=one.rank, raw=one.raw, normalized=one.normalised, weight=one.weight)
            for one in candidate.arms
        ],
        recognised=found.is_recognised,
        flags=list(found.flags),
    )

"""Citations in the schema."""

from datetime import date, datetime
from uuid import UUID

import strawberry

from agentic_rag.answering import answer as answers
from agentic_rag.documents.document_access import DocumentRight
from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag.language import prompt_injection as suspicion
from agentic_rag.retrieval import candidates as retrieval
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.graphql.documents.documents import Document, show_document
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.fields import inner, to_schema

Retriever = strawberry.enum(retrieval.Retriever, description="An arm of hybrid retrieval.")
HopKind = strawberry.enum(
    retrieval.HopKind,
    description="NAMES: the passage before names the title of the next; NAMED_BY: the other way round; SHARES: both "
    "mention an entity; SAME_TITLE; COVERS: no entity links them, the next holds what is still open of the question.",
)

Suspicion = strawberry.enum(
    suspicion.Suspicion,
    description="A sign that a text was written to steer a model. Nothing such a text says can choose a tool, an "
    "address or a citation; the sign is there for the reader. Signs know the wordings that they were written for: "
    "they flag 0 of 60 other wordings, 28 of 32 harmless texts about such orders, and fewer than 1 in 100 ordinary "
    "passages. No sign means nothing.",
)


@strawberry.type(description="Unicode code points [start, end); note that JavaScript strings count UTF-16 units.")
class TextSpan:
    start: int
    end: int


@strawberry.type(description="What one arm of retrieval gave a passage.")
class ArmScore:
    retriever: Retriever  # type: ignore[valid-type]
    rank: int = strawberry.field(description="From 1.")
    raw: float = strawberry.field(description="Cosine, BM25 or graph mass.")
    normalized: float = strawberry.field(description="The same on an absolute scale, 0 to 1.")
    weight: float


@strawberry.type(description="One step of the trail that led to a passage.")
class Hop:
    kind: HopKind  # type: ignore[valid-type]
    via: str = strawberry.field(description="The title or entity that both passages have; empty for COVERS.")
    from_chunk_id: strawberry.ID
    from_source_id: strawberry.ID = strawberry.field(description="The document of the passage before.")
    from_title: str
    to_chunk_id: strawberry.ID
    to_source_id: strawberry.ID
    to_title: str


@strawberry.type(description="A definition in source code, told by keywords and indentation.")
class Symbol:
    name: str = strawberry.field(description="With the names of the definitions around it: `Pump.start`.")
    line_start: int = strawberry.field(description="From 1.")
    line_end: int


@strawberry.type(description="A quoted span of a stored document that supports sentences of the answer.")
class Citation:
    marker: int = strawberry.field(description="The number in brackets in the answer, from 1.")
    source_id: strawberry.ID = strawberry.field(description="The cited document's id.")
    chunk_id: strawberry.ID
    title: str
    source_path: str
    url: str | None
    snippet: str = strawberry.field(description="The quoted span, letter by letter as stored.")
    source_span: TextSpan = strawberry.field(
        description="Where the snippet stands in the document's text, in Unicode code points, end exclusive."
    )
    answer_spans: list[TextSpan] = strawberry.field(
        description="The sentences of the answer it supports, in Unicode code points of `answer`, end exclusive."
    )
    page: int | None = strawberry.field(description="From 1; null for formats without pages.")
    line_start: int
    line_end: int
    heading_path: list[str]
    score: float
    scores: list[ArmScore]
    origin: str = strawberry.field(
        description="`corpus`, `section` for text beside a passage that was found, `figures` for what was looked for "
        "by the measure asked for, or the tool whose result is quoted; of a page that the web gave to the workspace "
        "`WEB_SEARCH` or `CRAWL`."
    )
    verified: bool = strawberry.field(description="True when the snippet was compared with the stored text.")
    path: list[Hop] = strawberry.field(
        description="How the answer came to this passage from another cited one; empty when it was found by itself."
    )
    read_at: datetime | None = strawberry.field(
        description="When the cited text was read from its source: tells which of two sources that disagree is younger."
    )
    fetched_at: datetime | None = strawberry.field(
        description="When the web was asked for the cited page; null for every other document."
    )
    published: date | None = strawberry.field(
        description="When the cited document was published, as it says itself: its age counts from then."
    )
    recognised: bool = strawberry.field(
        description="Whether words of the quote were recognised in a picture of their page (OCR): they may be misread."
    )
    symbol: Symbol | None = strawberry.field(
        description="The innermost definition of source code that holds the quote; null outside of all, and in other "
        "texts."
    )
    flags: list[Suspicion] = strawberry.field(  # type: ignore[valid-type]
        description="Signs that the quoted passage was written to steer a model; empty for an ordinary one."
    )
    workspace_id: strawberry.Private[UUID]
    document_id: strawberry.Private[UUID]

    @inner(
        Action.READ,
        right=DocumentRight.KNOW,
        description="The cited document; null when it was deleted since, and for a page from the web. Takes the right "
        "to read.",
    )
    async def document(self, info: Info) -> Document | None:
        found = await info.context.documents.load((self.workspace_id, self.document_id))
        return show_document(found) if found else None


def show_arms(arms: tuple[retrieval.ArmScore, ...]) -> list[ArmScore]:
    """The scores that the arms gave a passage."""
    return [to_schema(ArmScore, arm, normalized=arm.normalised) for arm in arms]


def show_path(path: tuple[retrieval.Hop, ...], workspace_id: UUID) -> list[Hop]:
    """The hops of a path."""
    return [
        to_schema(
            Hop,
            hop,
            from_chunk_id=encode(NodeKind.CHUNK, workspace_id, hop.from_chunk_id),
            from_source_id=encode(NodeKind.DOCUMENT, workspace_id, hop.from_document_id),
            to_chunk_id=encode(NodeKind.CHUNK, workspace_id, hop.to_chunk_id),
            to_source_id=encode(NodeKind.DOCUMENT, workspace_id, hop.to_document_id),
        )
        for hop in path
    ]


def show_citation(citation: answers.Citation, workspace_id: UUID) -> Citation:
    """A citation of a run in the workspace."""
    return to_schema(
        Citation,
        citation,
        source_id=encode(NodeKind.DOCUMENT, workspace_id, citation.document_id),
        chunk_id=encode(NodeKind.CHUNK, workspace_id, citation.chunk_id),
        scores=show_arms(citation.arms),
        path=show_path(citation.path, workspace_id),
        fetched_at=citation.read_at if citation.is_web else None,
        recognised=citation.is_recognised,
        symbol=None if citation.symbol is None else to_schema(Symbol, citation.symbol),
        workspace_id=workspace_id,
    )

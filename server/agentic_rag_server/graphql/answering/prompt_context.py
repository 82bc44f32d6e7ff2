"""`context`: a section of a prompt, made of passages."""

from datetime import datetime

import strawberry

from agentic_rag.answering.context import prepare_context
from agentic_rag.answering.context.prepare_context import (
    ALIVE_SECONDS,
    MAX_AGENTS,
    ContextPart,
    ContextRequest,
)
from agentic_rag.answering.options import MAX_TOP_K
from agentic_rag.answering.question import AnswerOptions
from agentic_rag.documents.document import DocumentFilter
from agentic_rag.kernel.errors import DependencyUnavailable, InvalidInput
from agentic_rag.kernel.public_ids import NodeKind, encode, encode_workspace
from agentic_rag.kernel.text import require_no_nul
from agentic_rag.workspaces.context_template import CHOICE
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.answering.citations import Suspicion, TextSpan
from agentic_rag_server.graphql.answering.filters import DocumentFilterInput, read_filter
from agentic_rag_server.graphql.http.context import Info, RequestContext
from agentic_rag_server.graphql.http.fields import Payload, mutation, to_schema

ContextStep = strawberry.enum(
    prepare_context.ContextStep,
    description="What a context is made of: PASSAGES; INLINE, the workspace's plain-text guidelines, which viewers do "
    "not see; NOTHING.",
)


@strawberry.input(description="A workspace of an agent or project.")
class ContextWorkspaceInput:
    workspace_id: strawberry.ID | None = None
    workspace: str | None = strawberry.field(default=None, description="Its name, instead of its id.")
    agent: str = strawberry.field(
        default="", description="The name that a heading such as `multi_agent`'s shows; empty: the workspace's."
    )


@strawberry.input(description="What a context is wanted for.")
class ContextInput:
    query: str = strawberry.field(description="The task or question; of a longer one the first 4000 characters count.")
    workspaces: list[ContextWorkspaceInput] = strawberry.field(description=f"1 to {MAX_AGENTS}.")
    template: str = strawberry.field(description=CHOICE)
    max_tokens: int | None = strawberry.field(
        default=None, description="Of the whole context, estimated; null: the template's."
    )
    top_k: int | None = strawberry.field(default=None, description=f"Passages of a workspace, 1 to {MAX_TOP_K}.")
    min_similarity: float | None = strawberry.field(default=None, description="0 to 1.")
    filter: DocumentFilterInput | None = strawberry.field(default=None, description="For a single workspace.")
    as_of: int | None = strawberry.field(default=None, description="For a single workspace.")
    as_of_time: datetime | None = strawberry.field(
        default=None, description="Read what was the newest version of each workspace then; give it or `asOf`."
    )
    timeout_ms: int | None = strawberry.field(default=None, description="Null: 2000.")
    enabled: bool = strawberry.field(default=True, description="False: an empty context, and nothing is searched.")


@strawberry.type(description="A text that the context holds.")
class ContextSource:
    source_id: strawberry.ID
    chunk_id: strawberry.ID
    workspace_id: strawberry.ID
    title: str
    source_path: str
    span: TextSpan = strawberry.field(description="Where the text stands in the document's text.")
    is_cut: bool = strawberry.field(description="Whether the passage goes on behind it.")
    similarity: float | None
    agent: str
    flags: list[Suspicion] = strawberry.field(  # type: ignore[valid-type]
        description="Signs that the passage was written to steer a model."
    )
    recognised: bool = strawberry.field(
        description="Whether words of it were recognised in a picture of their page (OCR): they may be misread."
    )


@strawberry.type(description="A section for a prompt; or, in `userErrors`, what to change in the request.")
class ContextPayload(Payload):
    text: str = ""
    step: ContextStep = prepare_context.ContextStep.NOTHING  # type: ignore[valid-type]
    tokens: int = strawberry.field(default=0, description="Estimated.")
    template: str = ""
    template_version: int = 0
    sources: list[ContextSource] = strawberry.field(default_factory=list)
    fault: str | None = strawberry.field(
        default=None, description="The code of what failed; the context then lacks what that would have given."
    )


async def prepare(info: Info, input: ContextInput) -> ContextPayload:
    """Prepares one context."""
    given = input
    context = info.context
    if given.filter is not None and len(given.workspaces) != 1:
        raise InvalidInput("A filter takes a single workspace.", path=("filter",))
    try:
        async with context.parts.database.while_answering(ALIVE_SECONDS):
            parts = await _parts(context, given)
    except DependencyUnavailable as error:
        return show_context(context.parts.context.fail(given.template, error.code))
    request = ContextRequest(
        text=require_no_nul(given.query, "query"),
        parts=parts,
        template=given.template,
        options=AnswerOptions(
            top_k=given.top_k,
            min_similarity=given.min_similarity,
            timeout_ms=given.timeout_ms,
            filter=read_filter(given.filter, parts[0].workspace, ("filter",)) if parts else DocumentFilter(),
        ),
        tokens=given.max_tokens,
        as_of=given.as_of,
        as_of_time=given.as_of_time,
        is_enabled=given.enabled,
    )
    return show_context(await context.parts.context.run(context.principal, request))


async def _parts(context: RequestContext, given: ContextInput) -> tuple[ContextPart, ...]:
    """The workspaces, by id or by name. Errors: `InvalidInput`, `DependencyUnavailable`."""
    return tuple(
        [
            ContextPart(
                await context.named_workspace(one.workspace_id, one.workspace, ("workspaces", str(at))),
                require_no_nul(one.agent, "workspaces", str(at), "agent"),
            )
            for at, one in enumerate(given.workspaces[: MAX_AGENTS + 1])
        ]
    )


def show_context(prepared: prepare_context.PreparedContext) -> ContextPayload:
    """A context in the schema."""
    return ContextPayload(
        text=prepared.text,
        step=prepared.step,
        tokens=prepared.tokens,
        template=prepared.template,
        template_version=prepared.template_version,
        sources=[_show_source(one) for one in prepared.sources],
        fault=prepared.fault,
    )


def _show_source(source: prepare_context.ContextSource) -> ContextSource:
    workspace_id = source.workspace.workspace_id
    return to_schema(
        ContextSource,
        source,
        source_id=encode(NodeKind.DOCUMENT, workspace_id, source.document_id),
        chunk_id=encode(NodeKind.CHUNK, workspace_id, source.chunk_id),
        workspace_id=encode_workspace(workspace_id),
        span=TextSpan(start=source.start, end=source.end),
        recognised=source.is_recognised,
    )


@strawberry.type
class ContextQuery:
    context = mutation(
        Action.ASK,
        ContextPayload,
        right=Sight.ORGANISATION,
        description="A section of a prompt made of the passages for a text. What fails leaves it empty, with `fault`.",
    )(prepare)

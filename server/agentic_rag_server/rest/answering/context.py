"""`POST /v1/context`: a section of a prompt, made of passages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from agentic_rag.answering.context.prepare_context import (
    CONTEXT_SECONDS,
    MAX_AGENTS,
    ContextPart,
    ContextRequest,
    ContextSource,
    ContextStep,
    PreparedContext,
)
from agentic_rag.answering.options import CONTEXT_TOKENS, TIMEOUT_MS
from agentic_rag.answering.question import AnswerOptions
from agentic_rag.documents.document import DocumentFilter
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.public_ids import NodeKind, decode, encode, encode_workspace
from agentic_rag.kernel.text import require_no_nul
from agentic_rag.language.prompt_injection import Suspicion
from agentic_rag.tenancy.principals import Principal, WorkspaceRef
from agentic_rag.workspaces.context_template import CHOICE
from agentic_rag.workspaces.rate_limits import Traffic
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Rule, Sight
from agentic_rag_server.document_filters import narrow
from agentic_rag_server.rest.answering.search import REFUSALS, TAG, Count, Share, Version
from agentic_rag_server.rest.http.bodies import read_json
from agentic_rag_server.rest.http.filters import FilterBody, Where, read_filter
from agentic_rag_server.rest.http.models import NOT_STORED, Model, answer
from agentic_rag_server.rest.http.operations import Endpoint, ResponseSpec, admitted, operation


class ContextWorkspace(Model, frozen=True, forbid_unknown_fields=True):
    """A workspace of an agent or project."""

    workspace_id: str
    agent: Annotated[str, Meta(description="The name that a heading shows; empty: the workspace's.")] = ""


class ContextQuery(Model, frozen=True, forbid_unknown_fields=True):
    """What a context is wanted for."""

    query: Annotated[str, Meta(min_length=1)]
    workspaces: Annotated[list[ContextWorkspace], Meta(min_length=1, max_length=MAX_AGENTS)]
    template: Annotated[
        str,
        Meta(description=CHOICE),
    ]
    max_tokens: Annotated[int, Meta(ge=1, le=CONTEXT_TOKENS[1])] | None = None
    top_k: Count | None = None
    min_similarity: Share | None = None
    filter: Annotated[FilterBody | None, Meta(description="For a single workspace.")] = None
    where: Annotated[Where | None, Meta(description="The same as text, beside the filter.")] = None
    as_of: Version | None = None
    as_of_time: Annotated[
        datetime | None, Meta(description="Read what was the newest version of each workspace then; give it or `asOf`.")
    ] = None
    timeout_ms: Annotated[int, Meta(ge=TIMEOUT_MS[0], le=TIMEOUT_MS[1])] | None = None
    enabled: bool = True


class ContextText(Model, frozen=True):
    """A text that the context holds."""

    source_id: str
    chunk_id: str
    workspace_id: str
    title: str
    source_path: str
    start: Annotated[int, Meta(description="Code points of the document's text.")]
    end: int
    is_cut: bool
    similarity: float | None
    agent: str
    flags: list[Suspicion]
    recognised: Annotated[bool, Meta(description="Words of it were recognised in a picture (OCR), maybe wrongly.")]


class ContextResponse(Model, frozen=True):
    """A section for a prompt. What fails leaves it empty, with the code of the failure in `fault`."""

    text: str
    step: ContextStep
    tokens: int
    template: str
    template_version: int
    sources: list[ContextText]
    fault: str | None


class ContextEndpoint(Endpoint):
    """The twin of GraphQL's `context`."""

    tag = TAG

    @operation(
        "POST",
        "/v1/context",
        "prepareContext",
        summary="A section of a prompt, made of the passages for a text",
        description="Those that the caller may read. Takes any role.",
        rule=Rule((Action.ASK,), Sight.ORGANISATION),
        takes=ContextQuery,
        traffic=Traffic.ASK,
        seconds=CONTEXT_SECONDS,
        answers=(ResponseSpec(200, "The section.", ContextResponse),),
        refusals=REFUSALS,
    )
    async def post(self, request: Request) -> Response:
        """Prepare a context. Errors: those of `PrepareContext` and `read_json`."""
        principal = admitted(request).principal
        given = await read_json(request, ContextQuery, self._parts.options.max_body_bytes)
        parts = tuple(_part(principal, one, at) for at, one in enumerate(given.workspaces))
        narrowed = DocumentFilter()
        if given.filter is not None or given.where is not None:
            only = single_workspace([one.workspace for one in parts])
            narrowed = narrow(read_filter(given.filter, only), given.where, only)
        options = AnswerOptions(
            top_k=given.top_k, min_similarity=given.min_similarity, timeout_ms=given.timeout_ms, filter=narrowed
        )
        wanted = ContextRequest(
            text=require_no_nul(given.query, "query"),
            parts=parts,
            template=given.template,
            options=options,
            tokens=given.max_tokens,
            as_of=given.as_of,
            as_of_time=given.as_of_time,
            is_enabled=given.enabled,
        )
        return answer(show_context(await self._parts.context.run(principal, wanted)), headers=NOT_STORED)


def single_workspace(chosen: Sequence[WorkspaceRef]) -> WorkspaceRef:
    """The workspace that a filter is for. Errors: `InvalidInput` where there are several."""
    if len(chosen) != 1:
        raise InvalidInput("A filter takes a single workspace.", path=("where",))
    return chosen[0]


def _part(principal: Principal, given: ContextWorkspace, at: int) -> ContextPart:
    node = decode(given.workspace_id, NodeKind.WORKSPACE, path=("workspaces", str(at), "workspaceId"))
    return ContextPart(WorkspaceRef(principal.org_id, node.workspace_id), given.agent)


def show_context(prepared: PreparedContext) -> ContextResponse:
    """A context with the ids that clients know."""
    return ContextResponse(
        text=prepared.text,
        step=prepared.step,
        tokens=prepared.tokens,
        template=prepared.template,
        template_version=prepared.template_version,
        sources=[_show_source(one) for one in prepared.sources],
        fault=prepared.fault,
    )


def _show_source(source: ContextSource) -> ContextText:
    workspace_id = source.workspace.workspace_id
    return ContextText(
        source_id=encode(NodeKind.DOCUMENT, workspace_id, source.document_id),
        chunk_id=encode(NodeKind.CHUNK, workspace_id, source.chunk_id),
        workspace_id=encode_workspace(workspace_id),
        title=source.title,
        source_path=source.source_path,
        start=source.start,
        end=source.end,
        is_cut=source.is_cut,
        similarity=source.similarity,
        agent=source.agent,
        flags=list(source.flags),
        recognised=source.is_recognised,
    )

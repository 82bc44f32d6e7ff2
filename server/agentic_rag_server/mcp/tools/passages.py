"""Tools that retrieve: `search`, `code_search`, `retrieve_context`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Annotated

from msgspec import Meta

from agentic_rag.answering.context.prepare_context import MAX_AGENTS, ContextPart, ContextRequest
from agentic_rag.answering.context.search_passages import FoundPassage
from agentic_rag.answering.options import CONTEXT_TOKENS, MAX_TOP_K
from agentic_rag.answering.question import AnswerOptions, Question
from agentic_rag.documents.document import DocumentFilter
from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag.kernel.text import require_no_nul
from agentic_rag.language.programming import SOURCE_MEDIA_TYPE
from agentic_rag.workspaces.context_template import CHOICE, PROJECT_KNOWLEDGE
from agentic_rag.workspaces.rate_limits import Traffic
from agentic_rag.workspaces.workspace import Workspace
from agentic_rag_server.document_filters import FilterWish, narrow, read_filter
from agentic_rag_server.mcp.tool import Arguments, ToolCaller
from agentic_rag_server.mcp.workspaces import WorkspaceName, one_workspace, searched_workspaces
from agentic_rag_server.parts import ServerParts
from agentic_rag_server.rest.answering.context import ContextResponse, show_context, single_workspace
from agentic_rag_server.rest.answering.search import Count, Query, Share
from agentic_rag_server.rest.documents.text import text_address
from agentic_rag_server.rest.http.filters import Where
from agentic_rag_server.rest.http.models import Model

MAX_RESULTS = 10


class SearchArguments(Arguments, frozen=True):
    """Chat connectors send the query alone."""

    query: Annotated[Query, Meta(description="What is looked for, in words or as a question.")]
    where: Where | None = None


class SearchResult(Model, frozen=True, omit_defaults=True):
    """A document with a passage for the query. Chat connectors know id, title and url."""

    id: Annotated[str, Meta(description="For `fetch`.")]
    title: str
    url: Annotated[str, Meta(description="Opens the passage.")]
    recognised: Annotated[
        bool, Meta(description="Words of the passage were recognised in a picture (OCR), maybe wrongly.")
    ] = False


class SearchResults(Model, frozen=True):
    """Documents, best first."""

    results: list[SearchResult]


async def search(parts: ServerParts, caller: ToolCaller, given: SearchArguments) -> SearchResults:
    """The documents whose passages fit best, of every workspace or of the one in the endpoint's address.

    Errors: those of `SearchPassages` and of `searched_workspaces`.
    """
    chosen = await searched_workspaces(parts, caller)
    if len(chosen) > 1:
        await parts.admission.admit(caller.principal, {Traffic.ASK: len(chosen) - 1})
    query = require_no_nul(given.query, "query")
    asked = [
        Question(one.ref, query, options=AnswerOptions(filter=narrow(DocumentFilter(), given.where, one.ref)))
        for one in chosen
    ]
    found = await asyncio.gather(*[parts.search.run(caller.principal, one) for one in asked])
    passages = [(workspace, one) for workspace, result in zip(chosen, found, strict=True) for one in result.passages]
    passages.sort(key=lambda it: -it[1].candidate.score)
    best: dict[str, SearchResult] = {}
    for workspace, one in passages:
        document = encode(NodeKind.DOCUMENT, workspace.ref.workspace_id, one.chunk.document_id)
        url = _url(caller, workspace, one)
        best.setdefault(document, SearchResult(document, one.chunk.document_title, url, one.is_recognised))
    return SearchResults(list(best.values())[:MAX_RESULTS])


class CodeSearchArguments(Arguments, frozen=True):
    """A search of source code only."""

    query: Query
    workspace: WorkspaceName | None = None
    language: Annotated[str, Meta(description="Only files of this language, such as `python`.")] | None = None
    path_prefix: Annotated[str, Meta(description="Only files whose path begins so.")] | None = None
    where: Where | None = None
    top_k: Annotated[Count | None, Meta(description="At most so many passages; default 10.")] = None


class CodeMatch(Model, frozen=True):
    """A passage of source code."""

    id: str
    file_path: str
    language: str | None
    symbol: Annotated[str | None, Meta(description="What the passage defines first.")]
    start_line: int
    end_line: int
    text: str
    url: str
    score: Annotated[float, Meta(description="0 to 1.")]


class CodeMatches(Model, frozen=True):
    """Passages of source code, best first."""

    matches: list[CodeMatch]


async def code_search(parts: ServerParts, caller: ToolCaller, given: CodeSearchArguments) -> CodeMatches:
    """Passages of source files. Errors: those of `SearchPassages` and of `one_workspace`."""
    workspace = await one_workspace(parts, caller, given.workspace)
    wish = FilterWish(source_path_prefix=given.path_prefix, media_types=(SOURCE_MEDIA_TYPE,), where=given.where)
    narrowed = read_filter(wish, workspace.ref)
    wanted = given.top_k or MAX_RESULTS
    # A language is told by the file's name, after the search.
    most = MAX_TOP_K if given.language else wanted
    asked = Question(
        workspace.ref, require_no_nul(given.query, "query"), options=AnswerOptions(top_k=most, filter=narrowed)
    )
    found = await parts.search.run(caller.principal, asked)
    shown = [_show_match(caller, workspace, one) for one in _of_language(found.passages, given.language)]
    return CodeMatches(shown[:wanted])


def _of_language(found: Iterable[FoundPassage], language: str | None) -> Iterable[FoundPassage]:
    wanted = (language or "").strip().lower()
    return [one for one in found if not wanted or one.language == wanted]


def _show_match(caller: ToolCaller, workspace: Workspace, found: FoundPassage) -> CodeMatch:
    chunk = found.chunk
    return CodeMatch(
        id=encode(NodeKind.DOCUMENT, workspace.ref.workspace_id, chunk.document_id),
        file_path=chunk.source_path,
        language=found.language,
        symbol=found.symbol,
        start_line=chunk.line_start,
        end_line=chunk.line_end,
        text=chunk.text,
        url=_url(caller, workspace, found),
        score=found.candidate.score,
    )


WorkspaceNames = Annotated[
    list[str], Meta(max_length=MAX_AGENTS, description="May be left out where the organisation has only one.")
]


class ContextArguments(Arguments, frozen=True):
    """What a section of a prompt is wanted for."""

    query: Query
    workspaces: WorkspaceNames | None = None
    template: Annotated[str, Meta(description=CHOICE)] = PROJECT_KNOWLEDGE.name
    max_tokens: Annotated[int, Meta(ge=1, le=CONTEXT_TOKENS[1])] | None = None
    top_k: Count | None = None
    min_similarity: Share | None = None
    where: Annotated[Where | None, Meta(description="For a single workspace: `tag=a,b date>=2024-01-01`.")] = None


async def retrieve_context(parts: ServerParts, caller: ToolCaller, given: ContextArguments) -> ContextResponse:
    """A section for a prompt, as `POST /v1/context` gives it. Errors: those of `PrepareContext` and of
    `one_workspace`.
    """
    names = given.workspaces or [None]
    chosen = [await one_workspace(parts, caller, name) for name in names]
    narrowed = DocumentFilter()
    if given.where is not None:
        narrowed = narrow(narrowed, given.where, single_workspace([one.ref for one in chosen]))
    wanted = ContextRequest(
        text=require_no_nul(given.query, "query"),
        parts=tuple(ContextPart(one.ref, one.name) for one in chosen),
        template=given.template,
        options=AnswerOptions(top_k=given.top_k, min_similarity=given.min_similarity, filter=narrowed),
        tokens=given.max_tokens,
    )
    return show_context(await parts.context.run(caller.principal, wanted))


def _url(caller: ToolCaller, workspace: Workspace, found: FoundPassage) -> str:
    chunk = found.chunk
    return chunk.url or text_address(
        caller.base_url, workspace.ref.workspace_id, chunk.document_id, chunk.start, chunk.end
    )

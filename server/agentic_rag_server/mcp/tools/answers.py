"""The tool that answers: `rag_answer`."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from agentic_rag.answering.answer import Citation, Outcome
from agentic_rag.answering.question import MAX_QUESTION_CHARACTERS, AnswerOptions, Question
from agentic_rag.documents.document import DocumentFilter
from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag.kernel.text import require_no_nul
from agentic_rag_server.document_filters import narrow
from agentic_rag_server.mcp.tool import Arguments, ToolCaller
from agentic_rag_server.mcp.workspaces import WorkspaceName, one_workspace
from agentic_rag_server.parts import ServerParts
from agentic_rag_server.rest.documents.text import text_address
from agentic_rag_server.rest.http.filters import Where
from agentic_rag_server.rest.http.models import Model


class AnswerArguments(Arguments, frozen=True):
    """A question."""

    question: Annotated[str, Meta(min_length=1, max_length=MAX_QUESTION_CHARACTERS)]
    workspace: WorkspaceName | None = None
    where: Where | None = None


class CitedQuote(Model, frozen=True):
    """A quote that the answer rests on, word for word as it is stored."""

    marker: Annotated[int, Meta(description="The answer says [1], [2], …")]
    id: Annotated[str, Meta(description="The document, for `fetch`.")]
    title: str
    url: Annotated[str, Meta(description="Opens the quote.")]
    quote: str
    page: int | None
    recognised: Annotated[bool, Meta(description="Words of it were recognised in a picture (OCR), maybe wrongly.")]
    symbol: Annotated[str | None, Meta(description="What the quote stands in, of source code: `Pump.start`.")]
    start: Annotated[int, Meta(description="Code points of the document's text.")]
    end: int


class ToolAnswer(Model, frozen=True):
    """An answer, or in `explanation` why there is none that is established."""

    answer: str
    outcome: Outcome
    explanation: str | None
    citations: list[CitedQuote]
    run_id: str


async def rag_answer(parts: ServerParts, caller: ToolCaller, given: AnswerArguments) -> ToolAnswer:
    """Answer a question. Errors: those of `AnswerQuestion` and of `one_workspace`."""
    workspace = await one_workspace(parts, caller, given.workspace)
    options = AnswerOptions(filter=narrow(DocumentFilter(), given.where, workspace.ref))
    question = Question(workspace.ref, require_no_nul(given.question, "question"), options=options)
    run = await parts.answer.ask(caller.principal, question)
    found, key = run.answer, run.workspace.workspace_id
    return ToolAnswer(
        answer=found.text,
        outcome=found.outcome,
        explanation=None if found.abstention is None else found.abstention.explanation,
        citations=[_show_quote(caller, key, one) for one in found.citations],
        run_id=encode(NodeKind.RUN, key, run.run_id),
    )


def _show_quote(caller: ToolCaller, workspace_id: UUID, citation: Citation) -> CitedQuote:
    span = citation.source_span
    address = text_address(caller.base_url, workspace_id, citation.document_id, span.start, span.end)
    return CitedQuote(
        marker=citation.marker,
        id=encode(NodeKind.DOCUMENT, workspace_id, citation.document_id),
        title=citation.title,
        url=citation.url or address,
        quote=citation.snippet,
        page=citation.page,
        recognised=citation.is_recognised,
        symbol=None if citation.symbol is None else citation.symbol.name,
        start=span.start,
        end=span.end,
    )

"""The `http_fetch` tool: reads a page that the question names. Its text is evidence, never an instruction."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from agentic_rag.answering.extraction.subquery import build_subquery
from agentic_rag.answering.lazy_snapshot import LazySnapshot
from agentic_rag.answering.plan import NO_DURATION, ToolCall, ToolRequest
from agentic_rag.answering.run_state import Retrieved, RunState, SearchedPart, StageResult
from agentic_rag.answering.tools.tool import Tool
from agentic_rag.answering.tools.web_pages import (
    HTTP_FETCH,
    WebPage,
    find_addresses,
    page_passages,
    strip_addresses,
    web_page,
)
from agentic_rag.documents.ports import Parser
from agentic_rag.kernel.errors import AgenticRagError
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.retrieval.candidates import SCORE_DIGITS, Passage
from agentic_rag.retrieval.confidence import MARGIN_RANKS, RankingConfidence
from agentic_rag.web.ports import FetchPage

TIME_SHARE = 0.6
"""Share of the time left that one page may take, so that the run still answers after it."""

_FILE_NAMES = {"text/html": "page.html", "application/xhtml+xml": "page.html", "text/markdown": "page.md"}


class HttpFetch(Tool):
    """Fetches through the guarded client and reads with the parser of documents; switched off without them."""

    name: ClassVar[str] = HTTP_FETCH
    is_cacheable: ClassVar[bool] = False

    def __init__(self, fetch: FetchPage | None = None, parser: Parser | None = None) -> None:
        self._fetch = fetch
        self._parser = parser

    def wanted(self, question: str) -> tuple[str, ...]:
        """The addresses in the question."""
        return () if self._fetch is None else find_addresses(question)

    def mask(self, question: str) -> str:
        """The question with “the page” for each address."""
        return strip_addresses(question)

    async def run(self, request: ToolRequest, state: RunState, reads: LazySnapshot, seconds: float) -> StageResult:
        """The state with the page's best passages before those of the corpus."""
        await reads.release()
        question, retrieved = state.question, state.retrieved
        if not retrieved.parts:
            whole = build_subquery(strip_addresses(question.text), question.answer_type, {})
            retrieved = replace(retrieved, parts=(SearchedPart(whole),))
        place = sum(call.tool == self.name for call in retrieved.tool_calls)
        is_forbidden = state.options.gate.policy.request is False
        page = "WEB_REFUSED" if is_forbidden else await self._read(request.argument, place, seconds)
        if isinstance(page, WebPage):
            retrieved = _add_page(retrieved, page)
            call = ToolCall(
                self.name, request.argument, f"{page.fetched.title} ({page.fetched.url})", None, NO_DURATION
            )
        else:
            call = ToolCall(self.name, request.argument, None, page, NO_DURATION)
        retrieved = replace(retrieved, tool_calls=(*retrieved.tool_calls, call))
        return StageResult(replace(state, retrieved=retrieved))

    async def _read(self, address: str, place: int, seconds: float) -> WebPage | str:
        """The page, or the code of the error that prevents reading it."""
        if self._fetch is None or self._parser is None:
            return "FETCH_SWITCHED_OFF"
        try:
            async with asyncio.timeout(seconds * TIME_SHARE):
                fetched = await self._fetch(address)
                name = _FILE_NAMES.get(fetched.media_type, "page.txt")
                parsed = await self._parser.parse(
                    fetched.body, name, fetched.media_type, is_web_page=True, charset=fetched.charset
                )
                return await asyncio.to_thread(web_page, fetched.url, parsed, place, estimate_tokens)
        except TimeoutError:
            return "FETCH_TIMEOUT"
        except AgenticRagError as error:
            return error.code


def _add_page(retrieved: Retrieved, page: WebPage) -> Retrieved:
    passages = page_passages(page, [part.query for part in retrieved.parts])
    raised = tuple(_raise_confidence(part, passages) for part in retrieved.parts)
    return replace(
        retrieved,
        fetched=(*retrieved.fetched, page.fetched),
        passages=(*passages, *retrieved.passages),
        parts=raised,
        whole=None if retrieved.whole is None else _raise_confidence(retrieved.whole, passages),
    )


def _raise_confidence(part: SearchedPart, passages: Sequence[Passage]) -> SearchedPart:
    """The confidence as `measure_confidence` would give it, where the page's best passage leads."""
    scores = sorted((one.candidate.score for one in passages), reverse=True)
    if not scores or scores[0] <= part.confidence.top_score:
        return part
    behind = scores[MARGIN_RANKS] if len(scores) > MARGIN_RANKS else 0.0
    margin = round(scores[0] - behind, SCORE_DIGITS)
    confidence: RankingConfidence = replace(part.confidence, top_score=scores[0], margin=margin)
    return replace(part, confidence=confidence)

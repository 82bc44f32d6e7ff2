"""The `http_fetch` tool: reads a page that the question names. What it says is evidence, never an instruction."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from agentic_rag.answering.plan import ToolCall, ToolRequest
from agentic_rag.answering.tools.web_pages import HTTP_FETCH, WebPage, web_page
from agentic_rag.documents.ports import Parser
from agentic_rag.kernel.errors import AgenticRagError
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.web.ports import Fetcher

TIME_SHARE = 0.6
"""Of the time left, for a page: fetched or not, something is answered."""

NO_DURATION = 0.0
_FILE_NAMES = {"text/html": "page.html", "application/xhtml+xml": "page.html", "text/markdown": "page.md"}


@dataclass(frozen=True, slots=True)
class FetchResult:
    """What came of one request; `page` is None when nothing could be read."""

    call: ToolCall
    page: WebPage | None


class HttpFetch:
    """Fetches through the guarded client and reads through the same parser as every document."""

    def __init__(self, fetcher: Fetcher, parser: Parser) -> None:
        self._fetcher = fetcher
        self._parser = parser

    async def run(self, request: ToolRequest, place: int, seconds: float) -> FetchResult:
        """The page, or the code that says why there is none."""
        try:
            async with asyncio.timeout(seconds * TIME_SHARE):
                fetched = await self._fetcher.fetch(request.argument)
                name = _FILE_NAMES.get(fetched.media_type, "page.txt")
                parsed = await self._parser.parse(fetched.body, name, fetched.media_type)
                page = await asyncio.to_thread(web_page, fetched.url, parsed, place, estimate_tokens)
        except TimeoutError:
            return _failure(request, "FETCH_TIMEOUT")
        except AgenticRagError as error:
            return _failure(request, error.code)
        call = ToolCall(HTTP_FETCH, request.argument, f"{page.fetched.title} ({page.fetched.url})", None, NO_DURATION)
        return FetchResult(call, page)


def _failure(request: ToolRequest, code: str) -> FetchResult:
    return FetchResult(ToolCall(request.tool, request.argument, None, code, NO_DURATION), None)

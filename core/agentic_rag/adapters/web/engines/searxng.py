"""SearXNG, which anybody can run: `GET /search?format=json` (https://docs.searxng.org/dev/search_api.html)."""

from __future__ import annotations

from agentic_rag.adapters.web.engine_client import EngineClient
from agentic_rag.adapters.web.engines.fields import range_of, result_of, rows_of
from agentic_rag.web.search import MAX_QUERY_CHARACTERS, AskEngine, SearchRequest, SearchResult

_RANGES = ((1, "day"), (31, "month"), (366, "year"))


def open_searxng(client: EngineClient) -> AskEngine:
    """The engine behind a client."""

    async def ask(request: SearchRequest) -> tuple[SearchResult, ...]:
        query = {"q": request.query[:MAX_QUERY_CHARACTERS], "format": "json", "pageno": "1", "safesearch": "1"}
        if request.locale:
            query["language"] = request.locale
        span = range_of(request.filters.days, _RANGES)
        if span:
            query["time_range"] = span
        payload = await client.ask(f"{client.address.path}/search", query, {})
        return tuple(result_of(row, "url", "title", "content", "publishedDate") for row in rows_of(payload, "results"))

    return ask

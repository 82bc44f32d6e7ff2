"""Brave's search API: `GET /res/v1/web/search` with the key in X-Subscription-Token."""

from __future__ import annotations

from agentic_rag.adapters.web.engine_client import EngineClient
from agentic_rag.adapters.web.engines.fields import range_of, result_of, rows_of
from agentic_rag.web.search import MAX_QUERY_CHARACTERS, MAX_RESULTS, AskEngine, SearchRequest, SearchResult

_RANGES = ((1, "pd"), (7, "pw"), (31, "pm"), (366, "py"))


def open_brave(client: EngineClient) -> AskEngine:
    """The engine behind a client."""

    async def ask(request: SearchRequest) -> tuple[SearchResult, ...]:
        query = {"q": request.query[:MAX_QUERY_CHARACTERS], "count": str(MAX_RESULTS), "text_decorations": "0"}
        language, _, country = request.locale.partition("-")
        if language:
            query["search_lang"] = language.lower()
        if country:
            query["country"] = country.upper()
        span = range_of(request.filters.days, _RANGES)
        if span:
            query["freshness"] = span
        payload = await client.ask("/res/v1/web/search", query, {"X-Subscription-Token": client.address.key})
        return tuple(
            result_of(row, "url", "title", "description", "page_age") for row in rows_of(payload, "web", "results")
        )

    return ask

"""SerpAPI, and servers that speak as it does: `GET /search.json` with `organic_results`."""

from __future__ import annotations

from agentic_rag.adapters.web.engine_client import EngineClient
from agentic_rag.adapters.web.engines.fields import range_of, result_of, rows_of
from agentic_rag.web.search import MAX_QUERY_CHARACTERS, MAX_RESULTS, AskEngine, SearchRequest, SearchResult

_RANGES = ((1, "qdr:d"), (7, "qdr:w"), (31, "qdr:m"), (366, "qdr:y"))


def open_serpapi(client: EngineClient) -> AskEngine:
    """The engine behind a client."""

    async def ask(request: SearchRequest) -> tuple[SearchResult, ...]:
        query = {
            "q": request.query[:MAX_QUERY_CHARACTERS],
            "engine": "google",
            "num": str(MAX_RESULTS),
            "api_key": client.address.key,
        }
        language, _, country = request.locale.partition("-")
        if language:
            query["hl"] = language.lower()
        if country:
            query["gl"] = country.lower()
        span = range_of(request.filters.days, _RANGES)
        if span:
            query["tbs"] = span
        payload = await client.ask(f"{client.address.path}/search.json", query, {})
        return tuple(result_of(row, "link", "title", "snippet", "date") for row in rows_of(payload, "organic_results"))

    return ask

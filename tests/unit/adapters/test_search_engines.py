"""Search engines over a web of the tests' own: what they are asked, what is made of their answers, and their errors."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpcore2
import pytest
from tests.web_world import PUBLIC, Page, Web, answer, opened_web, redirect

from agentic_rag.adapters.web.engine_client import EngineClient
from agentic_rag.adapters.web.engines.table import open_engine
from agentic_rag.kernel.errors import AgenticRagError, Misconfigured, PolicyRefused, Retryable
from agentic_rag.web.engine_address import EngineAddress, parse_engine
from agentic_rag.web.search import AskEngine, SearchFilters, SearchRequest, SearchResult

pytestmark = pytest.mark.network

INSIDE = "10.0.0.9"


@pytest.fixture
async def web() -> AsyncIterator[Web]:
    async with opened_web() as web:
        web.names |= {"search.internal": (INSIDE,), "api.search.brave.com": (PUBLIC,), "serp.example.com": (PUBLIC,)}
        web.names |= {"clouds.internal": ("169.254.169.254",)}
        yield web


def found(payload: Mapping[str, Any]) -> Page:
    return answer(json.dumps(payload).encode(), media="application/json")


def opened(web: Web, setting: str, seconds: float = 2.0) -> AskEngine:
    """The engine, each of whose connections ends at this web."""

    async def dial(address: str, port: int, timeout: float) -> httpcore2.AsyncNetworkStream:
        web.dialled.append(address)
        return await httpcore2.AnyIOBackend().connect_tcp("127.0.0.1", web.plain_port, timeout=timeout)

    def connect(address: EngineAddress) -> EngineClient:
        return EngineClient(address, web.resolve, dial, web.trust, seconds)

    address = parse_engine(setting)
    assert address is not None
    return open_engine(address, connect)


def asked_for(web: Web) -> dict[str, str]:
    """The parameters of the last request, each of which stands there once."""
    address = urlsplit(web.requests[-1].split()[1].decode())
    return {name: one for name, [one] in parse_qs(address.query).items()}


async def test_searxng_is_asked_for_json_inside_the_network(web: Web) -> None:
    row = {"url": "https://a.example/1", "title": "A", "content": "said", "publishedDate": "2026-11-01"}
    web.pages["/sub/search"] = found({"results": [row, "no row", {"title": 3}]})

    results = await opened(web, "searxng://search.internal/sub")(
        SearchRequest("wave limit", "de-AT", SearchFilters(days=7))
    )

    asked = urlsplit(web.requests[-1].split()[1].decode())
    assert parse_qs(asked.query)["q"] == ["wave limit"]
    assert {"format": ["json"], "language": ["de-AT"], "time_range": ["month"]}.items() <= parse_qs(asked.query).items()
    assert results[0] == SearchResult("https://a.example/1", "A", "said", "2026-11-01")
    assert results[1].url == ""
    assert web.dialled == [INSIDE]


async def test_serpapi_sends_its_key_and_reads_organic_results(web: Web) -> None:
    web.pages["/search.json"] = found({"organic_results": [{"link": "https://a.example/1", "title": "A"}]})
    address = EngineAddress("serpapi", host="serp.example.com", key="KEY", is_own=True)
    plain = parse_engine("searxng://serp.example.com")
    assert plain is not None

    async def dial(at: str, port: int, timeout: float) -> httpcore2.AsyncNetworkStream:
        return await httpcore2.AnyIOBackend().connect_tcp("127.0.0.1", web.plain_port, timeout=timeout)

    unsealed = EngineAddress("serpapi", plain.scheme, address.host, 80, key="KEY", is_own=True)
    ask = open_engine(unsealed, lambda one: EngineClient(one, web.resolve, dial))

    assert await ask(SearchRequest("tide")) == (SearchResult("https://a.example/1", "A"),)
    plainly = {"q": "tide", "engine": "google", "num": "20", "api_key": "KEY"}
    assert asked_for(web) == plainly

    await ask(SearchRequest("tide", "de-AT", SearchFilters(days=7)))
    assert asked_for(web) == {**plainly, "hl": "de", "gl": "at", "tbs": "qdr:w"}
    await ask(SearchRequest("tide", "DE", SearchFilters(days=400)))
    assert asked_for(web) == {**plainly, "hl": "de"}


async def test_brave_is_sent_its_key_as_a_header_and_its_web_results_are_read(web: Web) -> None:
    row = {"url": "https://a.example/1", "title": "A", "description": "said", "page_age": "2026-11-01T08:00:00"}
    elsewhere = {"url": "https://news.example/1", "title": "no page of the web part"}
    web.pages["/res/v1/web/search"] = found({"web": {"results": [row, "no row"]}, "news": {"results": [elsewhere]}})
    plain = parse_engine("searxng://api.search.brave.com")
    assert plain is not None

    async def dial(at: str, port: int, timeout: float) -> httpcore2.AsyncNetworkStream:
        return await httpcore2.AnyIOBackend().connect_tcp("127.0.0.1", web.plain_port, timeout=timeout)

    unsealed = EngineAddress("brave", plain.scheme, plain.host, 80, key="KEY", is_own=True)
    ask = open_engine(unsealed, lambda one: EngineClient(one, web.resolve, dial))

    results = await ask(SearchRequest("wave limit", "de-AT", SearchFilters(days=7)))

    request, *headers = web.requests[-1].split(b"\r\n")
    path, _, query = request.split()[1].decode().partition("?")
    assert results == (SearchResult("https://a.example/1", "A", "said", "2026-11-01T08:00:00"),)
    assert b"x-subscription-token: key" in [one.lower() for one in headers]
    assert b"KEY" not in request
    assert (path, {name: one for name, [one] in parse_qs(query).items()}) == (
        "/res/v1/web/search",
        {
            "q": "wave limit",
            "count": "20",
            "text_decorations": "0",
            "search_lang": "de",
            "country": "AT",
            "freshness": "pw",
        },
    )


async def test_a_key_may_stand_in_a_file(web: Web, tmp_path: Path) -> None:
    web.pages["/res/v1/web/search"] = found({"web": {"results": [{"url": "https://a.example/1"}]}})
    (tmp_path / "key").write_text("SECRET\n")
    seen: list[EngineAddress] = []
    address = parse_engine(f"brave://?key_file={tmp_path}/key")
    assert address is not None

    def connect(one: EngineAddress) -> EngineClient:
        seen.append(one)
        return EngineClient(one)

    open_engine(address, connect)

    assert seen[0].key == "SECRET"
    with pytest.raises(Misconfigured):
        open_engine(EngineAddress("brave", key_file=str(tmp_path / "none")), connect)


@pytest.mark.parametrize(
    ("page", "error", "code", "tries"),
    [
        (answer(b"", status="403 Forbidden"), Misconfigured, "SEARCH_REFUSED", 1),
        (answer(b"", "Retry-After: 60", status="429 Too Many Requests"), Retryable, "SEARCH_BUSY", 1),
        (answer(b"", "Retry-After: 0", status="429 Too Many Requests"), Retryable, "SEARCH_BUSY", 3),
        (answer(b"", "Retry-After: 0", status="503 Service Unavailable"), Retryable, "SEARCH_BUSY", 3),
        (answer(b"", status="404 Not Found"), Retryable, "SEARCH_FAILED", 1),
        (redirect("http://other.test/"), Retryable, "SEARCH_FAILED", 1),
    ],
)
async def test_a_status_has_its_error(
    web: Web, page: Page, error: type[AgenticRagError], code: str, tries: int
) -> None:
    web.pages["/search"] = page

    with pytest.raises(error) as caught:
        await opened(web, "searxng://search.internal")(SearchRequest("tide"))

    assert (caught.value.code, len(web.requests)) == (code, tries)


@pytest.mark.slow
@pytest.mark.parametrize("body", [b"<html>", b"[" * 900_000, b'{"results":"\\ud800"}'], ids=["a page", "deep", "half"])
async def test_what_is_no_json_is_asked_again_and_told(web: Web, body: bytes) -> None:
    web.pages["/search"] = answer(body)

    with pytest.raises(Retryable) as caught:
        await opened(web, "searxng://search.internal")(SearchRequest("tide"))

    assert (caught.value.code, len(web.requests)) == ("SEARCH_FAILED", 3)


async def test_a_slow_engine_is_given_up(web: Web) -> None:
    web.pages["/search"] = web.pages["/b/slow"]

    with pytest.raises(Retryable) as caught:
        await opened(web, "searxng://search.internal", seconds=0.1)(SearchRequest("tide"))

    assert caught.value.code == "SEARCH_TIMEOUT"


@pytest.mark.parametrize("setting", ["searxng://clouds.internal", "searxng://169.254.169.254", "searxng://0.0.0.0"])
async def test_not_every_address_can_be_the_operators(web: Web, setting: str) -> None:
    with pytest.raises(PolicyRefused):
        await opened(web, setting)(SearchRequest("tide"))

    assert web.dialled == []


async def test_a_service_has_to_be_public(web: Web) -> None:
    web.names["api.search.brave.com"] = ("127.0.0.1",)

    with pytest.raises(PolicyRefused):
        await opened(web, "brave://KEY@")(SearchRequest("tide"))

    assert web.dialled == []


async def test_a_file_names_the_pages_that_hold_most_words(tmp_path: Path) -> None:
    rows = [
        {"url": "https://a.example/1", "title": "Tide tables", "snippet": "high water"},
        {"url": "https://a.example/2", "title": "Wave limits", "snippet": "the wave limit of Otter Voe"},
        {"url": "https://a.example/3", "title": "Menu", "snippet": "soup"},
    ]
    file = tmp_path / "pages.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    address = parse_engine(f"file:{file}")
    assert address is not None

    results = await open_engine(address)(SearchRequest("What is the wave limit at high water?"))

    assert [one.url for one in results] == ["https://a.example/2", "https://a.example/1"]
    file.write_text("no json")
    with pytest.raises(Misconfigured):
        await open_engine(address)(SearchRequest("tide"))

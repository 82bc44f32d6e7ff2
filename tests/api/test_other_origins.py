"""Pages of other origins, and answers that are sent compressed."""

from __future__ import annotations

import gzip

import pytest

from agentic_rag.settings import SettingsInvalid, load_settings
from agentic_rag_server.app import build_app
from agentic_rag_server.parts import ServerOptions
from tests.api.asgi_client import Socket
from tests.api.builders import Container, client, schema_of

INTRANET = "https://intranet.example.org"
NAMED = ServerOptions(enabled=True, browser_origins=(INTRANET,))
PREFLIGHT = {"access-control-request-method": "POST", "access-control-request-headers": "authorization,content-type"}


@pytest.mark.parametrize("path", ["/graphql", "/v1/search"])
async def test_a_page_of_a_named_origin_may_call_and_read(path: str) -> None:
    async with client(Container(options=NAMED)) as http:
        preflight = await http.options(path, headers={"origin": INTRANET, **PREFLIGHT})
        answer = await http.post(path, json={"query": "{ __typename }"}, headers={"origin": INTRANET})

    assert (preflight.status_code, preflight.headers["access-control-allow-origin"]) == (200, INTRANET)
    assert answer.headers["access-control-allow-origin"] == INTRANET
    assert "access-control-allow-credentials" not in preflight.headers


@pytest.mark.parametrize("options", [NAMED, ServerOptions(enabled=True)])
async def test_a_page_of_any_other_origin_reads_nothing(options: ServerOptions) -> None:
    async with client(Container(options=options)) as http:
        for origin in ("https://evil.example", "null", f"{INTRANET}.evil.example"):
            preflight = await http.options("/graphql", headers={"origin": origin, **PREFLIGHT})
            answer = await http.post("/graphql", json={"query": "{ __typename }"}, headers={"origin": origin})

            assert preflight.status_code >= 400
            assert "access-control-allow-origin" not in preflight.headers
            assert "access-control-allow-origin" not in answer.headers


async def test_a_refusal_can_be_read_by_a_named_origin_too() -> None:
    async with client(Container(options=NAMED), token="wrong") as http:
        refused = await http.post("/graphql", json={"query": "{ __typename }"}, headers={"origin": INTRANET})

    assert (refused.status_code, refused.headers["access-control-allow-origin"]) == (401, INTRANET)


async def test_a_page_of_a_named_origin_may_open_a_web_socket() -> None:
    app = build_app(Container(options=NAMED), schema_of())  # type: ignore[arg-type]
    async with Socket.open(app, origin=INTRANET) as socket:
        assert (await socket.hear())["type"] == "websocket.accept"
        assert await socket.hear() == {"type": "connection_ack"}


@pytest.mark.parametrize("origin", ["*", "https://a.example/path", "a.example", "https://A.example", "null"])
def test_an_origin_that_no_browser_sends_stops_the_start(origin: str) -> None:
    with pytest.raises(SettingsInvalid, match="AGENTIC_RAG_BROWSER_ORIGINS"):
        load_settings({"AGENTIC_RAG_BROWSER_ORIGINS": origin})


async def test_a_long_answer_is_compressed_for_a_client_that_takes_it_and_a_short_one_is_not() -> None:
    types = {"query": "{ __schema { types { name description fields { name description } } } }"}
    async with client(Container()) as http:
        long = await http.send(
            http.build_request("POST", "/graphql", json=types, headers={"accept-encoding": "gzip"}), stream=True
        )
        packed = b"".join([piece async for piece in long.aiter_raw()])
        plain = await http.post("/graphql", json=types, headers={"accept-encoding": "identity"})
        short = await http.post("/graphql", json={"query": "{ __typename }"}, headers={"accept-encoding": "gzip"})

    assert long.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed) == plain.content
    assert len(packed) < len(plain.content) / 3
    assert "content-encoding" not in plain.headers
    assert "content-encoding" not in short.headers


@pytest.mark.parametrize("taken", ["gzip;q=0", "br, gzip; q=0.000, identity"])
async def test_a_client_that_refuses_gzip_is_sent_none(taken: str) -> None:
    async with client(Container()) as http:
        answer = await http.get("/openapi.json", headers={"accept-encoding": taken})
        less = await http.get("/openapi.json", headers={"accept-encoding": "gzip;q=0.5"})

    assert "content-encoding" not in answer.headers
    assert "Accept-Encoding" in answer.headers["vary"]
    assert less.headers["content-encoding"] == "gzip"

"""Uploads that are refused before they are read, over a real socket: loopback only."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress

import httpx2
import pytest

from agentic_rag_server.body_limits import LINGER_BYTES, SMALL_BYTES
from agentic_rag_server.run import build_server, listen
from tests.api.builders import WORKSPACE_ID
from tests.api.rest_product import RestProduct
from tests.api.test_rate_limits import UPLOADS, limited

pytestmark = pytest.mark.network

UPLOAD = """
mutation ($workspace: ID!, $file: Upload!) {
    uploadDocument(workspaceId: $workspace, file: $file) { unchanged userErrors { code } }
}
"""
PARTS = {
    "operations": (None, json.dumps({"query": UPLOAD, "variables": {"workspace": WORKSPACE_ID, "file": None}})),
    "map": (None, json.dumps({"0": ["variables.file"]})),
    "0": ("a.md", b"# A\n\nText.", "text/markdown"),
}
HEADERS = {"authorization": "Bearer admin-token", "graphql-require-preflight": "1"}
LARGE = 256 * 1024 * 1024
PATHS = ("/graphql", UPLOADS)


@asynccontextmanager
async def served(product: RestProduct) -> AsyncIterator[int]:
    """The product behind a socket: its port."""
    with listen("127.0.0.1", 0) as listener:
        server = build_server(product)  # pyright: ignore[reportArgumentType]
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            await serving


async def upload(port: int) -> httpx2.Response:
    async with httpx2.AsyncClient(trust_env=False, base_url=f"http://127.0.0.1:{port}") as http:
        return await http.post("/graphql", files=PARTS, headers=HEADERS)


def head(path: str, length: int) -> bytes:
    lines = (
        f"POST {path} HTTP/1.1",
        "host: localhost",
        "content-type: multipart/form-data; boundary=edge",
        f"content-length: {length}",
        *(f"{name}: {value}" for name, value in HEADERS.items()),
    )
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


@pytest.mark.tells("rag_document_uploaded", "document_id")
async def test_an_upload_counts_once() -> None:
    product = await limited(writes=2)
    async with served(product) as port:
        answers = [await upload(port) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[0].json()["data"]["uploadDocument"]["userErrors"] == []
    assert answers[2].headers["retry-after"] == "30"
    assert answers[2].json()["errors"][0]["extensions"]["code"] == "RATE_LIMITED"


@pytest.mark.parametrize("path", PATHS)
async def test_a_caller_over_its_limit_is_told_before_a_byte_of_the_body_is_sent(path: str) -> None:
    product = await limited(writes=1)
    async with served(product) as port:
        assert (await upload(port)).status_code == 200
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        with closing(writer):
            writer.write(head(path, LARGE))
            async with asyncio.timeout(5):
                answer = await reader.read()

    assert answer.startswith(b"HTTP/1.1 429 ")
    assert b"retry-after: 60" in answer
    assert b'"RATE_LIMITED"' in answer


@pytest.mark.parametrize("path", PATHS)
async def test_who_goes_on_sending_after_a_refusal_is_cut_off(path: str) -> None:
    product = await limited(writes=1)
    sent = 0
    async with served(product) as port:
        assert (await upload(port)).status_code == 200
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        with closing(writer):
            writer.write(head(path, LARGE))
            async with asyncio.timeout(10):
                answer = await reader.readuntil(b"}")
                with suppress(ConnectionError):
                    while sent < LARGE:
                        writer.write(b"x" * 65536)
                        await writer.drain()
                        sent += 65536

    assert b"429" in answer
    assert sent < LINGER_BYTES + 32 * 1024 * 1024  # what the sockets of both sides may hold


@pytest.mark.parametrize("path", PATHS)
async def test_a_client_that_writes_all_before_it_reads_finds_its_answer(path: str) -> None:
    product = await limited(writes=1)
    length = LINGER_BYTES // 2
    async with served(product) as port:
        assert (await upload(port)).status_code == 200
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        with closing(writer):
            writer.write(head(path, length) + b"x" * length)
            await writer.drain()
            async with asyncio.timeout(5):
                answer = await reader.read()

    assert b"429" in answer
    assert b"connection: close" in answer


async def test_a_connection_is_used_again_after_a_small_refusal_and_after_a_large_upload() -> None:
    product = await limited(writes=2)
    async with served(product) as port, httpx2.AsyncClient(trust_env=False) as http:
        text = b"# Large\n\n".ljust(SMALL_BYTES, b".")
        large = {**PARTS, "0": ("large.md", text, "text/markdown")}
        url = f"http://127.0.0.1:{port}/graphql"
        answers = [await http.post(url, files=files, headers=HEADERS) for files in (large, PARTS, PARTS)]

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[0].json()["data"]["uploadDocument"]["userErrors"] == []
    assert not any("connection" in answer.headers for answer in answers)


async def test_a_form_of_another_site_counts_nothing() -> None:
    product = await limited(writes=1)
    async with served(product) as port:
        async with httpx2.AsyncClient(trust_env=False, base_url=f"http://127.0.0.1:{port}") as http:
            form = await http.post("/graphql", files=PARTS, headers={"authorization": HEADERS["authorization"]})
        accepted = await upload(port)

    assert form.json()["errors"][0]["extensions"]["code"] == "PREFLIGHT_HEADER_MISSING"
    assert accepted.status_code == 200

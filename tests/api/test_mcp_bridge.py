"""What a host reads on standard output is what `/mcp` says, of every revision."""

from __future__ import annotations

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from agentic_rag_cli.client.mcp_bridge import LastingTransport, server_over
from agentic_rag_server.app import build_app
from tests.api.builders import document_id
from tests.api.test_mcp import SCHEMA, SITE, McpContainer, called, connected


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
async def test_the_bridge_says_what_the_server_says(mode: str) -> None:
    async with connected(McpContainer()) as remote, Client(server_over(remote), mode=mode) as host:
        tools = (await host.list_tools()).tools
        found = await called(host, "search", query="valve")
        refused = await called(host, "fetch", id="nothing")
        listed = (await host.list_resources()).resources
        (text,) = (await host.read_resource(listed[0].uri)).contents
        with pytest.raises(MCPError) as hidden:
            await host.read_resource("rag://documents/none")

    assert tools[0].name == "search"
    assert found["results"][0]["id"] == document_id(1)
    assert refused["error"]["code"] == "INVALID_ID"
    assert text.uri == listed[0].uri
    assert hidden.value.data["code"] == "INVALID_ID"


class ServerThatLeaves(httpx2.AsyncBaseTransport):
    """The application in this process, while nothing is wrong."""

    def __init__(self) -> None:
        self._inner = httpx2.ASGITransport(app=build_app(McpContainer(), SCHEMA))
        self.fault: httpx2.TransportError | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if self.fault is not None:
            raise self.fault
        return await self._inner.handle_async_request(request)


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
async def test_a_host_keeps_its_tools_while_the_server_is_away(mode: str) -> None:
    server = ServerThatLeaves()
    headers, told = {"authorization": "Bearer viewer-token"}, list[str]()
    async with (
        httpx2.AsyncClient(transport=LastingTransport(server), headers=headers) as http,
        Client(streamable_http_client(f"{SITE}/mcp", http_client=http), cache=None) as remote,
        Client(server_over(remote), mode=mode) as host,
    ):
        for server.fault in (httpx2.ConnectError("refused"), httpx2.ReadTimeout("late")):
            with pytest.raises(MCPError) as refused:
                await host.call_tool("search", {"query": "valve"})
            told.append(refused.value.data["code"])
        server.fault = None
        found = await called(host, "search", query="valve")

    assert told == ["SERVER_UNREACHABLE", "SERVER_TIMEOUT"]
    assert found["results"]

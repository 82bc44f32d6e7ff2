"""What a host reads on standard output is what `/mcp` says, of every revision."""

from __future__ import annotations

import pytest
from mcp import Client, MCPError

from agentic_rag_cli.client.mcp_bridge import server_over
from tests.api.builders import document_id
from tests.api.test_mcp import McpContainer, called, connected


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

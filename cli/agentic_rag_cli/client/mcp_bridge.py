"""MCP on standard input and output: each request goes on to `/mcp` of a server, or of the application in this process.

Importing this loads the SDK.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import httpx2
import mcp_types as types
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.stdio import stdio_server

from agentic_rag import __version__

Context = ServerRequestContext[Any, Any]
_SLACK_SECONDS = 5.0
_REFUSED = -32010
"""The number of every refusal of `/mcp`, too."""


class LastingTransport(httpx2.AsyncBaseTransport):
    """A server that does not answer refuses with its code: the SDK's client ends at an error of the network, and the
    host that started this program would have no tools until it starts it again.
    """

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The whole response, or the refusal."""
        server = f"{request.url.scheme}://{request.url.netloc.decode()}"
        try:
            response = await self._inner.handle_async_request(request)
            await response.aread()
        except httpx2.TimeoutException:
            return _refusal("SERVER_TIMEOUT", f"{server} did not answer in time.")
        except httpx2.TransportError:
            return _refusal("SERVER_UNREACHABLE", f"No server answers at {server}. Ask again once it is up.")
        return response

    async def aclose(self) -> None:
        """End its connections."""
        await self._inner.aclose()


def _refusal(code: str, message: str) -> httpx2.Response:
    told = {"code": _REFUSED, "message": message, "data": {"code": code, "message": message}}
    return httpx2.Response(503, json={"jsonrpc": "2.0", "id": None, "error": told})


async def serve_stdio(
    base_url: str, token: str, timeout_ms: int, workspace: str | None, transport: httpx2.AsyncBaseTransport | None
) -> None:
    """Serve until standard input ends. The caller has seen that the server answers."""
    address = f"{base_url}/mcp" + (f"?workspace={quote(workspace, safe='')}" if workspace else "")
    headers = {"Authorization": f"Bearer {token}"}
    timeout = httpx2.Timeout(timeout_ms / 1000 + _SLACK_SECONDS, connect=_SLACK_SECONDS)
    lasting = LastingTransport(transport or httpx2.AsyncHTTPTransport(trust_env=False))
    async with (
        httpx2.AsyncClient(headers=headers, timeout=timeout, transport=lasting, trust_env=False) as http,
        Client(streamable_http_client(address, http_client=http), cache=None) as remote,
        stdio_server() as (receiving, sending),
    ):
        server = server_over(remote)
        await server.run(receiving, sending, server.create_initialization_options())


def server_over(remote: Client) -> Server[Any]:
    """A server that says what the remote one says."""

    async def list_tools(_: Context, given: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return await remote.list_tools(cursor=_cursor(given))

    async def call_tool(_: Context, given: types.CallToolRequestParams) -> types.CallToolResult:
        return await remote.call_tool(given.name, given.arguments)

    async def list_resources(_: Context, given: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        return await remote.list_resources(cursor=_cursor(given))

    async def list_templates(
        _: Context, given: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return await remote.list_resource_templates(cursor=_cursor(given))

    async def read_resource(_: Context, given: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        return await remote.read_resource(given.uri)

    return Server(
        "agentic-rag",
        version=__version__,
        title="agentic-rag",
        instructions=remote.instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
    )


def _cursor(given: types.PaginatedRequestParams | None) -> str | None:
    return None if given is None else given.cursor

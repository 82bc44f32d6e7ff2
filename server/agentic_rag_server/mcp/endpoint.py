"""`/mcp`: the Model Context Protocol over HTTP. Each request stands alone, so that any process may answer it."""

from __future__ import annotations

import asyncio
import importlib
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from agentic_rag.kernel.concurrency import detached_task
from agentic_rag.kernel.errors import Forbidden, Unauthenticated
from agentic_rag.web.url_policy import is_loopback
from agentic_rag_server.auth.bearer import CHALLENGE, address_of, principal_of
from agentic_rag_server.mcp.resource_metadata import METADATA_PATH
from agentic_rag_server.mcp.tool import ToolCaller
from agentic_rag_server.parts import ServerParts
from agentic_rag_server.request_telemetry import trace_id_of
from agentic_rag_server.rest.http.errors import error_response
from agentic_rag_server.rest.http.models import MCP


class McpEndpoint:
    """An ASGI application. The SDK is loaded at the first request."""

    def __init__(self, parts: ServerParts) -> None:
        self._parts = parts
        self._opening: asyncio.Future[ASGIApp] | None = None
        self._closing = asyncio.Event()
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request. Errors: `Forbidden` code ORIGIN_REFUSED, those of the SDK's own refusals as responses."""
        request = Request(scope, receive)
        self._require_own_site(request)
        base_url = str(request.base_url).rstrip("/")
        try:
            principal = await principal_of(request, self._parts.identity)
        except Unauthenticated as error:
            response = error_response(request, error)
            # RFC 6750 §3.1: not said to a client that sent none.
            fault = ', error="invalid_token"' if "authorization" in request.headers else ""
            challenge = f"{CHALLENGE['www-authenticate']}{fault}"
            response.headers["www-authenticate"] = f'{challenge}, resource_metadata="{base_url}{METADATA_PATH}{MCP}"'
            await response(scope, receive, send)
            return
        workspace = request.query_params.get("workspace") or None
        request.state.caller = ToolCaller(principal, address_of(request), base_url, trace_id_of(scope), workspace)
        application = await self._application()
        await application(scope, receive, send)

    async def aclose(self) -> None:
        """End what the SDK runs."""
        self._closing.set()
        if self._running is not None:
            await asyncio.wait({self._running})

    def _require_own_site(self, request: Request) -> None:
        """Against pages that reach a server through a name of their own. Errors: `Forbidden` code ORIGIN_REFUSED."""
        options = self._parts.options
        host = _host_of(f"//{request.headers.get('host', '')}")
        is_local = is_loopback(options.host) and not options.behind_tls
        origin = request.headers.get("origin")
        named = host if origin is None else _host_of(origin)
        is_own = host is not None and named is not None and (is_loopback(host) if is_local else True)
        if origin in options.browser_origins:
            return
        if not is_own or not (named == host or (is_local and is_loopback(named or ""))):
            raise Forbidden("This server does not answer pages of other sites.", code="ORIGIN_REFUSED")

    async def _application(self) -> ASGIApp:
        if self._opening is None or self._running is None or self._running.done():
            self._opening = asyncio.get_running_loop().create_future()
            self._running = detached_task(self._run(self._opening))
        opening, running = self._opening, self._running
        await asyncio.wait({opening, running}, return_when=asyncio.FIRST_COMPLETED)
        if not opening.done():
            running.result()
        return opening.result()

    async def _run(self, opening: asyncio.Future[ASGIApp]) -> None:
        # In a thread, so that requests are answered meanwhile.
        protocol = await asyncio.to_thread(importlib.import_module, "agentic_rag_server.mcp.protocol")
        async with protocol.open_application(self._parts) as application:
            opening.set_result(application)
            await self._closing.wait()


def _host_of(stated: str) -> str | None:
    """The host of an address that a caller wrote; None of what is none."""
    try:
        return urlsplit(stated).hostname
    except ValueError:
        return None

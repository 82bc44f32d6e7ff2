"""Drives an ASGI application without a server: a WebSocket, and a request whose client may hang up."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Self

from starlette.types import ASGIApp

from agentic_rag_server.graphql.http.socket import SUBPROTOCOL

PATIENCE_SECONDS = 5.0


def _scope(kind: str, headers: Mapping[str, str]) -> dict[str, Any]:
    return {
        "type": kind,
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/graphql",
        "raw_path": b"/graphql",
        "query_string": b"",
        "root_path": "",
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 1),
        "server": ("test", 80),
        "subprotocols": [SUBPROTOCOL],
        "state": {},
    }


class Connection:
    """What the application was sent, and what it sends."""

    def __init__(self, app: ASGIApp, scope: dict[str, Any], body: bytes = b"") -> None:
        self.to_app: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.sent: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.reads = asyncio.Event()
        self.reads.set()
        first = {"type": "http.request", "body": body} if scope["type"] == "http" else {"type": "websocket.connect"}
        self.to_app.put_nowait(first)
        self.task = asyncio.ensure_future(app(scope, self.to_app.get, self._take))

    async def _take(self, message: Any) -> None:
        await self.reads.wait()
        self.sent.put_nowait(message)

    async def next(self) -> dict[str, Any]:
        """What the application sends next."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await self.sent.get()

    async def hang_up(self) -> None:
        """Leave, and wait until the application has noticed."""
        kind = "http.disconnect" if self.is_http else "websocket.disconnect"
        self.to_app.put_nowait({"type": kind, "code": 1006})
        async with asyncio.timeout(PATIENCE_SECONDS):
            await self.task

    is_http = True


class Socket(Connection):
    """A client of graphql-transport-ws."""

    is_http = False

    @classmethod
    @asynccontextmanager
    async def open(cls, app: ASGIApp, token: str | None = "admin-token", **headers: str) -> AsyncIterator[Self]:
        """A connection; with a token `connection_init` has been sent."""
        socket = cls(app, _scope("websocket", {"host": "test", **headers}))
        try:
            if token is not None:
                await socket.say(type="connection_init", payload={"authorization": f"Bearer {token}"})
            yield socket
        finally:
            socket.task.cancel()
            await asyncio.wait([socket.task])

    async def say(self, **message: Any) -> None:
        """Send a message."""
        await self.say_text(json.dumps(message))

    async def say_text(self, text: str) -> None:
        """Send a text frame."""
        self.to_app.put_nowait({"type": "websocket.receive", "text": text})

    async def subscribe(self, name: str, query: str, variables: Mapping[str, Any] | None = None) -> None:
        """Start an operation."""
        await self.say(type="subscribe", id=name, payload={"query": query, "variables": variables})

    async def hear(self) -> Any:
        """The next message, as JSON; of the handshake and the end as they are."""
        message = await self.next()
        return json.loads(message["text"]) if message["type"] == "websocket.send" else message

    async def ready(self) -> None:
        """Read up to the acknowledgement."""
        assert (await self.hear())["type"] == "websocket.accept"
        assert await self.hear() == {"type": "connection_ack"}


def post_events(app: ASGIApp, query: str, variables: Mapping[str, Any] | None = None, **headers: str) -> Connection:
    """A request for server-sent events."""
    named = {"accept": "text/event-stream", "content-type": "application/json", "host": "test"}
    body = json.dumps({"query": query, "variables": variables}).encode()
    return Connection(app, _scope("http", {**named, "authorization": "Bearer admin-token", **headers}), body)

"""Subscriptions of the application in this process: httpx2's own transport waits for the end of a response."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx2


class EventTransport(httpx2.ASGITransport):
    """As `ASGITransport`; a response that is a stream of events is read while it is made."""

    def __init__(self, app: Callable[..., Any]) -> None:
        super().__init__(app=app)
        self._streaming = app

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer a request."""
        if request.headers.get("accept") != "text/event-stream":
            return await super().handle_async_request(request)
        run = _Run(self._streaming, request, await request.aread())
        return await run.response()


class _Run(httpx2.AsyncByteStream):
    """One request that the application serves. Closing is hanging up."""

    def __init__(self, app: Callable[..., Any], request: httpx2.Request, body: bytes) -> None:
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": request.method,
            "scheme": request.url.scheme,
            "path": request.url.path,
            "raw_path": request.url.raw_path,
            "query_string": request.url.query,
            "root_path": "",
            "headers": [(name.lower(), value) for name, value in request.headers.raw],
            "client": ("127.0.0.1", 0),
            "server": (request.url.host, request.url.port),
        }
        self._to_app: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._to_app.put_nowait({"type": "http.request", "body": body, "more_body": False})
        self._sent: asyncio.Queue[dict[str, Any]] = asyncio.Queue(maxsize=1)
        self._task = asyncio.ensure_future(app(scope, self._to_app.get, self._sent.put))
        self._task.add_done_callback(lambda _: self._to_app.put_nowait({"type": "http.disconnect"}))

    async def response(self) -> httpx2.Response:
        """The response, as soon as it begins."""
        start = await self._next()
        return httpx2.Response(start["status"], headers=start["headers"], stream=self)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """The pieces of the body."""
        while True:
            message = await self._next()
            yield message.get("body", b"")
            if not message.get("more_body", False):
                return

    async def aclose(self) -> None:
        """Hang up, and wait until the application has noticed."""
        self._to_app.put_nowait({"type": "http.disconnect"})
        while not self._task.done():
            while not self._sent.empty():
                self._sent.get_nowait()
            await asyncio.wait([self._task], timeout=0.05)

    async def _next(self) -> dict[str, Any]:
        """What the application sends next. Errors: what it raised."""
        reading = asyncio.ensure_future(self._sent.get())
        try:
            await asyncio.wait([reading, self._task], return_when=asyncio.FIRST_COMPLETED)
            if reading.done():
                return reading.result()
            self._task.result()
            return self._sent.get_nowait() if not self._sent.empty() else {"type": "http.response.body"}
        finally:
            reading.cancel()

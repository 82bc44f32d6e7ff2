"""Closes the connection when a request is answered before its body was read.

Else the server would read the rest, for as long as the client sends, to keep the connection usable.
"""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

SMALL_BYTES = 64 * 1024
"""A body up to this size is read to its end, and the connection stays usable."""

LINGER_BYTES = 1024 * 1024
LINGER_SECONDS = 1.0
"""Bytes and seconds of a body that are discarded after the answer. A client that writes before it reads then gets
its answer instead of a broken connection.
"""


class BodyLimits:
    """ASGI middleware: closes the connection after an answer that came before the end of a large body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        expected = _body_length(scope) if scope["type"] == "http" else 0
        if expected is not None and expected <= SMALL_BYTES:
            await self._app(scope, receive, send)
            return
        body = _BodyProgress(receive, expected)
        closing = False

        async def send_and_close(message: Message) -> None:
            nonlocal closing
            if message["type"] == "http.response.start":
                closing = not body.ended
                if closing:
                    message["headers"] = [*message["headers"], (b"connection", b"close")]
            elif closing:
                message["more_body"] = True
            await send(message)

        await self._app(scope, body.receive, send_and_close)
        if closing:
            await body.discard()
            await send({"type": "http.response.body", "body": b""})


class _BodyProgress:
    """The progress of a body. `expected` is its declared length; None when none is declared."""

    def __init__(self, receive: Receive, expected: int | None) -> None:
        self._receive = receive
        self._expected = expected
        self._received = 0
        self.ended = False

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._received += len(message.get("body", b""))
            self.ended = self._received == self._expected or not message.get("more_body", False)
        else:
            self.ended = True
        return message

    async def discard(self) -> None:
        most = self._received + LINGER_BYTES
        try:
            async with asyncio.timeout(LINGER_SECONDS):
                while not self.ended and self._received < most:
                    await self.receive()
        except TimeoutError:
            return


def _body_length(scope: Scope) -> int | None:
    """The declared length of the body; None for a chunked one."""
    length = 0
    for name, value in scope["headers"]:
        if name == b"transfer-encoding":
            return None
        if name == b"content-length":
            length = int(value)
    return length

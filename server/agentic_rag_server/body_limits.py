"""A request that is answered before its body was read does not get to send the rest of it.

The server would go on reading, for as long as the client likes, so that the connection can be used again.
"""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

SMALL_BYTES = 64 * 1024
"""Of a body that is let in, so that its connection can be used again."""

LINGER_BYTES = 1024 * 1024
LINGER_SECONDS = 1.0
"""How much, and for how long, is thrown away after the answer: a client that writes before it reads finds its answer
instead of a broken connection.
"""


class BodyLimits:
    """ASGI middleware: closes the connection behind an answer that came before the end of a large body."""

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
    """A body on its way; `expected` is what it is said to have, None when it is not said."""

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
    """Bytes of the body; None when it comes in chunks."""
    length = 0
    for name, value in scope["headers"]:
        if name == b"transfer-encoding":
            return None
        if name == b"content-length":
            length = int(value)
    return length

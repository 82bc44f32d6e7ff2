"""Security headers for browsers."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

ALWAYS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"content-security-policy", b"default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
)
"""Added unless the response sets them itself, as the query page does."""

HTTPS_ONLY = (b"strict-transport-security", b"max-age=31536000; includeSubDomains")


_SECURE = {"http": "https", "websocket": "wss"}


class SecurityHeaders:
    """ASGI middleware. With `behind_tls` browsers are told to return by HTTPS only, and addresses of this server that
    answers name are of HTTPS: a proxy ends it, and headers that tell of it are not read.
    """

    def __init__(self, app: ASGIApp, *, behind_tls: bool = False) -> None:
        self._app = app
        self._behind_tls = behind_tls
        self._headers = (*ALWAYS, HTTPS_ONLY) if behind_tls else ALWAYS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if self._behind_tls and scope["type"] in _SECURE:
            scope["scheme"] = _SECURE[scope["type"]]

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name.lower() for name, _ in message.get("headers", ())}
                beside = [header for header in self._headers if header[0] not in own]
                message["headers"] = [*message.get("headers", ()), *beside]
            await send(message)

        await self._app(scope, receive, send_with_headers if scope["type"] == "http" else send)

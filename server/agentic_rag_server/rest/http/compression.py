"""Compressed answers for clients that take them."""

from __future__ import annotations

import re

from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

_FIRST_WINDOW = 14_600
"""Bytes that a server sends before it waits for the first acknowledgement (RFC 6928): packing fewer saves no time."""

_REFUSED = re.compile(r"gzip\s*;\s*q=0(\.0{0,3})?\s*(,|$)", re.IGNORECASE)


class _Compression:
    """Starlette's, which takes `gzip;q=0`, a refusal, for consent."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = GZipMiddleware(app, minimum_size=_FIRST_WINDOW, compresslevel=4)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = MutableHeaders(raw=list(scope["headers"]))
            if _REFUSED.search(",".join(headers.getlist("accept-encoding"))):
                del headers["accept-encoding"]
                scope = {**scope, "headers": headers.raw}
        await self._app(scope, receive, send)


COMPRESSED = Middleware(_Compression)
"""Lists and long texts; an answer is smaller. Events of a stream are not packed."""


def compressed(response: Response) -> ASGIApp:
    """The response, with what packs it where it is long enough for that."""
    return response if len(response.body) < _FIRST_WINDOW else _Compression(response)

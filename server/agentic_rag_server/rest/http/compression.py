"""Compressed answers for clients that take them."""

from __future__ import annotations

from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware

_FIRST_WINDOW = 14_600
"""Bytes that a server sends before it waits for the first acknowledgement (RFC 6928): packing fewer saves no time."""

COMPRESSED = Middleware(GZipMiddleware, minimum_size=_FIRST_WINDOW, compresslevel=4)
"""Lists and long texts; an answer is smaller. Events of a stream are not packed."""

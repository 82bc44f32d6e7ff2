"""The query page, under a policy that lets it reach this server only."""

from __future__ import annotations

import secrets
from pathlib import Path

from starlette.responses import HTMLResponse, Response

_PAGE = Path(__file__).with_name("page.html")
_NONCE = "{{nonce}}"


class QueryPage:
    """The page, read once. Each response has its own nonce."""

    def __init__(self) -> None:
        self._html = _PAGE.read_text(encoding="utf-8")

    def response(self) -> Response:
        """The page with a Content-Security-Policy that allows its own script and style and no other address."""
        nonce = secrets.token_urlsafe(16)
        policy = (
            f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; "
            "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        headers = {
            "content-security-policy": policy,
            "x-content-type-options": "nosniff",
            "referrer-policy": "no-referrer",
            "cache-control": "no-store",
        }
        return HTMLResponse(self._html.replace(_NONCE, nonce), headers=headers)

"""Sign-in at the issuer of tokens: what the page must know of it (OpenID Connect, code flow with PKCE).

The page itself asks the issuer, so the server holds no secret of a client and sees no code.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from urllib.parse import urlsplit

import orjson

from agentic_rag.web.url_policy import is_loopback
from agentic_rag_server.parts import ServerOptions

_HOST = re.compile(r"[a-z0-9.-]+(?::\d+)?")
"""What a host may look like in a `Content-Security-Policy`; IPv6 addresses cannot stand there."""


@dataclass(frozen=True, slots=True)
class IssuerClient:
    """The issuer, and the public client as which the page asks it for a token of that audience."""

    issuer: str
    audience: str
    client: str
    scope: str

    @property
    def origin(self) -> str:
        """Where the page may ask."""
        parts = urlsplit(self.issuer)
        return f"{parts.scheme}://{parts.netloc.lower()}"

    def described(self) -> str:
        """For the page, as JSON."""
        return orjson.dumps(asdict(self)).decode()


def issuer_client(options: ServerOptions) -> IssuerClient | None:
    """None where there is no issuer that a browser can be led to: an address by HTTPS, or on loopback."""
    parts = urlsplit(options.issuer)
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or ""))
    if not is_safe or _HOST.fullmatch(parts.netloc.lower()) is None or not options.sign_in_client:
        return None
    return IssuerClient(options.issuer, options.token_audience, options.sign_in_client, options.sign_in_scope)

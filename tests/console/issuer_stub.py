"""An issuer of tokens on loopback that speaks OpenID Connect: discovery, sign-in by a page with one link, the code flow
with PKCE, keys and sign-out. A tour tells it by `POST /faults` what goes wrong next.
"""

from __future__ import annotations

import hashlib
import html
import json
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from tests.loopback_http import serving_http
from tests.token_issuer import AUDIENCE, claims, encoded, rsa_key, signed

CLIENT = "agentic-rag-console"
SCOPE = "openid reports.read"
_SKEW_SECONDS = 300


@dataclass
class IssuerStub:
    """What it was asked, and what goes wrong. Each code is good for one exchange."""

    organisation: object
    url: str = ""
    faults: dict[str, Any] = field(default_factory=dict[str, Any])
    codes: dict[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])

    @property
    def settings(self) -> dict[str, str]:
        """What a server takes its tokens by."""
        return {
            "AGENTIC_RAG_JWKS_URL": f"{self.url}/keys",
            "AGENTIC_RAG_JWT_ISSUER": self.url,
            "AGENTIC_RAG_JWT_AUDIENCE": f"{AUDIENCE},client={CLIENT},scope=reports.read",
        }

    def describe(self) -> dict[str, Any]:
        modes = {"response_modes_supported": ["query", "fragment"]} if "query" not in self.faults else {}
        return {
            "issuer": self.faults.get("issuer", self.url),
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.faults.get('token_origin', self.url)}/token",
            "end_session_endpoint": f"{self.url}/sign-out",
            "jwks_uri": f"{self.url}/keys",
            "code_challenge_methods_supported": ["S256"],
            **modes,
        }

    def authorize(self, asked: Mapping[str, str]) -> str:
        """The address that the browser is sent back to."""
        wanted = {"response_type": "code", "client_id": CLIENT, "scope": SCOPE, "code_challenge_method": "S256"}
        assert {name: asked[name] for name in wanted} == wanted, asked
        assert urlsplit(asked["redirect_uri"]).path == "/console"
        assert len(asked["state"]) >= 32
        assert len(asked["nonce"]) >= 32
        said = {"state": self.faults.get("state", asked["state"]), "iss": self.url}
        if "error" in self.faults:
            said["error"] = self.faults["error"]
        else:
            said["code"] = secrets.token_urlsafe(16)
            self.codes[said["code"]] = asked
        mark = "#" if asked.get("response_mode") == "fragment" else "?"
        return f"{asked['redirect_uri']}{mark}{urlencode(said)}"

    def exchange(self, sent: Mapping[str, str]) -> tuple[int, dict[str, Any]]:
        """The tokens for a code, to whoever knows what its challenge was made of."""
        asked = self.codes.pop(sent["code"], None)
        challenge = encoded(hashlib.sha256(sent["code_verifier"].encode()).digest())
        same = ("client_id", "redirect_uri")
        if asked is None or challenge != asked["code_challenge"] or any(sent[name] != asked[name] for name in same):
            return 400, {"error": "invalid_grant"}
        now = int(time.time()) + (_SKEW_SECONDS if "skew" in self.faults else 0)
        changes = {"iss": self.url, "iat": now, "nbf": now, "exp": now + self.faults.get("seconds", 600)}
        access = claims(self.organisation, **(changes | self.faults.get("claims", {})))
        nonce = self.faults.get("nonce", asked["nonce"])
        identity = {**changes, "aud": CLIENT, "sub": "ada", "nonce": nonce}
        key = rsa_key()
        return 200, {
            "token_type": "Bearer",
            "access_token": signed(access, key, {"typ": "at+jwt"}),
            "id_token": signed(identity, key),
            "expires_in": self.faults.get("seconds", 600),
        }


@contextmanager
def serving(organisation: object) -> Iterator[IssuerStub]:
    """The issuer, for people of that organisation."""
    stub = IssuerStub(organisation)
    with serving_http(_handler(stub)) as stub.url:
        yield stub


def _page(words: str, link: str, label: str) -> str:
    return f'<!doctype html><title>{words}</title><h1>{words}</h1><a href="{html.escape(link)}">{label}</a>'


def _handler(stub: IssuerStub) -> Callable[..., BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, asked = urlsplit(self.path).path, dict(parse_qsl(urlsplit(self.path).query))
            if stub.faults.get("down") == path:
                self._send(503, b"", "text/plain", None)
            elif path == "/.well-known/openid-configuration":
                self._json(200, stub.describe())
            elif path == "/keys":
                self._json(200, {"keys": [rsa_key().public]})
            elif path == "/authorize":
                words = "Who are you?" if asked.get("prompt") == "login" else "Example Works"
                self._html(_page(words, stub.authorize(asked), "Go on as Ada"))
            elif path == "/sign-out" and asked["client_id"] == CLIENT:
                self._html(_page("You left", asked["post_logout_redirect_uri"], "Back"))
            else:
                self._send(404, b"", "text/plain", None)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            if self.path == "/faults":
                stub.faults = json.loads(body)
                self._json(200, {})
            elif stub.faults.get("down") == self.path:
                self._send(503, b"", "text/plain", None)
            else:
                self._json(*stub.exchange(dict(parse_qsl(body))))

        def _json(self, status: int, body: Mapping[str, Any]) -> None:
            # The page's own origin only, as an issuer lets the origins of a registered client.
            self._send(status, json.dumps(body).encode(), "application/json", self.headers.get("origin"))

        def _html(self, text: str) -> None:
            self._send(200, text.encode(), "text/html; charset=utf-8", None)

        def _send(self, status: int, body: bytes, media: str, origin: str | None) -> None:
            self.send_response(status)
            if origin is not None:
                self.send_header("access-control-allow-origin", origin)
            self.send_header("content-type", media)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    return Handler

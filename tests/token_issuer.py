"""An issuer of tokens for tests: keys of each kind, tokens of every shape, and its key set on loopback."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from http.server import BaseHTTPRequestHandler
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from tests.loopback_http import serving_http

ISSUER = "https://issuer.test"
AUDIENCE = "agentic-rag"


def encoded(value: bytes | Mapping[str, Any]) -> str:
    """A segment of a token."""
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


@dataclass(frozen=True)
class SigningKey:
    """A private key, what verifies it, and its name in the key set."""

    key_id: str
    algorithm: str
    private: Any
    public: Mapping[str, Any]


def _published(described: str, key_id: str, algorithm: str) -> dict[str, Any]:
    return {**json.loads(described), "kid": key_id, "use": "sig", "alg": algorithm}


@lru_cache
def rsa_key(key_id: str = "rsa-1", bits: int = 2048) -> SigningKey:
    private = rsa.generate_private_key(public_exponent=65537, key_size=bits)
    return SigningKey(key_id, "RS256", private, _published(RSAAlgorithm.to_jwk(private.public_key()), key_id, "RS256"))


@lru_cache
def ec_key(key_id: str = "ec-1") -> SigningKey:
    private = ec.generate_private_key(ec.SECP256R1())
    return SigningKey(key_id, "ES256", private, _published(ECAlgorithm.to_jwk(private.public_key()), key_id, "ES256"))


@lru_cache
def ed_key(key_id: str = "ed-1") -> SigningKey:
    private = ed25519.Ed25519PrivateKey.generate()
    return SigningKey(key_id, "EdDSA", private, _published(OKPAlgorithm.to_jwk(private.public_key()), key_id, "EdDSA"))


def claims(organisation: object, /, **changes: Any) -> dict[str, Any]:
    """What a good token says; a change of None leaves the claim out."""
    now = int(time.time())
    said: dict[str, Any] = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "ada",
        "org_id": str(organisation),
        "role": "member",
        "groups": ["engineering"],
        "iat": now,
        "exp": now + 600,
    }
    return {name: value for name, value in (said | changes).items() if value is not None}


def signed(
    said: Mapping[str, Any],
    key: SigningKey,
    header: Mapping[str, Any] | None = None,
    *,
    algorithm: str | None = None,
    with_key: Any = None,
) -> str:
    """A token; `with_key` signs in the name of `key`."""
    return jwt.encode(
        dict(said),
        with_key if with_key is not None else key.private,
        algorithm or key.algorithm,
        {"kid": key.key_id, **(header or {})},
    )


@dataclass
class Issuer:
    """A key set that a test changes while it is served."""

    keys: list[Mapping[str, Any]] = field(default_factory=list)
    body: bytes | None = None
    status: int = 200
    fetches: int = 0
    others: list[str] = field(default_factory=list)
    """Every other path that somebody asked for."""
    url: str = ""

    def answer(self) -> bytes:
        return self.body if self.body is not None else json.dumps({"keys": self.keys}).encode()


@contextmanager
def serving(*keys: SigningKey) -> Iterator[Issuer]:
    """The issuer's key set on loopback."""
    issuer = Issuer([key.public for key in keys])
    with serving_http(_handler(issuer)) as address:
        issuer.url = f"{address}/keys"
        yield issuer


def _handler(issuer: Issuer) -> Callable[..., BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/keys":
                issuer.fetches += 1
            else:
                issuer.others.append(self.path)
            body = issuer.answer()
            self.send_response(issuer.status)
            self.send_header("location", f"http://127.0.0.1:{self.server.server_port}/elsewhere")  # type: ignore[attr-defined]
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    return Handler

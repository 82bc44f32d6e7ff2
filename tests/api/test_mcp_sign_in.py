"""The official MCP client signs in at an issuer: metadata, registration, PKCE and resource indicators (RFC 9728, 8414,
7591, 7636, 8707), over a stub of the issuer that checks what the protocol asks of it.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from uuid import UUID

import httpx2
import pytest
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

from agentic_rag.adapters.jwt.http import KeySetClient
from agentic_rag.adapters.jwt.identity import TokenIdentity
from agentic_rag.adapters.jwt.key_sets import KeySetLifetimes, RemoteKeySet
from agentic_rag.adapters.jwt.verifier import TokenRules, TokenVerifier
from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.tenancy.token_claims import ClaimNames
from agentic_rag_server.app import build_app
from agentic_rag_server.graphql.schema import build_schema
from agentic_rag_server.parts import ServerOptions
from tests.api.builders import ORG
from tests.api.test_mcp import McpContainer
from tests.memory_store.telemetry import RecordingTelemetry
from tests.token_issuer import ISSUER, claims, encoded, rsa_key, serving, signed

SITE = "http://127.0.0.1:8080"
RESOURCE = f"{SITE}/mcp"
REDIRECT = "http://localhost:3030/callback"
SCHEMA = build_schema()


@dataclass
class Directory:
    """One organisation."""

    async def find(self, reference: str) -> UUID | None:
        return ORG if reference == str(ORG) else None


@dataclass
class Memory:
    """What the client remembers."""

    tokens: OAuthToken | None = None
    info: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.info

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.info = client_info


@dataclass
class AuthorizationServer(httpx2.AsyncBaseTransport):
    """Answers for the issuer; everything else goes to the product. `audience` is that of its tokens; None: the resource
    that was asked for.
    """

    product: httpx2.AsyncBaseTransport
    audience: str | None = None
    codes: dict[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    challenges: list[str] = field(default_factory=list[str])
    answer: AuthorizationCodeResult | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if str(request.url).startswith(SITE):
            response = await self.product.handle_async_request(request)
            if response.status_code == 401:
                self.challenges.append(response.headers["www-authenticate"])
            return response
        body = await request.aread()
        match request.method, request.url.path:
            case "GET", "/.well-known/oauth-authorization-server":
                return httpx2.Response(200, json=self._described())
            case "POST", "/register":
                return httpx2.Response(201, json={**json.loads(body), "client_id": "host-1"})
            case "POST", "/token":
                status, said = self._exchange(dict(parse_qsl(body.decode())))
                return httpx2.Response(status, json=said)
        return httpx2.Response(404)

    async def authorize(self, address: str) -> None:
        """What the browser of a person who agrees does."""
        asked = dict(parse_qsl(urlsplit(address).query))
        assert address.startswith(f"{ISSUER}/authorize?")
        assert (asked["resource"], asked["code_challenge_method"]) == (RESOURCE, "S256")
        assert asked["scope"].split() == ["openid", "documents.read"]
        code = secrets.token_urlsafe(16)
        self.codes[code] = asked
        self.answer = AuthorizationCodeResult(code=code, state=asked["state"], iss=ISSUER)

    async def answered(self) -> AuthorizationCodeResult:
        assert self.answer is not None
        return self.answer

    def _described(self) -> dict[str, Any]:
        return {
            "issuer": ISSUER,
            "authorization_endpoint": f"{ISSUER}/authorize",
            "token_endpoint": f"{ISSUER}/token",
            "registration_endpoint": f"{ISSUER}/register",
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
        }

    def _exchange(self, sent: Mapping[str, str]) -> tuple[int, dict[str, Any]]:
        asked = self.codes.pop(sent["code"])
        verified = encoded(hashlib.sha256(sent["code_verifier"].encode()).digest()) == asked["code_challenge"]
        if not verified or sent["resource"] != asked["resource"]:
            return 400, {"error": "invalid_grant"}
        token = signed(claims(ORG, aud=self.audience or sent["resource"], role="viewer"), rsa_key(), {"typ": "at+jwt"})
        return 200, {"access_token": token, "token_type": "Bearer", "expires_in": 600}


@asynccontextmanager
async def signing_in(audience: str | None = None) -> AsyncIterator[tuple[AuthorizationServer, OAuthClientProvider]]:
    """A server that takes the issuer's tokens for its MCP endpoint, and a client that has none yet."""
    with serving(rsa_key()) as issuer:
        source = KeySetClient(issuer.url, timeout_seconds=5.0)
        keys = RemoteKeySet(source.fetch, SystemClock(), RecordingTelemetry(), KeySetLifetimes(), source.aclose)
        verifier = TokenVerifier(keys, TokenRules(ISSUER, RESOURCE))
        identity: Any = TokenIdentity(verifier, Directory(), ClaimNames(), SystemClock())
        options = ServerOptions(enabled=True, issuer=ISSUER, sign_in_scope="openid documents.read")
        product = McpContainer(options=options, identity=identity)
        world = AuthorizationServer(httpx2.ASGITransport(app=build_app(product, SCHEMA)), audience)
        known = OAuthClientMetadata(redirect_uris=[REDIRECT], client_name="A host")  # type: ignore[list-item]
        yield (
            world,
            OAuthClientProvider(f"{RESOURCE}?workspace=handbook", known, Memory(), world.authorize, world.answered),
        )
        await keys.aclose()


@pytest.mark.network
async def test_the_official_client_signs_in_and_calls_tools() -> None:
    async with (
        signing_in() as (world, sign_in),
        httpx2.AsyncClient(transport=world, auth=sign_in) as http,
        Client(streamable_http_client(f"{RESOURCE}?workspace=handbook", http_client=http)) as client,
    ):
        found = await client.call_tool("search", {"query": "valve"})

    assert not found.is_error
    assert found.structured_content is not None
    assert len(found.structured_content["results"]) == 1
    assert world.challenges
    assert "error=" not in world.challenges[0]
    assert world.codes == {}


@pytest.mark.network
@pytest.mark.parametrize("audience", ["https://other.example/mcp", SITE, "agentic-rag"])
async def test_a_token_for_another_resource_is_refused(audience: str) -> None:
    async with signing_in(audience) as (world, sign_in), httpx2.AsyncClient(transport=world, auth=sign_in) as http:
        refused = await http.post(f"{RESOURCE}?workspace=handbook", json={})

    assert refused.status_code == 401
    assert refused.json()["error"]["data"]["code"] == "UNAUTHENTICATED"
    assert 'error="invalid_token"' in world.challenges[-1]

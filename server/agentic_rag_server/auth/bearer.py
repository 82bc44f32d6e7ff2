"""Authenticates the bearer token of a request (RFC 6750 §2.1)."""

from __future__ import annotations

from starlette.requests import Request

from agentic_rag.kernel.errors import Unauthenticated
from agentic_rag.tenancy.ports import Identity
from agentic_rag.tenancy.principals import Principal

CHALLENGE = {"www-authenticate": 'Bearer realm="agentic-rag"'}
"""The header of every 401."""

MAX_TOKEN_CHARACTERS = 8192


async def principal_of(request: Request, identity: Identity) -> Principal:
    """The caller. Errors: `Unauthenticated` for a missing, malformed or invalid credential."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    token = token.strip()
    if not scheme:
        raise Unauthenticated("Send a token: `Authorization: Bearer …`.")
    if scheme.lower() != "bearer" or not token or len(token) > MAX_TOKEN_CHARACTERS:
        raise Unauthenticated("The Authorization header must be `Bearer` and a token.")
    return await identity.authenticate(token)


def address_of(request: Request) -> str:
    """The address of the peer: a proxy's where one stands in front."""
    return request.client.host if request.client else ""

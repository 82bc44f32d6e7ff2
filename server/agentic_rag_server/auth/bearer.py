"""Authenticates the bearer token of a request (RFC 6750 §2.1)."""

from __future__ import annotations

import re

from starlette.requests import HTTPConnection

from agentic_rag.kernel.errors import Unauthenticated
from agentic_rag.kernel.patience import ORDINARY_SECONDS, caller_waits
from agentic_rag.tenancy.ports import Identity
from agentic_rag.tenancy.principals import Principal

CHALLENGE = {"www-authenticate": 'Bearer realm="agentic-rag"'}
"""The header of every 401."""

MAX_TOKEN_CHARACTERS = 8192

WRONG_CREDENTIAL = 4403
"""The code of graphql-transport-ws that closes a connection whose credential is no good."""

_WAIT = re.compile(r"(?:^|[,;\s])wait=(\d{1,4})(?=$|[,;\s])", re.IGNORECASE)


async def principal_of(request: HTTPConnection, identity: Identity, seconds: float = ORDINARY_SECONDS) -> Principal:
    """The caller. `seconds` is how long the callers of this operation wait, where the request does not say it by
    `Prefer: wait=N` (RFC 7240 §4.3). Errors: `Unauthenticated` for a missing, malformed or invalid credential,
    `DependencyUnavailable` when Postgres answers nobody for a tenth of that time.
    """
    token = token_of(request)
    wait = _WAIT.search(request.headers.get("prefer", ""))
    with caller_waits(seconds if wait is None else min(ORDINARY_SECONDS, max(1.0, float(wait[1])))):
        return await identity.authenticate(token)


def token_of(request: HTTPConnection) -> str:
    """The token of the header. Errors: `Unauthenticated`."""
    return bearer_token(request.headers.get("authorization"))


def bearer_token(authorization: str | None) -> str:
    """The token of a credential as the header has it. Errors: `Unauthenticated`."""
    scheme, _, token = (authorization or "").partition(" ")
    token = token.strip()
    if not scheme:
        raise Unauthenticated("Send a token: `Authorization: Bearer …`.")
    if scheme.lower() != "bearer" or not token or len(token) > MAX_TOKEN_CHARACTERS:
        raise Unauthenticated("The Authorization header must be `Bearer` and a token.")
    return token


def address_of(request: HTTPConnection) -> str:
    """The address of the peer: a proxy's where one stands in front."""
    return request.client.host if request.client else ""

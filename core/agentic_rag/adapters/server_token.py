"""`tenancy.ports.Identity` for the token that the environment of a server holds."""

from __future__ import annotations

import hmac

from agentic_rag.adapters.jwt.verifier import is_token
from agentic_rag.kernel.errors import Misconfigured
from agentic_rag.tenancy.api_keys import PREFIX, token_hash
from agentic_rag.tenancy.ports import Identity
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, Principal, Role, SubjectKind

LEAST_CHARACTERS = 32
"""A random token of this length cannot be guessed."""

OPERATOR = Principal(DEFAULT_ORG_ID, "operator", Role.OPERATOR, kind=SubjectKind.SYSTEM, credential="server_token")
"""Who holds the token: an operator of the default organisation."""


class ServerToken:
    """Knows one token by its SHA-256, in memory only: it is worth nothing once the server runs without it."""

    def __init__(self, token: str, others: Identity) -> None:
        self._digest = token_hash(token)
        self._others = others

    async def authenticate(self, token: str) -> Principal:
        """The operator, or what the other identities say. Errors: theirs."""
        if hmac.compare_digest(token_hash(token), self._digest):
            return OPERATOR
        return await self._others.authenticate(token)


def opens_servers(token: str) -> bool:
    """Whether a server that finds this AGENTIC_RAG_TOKEN lets its holder in as the operator. The API key or the
    issuer's token of a client stays what it is. Errors: `Misconfigured` code TOKEN_TOO_SHORT.
    """
    if not token or token.startswith(PREFIX) or is_token(token):
        return False
    if len(token) < LEAST_CHARACTERS:
        raise Misconfigured(
            f"AGENTIC_RAG_TOKEN has {len(token)} characters; on a server it takes {LEAST_CHARACTERS} or more. Make one "
            "with `openssl rand -hex 32`, or unset it and use API keys.",
            code="TOKEN_TOO_SHORT",
        )
    return True

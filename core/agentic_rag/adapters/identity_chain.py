"""Which kind of credential a caller sent decides who verifies it."""

from __future__ import annotations

from agentic_rag.adapters.jwt.verifier import is_token
from agentic_rag.kernel.errors import Unauthenticated
from agentic_rag.tenancy.ports import Identity
from agentic_rag.tenancy.principals import Principal


class IdentityChain:
    """`tenancy.ports.Identity` over two others: tokens of an issuer by their form, everything else is an API key."""

    def __init__(self, keys: Identity, tokens: Identity | None) -> None:
        self._keys = keys
        self._tokens = tokens

    async def authenticate(self, token: str) -> Principal:
        """The principal of a valid credential. Errors: `Unauthenticated`, `DependencyUnavailable`."""
        if not is_token(token):
            return await self._keys.authenticate(token)
        if self._tokens is None:
            raise Unauthenticated("This server takes API keys only: no issuer of tokens is configured.")
        return await self._tokens.authenticate(token)

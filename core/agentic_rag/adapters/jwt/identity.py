"""`tenancy.ports.Identity` for tokens of an external issuer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentic_rag.adapters.jwt.verifier import TokenVerifier
from agentic_rag.adapters.verified_principals import VerifiedPrincipals
from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.errors import Unauthenticated
from agentic_rag.tenancy.api_keys import token_hash
from agentic_rag.tenancy.principals import MAX_NAME_CHARACTERS, Principal
from agentic_rag.tenancy.token_claims import ClaimNames, parse_identity
from agentic_rag.workspaces.ports import Organisations

MAX_SECONDS = 60.0
"""A withdrawn key or a removed organisation stays accepted for at most this long."""


class TokenIdentity:
    """Verifies tokens. A valid token is cached for at most a minute, never past its expiry."""

    def __init__(self, verifier: TokenVerifier, directory: Organisations, names: ClaimNames, clock: Clock) -> None:
        self._verifier = verifier
        self._directory = directory
        self._names = names
        self._clock = clock
        self._verified = VerifiedPrincipals(clock)

    async def authenticate(self, token: str) -> Principal:
        """The principal of a valid token. Errors: `Unauthenticated`, `DependencyUnavailable`."""
        digest = token_hash(token)
        known = self._verified.get(digest)
        if known is not None:
            return known
        claims = await self._verifier.verify(token)
        claimed = parse_identity(claims, self._names)
        org_id = await self._directory.find(claimed.organisation)
        if org_id is None:
            raise Unauthenticated("The token's organisation is not known here.")
        named = claims.get("jti")
        credential = f"token:{named[:MAX_NAME_CHARACTERS]}" if isinstance(named, str) else "token"
        principal = Principal(org_id, claimed.subject, claimed.role, claimed.groups, credential=credential)
        self._verified.put(digest, principal, min(MAX_SECONDS, self._seconds_to_expiry(claims)))
        return principal

    def _seconds_to_expiry(self, claims: Mapping[str, Any]) -> float:
        return float(claims["exp"]) - self._clock.now().timestamp()

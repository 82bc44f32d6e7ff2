"""Builds the verification of an issuer's tokens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import CoroutineType
from typing import Any

from agentic_rag.adapters.jwt.http import KeySetClient
from agentic_rag.adapters.jwt.identity import TokenIdentity
from agentic_rag.adapters.jwt.key_sets import KeySet, LocalSecret, RemoteKeySet
from agentic_rag.adapters.jwt.verifier import TokenRules, TokenVerifier
from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.tenancy.token_claims import LOCAL_AUDIENCE, LOCAL_ISSUER, ClaimNames
from agentic_rag.workspaces.ports import Organisations


@dataclass(frozen=True, slots=True)
class IssuerOptions:
    """The issuer: `jwks_url`, or a `secret` for development."""

    jwks_url: str = ""
    proxy: str | None = field(default=None, repr=False)
    """Through which `jwks_url` is asked."""
    secret: str = ""
    issuer: str = ""
    audience: str = ""
    leeway_seconds: float = 30.0

    @property
    def rules(self) -> TokenRules:
        """The claims that tokens must have."""
        return TokenRules(self.issuer or LOCAL_ISSUER, self.audience or LOCAL_AUDIENCE, self.leeway_seconds)


def token_identity(
    options: IssuerOptions,
    names: ClaimNames,
    directory: Organisations,
    clock: Clock,
    telemetry: Telemetry,
) -> tuple[TokenIdentity, Callable[[], CoroutineType[Any, Any, None]]]:
    """Returns the verifier of the issuer's tokens, and a function that closes its connections."""
    keys: KeySet
    if options.jwks_url:
        client = KeySetClient(options.jwks_url, proxy=options.proxy)
        keys = RemoteKeySet(client.fetch, clock, telemetry, close=client.aclose)
    else:
        keys = LocalSecret(options.secret.encode())

    return TokenIdentity(TokenVerifier(keys, options.rules), directory, names, clock), keys.aclose

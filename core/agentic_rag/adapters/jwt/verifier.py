"""Verifies that a token is genuine and intended for this service: format, signature, issuer, audience and times, in
this order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jwt

from agentic_rag.adapters.jwt.key_sets import KeySet
from agentic_rag.kernel.errors import Unauthenticated

FOREIGN_KEYS = ("jku", "jwk", "x5u", "x5c")
"""Header fields in which a token could supply or name its own verifying key. Tokens with any of them are rejected."""

TYPES = (None, "jwt", "at+jwt")
"""Accepted `typ` values of API tokens (RFC 7519, 5.1; RFC 9068, 2.1); others, such as `logout+jwt`, are rejected."""

MALFORMED: tuple[type[Exception], ...] = (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError)
"""Exceptions of parsing a malformed token; deep nesting and huge numbers can cause them too."""


@dataclass(frozen=True, slots=True)
class TokenRules:
    """The required issuer and audience."""

    issuer: str
    audience: str
    leeway_seconds: float = 30.0
    """Tolerated difference between the issuer's clock and the local one."""


def is_token(credential: str) -> bool:
    """Whether a credential has the form of a signed token (RFC 7515, 3.1); API keys have no dots."""
    return credential.count(".") == 2


class TokenVerifier:
    """Verifies one issuer's tokens."""

    def __init__(self, keys: KeySet, rules: TokenRules) -> None:
        self._keys = keys
        self._rules = rules

    async def verify(self, token: str) -> Mapping[str, Any]:
        """The claims of a valid token. Errors: `Unauthenticated`, `DependencyUnavailable` (dependency "jwks")."""
        header = _header(token)
        key_id = header.get("kid")
        key = await self._keys.key(key_id if isinstance(key_id, str) else None)
        if key is None:
            raise Unauthenticated("The token is signed by no key of the issuer.")
        if header.get("alg") != key.algorithm:
            raise Unauthenticated("The token is signed by another algorithm than its key is for.")
        try:
            return jwt.decode(
                token,
                key.key,
                algorithms=[key.algorithm],
                audience=self._rules.audience,
                issuer=self._rules.issuer,
                leeway=self._rules.leeway_seconds,
                options={"require": ["exp", "iss", "aud"], "enforce_minimum_key_length": True},
            )
        except jwt.ExpiredSignatureError as error:
            raise Unauthenticated("The token has expired.") from error
        except jwt.ImmatureSignatureError as error:
            raise Unauthenticated("The token is not valid yet.") from error
        except jwt.InvalidSignatureError as error:
            raise Unauthenticated("The token's signature does not match.") from error
        except (jwt.InvalidIssuerError, jwt.InvalidAudienceError) as error:
            raise Unauthenticated("The token was issued by or for somebody else.") from error
        except jwt.MissingRequiredClaimError as error:
            raise Unauthenticated(f"The token's claim `{error.claim}` is missing.") from error
        except MALFORMED as error:
            raise Unauthenticated("The token is malformed.") from error


def _header(token: str) -> Mapping[str, Any]:
    try:
        header: Mapping[str, Any] = jwt.get_unverified_header(token)
    except MALFORMED as error:
        raise Unauthenticated("The token is malformed.") from error
    if "crit" in header or header.get("b64") is not None:
        raise Unauthenticated("The token asks for an extension that is not understood here.")
    if any(field in header for field in FOREIGN_KEYS):
        raise Unauthenticated("The token brings or names its own key.")
    kind = header.get("typ")
    if (kind.lower() if isinstance(kind, str) else kind) not in TYPES:
        raise Unauthenticated("The token is of another type than those for calling an API.")
    return header

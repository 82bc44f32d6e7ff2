"""Settings of the tokens that callers bring."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated
from urllib.parse import urlsplit

from agentic_rag.settings.variable import Env, parse_pairs, split_list
from agentic_rag.tenancy.token_claims import ClaimNames
from agentic_rag.web.url_policy import is_loopback

MIN_SECRET_CHARACTERS = 32
"""RFC 7518, 3.2: a key of HS256 is no shorter than its hash."""

_CLAIMS = {"org": "organisation", "role": "role", "groups": "groups", "subject": "subject"}


def parse_claims(text: str) -> ClaimNames:
    """The claims of `org=org_id,role=role,groups=groups,subject=sub`. Errors: ValueError."""
    return ClaimNames(**{_CLAIMS[key]: name for key, name in parse_pairs(text, _CLAIMS).items()})


@dataclass(frozen=True, slots=True)
class Audience:
    """Whom the issuer's tokens are for, and as which client the console asks for one."""

    name: str = ""
    client: str = ""
    scope: str = "openid"
    """Separated by blanks; `openid` is always among them."""


def parse_audience(text: str) -> Audience:
    """The parts of `AUDIENCE,client=ID,scope=SCOPES`. Errors: ValueError."""
    name, *rest = split_list(text) or [""]
    if name.startswith(("client=", "scope=")):
        raise ValueError("expected the audience first: AUDIENCE,client=ID,scope=SCOPES")
    more = parse_pairs(",".join(rest), ("client", "scope"))
    scopes = more.get("scope", "").split()
    return Audience(name, more.get("client", name), " ".join(dict.fromkeys(["openid", *scopes])))


@dataclass(frozen=True, slots=True, kw_only=True)
class TenancyConfig:
    """The issuer of tokens and where its claims stand."""

    jwks_url: Annotated[str, Env("AGENTIC_RAG_JWKS_URL", is_url=True)] = ""
    """Where the issuer of tokens publishes its keys (RS256, ES256 or EdDSA); empty means API keys only."""
    jwt_issuer: Annotated[str, Env("AGENTIC_RAG_JWT_ISSUER")] = ""
    """What a token's `iss` must be; needed with AGENTIC_RAG_JWKS_URL."""
    jwt_audience: Annotated[str, Env("AGENTIC_RAG_JWT_AUDIENCE", check=parse_audience)] = ""
    """What a token's `aud` must be or contain; needed with AGENTIC_RAG_JWKS_URL. `AUDIENCE,client=ID,scope=SCOPES`
    names also the issuer's client as which people sign in to the console (without it: the audience), and what it asks
    for beside `openid`.
    """
    jwt_claims: Annotated[str, Env("AGENTIC_RAG_JWT_CLAIMS", check=parse_claims)] = (
        "org=org_id,role=role,groups=groups,subject=sub"
    )
    """Claims of a token: `org` names the organisation, by our id or by the one of `rag tenant create --external-ref`;
    `role` holds the role, or roles of which the strongest known counts (without it: viewer); `groups` the caller's
    groups, as documents name them; `subject` the caller. A claim that is left out keeps its default; dots lead into a
    claim.
    """
    jwt_secret: Annotated[str, Env("AGENTIC_RAG_JWT_SECRET", is_secret=True)] = field(default="", repr=False)
    """Secret of HS256 tokens, for development: taken only by a server that listens on loopback. `rag up` and `rag
    serve` make one in HOME for `rag token dev`.
    """

    @property
    def claims(self) -> ClaimNames:
        """AGENTIC_RAG_JWT_CLAIMS, parsed."""
        return parse_claims(self.jwt_claims)

    @property
    def audience(self) -> Audience:
        """AGENTIC_RAG_JWT_AUDIENCE, parsed."""
        return parse_audience(self.jwt_audience)

    def problems(self, *, is_production: bool, is_local: bool) -> list[str]:
        """Settings that contradict each other, a line each."""
        return self._issuer_problems() + (self._secret_problems(is_production, is_local) if self.jwt_secret else [])

    def _issuer_problems(self) -> list[str]:
        problems: list[str] = []
        parts = urlsplit(self.jwks_url)
        if not self.jwks_url:
            return problems
        if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname or "")):
            problems.append("AGENTIC_RAG_JWKS_URL must begin with https:// (http:// only on loopback)")
        if not self.jwt_issuer or not self.jwt_audience:
            problems.append("AGENTIC_RAG_JWKS_URL needs AGENTIC_RAG_JWT_ISSUER and AGENTIC_RAG_JWT_AUDIENCE")
        return problems

    def _secret_problems(self, is_production: bool, is_local: bool) -> list[str]:
        development = "AGENTIC_RAG_JWT_SECRET is for development"
        problems: list[str] = []
        if self.jwks_url:
            problems.append(f"{development}: unset it where AGENTIC_RAG_JWKS_URL is set")
        if len(self.jwt_secret) < MIN_SECRET_CHARACTERS:
            problems.append(f"AGENTIC_RAG_JWT_SECRET must have at least {MIN_SECRET_CHARACTERS} characters")
        if is_production:
            problems.append(f"{development}: unset it where AGENTIC_RAG_PROFILE=production")
        if not is_local:
            problems.append(f"{development}: AGENTIC_RAG_HOST must be a loopback address")
        return problems

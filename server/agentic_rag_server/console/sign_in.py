"""Sign-in without typing a token: `rag up` prints a link whose fragment holds a code, and the page exchanges it.

A code is for a server on loopback that takes development tokens. It lives for ten minutes and is taken once, whichever
process takes it. Browsers do not send fragments, so no log of a server or proxy holds one.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable

import jwt
import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agentic_rag.kernel.errors import InvalidInput, NotFound, Unauthenticated
from agentic_rag.tenancy.ports import SpendCode
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, Role
from agentic_rag.tenancy.token_claims import LOCAL_AUDIENCE, LOCAL_ISSUER, ClaimNames
from agentic_rag_server.console.files import PATH
from agentic_rag_server.rest.http.models import NOT_STORED

CODE_SECONDS = 600
TOKEN_SECONDS = 12 * 3600
SUBJECT = "developer"

_CODE_AUDIENCE = "agentic-rag-console"
_ALGORITHM = "HS256"
_MOST_BYTES = 4096


def make_code(secret: str, now: float | None = None) -> str:
    """A code that the server with this secret takes once within ten minutes. `now`: seconds since 1970."""
    began = int(time.time() if now is None else now)
    claims = {"aud": _CODE_AUDIENCE, "exp": began + CODE_SECONDS, "iat": began, "jti": secrets.token_urlsafe(16)}
    return jwt.encode(claims, secret, _ALGORITHM)


def sign_in_link(url: str, secret: str) -> str:
    """The address that opens the console of the server at `url` signed in."""
    return f"{url}{PATH}#sign-in={make_code(secret)}"


class SignIn:
    """Exchanges codes for development tokens of the strongest role, as whoever has the server's home makes them too."""

    def __init__(
        self,
        secret: str,
        names: ClaimNames,
        issuer: str,
        audience: str,
        spend: SpendCode,
        now: Callable[[], float] = time.time,
    ) -> None:
        """With an empty secret there are no codes."""
        self._secret = secret
        self._names = names
        self._issuer = issuer or LOCAL_ISSUER
        self._audience = audience or LOCAL_AUDIENCE
        self._now = now
        self._spend = spend

    def routes(self) -> list[Route]:
        """Where codes are exchanged."""
        return [Route(f"{PATH}/sign-in", self._serve, methods=["POST"])]

    async def exchange(self, code: str) -> str:
        """A token. Errors: `NotFound` where no codes are, `Unauthenticated` for one that is not valid any more,
        `DependencyUnavailable` where nobody can say whether it was taken.
        """
        if not self._secret:
            raise NotFound("This server makes no development tokens: paste the token of an API key or of the issuer.")
        spent = Unauthenticated(
            "The link was used already, or is older than ten minutes: `rag console` prints a new one.",
            code="LINK_SPENT",
        )
        try:
            claims = jwt.decode(
                code,
                self._secret,
                [_ALGORITHM],
                audience=_CODE_AUDIENCE,
                options={"require": ["exp", "jti"], "verify_exp": False, "verify_iat": False},
            )
        except jwt.InvalidTokenError as error:
            raise spent from error
        now, name, end = self._now(), str(claims["jti"]), float(claims["exp"])
        if end <= now or not await self._spend(name, end - now):
            raise spent
        return self._token(int(now))

    def _token(self, now: int) -> str:
        said = {
            "iss": self._issuer,
            "aud": self._audience,
            "iat": now,
            "exp": now + TOKEN_SECONDS,
            "jti": secrets.token_urlsafe(8),
            self._names.subject: SUBJECT,
            self._names.organisation: str(DEFAULT_ORG_ID),
            self._names.role: Role.OPERATOR.value,
        }
        return jwt.encode(said, self._secret, _ALGORITHM)

    async def _serve(self, request: Request) -> Response:
        body = bytearray()
        async for piece in request.stream():
            body += piece
            if len(body) > _MOST_BYTES:
                raise InvalidInput("The code is too long.")
        try:
            code = orjson.loads(bytes(body))["code"]
        except (orjson.JSONDecodeError, KeyError, TypeError) as error:
            raise InvalidInput('Send {"code": "…"} as JSON.') from error
        if not isinstance(code, str):
            raise InvalidInput('Send {"code": "…"} as JSON.')
        return Response(
            orjson.dumps({"token": await self.exchange(code)}), media_type="application/json", headers=NOT_STORED
        )

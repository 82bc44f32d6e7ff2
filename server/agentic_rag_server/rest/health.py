"""`/healthz`: the process lives. `/readyz`: it can work, with one check per dependency. `/metrics`: Prometheus."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response

from agentic_rag.kernel.dependency import DATABASE_CHECK, OPTIONAL_FOR_SERVERS
from agentic_rag.kernel.errors import AgenticRagError, DependencyUnavailable, KeyUnknown, Unauthenticated
from agentic_rag.kernel.ttl_cache import TtlCache
from agentic_rag.tenancy.principals import Principal, SubjectKind
from agentic_rag_server.auth.bearer import principal_of, token_of
from agentic_rag_server.auth.roles import Action, authorise, can_perform
from agentic_rag_server.graphql.http.errors import report_internal
from agentic_rag_server.parts import DISABLED_MESSAGE, ServerParts
from agentic_rag_server.rest.http.models import NOT_STORED, Model, answer
from agentic_rag_server.rest.http.operations import Endpoint, ResponseSpec, operation

OK = "ok"
DEGRADED = "degraded"
FAILED = "failed"
READY = "ready"

FRESH_SECONDS = 1.0
"""How long an answer of /readyz holds for everybody, since each one asks every dependency."""

REMEMBERED_SECONDS = 3600.0
"""How long a credential that was taken for figures is taken on while the store of keys does not answer: an outage is
when they are looked at.
"""

RECENT_SECONDS = 300.0
"""How long before the outage, at most, that credential was established: of one that was revoked since, only the store
of keys knows.
"""

TOKEN_SECONDS = 60.0
"""How long an issuer's token may be known without a question to the database, at most."""

MOST_REMEMBERED = 16


class CheckResult(Model, frozen=True):
    """How one dependency stands: ok, degraded or failed; `code` and `remedy` are null when it is ok."""

    name: str
    status: str
    code: str | None
    remedy: str | None


class Live(Model, frozen=True):
    """The process lives."""

    status: str


class Readiness(Model, frozen=True):
    """Whether the process can work: ready or not_ready."""

    status: str
    checks: list[CheckResult]


class HealthEndpoints(Endpoint):
    """Answers without naming hosts or tenants, and without credentials unless `figures_take_a_token`."""

    tag = "health"

    def __init__(self, parts: ServerParts) -> None:
        super().__init__(parts)
        self._readiness: TtlCache[str, Readiness] = TtlCache(self._look, parts.clock, seconds=FRESH_SECONDS, most=1)
        self._readers: dict[bytes, tuple[Principal, float]] = {}
        """Who may see figures, by the digest of their token, and when that was last established."""
        self._away_since: float | None = None
        """When the store of keys was first found not to answer, in the outage that is known."""
        self._away_seen = 0.0
        """When it was last found so."""

    @operation(
        "GET",
        "/healthz",
        "healthz",
        summary="The process lives",
        answers=(ResponseSpec(200, "The event loop turns.", Live),),
        rule=None,
    )
    async def healthz(self, request: Request) -> Response:
        """Always 200."""
        return answer(Live(status=OK))

    @operation(
        "GET",
        "/readyz",
        "readyz",
        summary="The process can work",
        answers=(
            ResponseSpec(200, "It can.", Readiness),
            ResponseSpec(503, "It cannot; the checks say why.", Readiness),
        ),
        refusals=(401,),
        rule=None,
        description="In production the checks are shown to operators only.",
    )
    async def readyz(self, request: Request) -> Response:
        """503 when the product is off or a check fails that is none of `OPTIONAL_FOR_SERVERS`; else 200.

        Errors: `Unauthenticated` (a wrong credential).
        """
        body = await self._readiness.get("all")
        status = 200 if body.status == READY else 503
        if self._parts.options.figures_take_a_token:
            has_token = "authorization" in request.headers
            if not has_token or not can_perform(await self._caller(request), Action.SEE_FIGURES):
                body = Readiness(status=body.status, checks=[])
        return answer(body, status, NOT_STORED)

    async def _look(self, _: str, before: Readiness | None) -> Readiness:
        checks = self._parts.checks.items()
        results = await asyncio.gather(*(self._run(name, check) for name, check in checks))
        if not self._parts.options.enabled:
            results.append(_result("feature", FAILED, "FEATURE_DISABLED", DISABLED_MESSAGE))
        ready = all(result.status != FAILED for result in results)
        return Readiness(status=READY if ready else "not_ready", checks=results)

    @operation(
        "GET",
        "/metrics",
        "metrics",
        summary="Figures for Prometheus",
        answers=(ResponseSpec(200, "Prometheus text.", media_type="text/plain"),),
        refusals=(401, 403),
        rule=None,
        description="In production for operators only.",
    )
    async def metrics(self, request: Request) -> Response:
        """Prometheus text. Errors: `Unauthenticated`, `Forbidden`."""
        if self._parts.options.figures_take_a_token:
            authorise(await self._caller(request), Action.SEE_FIGURES)
        body, content_type = self._parts.telemetry.exposition()
        return Response(body, headers={"content-type": content_type})

    async def _caller(self, request: Request) -> Principal:
        """Errors: `Unauthenticated`, `DependencyUnavailable` where no such reader is remembered."""
        digest, now = hashlib.sha256(token_of(request).encode()).digest(), self._parts.clock.monotonic()
        try:
            caller = await principal_of(request, self._parts.identity)
        except DependencyUnavailable as error:
            # A token of an issuer that is away may have expired.
            if error.dependency != DATABASE_CHECK:
                raise
            if self._away_since is None:
                self._away_since = now
            self._away_seen = now
            caller, since = self._readers.get(digest, (None, 0.0))
            if caller is None or self._away_since - since > RECENT_SECONDS or now - since > REMEMBERED_SECONDS:
                raise
            return caller
        except Unauthenticated as error:
            if isinstance(error, KeyUnknown):
                self._away_since = None
            self._readers.pop(digest, None)
            raise
        is_token = caller.kind is SubjectKind.USER
        if caller.kind is SubjectKind.KEY or (is_token and now - self._away_seen > TOKEN_SECONDS):
            # The server's own token, and an issuer's that was just verified, are known without the database.
            self._away_since = None
        self._readers.pop(digest, None)
        if can_perform(caller, Action.SEE_FIGURES):
            self._readers[digest] = caller, now
            if len(self._readers) > MOST_REMEMBERED:
                del self._readers[next(iter(self._readers))]
        return caller

    async def _run(self, name: str, check: Callable[[], Awaitable[None]]) -> CheckResult:
        limit = self._parts.options.check_timeout_seconds
        failed = DEGRADED if name in OPTIONAL_FOR_SERVERS else FAILED
        try:
            async with asyncio.timeout(limit):
                await check()
        except TimeoutError:
            return _result(name, failed, "DEPENDENCY_UNAVAILABLE", f"No answer within {limit:g} s. Is it running?")
        except AgenticRagError as error:
            return _result(name, failed, error.code, error.message)
        except Exception as error:  # noqa: BLE001 - a check of any kind must not hide the others
            report_internal(error, self._parts.telemetry)
            return _result(name, failed, "INTERNAL", "The check itself failed; see the server's log.")
        return _result(name, OK)


def _result(name: str, status: str, code: str | None = None, remedy: str | None = None) -> CheckResult:
    return CheckResult(name=name, status=status, code=code, remedy=remedy)

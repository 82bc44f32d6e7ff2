"""`/healthz` says that the process lives; `/readyz` that it can work, dependency by dependency; `/metrics`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from agentic_rag.domain.errors import AgenticRagError
from agentic_rag_server.graphql.context import DISABLED_MESSAGE
from agentic_rag_server.graphql.errors import report_internal
from agentic_rag_server.wiring import ServerContainer

OK = "ok"
DEGRADED = "degraded"
FAILED = "failed"

OPTIONAL = frozenset({"neo4j"})
"""Dependencies without which answers go on, flagged."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """How one dependency stands. `code` and `remedy` are None when it is ok."""

    name: str
    status: str
    code: str | None = None
    remedy: str | None = None


class HealthEndpoints:
    """Answers without credentials and without naming hosts or tenants."""

    def __init__(self, container: ServerContainer) -> None:
        self._container = container

    async def healthz(self, request: Request) -> Response:
        """Always 200: the event loop turns."""
        return JSONResponse({"status": OK})

    async def readyz(self, request: Request) -> Response:
        """200 when every check passes and the product is switched on, else 503; what is `OPTIONAL` only shows."""
        checks = self._container.checks.items()
        results = await asyncio.gather(*(self._run(name, check) for name, check in checks))
        if not self._container.options.enabled:
            results.append(CheckResult("feature", FAILED, "FEATURE_DISABLED", DISABLED_MESSAGE))
        ready = all(result.status != FAILED for result in results)
        body = {"status": "ready" if ready else "not_ready", "checks": [asdict(result) for result in results]}
        return JSONResponse(body, 200 if ready else 503, {"cache-control": "no-store"})

    async def metrics(self, request: Request) -> Response:
        """Prometheus text."""
        body, content_type = self._container.telemetry.exposition()
        return Response(body, headers={"content-type": content_type})

    async def _run(self, name: str, check: Callable[[], Awaitable[None]]) -> CheckResult:
        limit = self._container.options.check_timeout_seconds
        failed = DEGRADED if name in OPTIONAL else FAILED
        try:
            async with asyncio.timeout(limit):
                await check()
        except TimeoutError:
            return CheckResult(name, failed, "DEPENDENCY_UNAVAILABLE", f"No answer within {limit:g} s. Is it running?")
        except AgenticRagError as error:
            return CheckResult(name, failed, error.code, error.message)
        except Exception as error:  # noqa: BLE001 - a check of any kind must not hide the others
            report_internal(error, self._container.telemetry)
            return CheckResult(name, failed, "INTERNAL", "The check itself failed; see the server's log.")
        return CheckResult(name, OK)

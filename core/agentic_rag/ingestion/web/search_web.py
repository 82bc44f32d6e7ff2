"""Searches the web for a workspace: policy, then budget, then the engine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter

from agentic_rag.answering.gate.policy import WebPolicy
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import AgenticRagError, FeatureDisabled, InvalidInput, PolicyRefused, no_such_workspace
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.models.billing.usage import UsageKind
from agentic_rag.models.billing.web_envelope import WebEnvelope, calls_left
from agentic_rag.tenancy.audit import AuditAction
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.tenancy.record_audit import audit
from agentic_rag.web.search import (
    MAX_QUERY_CHARACTERS,
    MAX_RESULTS,
    AskEngine,
    CallsLeft,
    SearchFilters,
    SearchRequest,
    SearchResponse,
    SearchResult,
    wanted_results,
)


@dataclass(frozen=True, slots=True)
class SearchEngine:
    """The engine that the operator named, and what bounds it."""

    name: str
    ask: AskEngine
    filters: SearchFilters = SearchFilters()
    """Whatever a request wants, results that these drop are dropped."""
    usd: float = 0.0
    """Price of one search."""


_REMEDIES = {
    "organisation": "The organisation has not switched web access on: `rag tenant set NAME --feature webAccess=on`.",
    "workspace": "The workspace has not switched web access on: `rag workspace web NAME --allow`.",
}


async def require_web(database: Database, telemetry: Telemetry, workspace: WorkspaceRef) -> None:
    """Errors: `PolicyRefused` code WEB_REFUSED where the organisation or the workspace does not allow the web, which
    is logged too; `NotFound`.
    """
    head = await database.head(workspace)
    if head is None:
        raise no_such_workspace()
    level = WebPolicy(head.organisation_allows_web, head.web.allow).refused_by
    if level is not None:
        telemetry.event("rag_web_refused", code="WEB_REFUSED", cause=level, reason=_REMEDIES[level])
        raise PolicyRefused(_REMEDIES[level], code="WEB_REFUSED")


@dataclass(frozen=True, slots=True)
class SearchWeb:
    """The use case behind `searchWeb`, and the search of a run."""

    database: Database
    envelope: WebEnvelope
    telemetry: Telemetry
    engine: SearchEngine | None = None

    async def run(self, workspace: WorkspaceRef, request: SearchRequest, actor: str | None = None) -> SearchResponse:
        """Search; for an `actor`, who is not a run, with an entry in the audit log.

        Errors: `FeatureDisabled` without an engine, `InvalidInput`, `PolicyRefused` code WEB_REFUSED, `BudgetExceeded`,
        and those of the engine. Refusals dial nothing.
        """
        engine = self.engine
        if engine is None:
            raise FeatureDisabled("No search engine is configured; AGENTIC_RAG_SEARCH names one.")
        query = " ".join(request.query.split())
        if not query:
            raise InvalidInput("The query is empty.", path=("query",))
        if not 1 <= request.top_k <= MAX_RESULTS:
            raise InvalidInput(f"`topK` takes 1 to {MAX_RESULTS}.", code="OPTION_OUT_OF_RANGE", path=("topK",))
        await require_web(self.database, self.telemetry, workspace)
        left = await self.envelope.reserve(workspace, UsageKind.SEARCH, engine.name, usd=engine.usd)
        if actor is not None:
            async with self.database.transaction(workspace.org_id) as transaction:
                act, key = AuditAction.SEARCH_WEB, workspace.workspace_id
                await audit(transaction, self.telemetry, act, workspace, key, actor, engine=engine.name)
        found = await self._ask(engine, replace(request, query=query[:MAX_QUERY_CHARACTERS]))
        budget = CallsLeft(calls_left(left, UsageKind.SEARCH), calls_left(left, UsageKind.PAGE), engine.usd)
        return SearchResponse(found, budget)

    async def _ask(self, engine: SearchEngine, request: SearchRequest) -> tuple[SearchResult, ...]:
        began = perf_counter()
        outcome = "ok"
        try:
            found = await engine.ask(request)
        except AgenticRagError as error:
            outcome = error.code
            self.telemetry.event("rag_search_failed", level="warning", code=error.code, engine=engine.name)
            raise
        finally:
            self.telemetry.count("rag_search_requests_total", outcome=outcome)
            self.telemetry.observe("rag_search_seconds", perf_counter() - began)
        return wanted_results(
            wanted_results(found, replace(request, filters=engine.filters, top_k=MAX_RESULTS)), request
        )

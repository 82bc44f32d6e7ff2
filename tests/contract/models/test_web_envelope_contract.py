"""On every store: a day's calls of the web never pass a ceiling, however many run beside each other."""

import asyncio
from dataclasses import replace

import pytest
from tests.contract.backends import Backend
from tests.memory_store.telemetry import RecordingTelemetry

from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.kernel.errors import BudgetExceeded, NotFound
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.models.billing.limits import SpendingLimits
from agentic_rag.models.billing.usage import UsageKind
from agentic_rag.models.billing.web_envelope import WebEnvelope, calls_left
from agentic_rag.tenancy.principals import WorkspaceRef

PARALLEL, CEILING = 32, 5


async def limit(adapter: Backend, workspace: WorkspaceRef, limits: SpendingLimits, *, all_of_it: bool = False) -> None:
    async with adapter.database.transaction(workspace.org_id) as transaction:
        if all_of_it:
            await transaction.organisations.change(lambda before: replace(before, budget=limits))
        else:
            await transaction.workspaces.change_settings(
                workspace.workspace_id, lambda before: replace(before, budget=limits)
            )


def envelope(adapter: Backend) -> WebEnvelope:
    return WebEnvelope(adapter.database, SystemClock(), RecordingTelemetry())


@pytest.mark.parametrize("all_of_it", [True, False])
async def test_parallel_runs_reserve_no_more_than_the_ceiling(adapter: Backend, all_of_it: bool) -> None:
    workspace = await adapter.workspace()
    await limit(adapter, workspace, SpendingLimits(day_searches=CEILING), all_of_it=all_of_it)
    web = envelope(adapter)

    ended = await asyncio.gather(
        *(web.reserve(workspace, UsageKind.SEARCH, "file") for _ in range(PARALLEL)), return_exceptions=True
    )

    refused = [one for one in ended if isinstance(one, BudgetExceeded)]
    assert (len(ended) - len(refused), {one.code for one in refused}) == (CEILING, {"WEB_BUDGET_SPENT"})
    found = await web.ceilings(workspace)
    assert calls_left(found, UsageKind.SEARCH) == 0
    assert calls_left(found, UsageKind.PAGE) == 10_000
    assert await web.share_left(workspace) == 0.0


async def test_that_most_of_a_ceiling_is_used_is_told_once_a_day_whichever_process_notices(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await limit(adapter, workspace, SpendingLimits(day_pages=5))
    telemetry = RecordingTelemetry()
    processes = [WebEnvelope(adapter.database, SystemClock(), telemetry) for _ in range(2)]

    told: list[int] = []
    for calls in range(5):
        await processes[calls % 2].reserve(workspace, UsageKind.PAGE, "web")
        await processes[0].reserve(workspace, UsageKind.SEARCH, "file")
        told.append(sum(event.name == "rag_budget_soft_limit" for event in telemetry.events))

    async with adapter.database.transaction(workspace.org_id) as transaction:
        logged = [one for one in (await transaction.audit.page(PageRequest(10))).items]
    assert told == [0, 0, 0, 1, 1]
    assert [(one.action, one.subject, one.detail["kind"], one.detail["calls"]) for one in logged] == [
        ("budget.soft_limit", str(workspace.workspace_id), "page", "4")
    ]


async def test_a_workspace_that_is_spent_leaves_the_others_alone(adapter: Backend) -> None:
    here = await adapter.workspace()
    there = await adapter.workspace(here.org_id)
    await limit(adapter, here, SpendingLimits(day_pages=2))
    web = envelope(adapter)

    await web.reserve(here, UsageKind.PAGE, "web", calls=2)
    with pytest.raises(BudgetExceeded):
        await web.reserve(here, UsageKind.PAGE, "web")
    left = await web.reserve(there, UsageKind.PAGE, "web", calls=3)

    assert calls_left(left, UsageKind.PAGE) == 9_995


async def test_the_price_of_a_search_counts_against_the_dollars(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await limit(adapter, workspace, SpendingLimits(day_usd=0.012), all_of_it=True)
    web = envelope(adapter)

    for _ in range(2):
        await web.reserve(workspace, UsageKind.SEARCH, "brave", usd=0.005)
    with pytest.raises(BudgetExceeded) as refused:
        await web.reserve(workspace, UsageKind.SEARCH, "brave", usd=0.005)

    assert refused.value.code == "BUDGET_EXCEEDED"
    async with adapter.database.transaction(workspace.org_id) as transaction:
        [line] = await transaction.usage.between(*[SystemClock().now().date()] * 2)
    assert (line.calls, line.key.kind, line.cost_usd) == (2, "search", 0.01)


async def test_there_is_no_envelope_of_a_workspace_that_is_not_there(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    stranger = WorkspaceRef(workspace.org_id, workspace.org_id)

    with pytest.raises(NotFound):
        await envelope(adapter).reserve(stranger, UsageKind.SEARCH, "file")

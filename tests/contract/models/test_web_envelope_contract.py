"""On every store: a day's calls of the web never pass a ceiling, however many run beside each other."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from tests.contract.backends import Backend
from tests.contract.jobs.test_job_store_contract import board_of
from tests.memory_store.telemetry import RecordingTelemetry

from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.kernel.errors import BudgetExceeded, NotFound
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.models.billing.limits import SpendingLimits
from agentic_rag.models.billing.usage import UsageKey, UsageKind, UsageLine
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
    assert await web.share_left(workspace, frozenset()) == 0.0


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


@pytest.mark.parametrize("all_of_it", [True, False])
async def test_that_searches_cost_most_of_the_dollars_is_told_once_a_day(adapter: Backend, all_of_it: bool) -> None:
    workspace = await adapter.workspace()
    limits = SpendingLimits(day_usd=1.25, month_usd=9.0, day_chat_usd=0.25)
    await limit(adapter, workspace, limits, all_of_it=all_of_it)
    telemetry = RecordingTelemetry()
    processes = [WebEnvelope(adapter.database, SystemClock(), telemetry) for _ in range(2)]

    told: list[int] = []
    for calls in range(5):
        await processes[calls % 2].reserve(workspace, UsageKind.SEARCH, "brave", usd=0.25)
        told.append(sum(event.name == "rag_budget_soft_limit" for event in telemetry.events))

    async with adapter.database.transaction(workspace.org_id) as transaction:
        logged = [one for one in (await transaction.audit.page(PageRequest(10))).items]
    assert told == [0, 0, 0, 1, 1]
    scope = workspace.org_id if all_of_it else workspace.workspace_id
    assert [(one.action, one.subject, one.detail["period"], one.detail["spent_usd"]) for one in logged] == [
        ("budget.soft_limit", str(scope), "day", "1")
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
    telemetry = RecordingTelemetry()
    web = WebEnvelope(adapter.database, SystemClock(), telemetry)

    for _ in range(2):
        await web.reserve(workspace, UsageKind.SEARCH, "brave", usd=0.005)
    with pytest.raises(BudgetExceeded) as refused:
        await web.reserve(workspace, UsageKind.SEARCH, "brave", usd=0.005)

    assert refused.value.code == "BUDGET_EXCEEDED"
    async with adapter.database.transaction(workspace.org_id) as transaction:
        [line] = await transaction.usage.between(*[SystemClock().now().date()] * 2)
    assert (line.calls, line.key.kind, line.cost_usd) == (2, "search", 0.01)
    spent = [value for (name, _), value in telemetry.counters.items() if name == "rag_web_cost_usd_total"]
    assert spent == [0.01]


@pytest.mark.parametrize("all_of_it", [True, False])
@pytest.mark.parametrize(
    ("limits", "left"),
    [
        (SpendingLimits(day_usd=4.0), 0.75),
        (SpendingLimits(month_usd=2.0), 0.5),
        (SpendingLimits(day_usd=4.0, month_usd=2.0), 0.5),
        (SpendingLimits(day_usd=1.0), 0.0),
        (SpendingLimits(day_usd=0.5), 0.0),
        (SpendingLimits(day_usd=0.0), 0.0),
        (SpendingLimits(day_usd=4.0, day_searches=0), 0.0),
    ],
)
async def test_what_models_spent_leaves_less_for_looking_outside(
    adapter: Backend, limits: SpendingLimits, left: float, all_of_it: bool
) -> None:
    workspace = await adapter.workspace()
    await limit(adapter, workspace, limits, all_of_it=all_of_it)
    key = UsageKey(workspace.workspace_id, SystemClock().now().date(), "chat", "openai", "gpt", own_key=False)
    async with adapter.database.transaction(workspace.org_id) as transaction:
        await transaction.usage.add([UsageLine(key, 1, 10, 10, 1.0, 0)])

    web = envelope(adapter)
    assert await web.share_left(workspace, frozenset({UsageKind.SEARCH})) == left
    assert await web.share_left(workspace, frozenset()) == (0.0 if limits.day_searches == 0 else 1.0)


@pytest.mark.parametrize("all_of_it", [True, False])
async def test_a_ceiling_of_one_kind_bounds_what_costs_that_kind(adapter: Backend, all_of_it: bool) -> None:
    workspace = await adapter.workspace()
    await limit(adapter, workspace, SpendingLimits(day_chat_usd=1.0, day_embedding_usd=4.0), all_of_it=all_of_it)
    key = UsageKey(workspace.workspace_id, SystemClock().now().date(), "embedding", "openai", "small", own_key=False)
    async with adapter.database.transaction(workspace.org_id) as transaction:
        await transaction.usage.add([UsageLine(key, 1, 10, 0, 3.0, 0)])
        await transaction.usage.add([UsageLine(replace(key, kind="chat"), 1, 10, 10, 2.0, 0)])

    web = envelope(adapter)
    left = {kind: await web.share_left(workspace, frozenset({kind})) for kind in UsageKind}
    assert left == {
        UsageKind.EMBEDDING: 0.25, UsageKind.CHAT: 0.0, UsageKind.SEARCH: 1.0, UsageKind.PAGE: 1.0,
    }  # fmt: skip
    await web.reserve(workspace, UsageKind.SEARCH, "brave", usd=0.005)


async def test_the_metrics_show_the_ceiling_that_is_used_most(adapter: Backend) -> None:
    """Other tests use ceilings in the same database, none of them a million times over."""
    today = SystemClock().now().date()
    for dollars, all_of_it in ((2e6, True), (6e6, False)):
        workspace = await adapter.workspace()
        limits = SpendingLimits(day_usd=1.0, month_usd=2.0, day_pages=4, day_searches=0)
        await limit(adapter, workspace, limits, all_of_it=all_of_it)
        key = UsageKey(workspace.workspace_id, today, "page", "web", "web", own_key=False)
        earlier = replace(key, day=today - timedelta(days=40))
        async with adapter.database.transaction(workspace.org_id) as transaction:
            await transaction.usage.add([UsageLine(one, int(dollars), 0, 0, dollars, 0) for one in (key, earlier)])
    async with board_of(adapter) as board:
        found = await board.budget_shares()

    shares = {of: share for of, share in found.items() if of[1] in ("day_usd", "month_usd")}
    assert shares == {
        ("organisation", "day_usd"): 2e6, ("organisation", "month_usd"): 1e6,
        ("workspace", "day_usd"): 6e6, ("workspace", "month_usd"): 3e6,
    }  # fmt: skip
    # What the second organisation states none of has a ceiling too.
    assert found["organisation", "day_pages"] == 5e5
    assert found["workspace", "day_pages"] == 1.5e6
    assert found.get(("workspace", "day_searches"), 0.0) <= 1.0


async def test_the_metrics_show_the_ceilings_of_embedding_and_of_chat_models(adapter: Backend) -> None:
    today = SystemClock().now().date()
    for factor, all_of_it in ((1e6, True), (3e6, False)):
        workspace = await adapter.workspace()
        await limit(adapter, workspace, SpendingLimits(day_embedding_usd=2.0, day_chat_usd=0.5), all_of_it=all_of_it)
        key = UsageKey(workspace.workspace_id, today, "embedding", "openai", "small", own_key=False)
        yesterday = replace(key, day=today - timedelta(days=1))
        async with adapter.database.transaction(workspace.org_id) as transaction:
            await transaction.usage.add(
                [
                    UsageLine(key, 1, 10, 0, 2.0 * factor, 0),
                    UsageLine(yesterday, 1, 10, 0, 2.0 * factor, 0),
                    UsageLine(replace(key, kind="chat"), 1, 10, 10, 2.5 * factor, 0),
                    UsageLine(replace(key, kind="search"), 1, 0, 0, 2.0 * factor, 0),
                ]
            )
    async with board_of(adapter) as board:
        found = await board.budget_shares()

    shares = {of: share for of, share in found.items() if of[1] in ("day_embedding_usd", "day_chat_usd")}
    assert shares == {
        ("organisation", "day_embedding_usd"): 1e6, ("organisation", "day_chat_usd"): 5e6,
        ("workspace", "day_embedding_usd"): 3e6, ("workspace", "day_chat_usd"): 15e6,
    }  # fmt: skip


async def test_there_is_no_envelope_of_a_workspace_that_is_not_there(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    stranger = WorkspaceRef(workspace.org_id, workspace.org_id)

    with pytest.raises(NotFound):
        await envelope(adapter).reserve(stranger, UsageKind.SEARCH, "file")

"""Ceilings on spending, for calls side by side."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import date
from uuid import uuid4

import pytest
from tests.memory_store.session.database import MemoryDatabase
from tests.memory_store.session.store import MemoryStore
from tests.memory_store.telemetry import RecordingTelemetry

from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.kernel.errors import BudgetExceeded
from agentic_rag.models.billing.budget_alerts import BudgetAlerts
from agentic_rag.models.billing.enforce_budgets import EnforceBudgets
from agentic_rag.models.billing.limits import SpendingLimits
from agentic_rag.models.billing.usage import Charge, UsageKind
from agentic_rag.models.billing.usage_ledger import UsageLedger
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.settings import WorkspaceSettings
from agentic_rag.workspaces.workspace import WorkspaceKind

CHAT = UsageKind.CHAT


@dataclass(frozen=True, slots=True)
class Purse:
    """A workspace with a ceiling of a dollar a day."""

    workspace: WorkspaceRef
    ledger: UsageLedger
    budgets: EnforceBudgets
    day: date
    of_processes: Callable[[int], EnforceBudgets]
    limit: Callable[[SpendingLimits], Awaitable[None]]


@pytest.fixture
async def purse() -> AsyncIterator[Purse]:
    store = MemoryStore(SystemClock())
    database, telemetry = MemoryDatabase(store), RecordingTelemetry()
    ledger, alerts = UsageLedger(database, telemetry), BudgetAlerts(database, telemetry)
    workspace = WorkspaceRef(uuid4(), uuid4())
    settings = WorkspaceSettings(budget=SpendingLimits(day_usd=1.0))
    async with database.transaction(workspace.org_id) as transaction:
        await transaction.workspaces.create(workspace.workspace_id, "w", WorkspaceKind.GENERAL, None, settings)

    async def limit(limits: SpendingLimits) -> None:
        async with database.transaction(workspace.org_id) as transaction:
            await transaction.workspaces.change_settings(
                workspace.workspace_id, lambda before: replace(before, budget=limits)
            )

    def of_processes(number: int) -> EnforceBudgets:
        return EnforceBudgets(database, ledger, store.clock, alerts, number)

    yield Purse(workspace, ledger, of_processes(1), store.clock.now().date(), of_processes, limit)
    await ledger.aclose()
    await alerts.aclose()


async def test_calls_side_by_side_do_not_pass_a_ceiling_together_and_give_back_what_they_did_not_spend(
    purse: Purse,
) -> None:
    asked, may_end = asyncio.Barrier(3), asyncio.Event()

    async def call(spent: float) -> None:
        async with purse.budgets.hold(purse.workspace, 0.4, CHAT):
            await asked.wait()
            await may_end.wait()
            purse.ledger.note(_charge(purse.workspace, purse.day, spent))

    calls = [asyncio.create_task(call(spent)) for spent in (0.1, 0.2)]
    await asked.wait()
    with pytest.raises(BudgetExceeded) as refused:
        await purse.budgets.admit(purse.workspace, 0.4, CHAT)
    may_end.set()
    await asyncio.gather(*calls)

    assert refused.value.spent_usd == pytest.approx(0.8)
    await purse.budgets.admit(purse.workspace, 0.4, CHAT)
    with pytest.raises(BudgetExceeded):
        await purse.budgets.admit(purse.workspace, 0.8, CHAT)


async def test_processes_side_by_side_do_not_pass_a_ceiling_together(purse: Purse) -> None:
    """What is under way in one may be under way in each."""
    budgets = purse.of_processes(2)

    async with budgets.hold(purse.workspace, 0.4, CHAT):
        with pytest.raises(BudgetExceeded) as refused:
            await budgets.admit(purse.workspace, 0.4, CHAT)

    assert refused.value.spent_usd == pytest.approx(0.8)
    await budgets.admit(purse.workspace, 0.4, CHAT)


@pytest.mark.parametrize("usd", [None, 0.0, 0.3])
async def test_calls_side_by_side_end_whatever_they_cost(purse: Purse, usd: float | None) -> None:
    async with AsyncExitStack() as calls:
        for _ in range(3):
            await calls.enter_async_context(purse.budgets.hold(purse.workspace, usd, CHAT))

    await purse.budgets.admit(purse.workspace, 1.0, CHAT)
    with pytest.raises(BudgetExceeded) as refused:
        await purse.budgets.admit(purse.workspace, 1.1, CHAT)
    assert refused.value.spent_usd == 0.0


OTHERS = {UsageKind.EMBEDDING: UsageKind.CHAT, UsageKind.CHAT: UsageKind.EMBEDDING}


@pytest.mark.parametrize("kind", OTHERS)
async def test_a_ceiling_of_one_kind_holds_its_calls_back_and_no_others(purse: Purse, kind: UsageKind) -> None:
    of_embedding, of_chat = (0.5, None) if kind is UsageKind.EMBEDDING else (None, 0.5)
    await purse.limit(SpendingLimits(day_embedding_usd=of_embedding, day_chat_usd=of_chat))
    purse.ledger.note(_charge(purse.workspace, purse.day, 0.3, kind))
    purse.ledger.note(_charge(purse.workspace, purse.day, 9.0, OTHERS[kind]))

    async with purse.budgets.hold(purse.workspace, 0.1, kind), purse.budgets.hold(purse.workspace, 9.0, OTHERS[kind]):
        await purse.budgets.admit(purse.workspace, 0.1, kind)
        with pytest.raises(BudgetExceeded) as refused:
            await purse.budgets.admit(purse.workspace, 0.2, kind)

    assert refused.value.spent_usd == pytest.approx(0.4)
    assert f"budget for {kind.value} is 0.5000 USD a day" in refused.value.message
    [ceiling] = await purse.budgets.ceilings(purse.workspace)
    assert (ceiling.kind, ceiling.spent_usd) == (kind, pytest.approx(0.3))


async def test_all_that_costs_stays_beneath_the_ceiling_over_it(purse: Purse) -> None:
    await purse.limit(SpendingLimits(day_usd=1.0, day_chat_usd=5.0))
    purse.ledger.note(_charge(purse.workspace, purse.day, 0.9, UsageKind.EMBEDDING))

    with pytest.raises(BudgetExceeded) as refused:
        await purse.budgets.admit(purse.workspace, 0.2, CHAT)
    assert refused.value.limit_usd == 1.0


def _charge(workspace: WorkspaceRef, day: date, usd: float, kind: UsageKind = CHAT) -> Charge:
    return Charge(workspace, day, kind, "openai", "m", False, 1, 1, usd)

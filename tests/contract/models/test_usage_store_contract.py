"""Every usage store: calls are added up by workspace, day and model, and seen by their own organisation only."""

import asyncio
from dataclasses import replace
from datetime import date
from uuid import uuid4

from tests.contract.backends import Backend

from agentic_rag.models.billing.limits import Expenditure
from agentic_rag.models.billing.usage import Charge, UsageKind, UsageLine, sum_by_key, usage_line
from agentic_rag.tenancy.principals import WorkspaceRef

FIRST, SECOND = date(2026, 11, 1), date(2026, 11, 2)


def used(workspace: WorkspaceRef, day: date = SECOND, cost: float | None = 0.5) -> UsageLine:
    return usage_line(Charge(workspace, day, UsageKind.EMBEDDING, "openai", "small", True, 10, 0, cost))


async def test_calls_of_a_day_are_added_up(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    for cost in (0.5, 0.25, None):
        async with adapter.database.transaction(workspace.org_id) as transaction:
            await transaction.usage.add([used(workspace, cost=cost)])

    async with adapter.database.transaction(workspace.org_id) as transaction:
        [line] = await transaction.usage.between(FIRST, SECOND)

    assert (line.calls, line.input_tokens, line.cost_usd, line.unpriced_calls) == (3, 30, 0.75, 1)


async def test_days_and_workspaces_are_told_apart(adapter: Backend) -> None:
    here = await adapter.workspace()
    there = await adapter.workspace(here.org_id)
    async with adapter.database.transaction(here.org_id) as transaction:
        await transaction.usage.add(sum_by_key([used(here), used(here, FIRST), used(there)]))

        assert len(await transaction.usage.between(FIRST, SECOND)) == 3
        assert await transaction.usage.between(FIRST, FIRST) == [used(here, FIRST)]
        assert await transaction.usage.between(FIRST, SECOND, there.workspace_id) == [used(there)]
        assert await transaction.usage.spending(SECOND) == Expenditure(1.0, 1.5, 1.0)
        assert await transaction.usage.spending(SECOND, here.workspace_id) == Expenditure(0.5, 1.0, 0.5)


async def test_a_days_embedding_and_chat_are_told_apart(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    chat = Charge(workspace, SECOND, UsageKind.CHAT, "openai", "large", True, 10, 10, 2.0)
    async with adapter.database.transaction(workspace.org_id) as transaction:
        search = replace(chat, kind=UsageKind.SEARCH, cost_usd=0.25)
        yesterday = replace(chat, day=FIRST, cost_usd=8.0)
        await transaction.usage.add([used(workspace), *map(usage_line, (chat, search, yesterday))])

        assert await transaction.usage.spending(SECOND) == Expenditure(2.75, 10.75, 0.5, 2.0)


async def test_the_month_before_counts_for_nothing(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    async with adapter.database.transaction(workspace.org_id) as transaction:
        await transaction.usage.add([used(workspace, date(2026, 10, 31))])

        assert await transaction.usage.spending(FIRST) == Expenditure()


async def test_other_organisations_see_nothing_of_it(adapter: Backend) -> None:
    ours, theirs = await adapter.workspace(), await adapter.workspace()
    async with adapter.database.transaction(theirs.org_id) as transaction:
        await transaction.usage.add([used(theirs)])

    async with adapter.database.transaction(ours.org_id) as transaction:
        assert await transaction.usage.between(FIRST, SECOND) == []
        assert await transaction.usage.between(FIRST, SECOND, theirs.workspace_id) == []
        assert await transaction.usage.spending(SECOND) == Expenditure()


async def test_a_workspace_that_is_not_there_stops_no_other_line(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    gone = replace(workspace, workspace_id=uuid4())
    async with adapter.database.transaction(workspace.org_id) as transaction:
        await transaction.usage.add(sum_by_key([used(gone), used(workspace)]))

        assert await transaction.usage.between(FIRST, SECOND) == [used(workspace)]


async def test_processes_that_add_at_once_lose_nothing(adapter: Backend) -> None:
    here = await adapter.workspace()
    there = await adapter.workspace(here.org_id)

    async def add() -> None:
        async with adapter.database.transaction(here.org_id) as transaction:
            await transaction.usage.add(sum_by_key([used(there), used(here)]))

    await asyncio.gather(*(add() for _ in range(12)))

    async with adapter.database.transaction(here.org_id) as transaction:
        assert [line.calls for line in await transaction.usage.between(FIRST, SECOND)] == [12, 12]

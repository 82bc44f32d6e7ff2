"""`models.billing.ports.UsageStore` in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from uuid import UUID

from tests.memory_store.session.store import Working

from agentic_rag.models.billing.limits import Expenditure, first_of_month
from agentic_rag.models.billing.usage import UsageLine, sum_by_key
from agentic_rag.tenancy.principals import WorkspaceRef


class MemoryUsageStore:
    """Committed with the transaction that adds."""

    def __init__(self, working: Working, org_id: UUID) -> None:
        self._working = working
        self._org_id = org_id

    async def add(self, lines: Sequence[UsageLine]) -> None:
        """Add to what is stored."""
        state = self._working.organisation(self._org_id)
        known = [line for line in lines if self._working.read(WorkspaceRef(self._org_id, line.key.workspace_id))]
        self._working.put_organisation(self._org_id, replace(state, usage=tuple(sum_by_key([*state.usage, *known]))))

    async def take_turn(self) -> None:
        """Transactions in memory come one after the other."""

    async def between(self, first: date, last: date, workspace_id: UUID | None = None) -> list[UsageLine]:
        """What was used on the days from `first` to `last`."""
        return [
            line
            for line in self._working.organisation(self._org_id).usage
            if first <= line.key.day <= last and workspace_id in (None, line.key.workspace_id)
        ]

    async def spending(self, today: date, workspace_id: UUID | None = None) -> Expenditure:
        """What this day and its month cost so far."""
        lines = await self.between(first_of_month(today), today, workspace_id)
        now = [line for line in lines if line.key.day == today]
        of_kind = {kind: sum(line.cost_usd for line in now if line.key.kind == kind) for kind in ("embedding", "chat")}
        return Expenditure(
            sum(line.cost_usd for line in now),
            sum(line.cost_usd for line in lines),
            of_kind["embedding"],
            of_kind["chat"],
        )

"""Checks model calls against the ceilings of their organisation and workspace before they are made.

The amounts spent are read from the ledger every `FRESH_SECONDS` and counted locally in between, so several processes
together may exceed a ceiling by their spending within that time.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import date

from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import NotFound
from agentic_rag.kernel.ttl_cache import TtlCache
from agentic_rag.models.billing.budget_alerts import BudgetAlerts
from agentic_rag.models.billing.limits import (
    Ceiling,
    Expenditure,
    SpendingLimits,
    ceilings,
    check_ceiling,
    reaches_soft_limit,
)
from agentic_rag.models.billing.usage import Charge, UsageKind
from agentic_rag.models.billing.usage_ledger import UsageLedger
from agentic_rag.tenancy.principals import WorkspaceRef

FRESH_SECONDS = 5.0
MAX_WORKSPACES = 1024

_NOTHING_USD = 1e-12
"""What rounding leaves of amounts that were added and taken away again."""


@dataclass(slots=True)
class _WorkspaceSpend:
    """A process's cached view of a workspace's ceilings and spending."""

    day: date
    organisation: SpendingLimits
    workspace: SpendingLimits
    spent: dict[str, Expenditure]

    def ceilings(self) -> list[tuple[Ceiling, float]]:
        """The ceilings that are set, each with its soft share."""
        scopes = (("organisation", self.organisation), ("workspace", self.workspace))
        return [
            (ceiling, limits.soft_share)
            for scope, limits in scopes
            for ceiling in ceilings(scope, limits, self.spent[scope], self.day)
        ]


class EnforceBudgets:
    """Admits or refuses each call that costs something. Of `processes` that serve together each takes the calls under
    way in the others for as dear as its own.
    """

    def __init__(
        self, database: Database, ledger: UsageLedger, clock: Clock, soft_limits: BudgetAlerts, processes: int = 1
    ) -> None:
        self._database = database
        self._ledger = ledger
        self._clock = clock
        self._soft_limits = soft_limits
        self._processes = processes
        self._accounts = TtlCache(self._read, clock, seconds=FRESH_SECONDS, most=MAX_WORKSPACES)
        self._held: dict[tuple[WorkspaceRef, UsageKind], float] = {}
        ledger.heard = self._apply_charge

    async def admit(self, workspace: WorkspaceRef, usd: float | None, kind: UsageKind) -> None:
        """Admit a call that costs about `usd` (None: unknown beforehand). Errors: `BudgetExceeded`."""
        account = await self._account(workspace)
        for counted, soft_share in account.ceilings():
            if not counted.bounds(kind):
                continue
            ceiling = replace(counted, spent_usd=counted.spent_usd + self._held_usd(workspace, counted))
            if reaches_soft_limit(ceiling, usd or 0.0, soft_share):
                self._soft_limits.record_alert(workspace, ceiling)
            check_ceiling(ceiling, usd or 0.0)

    @asynccontextmanager
    async def hold(self, workspace: WorkspaceRef, usd: float | None, kind: UsageKind) -> AsyncGenerator[None]:
        """Admit a call that costs `usd` at most, and count that as spent until it has ended, so that calls side by side
        do not pass a ceiling together. Errors: `BudgetExceeded`.
        """
        await self.admit(workspace, usd, kind)
        # Nothing else runs between the check and this.
        held, key = usd or 0.0, (workspace, kind)
        self._held[key] = self._held.get(key, 0.0) + held
        try:
            yield
        finally:
            left = self._held.pop(key, 0.0) - held
            if left > _NOTHING_USD:
                self._held[key] = left

    async def ceilings(self, workspace: WorkspaceRef) -> list[Ceiling]:
        """The ceilings of a workspace, each with the amount spent."""
        self.forget()
        return [ceiling for ceiling, _ in (await self._account(workspace)).ceilings()]

    def forget(self) -> None:
        """Reload at the next call, after this process changed a ceiling."""
        self._accounts.forget()

    def _held_usd(self, workspace: WorkspaceRef, ceiling: Ceiling) -> float:
        """What the calls in progress that a ceiling bounds, of a workspace or of all of its organisation, may cost in
        all processes.
        """
        return self._processes * sum(
            usd
            for (one, kind), usd in self._held.items()
            if ceiling.bounds(kind)
            and (one == workspace if ceiling.scope == "workspace" else one.org_id == workspace.org_id)
        )

    async def _account(self, workspace: WorkspaceRef) -> _WorkspaceSpend:
        return await self._accounts.get((workspace, self._clock.now().date()))

    async def _read(self, key: tuple[WorkspaceRef, date], known: _WorkspaceSpend | None) -> _WorkspaceSpend:
        workspace, today = key
        await self._ledger.flush()
        async with self._database.transaction(workspace.org_id) as transaction:
            stored = await transaction.workspaces.get(workspace.workspace_id)
            try:
                organisation = (await transaction.organisations.current()).settings.budget
            except NotFound:
                organisation = SpendingLimits()
            of_workspace = stored.settings.budget if stored else SpendingLimits()
            spent = {"organisation": Expenditure(), "workspace": Expenditure()}
            if organisation.has_ceiling:
                spent["organisation"] = await transaction.usage.spending(today)
            if of_workspace.has_ceiling:
                spent["workspace"] = await transaction.usage.spending(today, workspace.workspace_id)
        return _WorkspaceSpend(today, organisation, of_workspace, spent)

    def _apply_charge(self, charge: Charge) -> None:
        if not charge.cost_usd:
            return
        for (workspace, _), account in self._accounts.items():
            if workspace.org_id == charge.workspace.org_id:
                account.spent["organisation"] = account.spent["organisation"].plus(charge.cost_usd, charge.kind)
            if workspace == charge.workspace:
                account.spent["workspace"] = account.spent["workspace"].plus(charge.cost_usd, charge.kind)

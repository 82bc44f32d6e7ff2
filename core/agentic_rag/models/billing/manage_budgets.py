"""Usage reports and spending ceilings for administrators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from uuid import UUID

from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import InvalidInput, no_such_workspace
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.models.billing.enforce_budgets import EnforceBudgets
from agentic_rag.models.billing.limits import Ceiling, SpendingLimits
from agentic_rag.models.billing.usage import UsageLine
from agentic_rag.tenancy.audit import AuditAction, differences
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.tenancy.record_audit import audit

MAX_DAYS = 366
"""The longest period of one usage report."""


@dataclass(frozen=True, slots=True)
class UsageReport:
    """Usage lines and their total cost."""

    lines: Sequence[UsageLine]

    @property
    def cost_usd(self) -> float:
        """The cost of the calls with a known price."""
        return sum(line.cost_usd for line in self.lines)

    @property
    def unpriced_calls(self) -> int:
        """Calls without a known price."""
        return sum(line.unpriced_calls for line in self.lines)


class ManageBudgets:
    """The use cases behind `usage`, `budgets` and `setBudget`."""

    def __init__(self, database: Database, budgets: EnforceBudgets, telemetry: Telemetry) -> None:
        self._database = database
        self._budgets = budgets
        self._telemetry = telemetry

    async def usage(self, org_id: UUID, first: date, last: date, workspace_id: UUID | None = None) -> UsageReport:
        """The usage from `first` to `last`, both included. Errors: `InvalidInput` (more than `MAX_DAYS` days)."""
        if not 0 <= (last - first).days < MAX_DAYS:
            raise InvalidInput(f"`from` and `to` span 1 to {MAX_DAYS} days.", path=("to",))
        async with self._database.transaction(org_id) as transaction:
            return UsageReport(await transaction.usage.between(first, last, workspace_id))

    async def ceilings(self, workspace: WorkspaceRef) -> Sequence[Ceiling]:
        """The ceilings that apply to a workspace, including those of its organisation."""
        return await self._budgets.ceilings(workspace)

    async def set_limits(
        self, org_id: UUID, workspace_id: UUID | None, limits: SpendingLimits, actor: str
    ) -> SpendingLimits:
        """Set the ceilings of an organisation, or of one of its workspaces. Errors: `NotFound`."""
        async with self._database.transaction(org_id) as transaction:
            if workspace_id is None:
                before = (await transaction.organisations.current()).settings.budget
                await transaction.organisations.change(lambda settings: replace(settings, budget=limits))
            else:
                found = await transaction.workspaces.get(workspace_id)
                if found is None:
                    raise no_such_workspace()
                before = found.settings.budget
                await transaction.workspaces.change_settings(
                    workspace_id, lambda settings: replace(settings, budget=limits)
                )
            workspace = None if workspace_id is None else WorkspaceRef(org_id, workspace_id)
            told = differences(before, limits)
            subject = workspace_id or org_id
            await audit(transaction, self._telemetry, AuditAction.SET_BUDGET, workspace, subject, actor, **told)
        self._budgets.forget()
        return limits

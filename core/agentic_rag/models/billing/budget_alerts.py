"""Reports once, across all processes, that most of a ceiling is spent: in the audit log and as an event."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import AgenticRagError
from agentic_rag.kernel.telemetry import Telemetry, parse_trace_id
from agentic_rag.models.billing.limits import Ceiling
from agentic_rag.tenancy.audit import AuditAction, AuditEntry
from agentic_rag.tenancy.principals import WorkspaceRef

_TOLD_AT_MOST = 10_000


@dataclass(frozen=True, slots=True)
class ReachedLimit:
    """A ceiling of which most is used, as the audit log and the events tell it."""

    org_id: UUID
    workspace_id: UUID | None
    """None where it holds for the organisation."""
    period: str
    figures: Mapping[str, float | int | str]
    """The ceiling and what is used of it."""
    resets_at: datetime

    def entry(self, telemetry: Telemetry) -> AuditEntry:
        """The entry of the audit log."""
        figures = {
            name: f"{value:g}" if isinstance(value, float) else str(value) for name, value in self.figures.items()
        }
        return AuditEntry(
            AuditAction.REACH_SOFT_LIMIT,
            str(self.workspace_id or self.org_id),
            workspace_id=self.workspace_id,
            detail={"period": self.period, **figures, "resets_at": self.resets_at.isoformat()},
            trace_id=parse_trace_id(telemetry.carrier()),
        )

    def tell(self, telemetry: Telemetry) -> None:
        """Tell it as an event."""
        telemetry.event(
            "rag_budget_soft_limit",
            level="warning",
            organisation=str(self.org_id),
            workspace=None if self.workspace_id is None else str(self.workspace_id),
            period=self.period,
            **self.figures,
            resets_at=self.resets_at.isoformat(),
        )


LimitKey = tuple[UUID, UUID | None, str]
"""Organisation, workspace (None: the organisation's) and a key of a ceiling in its period."""


def limit_key(workspace: WorkspaceRef, scope: str, key: str) -> LimitKey:
    """Of a ceiling of this scope and key that holds for a workspace."""
    return (workspace.org_id, workspace.workspace_id if scope == "workspace" else None, key)


def reached_dollars(workspace: WorkspaceRef, ceiling: Ceiling) -> ReachedLimit:
    """Of a ceiling in dollars."""
    org_id, place, _ = limit_key(workspace, ceiling.scope, ceiling.key)
    of = {} if ceiling.kind is None else {"kind": ceiling.kind.value}
    figures = {**of, "limit_usd": ceiling.limit_usd, "spent_usd": ceiling.spent_usd}
    return ReachedLimit(org_id, place, ceiling.period, figures, ceiling.resets_at)


class ToldLimits:
    """The ceilings of which this process knows that they were told; those told last are remembered."""

    def __init__(self) -> None:
        self._told: OrderedDict[LimitKey, None] = OrderedDict()

    def __contains__(self, key: LimitKey) -> bool:
        return key in self._told

    def add(self, key: LimitKey) -> None:
        """Remember that a ceiling was told."""
        self._told[key] = None
        if len(self._told) > _TOLD_AT_MOST:
            self._told.popitem(last=False)

    def discard(self, key: LimitKey) -> None:
        """Forget it: a later call tells it again."""
        self._told.pop(key, None)


class BudgetAlerts:
    """Writes in the background after an admitted call. A failure never fails the request: a later call
    reports again.
    """

    def __init__(self, database: Database, telemetry: Telemetry) -> None:
        self._database = database
        self._telemetry = telemetry
        self._told = ToldLimits()
        self._writing: set[asyncio.Task[None]] = set()

    def record_alert(self, workspace: WorkspaceRef, ceiling: Ceiling) -> None:
        """Report the ceiling unless this process reported it or knows that another one did."""
        key = limit_key(workspace, ceiling.scope, ceiling.key)
        if key in self._told:
            return
        self._told.add(key)
        task = asyncio.get_running_loop().create_task(self._write(key, reached_dollars(workspace, ceiling)))
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)

    async def aclose(self) -> None:
        """Wait for the reports in progress."""
        await asyncio.gather(*self._writing)

    async def _write(self, key: LimitKey, reached: ReachedLimit) -> None:
        try:
            async with self._database.transaction(reached.org_id) as transaction:
                is_first = await transaction.audit.record_once(reached.entry(self._telemetry), key[-1])
        except AgenticRagError:
            self._told.discard(key)
            return
        if is_first:
            reached.tell(self._telemetry)

"""What a day's searches and pages of the web may come to, for an organisation and each of its workspaces. A call is
reserved before it is made: parallel runs never pass a ceiling together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from types import MappingProxyType

from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.database import Database, Transaction
from agentic_rag.kernel.errors import BudgetExceeded, no_such_workspace
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.models.billing.budget_alerts import LimitKey, ReachedLimit, ToldLimits, limit_key, reached_dollars
from agentic_rag.models.billing.limits import (
    DEFAULT_SOFT_SHARE,
    Ceiling,
    SpendingLimits,
    ceilings,
    check_ceiling,
    reaches_soft_limit,
)
from agentic_rag.models.billing.usage import UsageKey, UsageKind, UsageLine
from agentic_rag.tenancy.principals import WorkspaceRef

DEFAULT_CALLS: Mapping[UsageKind, int] = MappingProxyType({UsageKind.SEARCH: 1_000, UsageKind.PAGE: 10_000})
"""A day's calls of an organisation that has no ceiling of its own."""

_NAMES = {UsageKind.SEARCH: "searches of the web", UsageKind.PAGE: "pages of the web"}


@dataclass(frozen=True, slots=True)
class CallCeiling:
    """A ceiling on a day's calls, and how many were reserved."""

    scope: str
    """`organisation` or `workspace`."""
    kind: UsageKind
    limit: int
    used: int
    resets_at: datetime
    soft_share: float = DEFAULT_SOFT_SHARE

    @property
    def left(self) -> int:
        """Calls that may still be made."""
        return max(0, self.limit - self.used)

    @property
    def key(self) -> str:
        """The identity of the ceiling on its day."""
        return f"{self.scope} {self.kind.value} {self.resets_at:%Y-%m-%d}"

    def after(self, calls: int) -> CallCeiling:
        """The ceiling when so many more are reserved."""
        return replace(self, used=self.used + calls)


class WebEnvelope:
    """Counts by day in UTC, in the table of usage."""

    def __init__(self, database: Database, clock: Clock, telemetry: Telemetry) -> None:
        self._database = database
        self._clock = clock
        self._telemetry = telemetry
        self._told = ToldLimits()

    async def reserve(
        self, workspace: WorkspaceRef, kind: UsageKind, provider: str, calls: int = 1, usd: float = 0.0
    ) -> Sequence[CallCeiling]:
        """Count `calls` of `usd` each, before they are made; the ceilings after them. Errors: `BudgetExceeded` code
        WEB_BUDGET_SPENT where the calls, or BUDGET_EXCEEDED where the dollars, pass a ceiling: then nothing is counted.
        """
        today = self._clock.now().date()
        try:
            async with self._database.transaction(workspace.org_id) as transaction:
                await transaction.usage.take_turn()
                found = await self._ceilings(transaction, workspace, today)
                narrowest = [one for one in found if one.kind is kind]
                for ceiling in narrowest:
                    _check(ceiling, calls)
                money = await self._money(transaction, workspace, today, frozenset({kind})) if usd else []
                for dollars, _ in money:
                    check_ceiling(dollars, usd * calls)
                key = UsageKey(workspace.workspace_id, today, kind.value, provider, provider, own_key=False)
                await transaction.usage.add([UsageLine(key, calls, 0, 0, usd * calls, 0)])
                reached = _reached_calls(workspace, [one.after(calls) for one in narrowest])
                reached |= _reached_dollars(workspace, money, usd * calls)
                recorded = await self._record_reached(transaction, reached)
        except BudgetExceeded as error:
            self._telemetry.count("rag_web_calls_total", kind=kind.value, outcome="refused")
            self._telemetry.event("rag_web_refused", code=error.code, kind=kind.value, reason=error.message)
            raise
        self._telemetry.count("rag_web_calls_total", calls, kind=kind.value, outcome="reserved")
        if usd:
            self._telemetry.count("rag_web_cost_usd_total", usd * calls, kind=kind.value)
        for told, limit in recorded.items():
            self._told.add(told)
            if limit is not None:
                limit.tell(self._telemetry)
        return [one.after(calls) if one.kind is kind else one for one in found]

    async def ceilings(self, workspace: WorkspaceRef) -> Sequence[CallCeiling]:
        """The ceilings that hold for a workspace today. Errors: `NotFound`."""
        async with self._database.transaction(workspace.org_id) as transaction:
            return await self._ceilings(transaction, workspace, self._clock.now().date())

    async def share_left(self, workspace: WorkspaceRef, billed: frozenset[UsageKind]) -> float:
        """The least share of a ceiling that is left, 0 to 1; of those in dollars too that bound a kind of call which
        costs some (`billed`). Errors: `NotFound`.
        """
        today = self._clock.now().date()
        async with self._database.transaction(workspace.org_id) as transaction:
            calls = await self._ceilings(transaction, workspace, today)
            money = [one for one, _ in await self._money(transaction, workspace, today, billed)] if billed else []
        shares = [one.left / one.limit if one.limit else 0.0 for one in calls]
        shares += [max(0.0, 1.0 - one.spent_usd / one.limit_usd) if one.limit_usd else 0.0 for one in money]
        return min(shares)

    async def _record_reached(
        self, transaction: Transaction, reached: Mapping[LimitKey, ReachedLimit]
    ) -> dict[LimitKey, ReachedLimit | None]:
        """Write them down, those left out that this process knows to be told; None for one that another process
        told.
        """
        recorded: dict[LimitKey, ReachedLimit | None] = {}
        for key, limit in reached.items():
            if key not in self._told:
                is_first = await transaction.audit.record_once(limit.entry(self._telemetry), key[-1])
                recorded[key] = limit if is_first else None
        return recorded

    async def _ceilings(self, transaction: Transaction, workspace: WorkspaceRef, today: date) -> list[CallCeiling]:
        organisation, own = await _limits(transaction, workspace)
        lines = await transaction.usage.between(today, today)
        resets = datetime.combine(today + timedelta(days=1), time(), UTC)
        found: list[CallCeiling] = []
        for kind, default in DEFAULT_CALLS.items():
            used = [line for line in lines if line.key.kind == kind.value]
            most = _limit_of(organisation, kind)
            total = sum(line.calls for line in used)
            limit = default if most is None else most
            found.append(CallCeiling("organisation", kind, limit, total, resets, organisation.soft_share))
            if (most := _limit_of(own, kind)) is not None:
                here = sum(line.calls for line in used if line.key.workspace_id == workspace.workspace_id)
                found.append(CallCeiling("workspace", kind, most, here, resets, own.soft_share))
        return found

    async def _money(
        self, transaction: Transaction, workspace: WorkspaceRef, today: date, kinds: frozenset[UsageKind]
    ) -> list[tuple[Ceiling, float]]:
        """The ceilings in dollars that bound calls of these kinds, each with its soft share."""
        organisation, own = await _limits(transaction, workspace)
        usage = transaction.usage
        scopes = (
            ("organisation", organisation, await usage.spending(today)),
            ("workspace", own, await usage.spending(today, workspace.workspace_id)),
        )
        return [
            (one, limits.soft_share)
            for scope, limits, spent in scopes
            for one in ceilings(scope, limits, spent, today)
            if any(map(one.bounds, kinds))
        ]


def calls_left(found: Sequence[CallCeiling], kind: UsageKind) -> int:
    """The calls of a kind that every ceiling still allows."""
    return min((one.left for one in found if one.kind is kind), default=0)


async def _limits(transaction: Transaction, workspace: WorkspaceRef) -> tuple[SpendingLimits, SpendingLimits]:
    stored = await transaction.workspaces.get(workspace.workspace_id)
    if stored is None:
        raise no_such_workspace()
    return (await transaction.organisations.current()).settings.budget, stored.settings.budget


def with_default_calls(limits: SpendingLimits) -> SpendingLimits:
    """The limits of an organisation, with `DEFAULT_CALLS` where it states none."""
    most = {
        kind: default if (own := _limit_of(limits, kind)) is None else own for kind, default in DEFAULT_CALLS.items()
    }
    return replace(limits, day_searches=most[UsageKind.SEARCH], day_pages=most[UsageKind.PAGE])


def _limit_of(limits: SpendingLimits, kind: UsageKind) -> int | None:
    return limits.day_searches if kind is UsageKind.SEARCH else limits.day_pages


def _reached_calls(workspace: WorkspaceRef, found: Sequence[CallCeiling]) -> dict[LimitKey, ReachedLimit]:
    """The ceilings of which most is used, with these calls."""
    reached: dict[LimitKey, ReachedLimit] = {}
    for one in found:
        if one.used >= one.soft_share * one.limit:
            org_id, place, key = limit_key(workspace, one.scope, one.key)
            figures = {"kind": one.kind.value, "limit_calls": one.limit, "calls": one.used}
            reached[org_id, place, key] = ReachedLimit(org_id, place, "day", figures, one.resets_at)
    return reached


def _reached_dollars(
    workspace: WorkspaceRef, found: Sequence[tuple[Ceiling, float]], usd: float
) -> dict[LimitKey, ReachedLimit]:
    """The same of ceilings in dollars, with a call of `usd`."""
    return {
        limit_key(workspace, one.scope, one.key): reached_dollars(
            workspace, replace(one, spent_usd=one.spent_usd + usd)
        )
        for one, soft_share in found
        if reaches_soft_limit(one, usd, soft_share)
    }


def _check(ceiling: CallCeiling, calls: int) -> None:
    if ceiling.used + calls <= ceiling.limit:
        return
    raise BudgetExceeded(
        f"The {ceiling.scope} may make {ceiling.limit:,} {_NAMES[ceiling.kind]} a day, and {ceiling.used:,} are made. "
        f"The day ends at {ceiling.resets_at:%Y-%m-%d %H:%M} UTC; `setBudget` or `rag budget set` changes the ceiling.",
        code="WEB_BUDGET_SPENT",
        resets_at=ceiling.resets_at,
    )

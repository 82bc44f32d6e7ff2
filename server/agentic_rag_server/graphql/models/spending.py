"""In the schema: what calls of models used, and the ceilings on it."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated

import strawberry

from agentic_rag.kernel.public_ids import encode_workspace
from agentic_rag.models.billing import limits as spending
from agentic_rag.models.billing.manage_budgets import UsageReport
from agentic_rag.models.billing.prices import PRICED_ON
from agentic_rag_server.auth.roles import Action, authorise
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.errors import USER_ERRORS, UserError, user_error


@strawberry.type(description="Calls of one model for one workspace on one day (UTC).")
class UsageLine:
    """One line of the ledger."""

    workspace_id: strawberry.ID
    day: date
    kind: str = strawberry.field(description="`embedding` or `chat`.")
    provider: str
    model: str
    own_key: bool = strawberry.field(description="Paid with the organisation's own key.")
    calls: int
    input_tokens: float = strawberry.field(description="A whole number, which may pass what Int holds.")
    output_tokens: float = strawberry.field(description="A whole number, which may pass what Int holds.")
    cost_usd: float
    unpriced_calls: int = strawberry.field(description="Calls whose price is not known: they cost nothing here.")


@strawberry.type(description="What calls of models used, and cost by the price table.")
class Usage:
    """A look into the ledger."""

    lines: list[UsageLine]
    cost_usd: float
    unpriced_calls: int
    priced_on: date = strawberry.field(description="When the price table was read.")


@strawberry.type(description="A ceiling on what models cost.")
class BudgetCeiling:
    """A ceiling and what is spent of it."""

    scope: str = strawberry.field(description="`organisation` or `workspace`.")
    period: str = strawberry.field(description="`day` or `month`, of UTC.")
    limit_usd: float
    spent_usd: float
    resets_at: datetime


@strawberry.input(description="Ceilings in US dollars; what is null has none.")
class SetBudgetInput:
    """Arguments of `setBudget`."""

    workspace_id: strawberry.ID | None = strawberry.field(
        default=None, description="The workspace; the whole organisation when null."
    )
    day_usd: float | None = None
    month_usd: float | None = None
    soft_share: float = strawberry.field(
        default=spending.DEFAULT_SOFT_SHARE, description="Part of a ceiling from which on an event warns."
    )


@strawberry.type(description="Whether the ceilings were set.")
class SetBudgetPayload:
    """Result of `setBudget`."""

    changed: bool
    user_errors: list[UserError]


@strawberry.type
class SpendingQuery:
    """What the caller's organisation spends."""

    @strawberry.field(
        description="What calls of models used from one day to another, both included. Takes the role admin."
    )
    async def usage(
        self,
        info: Info,
        first: Annotated[date, strawberry.argument(name="from")],
        last: Annotated[date, strawberry.argument(name="to")],
        workspace_id: strawberry.ID | None = None,
    ) -> Usage:
        """At most a year. What was called within the last second may be missing."""
        context = info.context
        context.require_product_on()
        authorise(context.principal, Action.SEE_USAGE)
        ref = None if workspace_id is None else await context.workspace(workspace_id)
        return _show(
            await context.parts.spending.usage(
                context.principal.org_id, first, last, None if ref is None else ref.workspace_id
            )
        )

    @strawberry.field(
        description="The ceilings that hold for a workspace, with what is spent of each. Takes the role admin."
    )
    async def budgets(self, info: Info, workspace_id: strawberry.ID) -> list[BudgetCeiling]:
        """Those of the organisation among them."""
        context = info.context
        context.require_product_on()
        authorise(context.principal, Action.SEE_USAGE)
        ref = await context.workspace(workspace_id)
        return [
            BudgetCeiling(
                scope=one.scope,
                period=one.period,
                limit_usd=one.limit_usd,
                spent_usd=one.spent_usd,
                resets_at=one.resets_at,
            )
            for one in await context.parts.spending.ceilings(ref)
        ]


@strawberry.type
class SpendingMutation:
    """Changes to what the caller's organisation may spend."""

    @strawberry.mutation(description="Set the ceilings of the organisation or of a workspace. Takes the role admin.")
    async def set_budget(self, info: Info, input: SetBudgetInput) -> SetBudgetPayload:
        """They hold from the next call on."""
        context = info.context
        context.require_product_on()
        authorise(context.principal, Action.SET_BUDGET)
        try:
            ref = (
                None
                if input.workspace_id is None
                else await context.workspace(input.workspace_id, ("input", "workspaceId"))
            )
            limits = spending.SpendingLimits(input.day_usd, input.month_usd, input.soft_share)
            await context.parts.spending.set_limits(
                context.principal.org_id,
                None if ref is None else ref.workspace_id,
                limits,
                context.principal.subject,
            )
        except USER_ERRORS as error:
            return SetBudgetPayload(changed=False, user_errors=[user_error(error)])
        return SetBudgetPayload(changed=True, user_errors=[])


def _show(report: UsageReport) -> Usage:
    return Usage(
        lines=[
            UsageLine(
                workspace_id=strawberry.ID(encode_workspace(line.key.workspace_id)),
                day=line.key.day,
                kind=line.key.kind,
                provider=line.key.provider,
                model=line.key.model,
                own_key=line.key.own_key,
                calls=line.calls,
                input_tokens=line.input_tokens,
                output_tokens=line.output_tokens,
                cost_usd=line.cost_usd,
                unpriced_calls=line.unpriced_calls,
            )
            for line in report.lines
        ],
        cost_usd=report.cost_usd,
        unpriced_calls=report.unpriced_calls,
        priced_on=PRICED_ON,
    )

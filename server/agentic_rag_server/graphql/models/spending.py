"""The cost of model calls, and the ceilings on it."""

from datetime import date, datetime
from typing import Annotated

import strawberry

from agentic_rag.kernel.public_ids import encode_workspace
from agentic_rag.models.billing import limits as spending
from agentic_rag.models.billing import usage
from agentic_rag.models.billing.prices import PRICED_ON
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.fields import Payload, field, mutation, to_schema


@strawberry.type(description="Calls of one model for one workspace on one day (UTC).")
class UsageLine:
    workspace_id: strawberry.ID
    day: date
    kind: str = strawberry.field(description="`embedding`, `chat`, `search` or `page`.")
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
    lines: list[UsageLine]
    cost_usd: float
    unpriced_calls: int
    priced_on: date = strawberry.field(description="When the price table was read.")


@strawberry.type(description="A ceiling on what models cost.")
class BudgetCeiling:
    scope: str = strawberry.field(description="`organisation` or `workspace`.")
    period: str = strawberry.field(description="`day` or `month`, of UTC.")
    limit_usd: float
    spent_usd: float
    resets_at: datetime
    kind: str | None = strawberry.field(description="`embedding` or `chat`; null where it bounds all that costs.")


@strawberry.type(description="A ceiling on a day's calls of the web.")
class WebCeiling:
    scope: str = strawberry.field(description="`organisation` or `workspace`.")
    kind: str = strawberry.field(description="`search` or `page`.")
    limit: int
    used: int
    resets_at: datetime


@strawberry.input(description="Ceilings in US dollars, and on calls of the web; what is null has none of its own.")
class SetBudgetInput:
    workspace_id: strawberry.ID | None = strawberry.field(
        default=None, description="The workspace; the whole organisation when null."
    )
    day_usd: float | None = None
    month_usd: float | None = None
    day_embedding_usd: float | None = strawberry.field(default=None, description="What embedding may cost a day.")
    day_chat_usd: float | None = strawberry.field(default=None, description="What chat models may cost a day.")
    day_searches: int | None = strawberry.field(default=None, description="Searches of the web a day.")
    day_pages: int | None = strawberry.field(default=None, description="Pages of the web that may be fetched a day.")
    soft_share: float = strawberry.field(
        default=spending.DEFAULT_SOFT_SHARE, description="Part of a ceiling from which on an event warns."
    )


@strawberry.type(description="Whether the ceilings were set.")
class SetBudgetPayload(Payload):
    changed: bool = False


@strawberry.type
class SpendingQuery:
    @field(
        Action.SEE_USAGE,
        right=Sight.ORGANISATION,
        description="What calls of models used from one day to another, both included. Takes the role admin.",
    )
    async def usage(
        self,
        info: Info,
        first: Annotated[date, strawberry.argument(name="from")],
        last: Annotated[date, strawberry.argument(name="to")],
        workspace_id: strawberry.ID | None = None,
    ) -> Usage:
        """Covers a year at most. Calls of the last second may be missing."""
        context = info.context
        workspace = None if workspace_id is None else (await context.workspace(workspace_id)).workspace_id
        report = await context.parts.spending.usage(context.principal.org_id, first, last, workspace)
        return to_schema(Usage, report, lines=[_show_line(line) for line in report.lines], priced_on=PRICED_ON)

    @field(
        Action.SEE_USAGE,
        right=Sight.ORGANISATION,
        description="The ceilings that hold for a workspace, with what is spent of each. Takes the role admin.",
    )
    async def budgets(self, info: Info, workspace_id: strawberry.ID) -> list[BudgetCeiling]:
        """Includes the ceilings of the organisation."""
        context = info.context
        ceilings = await context.parts.spending.ceilings(await context.workspace(workspace_id))
        return [to_schema(BudgetCeiling, one, kind=one.kind and one.kind.value) for one in ceilings]

    @field(
        Action.SEE_USAGE,
        right=Sight.ORGANISATION,
        description="The ceilings on a day's calls of the web that hold for a workspace. Takes the role admin.",
    )
    async def web_budgets(self, info: Info, workspace_id: strawberry.ID) -> list[WebCeiling]:
        """Includes those of the organisation."""
        context = info.context
        found = await context.parts.web_envelope.ceilings(await context.workspace(workspace_id))
        return [to_schema(WebCeiling, one, kind=one.kind.value) for one in found]


@strawberry.type
class SpendingMutation:
    @mutation(
        Action.SET_BUDGET,
        SetBudgetPayload,
        right=Sight.ORGANISATION,
        description="Set the ceilings of the organisation or of a workspace. Takes the role admin.",
    )
    async def set_budget(self, info: Info, input: SetBudgetInput) -> SetBudgetPayload:
        """The ceilings hold from the next call on."""
        context, caller, workspace = info.context, info.context.principal, None
        if input.workspace_id is not None:
            workspace = (await context.workspace(input.workspace_id, ("input", "workspaceId"))).workspace_id
        limits = spending.SpendingLimits(
            input.day_usd,
            input.month_usd,
            input.soft_share,
            input.day_searches,
            input.day_pages,
            input.day_embedding_usd,
            input.day_chat_usd,
        )
        await context.parts.spending.set_limits(caller.org_id, workspace, limits, caller.subject_id)
        return SetBudgetPayload(changed=True)


def _show_line(line: usage.UsageLine) -> UsageLine:
    return to_schema(UsageLine, line, line.key, workspace_id=encode_workspace(line.key.workspace_id))

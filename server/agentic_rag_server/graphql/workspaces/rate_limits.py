"""How much the caller's organisation may send, in the schema."""

from __future__ import annotations

import strawberry

from agentic_rag.workspaces import rate_limits
from agentic_rag_server.auth.roles import Action, authorise
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.errors import USER_ERRORS, UserError, user_error


@strawberry.type(description="Requests that the organisation may send in a minute; null: no limit.")
class RateLimits:
    """The limits in force."""

    asks: int | None = strawberry.field(description="Questions, and explanations of answers.")
    writes: int | None = strawberry.field(description="Uploads and every other change.")
    reads: int | None


@strawberry.input(description="Requests a minute: 0 is no limit, null what the server's settings say.")
class SetRateLimitsInput:
    """Arguments of `setRateLimits`; together they replace what was set."""

    asks: int | None = None
    writes: int | None = None
    reads: int | None = None


@strawberry.type(description="The limits in force.")
class SetRateLimitsPayload:
    """Result of `setRateLimits`."""

    rate_limits: RateLimits | None
    user_errors: list[UserError]


@strawberry.type
class RateLimitQuery:
    """How much may be sent."""

    @strawberry.field(description="The limits on the caller's organisation.")
    async def rate_limits(self, info: Info) -> RateLimits:
        """Its own, and the operator's for the rest."""
        context = info.context
        context.require_product_on()
        authorise(context.principal, Action.READ)
        return _show(await context.parts.admission.in_force(context.principal.org_id))


@strawberry.type
class RateLimitMutation:
    """What operators say about it."""

    @strawberry.mutation(
        description="Give the caller's organisation limits of its own; other servers go by them within 5 s. Takes the "
        "role operator."
    )
    async def set_rate_limits(self, info: Info, input: SetRateLimitsInput) -> SetRateLimitsPayload:
        """Audited as `rate_limits.set`."""
        context = info.context
        context.require_product_on()
        authorise(context.principal, Action.SET_RATE_LIMITS)
        admission, caller = context.parts.admission, context.principal
        try:
            limits = rate_limits.RateLimits(input.asks, input.writes, input.reads)
            await admission.set_limits(caller.org_id, limits, caller.subject)
        except USER_ERRORS as error:
            return SetRateLimitsPayload(rate_limits=None, user_errors=[user_error(error)])
        return SetRateLimitsPayload(rate_limits=_show(await admission.in_force(caller.org_id)), user_errors=[])


def _show(limits: rate_limits.RateLimits) -> RateLimits:
    return RateLimits(asks=limits.asks or None, writes=limits.writes or None, reads=limits.reads or None)
